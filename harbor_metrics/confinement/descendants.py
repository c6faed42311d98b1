"""All processes below this one. Imports as little as the supervisor, which asks."""

from __future__ import annotations

import os
import sys


def descendants() -> set[int]:
    """The processes that have this one above them; none where there is no /proc to ask."""
    if sys.platform != "linux":
        return set()
    found: set[int] = set()
    pending = [os.getpid()]
    try:
        while pending:
            children = _children(pending.pop()) - found
            found |= children
            pending += children
    except FileNotFoundError:
        return _among_all()
    return found


def _children(pid: int) -> set[int]:
    """The children of a process, as the kernel lists them; none of one that has ended.

    Raises:
        FileNotFoundError: it lists none of any.
    """
    children: set[int] = set()
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                children.update(map(int, file.read().split()))
    except OSError as error:
        if not os.path.exists("/proc/thread-self/children"):
            raise FileNotFoundError from error
    return children


def _among_all() -> set[int]:
    children: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                parent = int(file.read().rpartition(b")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(name))
    found: set[int] = set()
    pending = [os.getpid()]
    while pending:
        for pid in children.get(pending.pop(), ()):
            found.add(pid)
            pending.append(pid)
    return found
