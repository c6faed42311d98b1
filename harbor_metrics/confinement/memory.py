"""What processes have in memory. Imports as little as the supervisor, which asks."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .look import Look

# Of the status of a process: what it has in memory and swapped out; and what is no part of that,
# tables that say where it lies, and large pages that the machine keeps apart.
_BESIDE = (b"VmPTE:", b"HugetlbPages:")
_OF_MEMORY = (b"VmRSS:", b"VmSwap:", *_BESIDE)
# Of the memory of this machine: what is to be had, files that lie there and nowhere else, and what
# the kernel needs for itself, for each mapping at least so many bytes.
AVAILABLE, IN_MEMORY_ALONE, OF_KERNEL = b"MemAvailable:", b"Shmem:", b"SUnreclaim:"
_OF_A_MAPPING = 200


def taken(pids: Iterable[int], kinds: tuple[bytes, ...] = _OF_MEMORY) -> int:
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


def mappings(pids: Iterable[int], look: Look) -> int:
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


def of_machine(kind: bytes) -> int:
    """Bytes that this machine has in memory of a kind."""
    try:
        with open("/proc/meminfo", "rb") as file:
            (line,) = (line for line in file if line.startswith(kind))
        return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        return 1 << 62


def shared_out(pids: Iterable[int], but: set[tuple[int, int]], look: Look, most_of_one: int) -> int:
    """What the processes have in memory, what they share counted once; it takes longer to ask.

    Nothing of the files in `but`, by device and inode, which makes it take even longer; but what
    was changed in a copy that is a process's own is none of the file's.

    Raises:
        TooLong: it takes longer than it may, or would.
    """
    total = 0
    for pid in pids:
        look.go_on(taken([pid]) <= most_of_one)
        try:
            with open(f"/proc/{pid}/{'smaps' if but else 'smaps_rollup'}", "rb") as file:
                total += _of_mappings(file, but, look) + taken([pid], _BESIDE)
        except (OSError, IndexError, ValueError):
            # Nobody may look: as if it shared nothing.
            total += taken([pid])
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
