"""What lies in folders that may be nested as deep as somebody likes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator


def walk(
    top: str, on_error: Callable[[OSError], object] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each folder, the names of those in it, links among them, and of all else, as `os.walk` does.

    That of Python 3.11 calls itself for each level, and ends in folders that are nested too deep.
    """
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        below: list[str] = []
        names: list[str] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    (below if entry.is_dir() else names).append(entry.name)
        except OSError as error:
            if on_error is not None:
                on_error(error)
            continue
        yield folder, below, names
        paths = [os.path.join(folder, name) for name in reversed(below)]
        waiting += [path for path in paths if not os.path.islink(path)]
