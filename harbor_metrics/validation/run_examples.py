"""What breaks each rule of the commands that run, and what does not: files, and what is typed."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import NamedTuple

_PARTS = re.compile(r"^-- (?:files|wrong|write)$\n", re.MULTILINE)


class RunExample(NamedTuple):
    """Texts of files and commands: those of both, what is wrong, and what is right instead.

    A line `NAME:` begins a file, and what is indented below is its text; one that begins with `$`
    is a command. What lies under `NAME.eval/` is a member of that archive.
    """

    files: str
    wrong: str
    right: str


@cache
def run_examples() -> dict[str, RunExample]:
    """The example of each rule."""
    text = resources.files(__package__).joinpath("run_examples.txt").read_text("utf-8")
    found = {}
    for section in text.split("== ")[1:]:
        name, _, body = section.partition("\n")
        _, *parts = _PARTS.split(body)
        *files, wrong, right = [part.rstrip("\n") for part in parts]
        found[name] = RunExample(files[0] if files else "", wrong, right)
    return found
