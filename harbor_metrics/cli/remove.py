"""`harbor-metrics remove`: one metric less in a registry, and nothing else changed."""

from __future__ import annotations

import click

from ..output.streams import print_text
from . import Examples

_EXAMPLES = """\
harbor-metrics remove registry.json my-dataset max
harbor-metrics remove registry.json my-dataset 0 --diff"""


@click.command(cls=Examples, epilog=_EXAMPLES)
@click.argument("registry")
@click.argument("dataset", metavar="DATASET[@VERSION]")
@click.argument("which", metavar="TYPE|INDEX")
@click.option("--diff", is_flag=True, help="Show what changed.")
def command(registry: str, dataset: str, which: str, diff: bool) -> int:
    """Remove a metric from a dataset of a registry, by its type or its index from 0."""
    import gc

    from ..registries.change import remove

    # A document has no cycles, and looking for some takes longer than reading it.
    gc.disable()
    change = remove(registry, dataset, which)
    print_text(f"{change.message}\n")
    if diff:
        print_text(change.diff(registry))
    return 0
