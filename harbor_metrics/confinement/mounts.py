"""Mounts that show more than files: what is asked for elsewhere, and what tells of processes.

An automounter has the system ask for a name that is looked up elsewhere, by the name of a host
perhaps; another /proc or /sys tells what is hidden of ours. Such a mount is covered, for users of
their own may not detach one that was there before them.
It runs in the process that starts the program, so it imports next to nothing.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_MOUNTS = "/proc/self/mountinfo"
_AUTOMOUNTERS = (b"autofs", b"afs")
_OF_KERNEL = (b"proc", b"sysfs")
# Where namespaces have their own of these.
_OURS = (b"/proc/", b"/sys/")
# Characters that would end a field, as proc_pid_mountinfo(5) has them.
_ESCAPED = ((b"\\040", b" "), (b"\\011", b"\t"), (b"\\012", b"\n"), (b"\\134", b"\\"))


def of_others(wanted: Iterable[str]) -> list[str]:
    """The mount points of those that can be reached, the outer first.

    What lies in another is told only where it also lies in what is wanted: who looks for it
    would go through the other.

    Raises:
        OSError: mounts cannot be read.
    """
    with open(_MOUNTS, "rb", buffering=0) as file:
        data = file.readall()
    lines = data.splitlines()
    # The usual case, for every program that is started.
    if not any(map(_is_one, lines)):
        return []
    shown = tuple(f"{path}/" for path in wanted)
    found: list[str] = []
    for place in _reached(lines):
        inside = f"{place}/"
        if inside.startswith(shown) or not inside.startswith(tuple(f"{each}/" for each in found)):
            found.append(place)
    return found


def _is_one(line: bytes) -> bool:
    kind = line.partition(b" - ")[2].partition(b" ")[0]
    if kind in _AUTOMOUNTERS:
        return True
    return kind in _OF_KERNEL and not (line.split(b" ", 5)[4] + b"/").startswith(_OURS)


def _reached(lines: Iterable[bytes]) -> list[str]:
    """The mount points of such, in order, but those that lie below another mount."""
    mounts, over, found = {}, {}, set()
    for line in lines:
        number, parent, _, _, place = line.split(b" ", 5)[:5]
        mounts[number] = parent, place
        if parent != number:
            over[parent, place] = number
        if _is_one(line):
            found.add(number)
    return sorted(
        {os.fsdecode(_unescaped(mounts[each][1])) for each in found if _is_seen(each, mounts, over)}
    )


def _is_seen(
    number: bytes,
    mounts: dict[bytes, tuple[bytes, bytes]],
    over: dict[tuple[bytes, bytes], bytes],
) -> bool:
    below = None
    while number in mounts and number != below:
        parent, place = mounts[number]
        if over.get((number, place), below) != below:
            return False
        number, below = parent, number
    return True


def _unescaped(place: bytes) -> bytes:
    for escaped, character in _ESCAPED:
        place = place.replace(escaped, character)
    return place
