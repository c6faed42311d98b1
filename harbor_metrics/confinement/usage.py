"""What a program takes as a whole, all its processes and files together; asked again and again.

The limits of the system are those of each process and each file. Imports as little as the
supervisor, which asks.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from .held import Look

KINDS = ("memory", "processes", "threads", "bytes", "files")
MEMORY, PROCESSES, THREADS, BYTES, FILES = KINDS
# Seconds before it is asked first, when most scripts have ended, and between one look and the next.
_FIRST, _BETWEEN = 0.1, 0.05
# To ask takes no more than one part in so many of the time.
_PART = 20
# But nobody takes for longer than this what is not counted.
_LONGEST = 1.0
# Seconds that a look takes of this processor, and altogether where others keep it busy. Whoever
# takes more to look at can hide what it takes.
_OF_PROCESSOR, _ALTOGETHER = 2.0, 10.0
# A process has its pages mapped again and again that has so many times in memory what all may
# have: to share them out is one request, which nobody can cut short.
_AGAIN = 16
# Of the status of a process: what it has in memory and swapped out, and what says where.
_TABLES = (b"VmPTE:",)
_OF_MEMORY = (b"VmRSS:", b"VmSwap:", *_TABLES)
# Of the memory of this machine: files that lie there and nowhere else, and what the kernel needs
# for itself, for each mapping at least so many bytes. They are counted where that has grown by one
# part in so many of the limit, for others, too, perhaps.
_IN_MEMORY_ALONE, _OF_KERNEL = b"Shmem:", b"SUnreclaim:"
_OF_A_MAPPING, _IF_GROWN = 200, 8
# To look through what is mapped takes longest: it is done so often, and where it can matter.
_EVERY = 8


class Watch:
    """When to ask next, and what of a program's limits it is above; 0 is no limit.

    Of a file system that is `shared` with others all that comes to be in it counts as written.
    """

    def __init__(
        self,
        most: dict[str, int],
        folders: Sequence[str],
        processes: Callable[[], Iterable[int]],
        shared: str = "",
    ) -> None:
        self._most = most
        self._folders = folders
        self._shared = shared
        self._before = _in_use(shared)
        self._kernel = _of_machine(_OF_KERNEL) if most else 0
        self._processes = processes
        self._disks = [_device(folder) for folder in folders]
        self._asked = 0
        self._next = time.monotonic() + _FIRST if any(most.values()) else float("inf")

    def seconds(self) -> float:
        """Until it is to be asked."""
        return max(0.0, self._next - time.monotonic())

    def exceeded(self, deadline: float = float("inf")) -> str:
        """Which limit the program is above, where it is time to ask; else nothing.

        A look ends at the deadline, and says nothing then. Who takes too long to look at is above a
        limit, that of memory if there is one, or of bytes where folders are moved about.
        """
        began = time.monotonic()
        if began < self._next:
            return ""
        # For weight: many a program has ended before it is asked.
        from .held import Look, TooLong

        look = Look(_OF_PROCESSOR, min(deadline, began + _ALTOGETHER))
        try:
            found = self._ask(look)
        except TooLong as error:
            if time.monotonic() >= deadline:
                return ""
            kinds = error.args or (MEMORY, BYTES, FILES)
            found = next((kind for kind in kinds if self._most.get(kind)), "")
        ended = time.monotonic()
        self._next = ended + min(_LONGEST, max(_BETWEEN, _PART * (ended - began)))
        return found

    def _living(self) -> Iterator[int]:
        """The processes, each by the number of a thread that can tell of it, as it is found.

        One that hands on what it has and ends is asked at once, or not at all.
        """
        return map(_living_thread, self._processes())

    def _ask(self, look: Look) -> str:
        # For weight, too.
        from .below import Below
        from .held import Held, TooLong

        most = dict.fromkeys(KINDS, 0) | self._most
        pids: set[int] = set()
        resident = 0
        for pid in self._living():
            pids.add(pid)
            resident += _taken([pid])
        if 0 < most[PROCESSES] < len(pids):
            return PROCESSES
        if 0 < most[THREADS] < _threads(pids):
            return THREADS
        self._asked += 1
        in_doubt = 0 < most[MEMORY] < resident + _of_machine(_IN_MEMORY_ALONE)
        mapped = in_doubt or self._asked % _EVERY == 0
        held = Held(pids, self._disks, look, mapped=mapped)
        apart = held.memory
        if 0 < most[MEMORY] < _IF_GROWN * _grown(self._kernel, _of_machine(_OF_KERNEL)):
            apart += _mappings(pids, look)
        if 0 < most[MEMORY] < resident + apart and all(
            # Twice: who ends meanwhile leaves its share to those who are looked at after it.
            most[MEMORY] - apart
            < _shared_out(self._living(), held.in_memory, look, _AGAIN * most[MEMORY])
            for _ in range(2)
        ):
            return MEMORY
        if most[BYTES] or most[FILES]:
            try:
                below = Below(self._folders, most[FILES] or 1 << 62, look)
            except TooLong:
                raise TooLong(BYTES, FILES) from None
            n_bytes, n_files = map(_grown, self._before, _in_use(self._shared))
            if 0 < most[FILES] < below.n_files + held.n_files + n_files:
                return FILES
            if 0 < most[BYTES] < below.n_bytes + held.n_bytes + n_bytes:
                return BYTES
        return ""


def _living_thread(pid: int) -> int:
    """A process, or another thread of it where its first has ended, by which nothing is told."""
    if not _has_ended(pid):
        return pid
    try:
        threads = map(int, os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return pid
    return next((thread for thread in threads if not _has_ended(thread)), pid)


def _has_ended(thread: int) -> bool:
    try:
        with open(f"/proc/{thread}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] in (b"Z", b"X")
    except (OSError, IndexError):
        return True


def _threads(pids: Iterable[int]) -> int:
    """The threads of the processes, the first of each among them."""
    threads = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                # Before it stands what a process calls itself, in brackets.
                threads += int(file.read().rpartition(b")")[2].split()[17])
        except (OSError, IndexError):
            continue
    return threads


def _taken(pids: Iterable[int], kinds: tuple[bytes, ...] = _OF_MEMORY) -> int:
    """What the processes have in memory or swapped out, and the tables that say what lies where.

    What they share is counted for each of them.
    """
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/status", "rb") as file:
                total += sum(int(line.split()[1]) for line in file if line.startswith(kinds))
        except (OSError, IndexError, ValueError):
            continue
    return total * 1024


def _mappings(pids: Iterable[int], look: Look) -> int:
    """Bytes that the kernel takes to know what the processes have mapped, at the least.

    Raises:
        TooLong: they have too much of it to be counted.
    """
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/maps", "rb", buffering=0) as file:
                while lines := file.read(1 << 16):
                    look.go_on()
                    total += lines.count(b"\n")
        except OSError:
            continue
    return total * _OF_A_MAPPING


def _of_machine(kind: bytes) -> int:
    """Bytes that this machine has in memory of a kind."""
    try:
        with open("/proc/meminfo", "rb") as file:
            (line,) = (line for line in file if line.startswith(kind))
        return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        return 1 << 62


def _shared_out(
    pids: Iterable[int], but: set[tuple[int, int]], look: Look, most_of_one: int
) -> int:
    """What the processes have in memory, what they share counted once; it takes longer to ask.

    Nothing of the files in `but`, by device and inode, which makes it take even longer; but what
    was changed in a copy that is a process's own is none of the file's.

    Raises:
        TooLong: it takes longer than it may, or would.
    """
    total = 0
    for pid in pids:
        look.go_on(_taken([pid]) <= most_of_one)
        try:
            with open(f"/proc/{pid}/{'smaps' if but else 'smaps_rollup'}", "rb") as file:
                total += _of_mappings(file, but, look) + _taken([pid], _TABLES)
        except (OSError, IndexError, ValueError):
            # Nobody may look: as if it shared nothing.
            total += _taken([pid])
    return total


def _of_mappings(lines: Iterable[bytes], but: set[tuple[int, int]], look: Look) -> int:
    total, counted = 0, True
    for line in lines:
        if line.startswith((b"Pss:", b"SwapPss:") if counted else (b"Anonymous:", b"SwapPss:")):
            total += int(line.split()[1]) * 1024
        elif but and line[0] in b"0123456789abcdef":
            # A mapping begins, of this file.
            look.go_on()
            device, inode = line.split(None, 5)[3:5]
            major, _, minor = device.partition(b":")
            counted = (os.makedev(int(major, 16), int(minor, 16)), int(inode)) not in but
    return total


def _device(folder: str) -> int:
    """On which device a folder lies; on none where it is not there."""
    try:
        return os.stat(folder).st_dev
    except OSError:
        return -1


def _in_use(file_system: str) -> tuple[int, int]:
    """Bytes and files in use, those without a name among them."""
    try:
        whole = os.statvfs(file_system)
    except OSError:
        return 0, 0
    return (whole.f_blocks - whole.f_bfree) * whole.f_frsize, whole.f_files - whole.f_ffree


def _grown(before: int, now: int) -> int:
    return max(0, now - before)
