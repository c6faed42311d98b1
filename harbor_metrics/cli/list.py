"""`harbor-metrics list`: every metric, reducer and name that an entry may use."""

from __future__ import annotations

from typing import Literal

import click

from . import terminal


@click.command()
@click.option(
    "--format",
    "format_",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
)
def command(format_: Literal["table", "json"]) -> int:
    """List metrics and reducers by family, and the names that other systems have for them."""
    from ..listing import entries
    from ..render import listing

    found = entries()
    width, _ = terminal()
    click.echo(listing.table(found, width) if format_ == "table" else listing.json(found), nl=False)
    return 0
