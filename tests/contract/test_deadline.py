"""What could go on for ever ends."""

from __future__ import annotations

import re
import signal
import sys
import threading
import time

import pytest

from harbor_metrics.contract.deadline import LateError, at_most

_PATTERN, _TEXT = "(a|a)*$b", "a" * 60


def test_regular_expression_ends_with_its_time() -> None:
    before = signal.getsignal(signal.SIGVTALRM)
    with pytest.raises(LateError), at_most(0.01):
        re.sub(_PATTERN, "", _TEXT)
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)
    assert signal.getsignal(signal.SIGVTALRM) is before


def test_what_takes_less_is_done_in_any_thread() -> None:
    done = []

    def work() -> None:
        with at_most(60):
            done.append(re.sub("a", "b", "a"))

    work()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == ["b", "b"]
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)


def test_within_another_one_it_ends_with_that_and_leaves_it_its_time() -> None:
    def work() -> None:
        with at_most(0.02):
            with at_most(60):
                re.sub("a", "b", "a")
            re.sub(_PATTERN, "", _TEXT)

    with pytest.raises(LateError):
        work()
    with pytest.raises(LateError), at_most(0.02), at_most(60):
        re.sub(_PATTERN, "", _TEXT)
    done = []
    with at_most(60):
        with pytest.raises(LateError), at_most(0.02):
            re.sub(_PATTERN, "", _TEXT)
        left, _ = signal.getitimer(signal.ITIMER_VIRTUAL)
        done.append(50 < left < 60)
    assert done == [True]
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)


def test_many_short_ones_end_with_the_one_around_them() -> None:
    """A timer that is set for each of them anew never came to its end."""

    def work() -> None:
        until = time.monotonic() + 20
        with at_most(0.05):
            while time.monotonic() < until:
                with at_most(60):
                    re.sub("a", "b", "a")

    with pytest.raises(LateError):
        work()
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)


def test_what_loses_the_end_is_ended_again() -> None:
    """In the callback of a garbage collection, or the end of an object, an exception is ignored."""
    before = sys.unraisablehook

    class Lost:
        def __del__(self) -> None:
            re.sub(_PATTERN, "", _TEXT)

    def work() -> None:
        lost = Lost()
        del lost
        re.sub(_PATTERN, "", _TEXT)

    with pytest.raises(LateError), at_most(0.02):
        work()
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)
    assert sys.unraisablehook is before


def test_of_what_nobody_awaits_other_errors_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    said = []
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: said.append(lost.exc_type))

    class Broken:
        def __del__(self) -> None:
            raise ValueError

    with at_most(60):
        broken = Broken()
        del broken
    assert said == [ValueError]
