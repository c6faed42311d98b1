"""`harbor-metrics list`: every metric, reducer and name that an entry may use."""

from __future__ import annotations

from typing import Literal

import click

from ..output.streams import print_json, print_line, print_text
from . import Examples
from .terminal import terminal

_EXAMPLES = """\
harbor-metrics list
harbor-metrics explain pass-at-k   one of them: what it computes, what it takes"""


@click.command(cls=Examples, epilog=_EXAMPLES)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="What to print.",
)
def command(format_: Literal["table", "json"]) -> int:
    """List metrics and reducers by family, and the names that other systems have for them."""
    from ..catalogue.listing import entries, problems
    from ..render import listing

    names = entries()
    if format_ == "json":
        print_json(listing.json(names))
    else:
        print_text(listing.table(names, terminal()[0]))
    for problem in problems():
        print_line(f"warning: {problem}")
    return 0
