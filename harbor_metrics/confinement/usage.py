"""What a program takes as a whole, all its processes and files together; asked again and again.

The limits of the system are those of each process and each file. Imports as little as the
supervisor, which asks.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

KINDS = ("memory", "processes", "threads", "bytes", "files")
MEMORY, PROCESSES, THREADS, BYTES, FILES = KINDS
# Seconds before it is asked first: most scripts have ended by then.
_FIRST = 0.05
# To ask takes no more than one part in so many of the time.
_PART = 20
# But nobody takes for longer than this what is not counted.
_LONGEST = 1.0
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
        processes: Callable[[], set[int]],
        shared: str = "",
    ) -> None:
        self._most = most
        self._folders = folders
        self._shared = shared
        self._before = _in_use(shared)
        self._processes = processes
        self._disks = [_device(folder) for folder in folders]
        self._asked = 0
        self._next = time.monotonic() + _FIRST if any(most.values()) else float("inf")

    def seconds(self) -> float:
        """Until it is to be asked."""
        return max(0.0, self._next - time.monotonic())

    def exceeded(self) -> str:
        """Which limit the program is above, where it is time to ask; else nothing."""
        began = time.monotonic()
        if began < self._next:
            return ""
        found = self._ask()
        ended = time.monotonic()
        self._next = ended + min(_LONGEST, max(_FIRST, _PART * (ended - began)))
        return found

    def _ask(self) -> str:
        # For weight: many a program has ended before it is asked.
        from .below import Below
        from .held import Held

        most = dict.fromkeys(KINDS, 0) | self._most
        pids = self._processes()
        if 0 < most[PROCESSES] < len(pids):
            return PROCESSES
        if 0 < most[THREADS] < _threads(pids):
            return THREADS
        resident = _resident(pids)
        self._asked += 1
        in_doubt = 0 < most[MEMORY] < resident + _in_memory_alone()
        held = Held(pids, self._disks, mapped=in_doubt or self._asked % _EVERY == 0)
        if 0 < most[MEMORY] < resident + held.memory and all(
            # Twice: who ends meanwhile leaves its share to those who are looked at after it.
            most[MEMORY] < _shared_out(self._processes(), held.in_memory) + held.memory
            for _ in range(2)
        ):
            return MEMORY
        if most[BYTES] or most[FILES]:
            below = Below(self._folders, most[FILES] or 1 << 62)
            if 0 < most[FILES] < below.n_files + held.n_files:
                return FILES
            grown = max(0, _in_use(self._shared) - self._before)
            if 0 < most[BYTES] < below.n_bytes + held.n_bytes + grown:
                return BYTES
        return ""


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


def _resident(pids: Iterable[int]) -> int:
    """What the processes have in memory, what they share counted for each of them."""
    pages = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/statm", "rb") as file:
                pages += int(file.read().split()[1])
        except (OSError, IndexError):
            continue
    return pages * os.sysconf("SC_PAGE_SIZE")


def _in_memory_alone() -> int:
    """Bytes of all files of this machine that lie in memory and nowhere else."""
    try:
        with open("/proc/meminfo", "rb") as file:
            (line,) = (line for line in file if line.startswith(b"Shmem:"))
        return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        return 1 << 62


def _shared_out(pids: Iterable[int], but: set[tuple[int, int]]) -> int:
    """What the processes have in memory, what they share counted once; it takes longer to ask.

    Nothing of the files in `but`, by device and inode, which makes it take even longer.
    """
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/{'smaps' if but else 'smaps_rollup'}", "rb") as file:
                total += _of_mappings(file, but)
        except (OSError, IndexError, ValueError):
            # Nobody may look: as if it shared nothing.
            total += _resident([pid])
    return total


def _of_mappings(lines: Iterable[bytes], but: set[tuple[int, int]]) -> int:
    total, counted = 0, True
    for line in lines:
        if line.startswith(b"Pss:"):
            total += int(line.split()[1]) * 1024 if counted else 0
        elif line[0] in b"0123456789abcdef" and but:
            # A mapping begins, of this file.
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


def _in_use(file_system: str) -> int:
    """Bytes in use, those of files without a name among them."""
    try:
        whole = os.statvfs(file_system)
    except OSError:
        return 0
    return (whole.f_blocks - whole.f_bfree) * whole.f_frsize
