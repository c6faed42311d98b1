"""How a program ended."""

from __future__ import annotations

import signal
from dataclasses import dataclass

from .ending import REMAINING

_TOO_MUCH = {
    "memory": "the memory that all its processes took together",
    "processes": "the number of its processes",
    "threads": "the number of threads of all its processes",
    "bytes": "all that it wrote into its temporary folder or into shared memory",
    "files": "the number of files in its temporary folder",
}


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended: exit code (negative: the signal), and the tails of what it printed.

    `layers` of the sandbox were whole, and `filtered` the calls; `missing` says of each part that
    was wanted and was not there why. `exceeded` is the limit of `Whole` that it was ended for, or
    `REMAINING`: some of its processes could not be ended, and go on.
    `lost`: the supervisor was killed, so all that is known is that the program was, too.
    """

    code: int
    stdout: bytes
    stderr: bytes
    timed_out: bool
    seconds: float
    layers: tuple[str, ...] = ()
    filtered: bool = False
    missing: tuple[str, ...] = ()
    lost: bool = False
    exceeded: str = ""


def ending(finished: Finished, timeout: float) -> str:
    """How the program ended, in words."""
    if finished.exceeded == REMAINING:
        return "left processes that could not be ended"
    if finished.timed_out:
        return f"timed out: it did not end within {timeout:g} s"
    if finished.exceeded:
        return f"was ended for {_TOO_MUCH[finished.exceeded]}"
    if finished.code < 0:
        try:
            name = signal.Signals(-finished.code).name
        except ValueError:
            name = f"signal {-finished.code}"
        return f"was ended by {name}"
    return f"ended with exit code {finished.code}"
