"""Importing what lies in a folder of the user's from its sources, never from byte-compiled code."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
)
from types import CodeType
from typing import Any

# What could be imported before any file of the user's ran, such as the packages of an environment
# in the folder: they keep their caches, without which large ones take seconds. The first may be
# the current folder (`python -m`), which nobody has installed.
_BEFORE = tuple(sys.path[1:])


class Source(SourceFileLoader):
    """Compiles a module's source; a cache comes with the folder, and may hold other code."""

    def get_code(self, fullname: str) -> CodeType:  # noqa: D102
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


class ReadSource(Source):
    """Compiles bytes that were read once, whatever stands in the file by now."""

    def __init__(self, name: str, path: str, source: bytes) -> None:
        super().__init__(name, path)
        self._source = source

    def get_data(self, path: str) -> bytes:  # noqa: D102
        return self._source if path == self.path else super().get_data(path)


@contextlib.contextmanager
def importable(folder: str) -> Iterator[None]:
    """What lies in the folder can be imported, as what lies beside a script."""
    installed = [path for path in _BEFORE if path != folder and _within(path, folder)]

    def is_its_own(path: str) -> bool:
        return _within(path, folder) and not any(_within(path, other) for other in installed)

    def taken() -> dict[str, Any]:
        found = sys.path_importer_cache
        return {path: found.pop(path) for path in [*found] if is_its_own(path)}

    def hook(path: str) -> Any:
        if not is_its_own(path):
            raise ImportError(path)
        return finder(path)

    # Compiled extensions last: they shall not stand in for a source, either.
    finder = FileFinder.path_hook(
        (Source, SOURCE_SUFFIXES), (ExtensionFileLoader, EXTENSION_SUFFIXES)
    )
    before = taken()
    sys.path_hooks.insert(0, hook)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        # A file may have taken them out itself.
        with contextlib.suppress(ValueError):
            sys.path.remove(folder)
        with contextlib.suppress(ValueError):
            sys.path_hooks.remove(hook)
        taken()
        sys.path_importer_cache.update(before)


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))
