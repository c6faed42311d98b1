"""Which files of Parquet are meant by paths and patterns: each once, none by a link out."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Sequence
from glob import glob
from itertools import islice
from typing import Any, NamedTuple, NoReturn

from ..documents.diagnostics import Diagnostic
from ..documents.files import reason
from ..documents.folders import walk
from ..documents.parquet import SUFFIX, is_called_so
from ..documents.paths import is_address, is_shut, leads_nowhere
from ..documents.patterns import (
    check_hides_nothing,
    fixed_part,
    is_pattern,
    matching,
    two_meanings,
)
from ..documents.wording import in_command, listed, printable
from ..errors import InputError
from ..readers.files.copies import copies
from ..readers.files.entries import Entries, copied, stray
from .extras import literal
from .partitions import Below
from .recognition import is_parquet

# So much is looked into for what is left out.
_MOST_OTHERS = _MOST_FOLDERS = 1_000


# What lies in the folder of a table beside its files.
_LOGS = {"Delta Lake": "_delta_log", "Hudi": ".hoodie", "Iceberg": "metadata/*.metadata.json"}


class Found(NamedTuple):
    """The files in the order of the paths, the paths that led to some, and why others are not.

    `below` are the files of this machine, each with the folder that is named.
    """

    files: list[str]
    paths: list[str]
    diagnostics: list[Diagnostic]
    below: list[Below]


def found(paths: Sequence[str]) -> Found:
    """The files of paths, folders and patterns; what lies on storage is as it was named.

    Raises:
        InputError: a path leads to no file, or to one that is not Parquet.
    """
    entries = Entries()
    files: list[str] = []
    led: list[str] = []
    below: list[Below] = []
    for path in paths:
        before = len(entries.diagnostics)
        if "://" not in path and os.path.lexists(path):
            check_hides_nothing(path, paths)
        inside = [*_inside(path, entries)]
        if inside:
            led.append(path)
            files += inside
            here = [Below(file, _base(path, file)) for file in inside if "://" not in path]
            _refuse_tables({_folders(each) for each in here if each.file != path})
            below += here
        elif all(said.rule != "repeated-source" for said in entries.diagnostics[before:]):
            raise _nothing(path, entries.diagnostics[before:])
    # Trials with ids would be refused.
    again = [copied(file, other) for file, other in copies(files)]
    return Found(files, led, [*entries.diagnostics, *again], below)


def _base(path: str, file: str) -> str:
    """The folder that somebody has named by a path that led to a file."""
    if os.path.isdir(path):
        return path
    return os.path.dirname(file) or os.curdir if path == file else fixed_part(path)


def _inside(path: str, entries: Entries) -> Iterator[str]:
    """The files of one path that were not meant by another, too."""
    if is_address(path) or not os.path.isdir(path):
        named = is_address(path) or os.path.lexists(path)
        folder = None if named else fixed_part(path)
        for file in [path] if named else matching(path):
            if entries.admits(file, folder):
                if "://" not in path:
                    _check(file)
                yield file
        return
    for folder, below, names in walk(path, _refuse):
        below[:] = sorted(filter(_is_meant, below))
        links = [link for name in below if os.path.islink(link := os.path.join(folder, name))]
        linked = [stray(file, path) for file in map(_some_in, links) if file is not None]
        entries.diagnostics += [said for said in linked if said is not None]
        entries.diagnostics += _lost(path, folder, names)
        others: list[str] = []
        for name in sorted(filter(_is_meant, names)):
            file = os.path.join(folder, name)
            if not is_called_so(name):
                others += [file] * (len(others) < _MOST_OTHERS and is_parquet(file))
            elif _is_file(file) and entries.admits(file, path):
                yield file
        if others:
            entries.diagnostics.append(_not_called_so(path, others))


def _is_file(path: str) -> bool:
    """Whether a path is a file.

    Raises:
        InputError: nobody here may look at it.
    """
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except OSError as error:
        if is_shut(error):
            _refuse(error)
        return False


def _lost(path: str, folder: str, names: Sequence[str]) -> Iterator[Diagnostic]:
    """That links in a folder lead nowhere, where trials may have been, or that it has pipes."""
    found = [os.path.join(folder, name) for name in sorted(filter(_is_meant, names))]
    lost = [file for file in found if leads_nowhere(file)]
    if lost:
        yield Diagnostic(
            rule="unread-file" if any(map(is_called_so, lost)) else "file-not-read",
            message=f"links in {path} lead nowhere, and what was there does not count: "
            f"{listed(lost)}",
            path=path,
            help="fetch what they lead to, or remove them",
        )
    for file in filter(is_called_so, found):
        if os.path.exists(file) and not os.path.isfile(file):
            yield Diagnostic(
                rule="unread-file",
                message=f"{file} is not read: it is called as Parquet, and is a pipe or a device",
                path=file,
                help="name the files that are to be read",
            )


def _folders(file: Below) -> tuple[str, str]:
    return os.path.dirname(file.file), file.base


def _refuse_tables(folders: Collection[tuple[str, str]]) -> None:
    """Refuse what lies, up to a folder that is named, in a table whose log says what it has.

    Raises:
        InputError: there is such a table.
    """
    above = {base for _, base in folders}
    for folder, base in folders:
        while len(folder) > len(base) and folder not in above:
            above.add(folder)
            folder = os.path.dirname(folder)
    for folder in sorted(above):
        if kind := next((k for k, log in _LOGS.items() if glob(log, root_dir=folder)), None):
            raise InputError(
                f"{printable(folder or os.curdir)} is a table of {kind}: its log says which of the "
                "files are of it, and an engine would count those that it has removed, too",
                "give the table as a data frame, or write what it holds to other files",
            )


def _not_called_so(path: str, files: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        rule="file-not-read",
        message=f"of {path} Parquet is not read that is not called *{SUFFIX}: {listed(files)}",
        path=path,
        help="name each file that is to be read, or call it so",
    )


def _is_meant(name: str) -> bool:
    """Whether what lies in a folder is meant with it: neither hidden nor, to Spark, unfinished."""
    return name[0] not in "._"


def _some_in(folder: str) -> str | None:
    """The first Parquet below a linked folder, into which nobody goes; of the first folders."""
    for below, _, names in islice(os.walk(folder), _MOST_FOLDERS):
        for name in sorted(names):
            if is_called_so(name):
                return os.path.join(below, name)
    return None


def _refuse(error: OSError) -> NoReturn:
    raise InputError(f"{error.filename}: {reason(error)}") from error


def on_storage(
    paths: Sequence[str], protocol: str, filesystem: Any
) -> tuple[list[str], list[Diagnostic]]:
    """The paths on one storage as patterns of DuckDB; several that overlap as their files.

    Raises:
        InputError: a path that is there is a pattern for others, too.
    """

    def matches(path: str) -> list[str]:
        return [name if is_address(name) else protocol + name.lstrip("/") for name in named(path)]

    def named(path: str) -> list[str]:
        return sorted(filesystem.glob(path))

    patterns = {path for path in paths if is_pattern(path)}
    for path in [*patterns]:
        if filesystem.exists(path):
            patterns.discard(path)
            for match in matches(path):
                if match not in paths:
                    raise two_meanings(path, match, matches, filesystem.exists)
    if not patterns or len(paths) == 1:
        return [path if path in patterns else literal(path) for path in paths], []
    entries = Entries()
    files: list[str] = []
    for path in paths:
        meant = matches(path) if path in patterns else [path]
        files += [literal(file) for file in meant if entries.admits(file)]
        if not meant:
            files.append(path)  # the engine says that nothing is there
    return files, entries.diagnostics


def on_storage_below(paths: Sequence[str], protocol: str, filesystem: Any) -> Iterator[Below]:
    """The files of paths and patterns of a storage, each with the folder that is named."""
    for path in paths:
        base = fixed_part(path) if is_pattern(path) else os.path.dirname(path)
        if os.path.dirname(path) == base:
            # What lies right in a folder, whose names say nothing.
            yield Below(path, base)
            continue
        for name in filesystem.glob(path):
            yield Below(name if is_address(name) else protocol + name.lstrip("/"), base)


def _check(file: str) -> None:
    if leads_nowhere(file):
        raise InputError(
            f"{printable(file)} is a link that leads nowhere",
            "fetch what it leads to, or name other files",
        )
    if not is_parquet(file):
        raise InputError(
            f"{printable(file)} is not Parquet, and an engine reads nothing else",
            f"harbor-metrics convert {in_command(file)} -o trials.parquet",
        )


def _nothing(path: str, left_out: Sequence[Diagnostic]) -> InputError:
    if left_out:
        return InputError(left_out[0].message, left_out[0].help)
    if os.path.isdir(path):
        return InputError(f"no file in {printable(path)} is called *{SUFFIX}")
    return InputError(
        f"no file is there for {printable(path)}",
        "in a shell write a pattern in quotes: 'trials/*.parquet'",
    )
