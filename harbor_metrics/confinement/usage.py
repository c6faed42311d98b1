"""What a program takes as a whole, all its processes and files together; asked again and again.

The limits of the system are those of each process and each file. Imports as little as the
supervisor, which asks.
"""

from __future__ import annotations

import os
import time

from . import memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from .look import Look

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
# What of the memory of this machine no process has mapped: of one that cannot be looked into all is
# counted by which it has grown, for others, too, perhaps.
_OF_NOBODY = (memory.IN_MEMORY_ALONE, memory.OF_KERNEL)
# What the kernel needs for itself is counted where that has grown by one part in so many of the
# limit, for others, too, perhaps.
_IF_GROWN = 8
# A folder has two links without those of the folders in it.
_OWN_LINKS = 2
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
        self._machine = {kind: memory.of_machine(kind) for kind in _OF_NOBODY} if most else {}
        self._processes = processes
        self._disks = [_device(folder) for folder in folders]
        self._asked = 0
        self._next = time.monotonic() + _FIRST if any(most.values()) else float("inf")
        # How much ran on the machine when they were counted, and how many more may be started; how
        # much memory there was when it was looked at, and how much of it the program had left.
        self._running, self._room = 0, 0
        self._available, self._left = 0, 1 << 62
        self._next_count = float("inf")

    def seconds(self) -> float:
        """Until it is to be asked."""
        return max(0.0, min(self._next, self._next_count) - time.monotonic())

    def exceeded(self, deadline: float = float("inf")) -> str:
        """Which limit the program is above, where it is time to ask; else nothing.

        A look ends at the deadline, and says nothing then. Who takes too long to look at is above a
        limit, that of memory if there is one, or of bytes where folders are moved about.
        """
        began = time.monotonic()
        if began < min(self._next, self._next_count):
            return ""
        # For weight: many a program has ended before it is asked.
        from .look import Look, TooLong

        look = Look(_OF_PROCESSOR, min(deadline, began + _ALTOGETHER), self._count_again)
        try:
            if began < self._next and not self._has_gone():
                self._count_again()
                return ""
            found = self._ask(look)
        except TooLong as error:
            if time.monotonic() >= deadline:
                return ""
            kinds = error.args or (MEMORY, BYTES, FILES)
            found = next((kind for kind in kinds if self._most.get(kind)), "")
        ended = time.monotonic()
        self._next = ended + min(_LONGEST, max(_BETWEEN, _PART * (ended - began)))
        return found

    def _count_again(self) -> None:
        """While a look goes on, and until the next: thousands can be started meanwhile.

        Raises:
            TooLong: as `_count`.
        """
        now = time.monotonic()
        if now >= self._next_count:
            self._next_count = now + _BETWEEN
            if _running() - self._running > self._room:
                self._count()

    def _has_gone(self) -> bool:
        """Whether since the last look so much memory has gone that it may be too much."""
        return self._available - memory.of_machine(memory.AVAILABLE) > self._left

    def _count(self) -> None:
        """Processes and threads alone: all else takes longer the more of them there are.

        Raises:
            TooLong: they are too many.
        """
        # For weight, too.
        from .look import TooLong

        most = {kind: self._most[kind] for kind in (PROCESSES, THREADS) if self._most.get(kind)}
        if not most:
            return
        self._running = _running()
        found = dict.fromkeys((PROCESSES, THREADS), 0)
        for pid in self._processes():
            found[PROCESSES] += 1
            found[THREADS] += _threads(pid)
            for kind, limit in most.items():
                if found[kind] > limit:
                    raise TooLong(kind)
        self._room = min(limit - found[kind] for kind, limit in most.items())
        self._next_count = time.monotonic() + _BETWEEN

    def _living(self) -> Iterator[int]:
        """The processes, each by the number of a thread that can tell of it, as it is found.

        One that hands on what it has and ends is asked at once, or not at all.
        """
        return map(_living_thread, self._processes())

    def _ask(self, look: Look) -> str:
        # For weight, too.
        from .below import Below
        from .held import Held
        from .look import TooLong

        most = dict.fromkeys(KINDS, 0) | self._most
        self._available, self._left = memory.of_machine(memory.AVAILABLE), 1 << 62
        self._count()
        pids: set[int] = set()
        resident = 0
        for pid in self._living():
            pids.add(pid)
            resident += memory.taken([pid])
        self._asked += 1
        in_doubt = 0 < most[MEMORY] < resident + memory.of_machine(memory.IN_MEMORY_ALONE)
        mapped = in_doubt or self._asked % _EVERY == 0
        held = Held(pids, self._disks, look, mapped=mapped)
        apart = held.memory
        grown = {kind: _grown(n, memory.of_machine(kind)) for kind, n in self._machine.items()}
        if held.hidden:
            apart = max(apart, sum(grown.values()))
        if 0 < most[MEMORY] < _IF_GROWN * grown[memory.OF_KERNEL]:
            apart += memory.mappings(pids, look)
        if 0 < most[MEMORY] < resident + apart and all(
            # Twice: who ends meanwhile leaves its share to those who are looked at after it.
            most[MEMORY] - apart
            < memory.shared_out(self._living(), held.in_memory, look, _AGAIN * most[MEMORY])
            for _ in range(2)
        ):
            return MEMORY
        if most[MEMORY]:
            self._left = max(most[MEMORY] - resident - apart, most[MEMORY] // _IF_GROWN)
        if most[BYTES] or most[FILES]:
            try:
                below = Below(self._folders, most[FILES] or 1 << 62, look)
            except TooLong as error:
                raise TooLong(*(error.args or (BYTES, FILES))) from None
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


def _running() -> int:
    """How many threads there are on this machine: one number, however many that are."""
    try:
        with open("/proc/loadavg", "rb") as file:
            return int(file.read().split()[3].partition(b"/")[2])
    except (OSError, ValueError, IndexError):
        return 0


def _threads(pid: int) -> int:
    """The threads of a process, the first among them: a folder of each has a link to theirs."""
    try:
        return max(0, os.stat(f"/proc/{pid}/task").st_nlink - _OWN_LINKS)
    except OSError:
        return 0


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
