"""The formats that are read, a line each; a reader is loaded when a file is to be read.

Help texts are made of this table, so it imports next to nothing.
"""

from __future__ import annotations

from enum import IntEnum
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

if TYPE_CHECKING:
    from ..trials.source import Source
    from .files.file import File
    from .reading import Options
    from .recognition import Fit, Head


class Reader(Protocol):
    """The module of a format; that of a directory has no `fit`."""

    def fit(self, head: Head) -> Fit:
        """How near the beginning of a file is to the format, and why it is not of the format."""

    def read(self, file: File, options: Options) -> list[Source]:
        """The sources in a file or directory; who calls it gives them their kind."""


class Origin(IntEnum):
    """Whose format it is: messages begin with what is nearest to Harbor."""

    HARBOR = 0
    OURS = 1
    HARNESS = 2
    ANYBODY = 3


class Format(NamedTuple):
    """What people call a format, and its reader.

    `noun` stands in messages. Files `in_folders` are read from a folder of them, too; what the
    columns are of a file that `has_columns` may be said by the user. `called` are the names that
    the harness gives its logs.
    """

    name: str
    noun: str
    module: str
    origin: Origin
    is_directory: bool = False
    in_folders: bool = False
    has_columns: bool = False
    called: str = ""

    @property
    def reader(self) -> Reader:
        """Its module, loaded when it is first asked for."""
        return cast("Reader", import_module(self.module, __package__))


_TIME = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d"
_PACKED = r"(?:\.gz|\.zst)?"
# In the order in which they are asked: what has marks of its own before what is bare.
FORMATS = (
    Format(
        "harbor-job",
        "a Harbor job directory, a directory of them",
        ".harbor.job",
        Origin.HARBOR,
        is_directory=True,
    ),
    Format(
        "inspect",
        "an Inspect log",
        ".inspect.log",
        Origin.HARNESS,
        in_folders=True,
        called=rf".+\.eval{_PACKED}|{_TIME}.*_.+\.json{_PACKED}",
    ),
    Format(
        "lm-eval",
        "lm-eval samples",
        ".lm_eval.samples",
        Origin.HARNESS,
        in_folders=True,
        called=rf"samples_.+_{_TIME}[.\d]*\.jsonl?{_PACKED}",
    ),
    Format("trials", "a trials JSONL", ".trials", Origin.OURS),
    Format("evsys", "evsys rewards", ".evsys", Origin.HARNESS),
    Format("rewards", "a rewards JSONL", ".rewards", Origin.HARBOR),
    Format("csv", "a CSV", ".delimited", Origin.ANYBODY, has_columns=True),
)


def names() -> list[str]:
    """What each format is called on the command line and in results."""
    return [format_.name for format_ in FORMATS]


def named(name: str) -> Format:
    """The format that is called so."""
    return FORMATS[names().index(name)]


def takes() -> str:
    """What a source can be, in words."""
    *nouns, last = (format_.noun for format_ in sorted(FORMATS, key=lambda f: f.origin))
    return f"{', '.join(nouns)} or {last}"
