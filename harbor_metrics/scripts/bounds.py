"""What a script, and whatever is done for it, may take and reach."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal

from ..confinement.places import SCRATCH_BYTES, SCRATCH_FILES
from ..confinement.workplace import Confinement, Named, RefusedError, Whole
from ..errors import MetricFailure
from .options import ScriptOptions

FILE_SIZE = 256 << 20
OPEN_FILES = 1024
SIGNALS = 1024
PROCESSES = 1024
# What computes on all processors starts one or a few for each.
_MIN_THREADS, _THREADS_A_CORE = 4096, 64
THREADS = max(_MIN_THREADS, _THREADS_A_CORE * (os.cpu_count() or 1))
GIB = 1 << 30
# Parts of the sandbox without which a program is not started.
Required = Literal["no", "one", "all"]


def limits(options: ScriptOptions, *, seconds: float) -> dict[str, int]:
    """The limits of each process of a program that has that many seconds, for `setrlimit`."""
    cores = os.cpu_count() or 1
    limits = {
        # Of 0 a system that pipes core dumps into a program takes no notice: core(5).
        "RLIMIT_CORE": 1,
        "RLIMIT_CPU": int(seconds * cores) + 1,
        "RLIMIT_FSIZE": FILE_SIZE,
        "RLIMIT_NOFILE": OPEN_FILES,
        # Of signals that wait, and of timers, which are memory of the kernel's.
        "RLIMIT_SIGPENDING": SIGNALS,
        # Whoever the system lets be first on a processor would keep its supervisor off.
        "RLIMIT_RTPRIO": 0,
        "RLIMIT_NICE": 0,
    }
    if options.memory:
        limits["RLIMIT_AS"] = int(options.memory * GIB)
    return limits


def whole(
    options: ScriptOptions,
    folders: Sequence[str],
    *,
    n_bytes: int = SCRATCH_BYTES,
    n_files: int = SCRATCH_FILES,
) -> Whole:
    """The limits of all processes of a program together, and of all that it writes."""
    return Whole(
        memory=int(options.memory * GIB),
        processes=PROCESSES,
        threads=THREADS,
        bytes=n_bytes,
        files=n_files,
        folders=tuple(folders),
    )


def refusal(error: RefusedError, options: ScriptOptions) -> MetricFailure:
    """Why nothing was started."""
    if options.sandbox == "require":
        return MetricFailure(
            "script-sandbox",
            f"the sandbox is required and not there: {error} (--sandbox auto runs without)",
        )
    return not_confined(str(error) or "--sandbox off")


def not_confined(why: str) -> MetricFailure:
    """A script that a job brought, where there is nothing to confine it."""
    return MetricFailure(
        "script-not-confined",
        "the job brought this script, or the registry that names it, and no layer of the sandbox "
        f"is there to confine it: {why}",
    )


def confinement(
    options: ScriptOptions,
    required: Required,
    *,
    readable: Sequence[str | Named],
    writable: Sequence[str],
    listed: Sequence[str] = (),
    scratch: Sequence[str] = (),
    hidden: Sequence[str] = (),
    network: bool = False,
    called: bool = True,
) -> Confinement:
    """Both layers and the filter, as far as the user wants them and the system has them."""
    off = options.sandbox == "off"
    return Confinement(
        layers=() if off else options.layers,
        filtered=not off,
        required="all" if options.sandbox == "require" else required,
        network=network,
        called=called,
        readable=tuple(readable),
        writable=tuple(writable),
        listed=tuple(listed),
        scratch=tuple(scratch),
        hidden=tuple(hidden),
    )
