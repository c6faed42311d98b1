"""What the kernel keeps a program from: Landlock and namespaces, by plain system calls.

It runs in the very process that becomes the program, so it imports next to nothing.
"""

from __future__ import annotations

import ctypes
import os
import struct

from .kernel import LIBC, call, checked, fork

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LANDLOCK = "landlock"
NAMESPACES = "namespaces"
LAYERS = (LANDLOCK, NAMESPACES)

# What programs read of a system: nothing in it is a person's own, nor only for root's eyes.
_SYSTEM = (
    *("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/nix/store"),
    *("/sys/devices/system", "/sys/fs/cgroup", "/sys/kernel/mm/transparent_hugepage"),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload"),
    *("/etc/localtime", "/etc/timezone", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf"),
    *("/etc/hosts", "/etc/host.conf", "/etc/resolv.conf", "/etc/gai.conf", "/etc/services"),
    *("/etc/protocols", "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs"),
    *("/etc/pki/ca-trust", "/etc/ca-certificates", "/etc/fonts", "/etc/mime.types"),
    *("/etc/os-release", "/etc/alternatives", "/etc/locale.alias", "/etc/locale.conf"),
)
# Of /proc, where it tells of all processes: the system's, and what a program may know of itself.
_OF_PROC = tuple(
    f"/proc/{name}"
    for name in (
        *("self", "sys", "cpuinfo", "meminfo", "stat", "uptime", "loadavg", "version"),
        *("filesystems", "vmstat", "pressure", "cgroups"),
    )
)
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
SHARED_MEMORY = "/dev/shm"  # noqa: S108  # the place itself, not a file in it
# What is somebody's own: nothing in it is a program's business that has not been told of it.
_SHARED = (SHARED_MEMORY, "/tmp", "/var/tmp")  # noqa: S108
_PRIVATE = (*_SHARED, "/home", "/root", "/mnt", "/media", "/srv", "/run")
# How much, and how many, a program can have in each of its folders of scratch.
SCRATCH_BYTES, SCRATCH_FILES = 1 << 30, 20_000
# With the network: where a system that looks names up by a service of its own keeps who to ask.
_RESOLVER = "/etc/resolv.conf"

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAPBSET_DROP = 24
_CAPABILITY_VERSION = 0x20080522
_KEPT_CAPABILITIES = (1, 3)  # CAP_DAC_OVERRIDE, CAP_FOWNER
_NEW_USER, _NEW_PID, _NEW_NET, _NEW_IPC, _NEW_MOUNTS = (
    *(0x10000000, 0x20000000, 0x40000000, 0x08000000, 0x00020000),
)
_SET_MASK, _SIGNAL_SET = 2, 128
_PRIVATE_TREE = 0x4000 | 0x40000
_BIND = 0x1000 | 0x4000
_NO_SUID_DEV, _NO_EXEC = 0x2 | 0x4, 0x8
# include/uapi/linux/mount.h
_MOUNT_SETATTR, _READ_ONLY, _AT_CWD, _AT_RECURSIVE = 442, 1, -100, 0x8000

# macOS has none, and this module is imported there, too.
_O_PATH: int = getattr(os, "O_PATH", 0)

# include/uapi/linux/stat.h
_KIND, _FOLDER = 0o170000, 0o040000

# include/uapi/linux/landlock.h; the numbers are the same on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_FIRST_RIGHTS = _REFER - 1
# The versions since which files cannot be cut short, and processes outside not be ended.
TRUNCATION, SIGNALS = 3, 6
_READING = _EXECUTE | _READ_FILE | _READ_DIR
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends."""
    checked(LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))


def end_with_parent() -> None:
    """Be killed as soon as the parent ends."""
    checked(LIBC.prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0))


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
    mask = (b"\xff" if blocked else b"\0") * _SIGNAL_SET
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
    checked(LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
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


def fork_apart(*, network: bool) -> int:
    """As `os.fork`; the copy has left the others' users, mounts, processes, queues and network.

    It is the first of a new set of processes, whose end is the end of all.

    Raises:
        OSError: the system does not permit it.
    """
    return fork(_NEW_USER | _NEW_MOUNTS | _NEW_PID | _NEW_IPC | (0 if network else _NEW_NET))


def map_users(pid: int) -> None:
    """Let a process in namespaces of its own be the users that its parent can be.

    Raises:
        OSError: the system does not permit it.
    """
    user, group = os.getuid(), os.getgid()
    if user == 0:
        # All that there are, so that root goes on reading what belongs to others; unless it is
        # a root that may not become them either.
        try:
            _write(f"/proc/{pid}/uid_map", _same("/proc/self/uid_map"))
        except PermissionError:
            pass
        else:
            _write(f"/proc/{pid}/gid_map", _same("/proc/self/gid_map"))
            return
    _write(f"/proc/{pid}/setgroups", b"deny")
    _write(f"/proc/{pid}/uid_map", b"%d %d 1" % (user, user))
    _write(f"/proc/{pid}/gid_map", b"%d %d 1" % (group, group))


def _same(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:
        ranges = [line.split() for line in file.readall().splitlines()]
    return b"".join(b"%b %b %b\n" % (first, first, count) for first, _, count in ranges)


def _write(path: str, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, data)
    finally:
        os.close(descriptor)


def hide(
    readable: Iterable[str],
    writable: Sequence[str],
    scratch: Sequence[str] = (),
    *,
    network: bool,
) -> None:
    """What is people's own, devices, sockets and processes of others out of sight, all read-only.

    What the program reads or writes stays where it is, and `writable` can be written; what it
    writes to `scratch` is in memory, and gone with it.

    Raises:
        OSError: the system does not permit all of it.
    """
    checked(LIBC.mount(b"none", b"/", None, _PRIVATE_TREE, None))
    checked(LIBC.mount(b"proc", b"/proc", b"proc", _NO_SUID_DEV | _NO_EXEC, None))
    given = [*readable, *writable, *([_RESOLVER] if network else [])]
    wanted = sorted({place for path in given for place in (_normal(path), _real(path))})
    _cover("/dev", _DEVICES)
    for name, target in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        os.symlink(f"/proc/self/{target}", f"/dev/{name}")
    os.mkdir(SHARED_MEMORY)
    for place in filter(None, dict.fromkeys(map(_real, _PRIVATE))):
        if place not in wanted and _has_something_to_hide(place):
            _cover(place, [path for path in wanted if path.startswith(f"{place}/")])
    for path in scratch:
        options = f"size={SCRATCH_BYTES},nr_inodes={SCRATCH_FILES},mode=0700".encode()
        checked(LIBC.mount(b"tmpfs", os.fsencode(path), b"tmpfs", _NO_SUID_DEV, options))
    _make_read_only([*writable, SHARED_MEMORY])


def _normal(path: str) -> str:
    return os.path.normpath(path)


def _real(path: str) -> str:
    """Where links lead; nowhere where nothing is. In a tenth of the time of `os.path.realpath`."""
    try:
        descriptor = os.open(path, _O_PATH | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)


def _make_read_only(but: Iterable[str]) -> None:
    """No file system can be changed, not even the mode or time of a file, but in these places.

    Landlock says nothing of modes, times and attributes.
    """
    _set_mount(b"/", _AT_RECURSIVE, set_=_READ_ONLY)
    for path in but:
        if os.path.isdir(path):
            place = os.fsencode(path)
            checked(LIBC.mount(place, place, None, _BIND, None))
            _set_mount(place, 0, clear=_READ_ONLY)


def _set_mount(place: bytes, flags: int, *, set_: int = 0, clear: int = 0) -> None:
    attributes = struct.pack("=QQQQ", set_, clear, 0, 0)
    call(_MOUNT_SETATTR, _AT_CWD, place, flags, attributes, len(attributes))


def _has_something_to_hide(place: str) -> bool:
    """Whether anything is in a folder; where people leave and share things, always."""
    if place in _SHARED:
        return os.path.isdir(place)
    try:
        return bool(os.listdir(place))
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def _cover(place: str, kept: Sequence[str]) -> None:
    """An empty file system over a folder, with the same old things in it where they were.

    Raises:
        OSError: the system does not permit it.
    """
    opened = []
    for path in kept:
        try:
            opened.append((path, os.open(path, _O_PATH | os.O_CLOEXEC)))
        except OSError:
            continue  # what is not there is not missed
    try:
        options = b"size=1g,mode=1777"
        checked(LIBC.mount(b"tmpfs", place.encode(), b"tmpfs", _NO_SUID_DEV, options))
        for path, descriptor in opened:
            _put_back(path, descriptor)
    finally:
        for _, descriptor in opened:
            os.close(descriptor)


def _put_back(path: str, descriptor: int) -> None:
    is_folder = os.fstat(descriptor).st_mode & _KIND == _FOLDER
    try:
        _make(path, is_folder)
    except FileExistsError:
        return  # it came with a folder around it
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path))
        _make(path, is_folder)
    old = f"/proc/self/fd/{descriptor}".encode()
    checked(LIBC.mount(old, os.fsencode(path), None, _BIND, None))


def _make(path: str, is_folder: bool) -> None:
    if is_folder:
        os.mkdir(path)
    else:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def landlock(
    readable: Sequence[str],
    writable: Sequence[str],
    listed: Sequence[str] = (),
    *,
    network: bool,
    alone: bool = False,
) -> int:
    """Reach no file but these and the system's, no TCP, no process outside, from here on.

    Of what lies in `listed` only the names can be read. `alone`, without namespaces, /proc tells
    of everybody's processes; then only what it tells of this one can be read. The version of
    Landlock that the kernel has is returned: see `SIGNALS`.

    Raises:
        OSError: the kernel has no Landlock; nothing was changed.
    """
    version = call(_CREATE_RULESET, None, 0, 1)
    files = _FIRST_RIGHTS
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV)):
        files |= right if version >= since else 0
    ports, scopes = 0 if network or version < 4 else 3, 3 if version >= SIGNALS else 0
    attributes = struct.pack("=QQQ", files, ports, scopes)
    size = 24 if version >= SIGNALS else 16 if version >= 4 else 8
    ruleset = call(_CREATE_RULESET, attributes[:size], size, 0)
    try:
        for path in (*_SYSTEM, *(_OF_PROC if alone else ("/proc",)), *readable):
            _permit(ruleset, path, _READING)
        for path in ("/proc", *listed):
            _permit(ruleset, path, _READ_DIR)
        for path in (*_DEVICES, *writable):
            _permit(ruleset, path, files)
        # Of everybody's shared memory nothing is found but what one knows the name of.
        _permit(ruleset, SHARED_MEMORY, files & ~_READ_DIR if alone else files)
        call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)
    return version


def _permit(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, _O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there cannot be read either
    try:
        if os.fstat(descriptor).st_mode & _KIND != _FOLDER:
            rights &= _ON_FILES
        call(_ADD_RULE, ruleset, 1, struct.pack("=Qi", rights, descriptor), 0)
    finally:
        os.close(descriptor)
