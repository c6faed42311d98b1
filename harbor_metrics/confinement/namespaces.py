"""Users, mounts, processes, queues and a network of its own for a program.

It runs in the process that starts the program, so it imports next to nothing.
"""

from __future__ import annotations

import os
import struct

from .kernel import LIBC, O_PATH, call, checked, fork, is_folder
from .sandbox import DEVICES, PRIVATE, SCRATCH_BYTES, SCRATCH_FILES, SHARED, SHARED_MEMORY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# With the network: where a system that looks names up by a service of its own keeps who to ask.
_RESOLVER = "/etc/resolv.conf"

_NEW_USER, _NEW_PID, _NEW_NET, _NEW_IPC, _NEW_MOUNTS = (
    *(0x10000000, 0x20000000, 0x40000000, 0x08000000, 0x00020000),
)
_PRIVATE_TREE = 0x4000 | 0x40000
_BIND = 0x1000 | 0x4000
_NO_SUID_DEV, _NO_EXEC = 0x2 | 0x4, 0x8
# include/uapi/linux/mount.h
_MOUNT_SETATTR, _AT_CWD, _AT_RECURSIVE = 442, -100, 0x8000
_READ_ONLY, _NO_DEVICES = 1, 4


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


def enter() -> None:
    """Devices, sockets and processes of others out of sight, whatever a program is to read.

    Raises:
        OSError: the system does not permit all of it.
    """
    checked(LIBC.mount(b"none", b"/", None, _PRIVATE_TREE, None))
    _mount_processes()
    _cover("/dev", DEVICES)
    for name, target in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        os.symlink(f"/proc/self/{target}", f"/dev/{name}")
    os.mkdir(SHARED_MEMORY)


def hide(
    readable: Iterable[str],
    writable: Sequence[str],
    scratch: Sequence[str] = (),
    *,
    network: bool,
) -> None:
    """After `enter`: what is people's own out of sight, and everything read-only.

    What the program reads or writes stays where it is, and `writable` can be written; what it
    writes to `scratch` is in memory, and gone with it.

    Raises:
        OSError: the system does not permit all of it.
    """
    given = [*readable, *writable, *([_RESOLVER] if network else [])]
    wanted = sorted({place for path in given for place in (os.path.normpath(path), _real(path))})
    for place in filter(None, dict.fromkeys(map(_real, PRIVATE))):
        if place not in wanted and _has_something_to_hide(place):
            _cover(place, [path for path in wanted if path.startswith(f"{place}/")])
    for path in scratch:
        options = f"size={SCRATCH_BYTES},nr_inodes={SCRATCH_FILES},mode=0700".encode()
        checked(LIBC.mount(b"tmpfs", os.fsencode(path), b"tmpfs", _NO_SUID_DEV, options))
    _make_read_only([*writable, SHARED_MEMORY])


def _mount_processes() -> None:
    """Of the processes here a program sees those that it could look into: not who started it."""
    flags = _NO_SUID_DEV | _NO_EXEC
    if LIBC.mount(b"proc", b"/proc", b"proc", flags, b"hidepid=ptraceable") < 0:
        # Before Linux 5.8.
        checked(LIBC.mount(b"proc", b"/proc", b"proc", flags, None))


def _real(path: str) -> str:
    """Where links lead; nowhere where nothing is. In a tenth of the time of `os.path.realpath`."""
    try:
        descriptor = os.open(path, O_PATH | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)


def _make_read_only(but: Iterable[str]) -> None:
    """No file system can be changed, not even the mode or time of a file, but in these places.

    Landlock says nothing of modes, times and attributes. Devices are those in /dev, and no others.
    """
    _set_mount(b"/", _AT_RECURSIVE, set_=_READ_ONLY | _NO_DEVICES)
    for device in DEVICES:
        try:
            _set_mount(device.encode(), 0, clear=_NO_DEVICES)
        except OSError:
            continue  # it is not there, or was no device for us before
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
    if place in SHARED:
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
            opened.append((path, os.open(path, O_PATH | os.O_CLOEXEC)))
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
    folder = is_folder(descriptor)
    try:
        _make(path, folder)
    except FileExistsError:
        return  # it came with a folder around it
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path))
        _make(path, folder)
    old = f"/proc/self/fd/{descriptor}".encode()
    try:
        checked(LIBC.mount(old, os.fsencode(path), None, _BIND, None))
    except FileNotFoundError:
        # It was deleted meanwhile.
        (os.rmdir if folder else os.unlink)(path)


def _make(path: str, folder: bool) -> None:
    if folder:
        os.mkdir(path)
    else:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
