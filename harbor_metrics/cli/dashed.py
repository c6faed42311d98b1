"""Names of files that begin with `-`, such as a shell makes of `*`: none is taken for an option."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from ..documents.wording import in_command, printable
from ..errors import UsageError
from . import group


def refuse_names(arguments: Sequence[str]) -> None:
    """Refuse what stands where an option can, and is the name of a file.

    Raises:
        UsageError: there is such an argument.
    """
    command: click.Command = group
    left = iter(arguments)
    for argument in left:
        if argument == "--":
            if not isinstance(command, click.Group):
                return
            # Only the name of a command is none of a group's options; its own follow.
        elif argument[:1] != "-" or argument == "-":
            if isinstance(command, click.Group):
                command = command.get_command(click.Context(command), argument) or command
        elif os.path.lexists(argument):
            path = in_command(argument)
            name = printable(argument)
            raise UsageError(
                f"`{name}` is the name of a file here, and would be taken for an option",
                f"write {path}, or `--` before all names; for the option, rename the file",
            )
        else:
            for _ in range(_values(command, argument)):
                next(left, None)


def _values(command: click.Command, argument: str) -> int:
    """How many of the arguments that follow belong to the option."""
    takes = {
        name: option.nargs
        for option in command.params
        if isinstance(option, click.Option) and not option.is_flag and not option.count
        for name in option.opts
    }
    if argument.startswith("--"):
        return takes.get(argument, 0)
    # Letters in one word: the first that takes a value takes the rest of the word, if there is one.
    for place, letter in enumerate(argument[1:], start=2):
        if f"-{letter}" in takes:
            return takes[f"-{letter}"] if place == len(argument) else 0
    return 0
