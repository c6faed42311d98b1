"""`harbor-metrics remove`: a metric less in a registry, and nothing else changed."""

from __future__ import annotations

import click


@click.command()
@click.argument("registry")
@click.argument("dataset", metavar="DATASET[@VERSION]")
@click.argument("which", metavar="TYPE|INDEX")
@click.option("--diff", is_flag=True, help="Show what changed.")
def command(registry: str, dataset: str, which: str, diff: bool) -> int:
    """Remove a metric from a dataset of a registry, by its type or its index from 0."""
    from ..change import remove

    change = remove(registry, dataset, which)
    click.echo(change.message)
    if diff:
        click.echo(change.diff(registry), nl=False)
    return 0
