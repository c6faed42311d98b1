"""An end for what could go on for ever, as a regular expression of a stranger can."""

from __future__ import annotations

import resource
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

# A timer of no time is none; and what ends within what nobody awaits, as the end of an object, is
# lost, and said again.
_SOON, _AGAIN = 1e-6, 0.1


# When the one that was begun last ends, in seconds of the processor; None outside all of them.
_end: float | None = None


class LateError(Exception):
    """The time is over."""


class _AroundIsLateError(Exception):
    """The time of the one around is over, to which it becomes a `LateError`."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """End what is done meanwhile after so many seconds of the processor.

    Within another one it ends with that at the latest. Only in the main thread, to which alone
    Python hands signals; in others it goes on.

    Raises:
        LateError: they are over.
    """
    global _end
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    is_over = False

    def end(*_: Any) -> None:
        if not is_over:
            raise late

    say = sys.unraisablehook

    def say_others(lost: UnraisableHookArgs) -> None:
        if not isinstance(lost.exc_value, LateError | _AroundIsLateError):
            say(lost)

    others, _ = signal.getitimer(signal.ITIMER_VIRTUAL)
    around = _spent() + others if others and _end is None else _end
    mine = _spent() + seconds
    own = mine if around is None else min(mine, around)
    late = LateError if _end is None or mine < _end else _AroundIsLateError
    # A timer that is set again and again, each time for what is left, need not ever end: it takes
    # a tick of the clock at least.
    if own < _spent():
        raise late
    before, outer = signal.signal(signal.SIGVTALRM, end), _end
    try:
        _end = own
        _set(own)
        sys.unraisablehook = say_others
        try:
            yield
        except _AroundIsLateError as error:
            is_over = True
            raise late from error
        finally:
            is_over = True
    finally:
        sys.unraisablehook = say
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        _end = outer
        if around is not None:
            _set(around)
        signal.signal(signal.SIGVTALRM, signal.SIG_DFL if before is None else before)


def _spent() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def _set(end: float) -> None:
    signal.setitimer(signal.ITIMER_VIRTUAL, max(end - _spent(), _SOON), _AGAIN)
