"""Users, mounts, processes, queues and a network of its own for a program.

It runs in the process that starts the program, so it imports next to nothing.
"""

from __future__ import annotations

import os
import struct

from . import mounts, places
from .kernel import LIBC, O_PATH, call, checked, fork, is_folder, real

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# With the network: where a system that looks names up by a service of its own keeps who to ask.
_RESOLVER = "/etc/resolv.conf"

# Of the files of /proc that of the whole system, and not of processes, which is nobody's business.
_OF_SYSTEM = (
    *("keys", "key-users", "cmdline", "kallsyms", "slabinfo", "kpagecount", "kpageflags"),
    # Which files other processes have locked, and where in them.
    *("locks", "bus/input/devices"),
    *("kpagecgroup", "timer_list", "sched_debug", "vmallocinfo", "pagetypeinfo"),
)
# Settings and keys of the networks, also of those that come; programs ask for one of them.
_OF_NETWORKS, _ASKED_FOR = "/proc/sys/net", "/proc/sys/net/core/somaxconn"

_NEW_USER, _NEW_PID, _NEW_NET, _NEW_IPC, _NEW_MOUNTS = (
    *(0x10000000, 0x20000000, 0x40000000, 0x08000000, 0x00020000),
)
_KINDS = ("user", "pid", "net", "ipc", "mnt")
_PRIVATE_TREE = 0x4000 | 0x40000
_BIND = 0x1000 | 0x4000
_NO_SUID_DEV, _NO_EXEC = 0x2 | 0x4, 0x8
# include/uapi/linux/mount.h
_MOUNT_SETATTR, _AT_CWD, _AT_RECURSIVE = 442, -100, 0x8000
_READ_ONLY, _NO_DEVICES = 1, 4

# Too many processes or open files, too little memory: tells nothing of what the system can do.
_OF_THE_MOMENT = (3, 11, 12, 23, 24)
# As many namespaces as there may be, or none may be at all.
USED_UP = (28, 87)


def lacking(error: OSError) -> bool:
    """Whether an error of what is done before anything of a program is known is the system's."""
    if error.errno in USED_UP:
        return any(_is_zero(f"/proc/sys/user/max_{kind}_namespaces") for kind in _KINDS)
    return error.errno not in _OF_THE_MOMENT


def _is_zero(limit: str) -> bool:
    try:
        with open(limit, "rb", buffering=0) as file:
            return file.read(9).strip() == b"0"
    except OSError:
        return False


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

    It does once all that `hide` does, so that what the system cannot do is known by its end.

    Raises:
        OSError: the system does not permit all of it.
    """
    checked(LIBC.mount(b"none", b"/", None, _PRIVATE_TREE, None))
    _mount_processes()
    # What a program is to read can lie there, and is looked for when that is known.
    _cover("/dev", [(path, path) for path in (*places.DEVICES, places.SHARED_MEMORY)])
    for name, target in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        os.symlink(f"/proc/self/{target}", f"/dev/{name}")
    if not os.path.isdir(places.SHARED_MEMORY):
        os.mkdir(places.SHARED_MEMORY)
    if os.path.isdir("/sys"):
        _cover("/sys", [(path, path) for path in places.OF_MACHINE])
    _hide_of_system()
    _set_mount(b"/dev", 0, set_=_READ_ONLY)


def hide(
    readable: Iterable[str | tuple[str, str]],
    writable: Sequence[str],
    scratch: Sequence[str],
    hidden: Sequence[str],
    *,
    network: bool,
) -> None:
    """After `enter`: what is people's own out of sight, and everything read-only.

    What the program reads or writes stays where it is, and `writable`, by real paths, can be
    written; what it writes to `scratch` is in memory, and gone with it. What is `hidden` is so
    within what it reads.

    Raises:
        OSError: something of it cannot be hidden.
    """
    # Where a program wrote before, it can have put a link into the place of a folder.
    written = [(path, path) for path in writable]
    wanted = _where([*readable, *written, *([_RESOLVER] if network else [])])
    _cover_all(_private([*mounts.of_others(wanted), *_in_root(), *hidden], wanted), wanted)
    for path in scratch:
        _mount_memory(path, places.SCRATCH_FILES, mode="0700")
    _make_read_only([*(path for path in writable if path in wanted), places.SHARED_MEMORY])


def _in_root() -> list[str]:
    """What people have made beside the system. Where links lead is hidden there."""
    with os.scandir("/") as entries:
        return [
            entry.path
            for entry in entries
            if entry.name not in places.OF_SYSTEM and not entry.is_symlink()
        ]


def _mount_processes() -> None:
    """Of the processes here a program sees those that it could look into: not who started it."""
    flags = _NO_SUID_DEV | _NO_EXEC
    if LIBC.mount(b"proc", b"/proc", b"proc", flags, b"hidepid=ptraceable") < 0:
        # Before Linux 5.8.
        checked(LIBC.mount(b"proc", b"/proc", b"proc", flags, None))


def _hide_of_system() -> None:
    """What /proc tells of keys and of memory, and how the system was started, cannot be opened."""
    if os.path.isdir(_OF_NETWORKS):
        _cover(_OF_NETWORKS, [(_ASKED_FOR, _ASKED_FOR)])
    for name in _OF_SYSTEM:
        path = f"/proc/{name}"
        if os.access(path, os.R_OK):
            _shut(path)


def _is_folder(place: str) -> bool | None:
    """Whether a place is a folder, or something else; None where it lies in what is covered."""
    try:
        # Without having an automounter mount it.
        descriptor = os.open(place, O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        return is_folder(descriptor)
    finally:
        os.close(descriptor)


def _shut(path: str) -> None:
    """Let a file be a device that is none, as `hide` makes it: it cannot be opened."""
    _mount_at("/dev/null", path)


def _mount_at(old: str, path: str) -> None:
    checked(LIBC.mount(os.fsencode(old), os.fsencode(path), None, _BIND, None))


def _where(paths: Iterable[str | tuple[str, str]]) -> dict[str, str]:
    """By name, in order, where each leads; and that by its own. Without those that lead nowhere.

    Of a pair it is known where: nowhere else by now.
    """
    found: dict[str, str] = {}
    for path, known in places.pairs(paths):
        try:
            place = real(known or path)
        except OSError:
            continue
        if not known or place == known:
            found[os.path.normpath(path)] = found[place] = place
    return dict(sorted(found.items()))


def _private(hidden: Sequence[str], wanted: Iterable[str]) -> list[str]:
    """The places to hide, the outer first, but those that are wanted as they are."""
    # What a program shares with others in memory is none of what others have there.
    shown = tuple(f"{path}/" for path in wanted if path != places.SHARED_MEMORY)
    found: dict[str, None] = {}
    for path in (*places.PRIVATE, *hidden):
        try:
            place = real(path)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue  # nobody finds anything in it
        inside = f"{place}/"
        if inside in shown:
            continue
        # What lies in such a place is hidden with it, but where it is shown again.
        covered = inside.startswith(tuple(f"{place}/" for place in found))
        if path in places.PRIVATE or inside.startswith(shown) or not covered:
            found[place] = None
    return list(found)


def _make_read_only(but: Iterable[str]) -> None:
    """No file system can be changed, not even the mode or time of a file, but in these places.

    Landlock says nothing of modes, times and attributes. Devices are those in /dev, and no others.
    """
    _set_mount(b"/", _AT_RECURSIVE, set_=_READ_ONLY | _NO_DEVICES)
    for device in places.DEVICES:
        try:
            _set_mount(device.encode(), 0, clear=_NO_DEVICES)
        except OSError:
            continue  # it is not there, or was no device for us before
    for path in but:
        if os.path.isdir(path):
            _mount_at(path, path)
            _set_mount(os.fsencode(path), 0, clear=_READ_ONLY)


def _set_mount(place: bytes, flags: int, *, set_: int = 0, clear: int = 0) -> None:
    attributes = struct.pack("=QQQQ", set_, clear, 0, 0)
    call(_MOUNT_SETATTR, _AT_CWD, place, flags, attributes, len(attributes))


def _cover_all(private: Iterable[str], wanted: dict[str, str]) -> None:
    """Cover folders and shut files, but for what is wanted in them.

    No folder is listed first: that can be to have it mounted, and what is empty can be filled.
    """
    empty = -1
    try:
        for place in private:
            folder = _is_folder(place)
            if folder is None:
                continue
            if not folder:
                _shut(place)
                continue
            kept = [each for each in wanted.items() if each[0].startswith(f"{place}/")]
            if kept or place == places.SHARED_MEMORY:
                _cover(place, kept, exactly=True)
            elif empty < 0:
                _cover(place, ())
                empty = os.open(place, O_PATH | os.O_CLOEXEC)
            else:
                # The same for all: to mount another, and to end it, takes several times as long.
                _mount_at(f"/proc/self/fd/{empty}", place)
    finally:
        if empty >= 0:
            os.close(empty)


def _cover(place: str, kept: Sequence[tuple[str, str]], *, exactly: bool = False) -> None:
    """An empty file system over a folder, with the same old things in it where they were.

    Of what is kept the name is given, and where it leads. A link is a link again: as another name
    of the same folder it would show what is hidden there. `exactly`, none has come to the place of
    what is kept.

    Raises:
        OSError: the system does not permit it.
    """
    old = os.open(place, O_PATH | os.O_CLOEXEC)
    try:
        # Not as others have it: in a folder where all may write and only owners delete nobody opens
        # a device of root's as if it had to be made, which is how most programs open /dev/null.
        _mount_memory(place, places.SCRATCH_FILES + len(kept), mode="0755")
        for path, leads_to in kept:
            if path == leads_to:
                _put_back(path, path.removeprefix(f"{place}/"), old, exactly=exactly)
        for path, leads_to in kept:
            if path != leads_to:
                _link(path, leads_to)
    finally:
        os.close(old)


def _link(path: str, leads_to: str) -> None:
    try:
        if not os.path.isdir(os.path.dirname(path)):
            os.makedirs(os.path.dirname(path))
        os.symlink(leads_to, path)
    except FileExistsError:
        pass  # it came with a folder around it


def _mount_memory(place: str, most_files: int, *, mode: str) -> None:
    options = f"size={places.SCRATCH_BYTES},nr_inodes={most_files},mode={mode}".encode()
    checked(LIBC.mount(b"tmpfs", os.fsencode(place), b"tmpfs", _NO_SUID_DEV, options))


def _put_back(path: str, inside: str, old: int, *, exactly: bool) -> None:
    try:
        descriptor = os.open(inside, O_PATH | os.O_CLOEXEC, dir_fd=old)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return  # what is not there is not missed
    try:
        if not exactly or os.readlink(f"/proc/self/fd/{descriptor}") == path:
            _bind(path, descriptor)
    finally:
        os.close(descriptor)


def _bind(path: str, descriptor: int) -> None:
    folder = is_folder(descriptor)
    try:
        _make(path, folder)
    except FileExistsError:
        return  # it came with a folder around it
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path))
        _make(path, folder)
    try:
        _mount_at(f"/proc/self/fd/{descriptor}", path)
    except FileNotFoundError:
        # It was deleted meanwhile.
        (os.rmdir if folder else os.unlink)(path)


def _make(path: str, folder: bool) -> None:
    if folder:
        os.mkdir(path)
    else:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
