"""What processes hold open and have no memory for: files without a name, sockets, pipes.

Imports as little as the supervisor, which asks.
"""

from __future__ import annotations

import os

from .memory import taken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .look import Look

# include/uapi/linux/stat.h
_KIND, _FILE, _SOCKET, _PIPE = 0o170000, 0o100000, 0o140000, 0o010000
_BUFFER_OF_A_SOCKET = "/proc/sys/net/core/wmem_default"
_USUAL_BUFFER = 212_992
_BUFFER_OF_A_PIPE = 65_536
# Of what the kernel lets a user have on the whole machine, and counts for nobody else: the pages of
# pipes are 1,024 times a buffer, and each descriptor of epoll can watch as many as a process opens.
_MOST_PIPES, _MOST_WATCHERS = 512, 256
_WATCHER = "anon_inode:[eventpoll]"


class Held:
    """What processes that we may look into hold, each thing once.

    Files without a name that lie on one of the devices in `disks` are `n_files` of `n_bytes`; all
    others are in `memory`, in bytes, and named by device and inode in `in_memory`. Those that are
    `mapped`, and open no more, are looked for where it says so. How full a socket or a pipe is
    cannot be asked, so each counts as what it can take; more pipes, or descriptors of epoll, than
    leave some for the user's other programs count as more than all memory. `hidden` is whether one
    of the processes cannot be looked into: whoever runs a program that nobody may read is no
    other's to look at.

    Raises:
        TooLong: there is too much to look at.
    """

    def __init__(
        self, pids: Iterable[int], disks: Iterable[int], look: Look, *, mapped: bool
    ) -> None:
        self.memory = self.n_bytes = self.n_files = 0
        self.hidden = False
        self.in_memory: set[tuple[int, int]] = set()
        disks = set(disks)
        seen: set[tuple[int, int]] = set()
        n_pipes = self._n_watchers = 0
        for pid in pids:
            for found in (
                *self._open(pid),
                *_program(pid),
                *(_mapped(pid, look) if mapped else ()),
            ):
                look.go_on()
                kind, key = found.st_mode & _KIND, (found.st_dev, found.st_ino)
                if key in seen or (kind == _FILE and found.st_nlink):
                    continue
                seen.add(key)
                if kind == _SOCKET:
                    self.memory += _buffer()
                elif kind == _PIPE:
                    self.memory += _BUFFER_OF_A_PIPE
                    n_pipes += 1
                elif kind == _FILE and found.st_dev in disks:
                    self.n_files += 1
                    self.n_bytes += found.st_blocks * 512
                elif kind == _FILE:
                    self.in_memory.add(key)
                    self.memory += found.st_blocks * 512
        if n_pipes > _MOST_PIPES or self._n_watchers > _MOST_WATCHERS:
            self.memory += 1 << 62

    def _open(self, pid: int) -> Iterator[os.stat_result]:
        folder = f"/proc/{pid}/fd"
        try:
            names = os.listdir(folder)
        except PermissionError:
            # One that has ended has no memory.
            self.hidden = self.hidden or taken([pid]) > 0
            return
        except OSError:
            return  # it has ended
        for name in names:
            try:
                found = os.stat(f"{folder}/{name}")
                # All that has no kind is one thing by its numbers.
                if not found.st_mode & _KIND and os.readlink(f"{folder}/{name}") == _WATCHER:
                    self._n_watchers += 1
            except OSError:
                continue
            yield found


def _program(pid: int) -> Iterator[os.stat_result]:
    """The program that a process is, which may be a file without a name, too."""
    try:
        yield os.stat(f"/proc/{pid}/exe")
    except OSError:
        return


def _mapped(pid: int, look: Look) -> Iterator[os.stat_result]:
    """Files without a name that a process has mapped; only root can ask how much of them is there.

    A page that is still mapped keeps the whole file.
    """
    if os.geteuid() != 0:
        return
    try:
        with open(f"/proc/{pid}/maps", "rb") as file:
            deleted = []
            for line in file:
                look.go_on()
                if line.endswith(b" (deleted)\n"):
                    deleted.append(line.split(b" ", 1)[0])
    except OSError:
        return
    for place in deleted:
        look.go_on()
        first, _, last = place.decode().partition("-")
        try:
            yield os.stat(f"/proc/{pid}/map_files/{int(first, 16):x}-{int(last, 16):x}")
        except OSError:
            continue


def _buffer() -> int:
    """What a socket takes before it makes its sender wait; the filter lets nobody raise it."""
    try:
        with open(_BUFFER_OF_A_SOCKET, "rb") as file:
            return int(file.read())
    except (OSError, ValueError):
        return _USUAL_BUFFER
