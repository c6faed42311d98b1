"""Landlock: the files, ports and processes that a process and all that it starts can reach.

It runs in the very process that becomes the program, or starts it, so it imports next to nothing.
"""

from __future__ import annotations

import ctypes
import os
import struct

from .kernel import LIBC, O_PATH, call, checked, is_folder, real
from .places import DEVICES, OF_MACHINE, OF_PROGRAMS, SHARED_MEMORY, pairs
from .sandbox import gain_nothing, is_shared_memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Sequence
    from typing import Any

# What programs read of a system: nothing in it is a person's own, though root may have kept some of
# it from others. Of /usr not all: people work in /usr/src, and keep settings in /usr/local/etc.
_OF_USR = (*OF_PROGRAMS, "ssl", "cuda", "nvidia")
_SYSTEM = (
    *(f"{above}/{part}" for above in ("/usr", "/usr/local") for part in _OF_USR),
    *("/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/nix/store"),
    *OF_MACHINE,
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload"),
    *("/etc/localtime", "/etc/timezone", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf"),
    *("/etc/host.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols"),
    *("/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs"),
    *("/etc/pki/ca-trust", "/etc/ca-certificates", "/etc/fonts", "/etc/mime.types"),
    *("/etc/os-release", "/etc/alternatives", "/etc/locale.alias", "/etc/locale.conf"),
)
# What hosts are called, and who is asked about the others: addresses of the machine and around it.
_OF_NETWORKS = ("/etc/hosts", "/etc/resolv.conf")
# Of /proc, where it tells of all processes: the system's, and what a program may know of itself,
# by name, for among its own are the sockets of everybody (`net`, below each of `task`, too), and
# ways to other files.
_OF_ITSELF = (
    *("attr", "auxv", "cgroup", "cmdline", "comm", "cpuset", "environ", "fdinfo", "gid_map", "io"),
    *("limits", "maps", "mountinfo", "mounts", "oom_score", "oom_score_adj", "smaps"),
    *("smaps_rollup", "stat", "statm", "status", "uid_map"),
)
_OF_PROC = tuple(
    f"/proc/{name}"
    for name in (
        # In `sys/net` lie keys.
        *("sys/kernel", "sys/vm", "sys/fs", "sys/net/core/somaxconn"),
        *("cpuinfo", "meminfo", "stat", "uptime", "loadavg", "version"),
        *("filesystems", "vmstat", "pressure", "cgroups"),
        *(f"self/{name}" for name in _OF_ITSELF),
    )
)

# What programs call what they share in memory: locks, pages of numbers, queues.
_SHARED_NAMES = (
    *("sem.", "psm_", "mp-", "pym-", "torch_", "nccl-", "PostgreSQL.", "pulse-shm-"),
    *("lttng-ust-", ".org.chromium."),
)
_WRITTEN_BY_OTHERS = 0o022

# include/uapi/linux/landlock.h; the numbers are the same on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_FIRST_RIGHTS = _REFER - 1
_SCOPE_ADDRESSES, _SCOPE_SIGNALS = 1 << 0, 1 << 1
# The versions since which files cannot be cut short, and processes outside not be ended.
TRUNCATION, SIGNALS = 3, 6
_READING = _EXECUTE | _READ_FILE | _READ_DIR
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV

# With its types: there are hundreds of rules, and `call` finds them out anew each time.
# Not every system has it, and this module is imported there, too.
_ADD: Any = LIBC["syscall"] if hasattr(LIBC, "syscall") else None
if _ADD is not None:
    _ADD.argtypes = (*[ctypes.c_long] * 3, ctypes.c_char_p, ctypes.c_long)
    _ADD.restype = ctypes.c_long


def version() -> int:
    """The version of Landlock that the kernel has: see `SIGNALS`.

    Raises:
        OSError: it has none.
    """
    return call(_CREATE_RULESET, None, 0, 1)


def restrict(
    readable: Sequence[str | tuple[str, str]],
    writable: Sequence[str],
    listed: Sequence[str] = (),
    hidden: Sequence[str] = (),
    *,
    network: bool,
    alone: bool = False,
) -> None:
    """Reach no file but these and the system's, no TCP, no process outside, from here on.

    Of what lies in `listed` only the names can be read, and no more of what is `hidden`, but for
    what is readable in it; these, and what is `writable`, are real paths. `alone`, without
    namespaces, only what /proc tells of this process, since it tells of everybody's then.

    Raises:
        OSError: it cannot be done now; nothing was changed.
    """
    has = version()
    files = _FIRST_RIGHTS
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV)):
        files |= right if has >= since else 0
    ports = 0 if network or has < 4 else 3
    scopes = _SCOPE_ADDRESSES | _SCOPE_SIGNALS if has >= SIGNALS else 0
    attributes = struct.pack("=QQQ", files, ports, scopes)
    size = 24 if has >= SIGNALS else 16 if has >= 4 else 8
    ruleset = call(_CREATE_RULESET, attributes[:size], size, 0)
    try:
        above = {one[:end] for one in hidden for end, c in enumerate(one) if c == "/"}
        for path in (*_SYSTEM, *(_OF_NETWORKS if network else ())):
            _show(ruleset, path, hidden, above)
        for path, place in pairs(readable):
            _show(ruleset, place or path, hidden, above, listed=True, exactly=bool(place))
        for path in _OF_PROC if alone else ("/proc",):
            _permit(ruleset, path, _READING)
        for path in ("/proc", *listed):
            _permit(ruleset, path, _READ_DIR, exactly=True)
        if not alone or not any(one.startswith("/usr/") for one in hidden):
            _permit(ruleset, "/usr", _READ_DIR)
        for path in (*DEVICES, *writable):
            # Where a program wrote before, it can have put a link into the place of a folder.
            _permit(ruleset, path, files, exactly=path not in DEVICES)
        if not alone:
            _permit(ruleset, SHARED_MEMORY, files)
        elif is_shared_alone(SHARED_MEMORY) and not any(
            map(_is_shared_memory, (*(p for p, _ in pairs(readable)), *writable, *listed, *hidden))
        ):
            # Of everybody's nothing is found but what one knows the name of.
            _permit(ruleset, SHARED_MEMORY, files & ~_READ_DIR)
        call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _show(
    ruleset: int,
    path: str,
    hidden: Sequence[str],
    above: Container[str],
    *,
    listed: bool = False,
    exactly: bool = False,
) -> None:
    """Permit to read a path; where something hidden lies in it, what is around that.

    And to list it, where it is to be `listed`: Python finds no module in a folder that it cannot
    list. `exactly`, what it is itself, and not where a link leads that has come to its place.
    """
    try:
        descriptor = os.open(path, O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there cannot be read either
    try:
        place = os.readlink(f"/proc/self/fd/{descriptor}")
        if exactly and place != path:
            return
        if place not in above:
            _add(ruleset, descriptor, _READING)
            return
        if listed:
            _add(ruleset, descriptor, _READ_DIR)
    finally:
        os.close(descriptor)
    _show_around(ruleset, place, hidden, above)


def _show_around(ruleset: int, place: str, hidden: Sequence[str], above: Container[str]) -> None:
    """What lies in a folder but what is hidden, and of those that are above it what lies in them.

    They can be hundreds: of the names in a folder the system tells, too, which are links.
    """
    try:
        with os.scandir(place) as inside:
            for entry in inside:
                # Where a link leads is permitted there, or nowhere.
                if entry.is_symlink() or entry.path in hidden:
                    continue
                if entry.path in above:
                    _show_around(ruleset, entry.path, hidden, above)
                else:
                    _permit(ruleset, entry.path, _READING)
    except OSError:
        pass


def is_shared_alone(folder: str) -> bool:
    """Whether nothing lies in a folder but what programs share there, by how it is called.

    People keep programs, packages and data in it, too. What another user keeps from us is safe.
    """
    try:
        with os.scandir(folder) as entries:
            return all(map(_is_shared, entries))
    except OSError:
        return False


def _is_shared(entry: os.DirEntry[str]) -> bool:
    if entry.name.startswith(_SHARED_NAMES) and entry.is_file(follow_symlinks=False):
        return True
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return True
    return os.geteuid() not in (0, status.st_uid) and not status.st_mode & _WRITTEN_BY_OTHERS


def _is_shared_memory(path: str) -> bool:
    """Whether it is there that a path leads, where no file is safe from who can write there."""
    try:
        return is_shared_memory(path) or f"{real(path)}/".startswith(
            (f"{SHARED_MEMORY}/", f"{real(SHARED_MEMORY)}/")
        )
    except OSError:
        return False


def keep_signals_in(*, moving: bool) -> None:
    """No signal of this process, and of all that it starts, reaches a process outside.

    `moving`: that `restrict`, if it follows, can permit to move files between folders. The first
    kernels that keep signals in refuse it in each domain that does not speak of it; who is in one
    that does can mount nothing.

    Raises:
        OSError: the kernel cannot; nothing was changed.
    """
    attributes = struct.pack("=QQQ", _REFER if moving else 0, 0, _SCOPE_SIGNALS)
    ruleset = call(_CREATE_RULESET, attributes, len(attributes), 0)
    try:
        if moving:
            _permit(ruleset, "/", _REFER)
        try:
            call(_RESTRICT_SELF, ruleset, 0)
        except PermissionError:
            gain_nothing()
            call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _permit(ruleset: int, path: str, rights: int, *, exactly: bool = False) -> None:
    try:
        descriptor = os.open(path, O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there cannot be read either
    try:
        if not exactly or os.readlink(f"/proc/self/fd/{descriptor}") == path:
            _add(ruleset, descriptor, rights)
    finally:
        os.close(descriptor)


def _add(ruleset: int, descriptor: int, rights: int) -> None:
    if not is_folder(descriptor):
        rights &= _ON_FILES
    checked(_ADD(_ADD_RULE, ruleset, 1, struct.pack("=Qi", rights, descriptor), 0))
