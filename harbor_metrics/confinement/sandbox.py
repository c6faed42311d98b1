"""What a process does with itself for the sandbox: its rights, its signals, who may look into it.

It runs in the very process that becomes the program, so it imports next to nothing.
"""

from __future__ import annotations

import ctypes
import os
import struct

from .kernel import LIBC, checked
from .places import SHARED_MEMORY

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAPBSET_DROP = 24
_CAPABILITY_VERSION = 0x20080522
_KEPT_CAPABILITIES = (1, 3)  # CAP_DAC_OVERRIDE, CAP_FOWNER
_SET_MASK = 2
# Since when a set of processes has numbers up to one of its own.
_OWN_NUMBERS = (6, 14)
# Bytes of a set of signals, as libc has it.
SIGNAL_SET = 128


def is_shared_memory(path: str) -> bool:
    """Whether a path is of the file system in /dev/shm, which can be mounted elsewhere, too."""
    try:
        return os.stat(path).st_dev == memory_device()
    except OSError:
        return False


def memory_device() -> int | None:
    """The number of the file system in /dev/shm; None where it has none of its own."""
    try:
        device = os.stat(SHARED_MEMORY).st_dev
        return device if device != os.stat("/").st_dev else None
    except OSError:
        return None


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends."""
    checked(LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))


def end_with_parent(end: bool = True) -> None:
    """Be killed as soon as the parent ends; or no more."""
    checked(LIBC.prctl(_PR_SET_PDEATHSIG, 9 if end else 0, 0, 0, 0))


def gain_nothing() -> None:
    """No set-user-ID program gives rights to this process, or to what it starts.

    Raises:
        OSError: the system does not permit it.
    """
    checked(LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def close_to_others() -> None:
    """Nobody of this user looks into this process, but who has the right to look into all.

    As the first of a set of processes it is not ended by one of them either, once `block_signals`
    keeps off those that it would handle. A program that it starts is open again.

    Raises:
        OSError: the system does not permit it.
    """
    checked(LIBC.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0))


def block_signals(blocked: bool) -> None:
    """No signal that can be kept off reaches this process; or again all of them do.

    Raises:
        OSError: the system does not permit it.
    """
    mask = (b"\xff" if blocked else b"\0") * SIGNAL_SET
    number = LIBC.pthread_sigmask(_SET_MASK, mask, None)
    if number:
        raise OSError(number, os.strerror(number))


def limit_processes(most: int) -> None:
    """No more processes and threads in the set that this process is the first of; 0 is no limit.

    Before Linux 6.14 it would be the number of the whole machine, and is left alone.
    """
    if most and _version() >= _OWN_NUMBERS:
        try:
            with open("/proc/sys/kernel/pid_max", "wb", buffering=0) as file:
                file.write(b"%d" % most)
        except OSError:
            pass  # the system needs more for itself


def _version() -> tuple[int, ...]:
    """The first two parts of the version of this system; nothing of one that is none."""
    try:
        return tuple(map(int, os.uname().release.split(".")[:2]))
    except ValueError:
        return ()


def drop_privileges() -> None:
    """Root is who may read and write what others own, and no more.

    With its other rights root sees into every process, whatever Landlock says. Nobody gains
    rights from a set-user-ID program either.

    Raises:
        OSError: rights could not be given up.
    """
    gain_nothing()
    for capability in range(64):
        if capability in _KEPT_CAPABILITIES:
            continue
        if LIBC.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) < 0:
            break  # the last that the kernel knows, or none of them is ours to drop
    header, sets = struct.pack("=Ii", _CAPABILITY_VERSION, 0), ctypes.create_string_buffer(24)
    checked(LIBC.capget(header, sets))
    # Without new ones a program that is started gets no right that is not among these.
    kept = sum(1 << capability for capability in _KEPT_CAPABILITIES)
    effective, permitted, *_ = struct.unpack("=6I", sets)
    checked(LIBC.capset(header, struct.pack("=6I", effective & kept, permitted & kept, *[0] * 4)))
