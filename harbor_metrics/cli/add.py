"""`harbor-metrics add`: a metric more in a registry, and nothing else changed."""

from __future__ import annotations

from collections.abc import Sequence

import click


@click.command()
@click.argument("registry")
@click.argument("dataset", metavar="DATASET[@VERSION]")
@click.argument("type_", metavar="TYPE")
@click.option("-k", "kwargs", multiple=True, metavar="NAME=VALUE", help="A kwarg. Repeatable.")
@click.option("--diff", is_flag=True, help="Show what changed.")
def command(registry: str, dataset: str, type_: str, kwargs: Sequence[str], diff: bool) -> int:
    """Add a metric to a dataset of a registry.

    It goes to `metrics` if Harbor can load it, else to `extra_metrics`, which Harbor ignores.
    """
    from ..change import add, parse_kwargs

    change = add(registry, dataset, type_, parse_kwargs(type_, kwargs))
    click.echo(change.message)
    if diff:
        click.echo(change.diff(registry), nl=False)
    return 0
