"""An environment that was made before: what lies in it, and whether that was changed since."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass

import msgspec

from ..documents.contents import File, checked, contents
from ..documents.files import open_regular
from ..documents.paths import real_path
from ..errors import OutputError
from .cache import hold, release, write_record
from .listing import listings, tree
from .owners import identity, was_own
from .uv_access import packages_of, prefix_of, readable_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """How to run a script's Python: the command, where it reads and not, and what made it."""

    command: list[str]
    readable: list[str]
    hidden: tuple[str, ...]
    python: str
    uv: str | None = None
    lock: str | None = None


class Kept(msgspec.Struct, frozen=True):
    """The environment of the script at one path, what it was made from, and what lies in it.

    Of the Python it is based on the `base` tells whether it is the same: one of another version can
    come to its place. What is run and read is not written down: who could write a record would name
    what is the user's.

    In its record a line with the files follows, which is read where the listings differ.
    """

    key: str
    folder: str
    identity: tuple[int, int]
    base: tuple[int, ...]
    python: str
    uv: str | None
    lock: str | None
    listings: dict[str, str]

    @property
    def environment(self) -> Environment:
        """What is run, by the folder and the Python that the environment in it starts."""
        python = real_path(_python_in(self.folder))
        return environment_in(
            self.folder,
            readable_of(python, prefix_of(python)),
            packages_of(prefix_of(python)),
            python=self.python,
            uv=self.uv,
            lock=self.lock,
        )

    def is_unchanged(self, record: str) -> bool:
        """Whether nobody has changed a file of it; this takes a while."""
        prefix = prefix_in(self.folder)
        try:
            if listings(prefix, self.listings) == [*self.listings.values()]:
                return True
            with open_regular(record) as file:
                if msgspec.json.decode(file.readline(), type=Kept) != self:
                    return False
                now = tree(prefix)
                files = checked(prefix, msgspec.json.decode(file.read(), type=list[File]))
            # A folder that holds no file can be imported, too.
            if files is None or now.keys() != self.listings.keys():
                return False
            _write(record, msgspec.structs.replace(self, listings=now), files)
        except (OSError, ValueError, RecursionError):
            return False
        return True


def prefix_in(folder: str) -> str:
    """Where in the folder of an environment it lies itself."""
    return os.path.join(folder, "python")


def environment_in(
    folder: str,
    of_base: list[str],
    hidden: tuple[str, ...],
    *,
    python: str,
    uv: str | None,
    lock: str | None,
) -> Environment:
    """The environment in a folder, whose Python reads `of_base` of the one that it is based on."""
    return Environment(
        command=[_python_in(folder), "-B"],
        readable=[prefix_in(folder), *of_base],
        hidden=hidden,
        python=python,
        uv=uv,
        lock=lock,
    )


def _python_in(folder: str) -> str:
    return os.path.join(prefix_in(folder), "bin", "python")


def keep(record: str, key: str, folder: str, environment: Environment) -> None:
    """Write down what an environment holds that was made."""
    prefix = prefix_in(folder)
    # Build code can give a file a name that is no text.
    with contextlib.suppress(OSError, UnicodeEncodeError):
        made = environment.python, environment.uv, environment.lock
        kept = Kept(key, folder, identity(folder), _base(folder), *made, tree(prefix))
        _write(record, kept, contents(prefix))


def find(record: str, key: str, held: dict[str, int]) -> Kept | None:
    """What was made before from the same; nobody removes it then while it is `held`."""
    try:
        with open_regular(record) as file:
            kept = msgspec.json.decode(file.readline(), type=Kept)
    except (OSError, ValueError, RecursionError):
        return None
    # A record that somebody else wrote would name what is theirs, or the user's.
    if kept.key != key or not _is_of(kept, record) or "" not in kept.listings:
        return None
    if not (was_own(record) and hold(kept.folder, held)):
        return None
    # Until it was held others could change it.
    if not _is_of(kept, record):
        release(kept.folder, held)
        return None
    return kept


def _is_of(kept: Kept, record: str) -> bool:
    """Whether the folder is the one that was made, where what has this record is made."""
    parent, name = os.path.split(kept.folder)
    of_record = f"{os.path.basename(record).removesuffix('.json')}-"
    if parent != os.path.dirname(record) or not name.startswith(of_record):
        return False
    try:
        return kept.identity == identity(kept.folder) and kept.base == _base(kept.folder)
    except (OSError, ValueError):
        return False


def _base(folder: str) -> tuple[int, ...]:
    """What tells the interpreter that an environment starts from another in its place.

    Raises:
        OSError: it is not there.
    """
    return stamp(_python_in(folder))


def stamp(path: str) -> tuple[int, ...]:
    """What tells a file from what was there before, without its contents.

    Raises:
        OSError: it is not there.
    """
    status = os.stat(path)
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _write(record: str, kept: Kept, files: list[File]) -> None:
    """Write it down, if it still is what was listed before it was read.

    Raises:
        OSError: something in it cannot be read.
    """
    if tree(prefix_in(kept.folder)) == kept.listings:
        with contextlib.suppress(OutputError):
            write_record(record, msgspec.json.encode(kept) + b"\n" + msgspec.json.encode(files))
