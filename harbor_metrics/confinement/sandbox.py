"""The layers of the sandbox by their names, what both know, and what a process does with itself.

It runs in the very process that becomes the program, so it imports next to nothing.
"""

from __future__ import annotations

import ctypes
import os
import struct

from .kernel import LIBC, checked

LANDLOCK = "landlock"
NAMESPACES = "namespaces"
LAYERS = (LANDLOCK, NAMESPACES)

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
SHARED_MEMORY = "/dev/shm"  # noqa: S108  # the place itself, not a file in it
# What is somebody's own: nothing in it is a program's business that has not been told of it.
SHARED = (SHARED_MEMORY, "/tmp", "/var/tmp")  # noqa: S108
PRIVATE = (
    *(*SHARED, "/home", "/root", "/mnt", "/media", "/srv", "/run"),
    *("/usr/src", "/usr/local/src", "/usr/local/etc"),
)
# Where programs and what they read lie, in / and in /usr and /usr/local.
OF_PROGRAMS = (
    *("bin", "sbin", "lib", "lib32", "lib64", "libx32", "libexec"),
    *("include", "share", "games"),
)
# In a container those of its own control group, of which libraries ask how much there is to use.
_OF_GROUP = (
    *("cgroup.controllers", "cpu.max", "memory.max", "memory.high", "memory.current"),
    *("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us", "memory/memory.limit_in_bytes"),
)
# What programs read of the machine: nothing of its devices, among which are its networks.
OF_MACHINE = (
    *("/sys/devices/system", "/sys/kernel/mm/transparent_hugepage"),
    *(f"/sys/fs/cgroup/{name}" for name in _OF_GROUP),
)
# How much, and how many, a program can have in each of its folders of scratch.
SCRATCH_BYTES, SCRATCH_FILES = 1 << 30, 20_000

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAPBSET_DROP = 24
_CAPABILITY_VERSION = 0x20080522
_KEPT_CAPABILITIES = (1, 3)  # CAP_DAC_OVERRIDE, CAP_FOWNER
_SET_MASK = 2
# Bytes of a set of signals, as libc has it.
SIGNAL_SET = 128


def is_shared_memory(path: str) -> bool:
    """Whether a path is of the file system in /dev/shm, which can be mounted elsewhere, too."""
    try:
        device = os.stat(SHARED_MEMORY).st_dev
        return os.stat(path).st_dev == device != os.stat("/").st_dev
    except OSError:
        return False


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
