"""The terminal, where there is one: how wide it is, and progress on it."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

import click


def terminal() -> tuple[int, bool]:
    """Columns to fill and whether to colour; 80 and no where standard output is not a terminal."""
    if not sys.stdout.isatty():
        return 80, False
    # Inside, for weight: only a terminal is measured.
    import shutil

    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return shutil.get_terminal_size().columns, not plain


def note_width() -> int:
    """Columns to fill on standard error; 80 where that is not a terminal."""
    if not sys.stderr.isatty():
        return 80
    # Inside, for weight: only a terminal is measured.
    import shutil

    return shutil.get_terminal_size().columns


@contextlib.contextmanager
def progress(label: str) -> Iterator[Any]:
    """A function that readers call, to draw a bar on a terminal once the work takes a second."""
    started = time.monotonic()
    bar: Any = None

    def update(done: int, total: int) -> None:
        nonlocal bar
        if bar is None and total and time.monotonic() - started > 1:
            bar = _bar(label, total)
        if bar is not None:
            bar.length = total
            bar.update(done - bar.pos)

    try:
        yield update if sys.stderr.isatty() else None
    finally:
        if bar is not None:
            bar.render_finish()


def _bar(label: str, length: int) -> Any:
    # Past our own stream, which would show the codes that move the bar.
    return click.progressbar(length=length, label=label, file=sys.__stderr__)


@contextlib.contextmanager
def working(label: str) -> Iterator[None]:
    """Say on a terminal, after a second, what takes so long; for work that nobody counts."""
    if not sys.stderr.isatty():
        yield
        return
    bar = _bar(label, 1)
    drawn = False

    def draw(_number: int, _frame: Any) -> None:
        nonlocal drawn
        drawn = True
        bar.render_progress()

    # A signal and not a thread: readers divide the process.
    before = signal.signal(signal.SIGALRM, draw)
    signal.setitimer(signal.ITIMER_REAL, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if drawn:
            bar.update(1)
            bar.render_finish()
