"""An end for what could go on for ever, as a regular expression of a stranger can."""

from __future__ import annotations

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


class LateError(Exception):
    """The time is over."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """End what is done meanwhile after so many seconds of the processor.

    Within another one it ends with that at the latest. Only in the main thread, to which alone
    Python hands signals; in others it goes on.

    Raises:
        LateError: they are over.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    is_late = is_over = False

    def end(*_: Any) -> None:
        nonlocal is_late
        is_late = True
        if not is_over:
            raise LateError

    say = sys.unraisablehook

    def say_others(lost: UnraisableHookArgs) -> None:
        if not isinstance(lost.exc_value, LateError):
            say(lost)

    before = signal.signal(signal.SIGVTALRM, end)
    around, _ = signal.getitimer(signal.ITIMER_VIRTUAL)
    allowed = min(seconds, around) if around else seconds
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, allowed, _AGAIN)
        sys.unraisablehook = say_others
        try:
            yield
        finally:
            is_over = True
    finally:
        sys.unraisablehook = say
        left, _ = signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        if around:
            more = around - allowed + (0 if is_late else left)
            signal.setitimer(signal.ITIMER_VIRTUAL, max(more, _SOON), _AGAIN)
        signal.signal(signal.SIGVTALRM, signal.SIG_DFL if before is None else before)
