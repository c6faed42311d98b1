"""The options of every command that compares runs: the gates that a build must pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., Any])
GATES = (
    click.option(
        "--no-worse",
        multiple=True,
        metavar="METRIC[:BY]",
        help="Exit 1 if it is shown to be worse, by more than BY. Repeatable, as all gates.",
    ),
    click.option(
        "--non-inferior",
        multiple=True,
        metavar="METRIC:BY",
        help="Exit 1 unless it is shown not to lose BY.",
    ),
    click.option(
        "--better",
        multiple=True,
        metavar="METRIC[:BY]",
        help="Exit 1 unless it is shown to be better, by more than BY.",
    ),
    click.option(
        "--fail-if",
        multiple=True,
        metavar="EXPRESSION",
        help="Exit 1 if it holds: 'mean.low < -0.05', 'cost-per-task > 10%', 'tasks.worse > 3'.",
    ),
    click.option(
        "--unpaired",
        type=click.Choice(["drop", "error"]),
        help="Whether gates leave out tasks and rewards of one run alone, or by default are "
        "undecided.",
    ),
)


def gate_options(command: _Command) -> _Command:
    """Add the options of gates, which `comparison.gates` reads."""
    for option in reversed(GATES):
        command = option(command)
    return command
