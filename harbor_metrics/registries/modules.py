"""The modules beside a script that it can import: their bytes, and one digest of all of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

# What Python imports; a byte-compiled file of a cache is one of a source.
_CODE = (".py", ".pyc", ".so", ".pyd")
_CACHES = ("__pycache__",)
MOST_FILES, MOST_BYTES = 1_000, 16 << 20
# As many names as stand there: who finds too many imports asks for more to be pinned, and what is
# not found here is not there when the script runs.
_IMPORTS = rb"(?m)(?:^|[;:])[ \t\f]*(?:import|from)\b((?:[^\n;\\]|\\\r?\n|\\)*)"
_NAME = rb"[A-Za-z_]\w*"
_AT_RUN_TIME = (
    rb"(?m)__import__|importlib|runpy|\bsite\b|unittest|pkgutil|sys\.path|\bimp\b|\b(?:exec|eval)\b"
    # Other processes, which look into the folder itself.
    rb"|multiprocessing|subprocess|concurrent"
    # A name with such letters has more than one spelling.
    rb"|^[ \t\f]*(?:import|from)\b[^\n]*[\x80-\xff]"
)

Modules = tuple[tuple[str, bytes], ...]


class TooManyError(Exception):
    """There is more beside the script than belongs to it."""


def importable(path: str, text: bytes) -> Modules:
    """The modules in the script's folder, by their paths in it, if it imports any of them.

    Raises:
        TooManyError: the folder holds more of them than a script has.
        OSError: one cannot be read.
    """
    folder, own = os.path.split(path)
    beside = {
        os.fsencode(name.partition(".")[0])
        for name in os.listdir(folder)
        if name != own and not name.startswith(".")
    }
    if not beside or not (re.search(_AT_RUN_TIME, text) or beside & _imported(text)):
        return ()
    found = []
    size = 0
    for name in _walk(folder):
        if name == own:
            continue
        with open(os.path.join(folder, name), "rb") as file:
            data = file.read(MOST_BYTES + 1)
        size += len(data)
        found.append((name, data))
        if len(found) > MOST_FILES or size > MOST_BYTES:
            raise TooManyError
    return tuple(sorted(found))


def manifest(name: str, text: bytes, modules: Modules) -> str:
    """A line for each file, as `sha256sum` writes it, in the order of their paths."""
    # For weight: most registries name no script.
    from hashlib import sha256

    files = sorted([(name, text), *modules])
    return "".join(f"{sha256(data).hexdigest()}  {path}\n" for path, data in files)


def copy(modules: Modules, folder: str, to: str) -> None:
    """Write the modules to an empty folder; what else lies beside the script is linked there.

    Raises:
        OSError: it cannot be written.
    """
    written = {name for name, _ in modules}
    folders = {os.path.dirname(name) for name in written} | {""}
    folders |= {above for name in folders for above in _above(name)}
    for inside in sorted(folders):
        os.makedirs(os.path.join(to, inside), exist_ok=True)
        for entry in os.listdir(os.path.join(folder, inside)):
            name = os.path.join(inside, entry)
            if not (name in folders or name.endswith(_CODE) or _is_private(entry)):
                os.symlink(os.path.join(folder, name), os.path.join(to, name))
    for name, data in modules:
        with open(os.path.join(to, name), "xb") as file:
            file.write(data)


def _imported(text: bytes) -> set[bytes]:
    return {name for found in re.finditer(_IMPORTS, text) for name in re.findall(_NAME, found[1])}


def _walk(folder: str) -> Iterator[str]:
    """The code below a folder, by its path in it; links are followed to files inside it alone."""
    root = os.path.realpath(folder)
    pending = [""]
    n = 0
    while pending:
        inside = pending.pop()
        try:
            with os.scandir(os.path.join(folder, inside)) as scanned:
                entries = list(scanned)
        except PermissionError:
            if not inside:
                raise
            continue  # nor is it the script's to look into
        for entry in entries:
            n += 1
            if n > 100 * MOST_FILES:
                raise TooManyError
            name = os.path.join(inside, entry.name)
            if _is_private(entry.name):
                continue
            if entry.is_dir(follow_symlinks=False):
                pending.append(name)
            elif entry.name.endswith(_CODE) and entry.is_file():
                real = os.path.realpath(entry.path)
                if os.path.commonpath([real, root]) == root:
                    yield name


def _is_private(name: str) -> bool:
    return name.startswith(".") or name in _CACHES


def _above(name: str) -> Sequence[str]:
    parts = name.split(os.sep)
    return [os.sep.join(parts[:n]) for n in range(1, len(parts))]
