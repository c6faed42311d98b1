"""All processes below this one, and their end. Imports as little as the supervisor, which asks."""

# ruff: noqa: SIM105

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_KILL = 9
# How often in a row nobody new is found before it is waited for those who were.
_OFTEN = 50
_MANY = 10_000


def descendants() -> set[int]:
    """The processes that have this one above them; none where there is no /proc to ask."""
    return set(walk_descendants())


def walk_descendants() -> Iterator[int]:
    """The same one after the other, each as soon as it is found, of siblings the youngest first.

    Who ends soon after its start is still there then.
    """
    if sys.platform != "linux":
        return
    found: set[int] = set()
    pending = [os.getpid()]
    try:
        while pending:
            children = [pid for pid in children_of(pending.pop()) if pid not in found]
            found.update(children)
            pending += children
            yield from reversed(children)
    except FileNotFoundError:
        yield from _among_all() - found


def children_of(pid: int) -> list[int]:
    """The children of a process, as the kernel lists them, of each thread from old to young.

    None of one that has ended.

    Raises:
        FileNotFoundError: it lists none of any.
    """
    children: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return children
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                children += map(int, file.read().split())
        except OSError as error:
            if not os.path.exists("/proc/thread-self/children"):
                raise FileNotFoundError from error
            # It has ended: its children are now those of a thread that comes later.
    return children


def end_descendants(seconds: float) -> bool:
    """Kill and await until there is nobody left; whether there is nobody.

    For who becomes the parent of orphans. Some start the next sooner than they are found, and some
    cannot be ended at all.
    """
    until = time.monotonic() + seconds
    pause = 0.0001
    while time.monotonic() < until:
        if forget_the_ended():
            return True
        # To look for descendants takes milliseconds, and mostly they are ending already.
        if pause > 0.001:
            _hunt(until)
        time.sleep(pause)
        pause = min(0.02, pause * 2)
    return forget_the_ended()


def forget_the_ended() -> bool:
    """So that nobody takes them for living processes; whether there is no child left."""
    try:
        # Not for ever, where each that ends has started the next.
        for _ in range(_MANY):
            if not os.waitpid(-1, os.WNOHANG)[0]:
                break
    except ChildProcessError:
        return True
    return False


def signal(pid: int, number: int) -> None:
    """Send a signal to a process, if it is there and may be sent one."""
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def _hunt(until: float) -> None:
    """Kill all descendants, and at once who becomes a child of this process by that."""
    found = descendants()
    known: set[int] = set()
    vain = 0
    while vain < _OFTEN and time.monotonic() < until:
        new = found - known
        vain = 0 if new else vain + 1
        for pid in new:
            signal(pid, _KILL)
        known |= new
        forget_the_ended()
        try:
            found = set(children_of(os.getpid()))
        except FileNotFoundError:
            return


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
