"""`harbor-metrics cache`: what metric scripts leave to be used again."""

from __future__ import annotations

import click

from ..output.streams import print_text
from . import Examples

_EXAMPLES = """\
harbor-metrics cache
harbor-metrics cache --prune --days 7"""


@click.command(cls=Examples, epilog=_EXAMPLES)
@click.option("--prune", is_flag=True, help="Remove what was not used for so many days.")
@click.option(
    "--days", type=click.FloatRange(min=0), help="Not used for so many days.  [default: 30]"
)
def command(prune: bool, days: float | None) -> int:
    """Show the environments and fetched repositories that are kept for metric scripts.

    What was not used for 30 days goes by itself when a script runs.
    """
    from ..confinement.homes import our_cache
    from ..render import cache as render
    from ..scripts import cache

    since = cache.DAYS if days is None else days
    if why := cache.why_unused():
        print_text(render.unused(our_cache(), why))
    elif prune:
        print_text(render.removed(cache.prune(since)))
    else:
        kept = cache.entries()
        if days is not None:
            kept = [entry for entry in kept if entry.age >= since * cache.DAY]
        print_text(render.kept(kept, cache.cache_folder("")))
    return 0
