"""The layers of the sandbox by their names, and the places that they know, for all who ask.

Without a system call: what only asks for names loads nothing that makes one.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

LANDLOCK = "landlock"
NAMESPACES = "namespaces"
LAYERS = (LANDLOCK, NAMESPACES)
# Part of either layer.
FILTER = "seccomp"

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
SHARED_MEMORY = "/dev/shm"  # noqa: S108  # the place itself, not a file in it
# What is somebody's own: nothing in it is a program's business that has not been told of it.
PRIVATE = (
    *(SHARED_MEMORY, "/tmp", "/var/tmp", "/home", "/root"),  # noqa: S108
    *("/mnt", "/media", "/srv", "/run", "/usr/src", "/usr/local/src", "/usr/local/etc"),
)
# What a system is made of in /: in all else people keep what is theirs, /data or /scratch.
OF_SYSTEM = frozenset(
    (
        *("bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "etc", "nix"),
        *("dev", "proc", "sys"),
    )
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


def pairs(paths: Iterable[str | tuple[str, str]]) -> list[tuple[str, str]]:
    """The paths, each with the real one where it leads; with "" where that is yet to be found."""
    return [(path, "") if isinstance(path, str) else path for path in paths]
