"""`harbor-metrics schema`: a document schema, whole, for editors and other validators."""

from __future__ import annotations

import click

from ..errors import UsageError


@click.command()
@click.argument("name", required=False)
def command(name: str | None) -> int:
    """Print a document schema: registry, metric, rewards, trials, result or diagnostics."""
    import json

    from ..schemas import NAMES, bundled

    if name is None:
        click.echo("\n".join(NAMES))
    elif name in NAMES:
        click.echo(json.dumps(bundled(name), indent=2, ensure_ascii=False))
    else:
        raise UsageError(f"there is no schema `{name}`", f"one of: {', '.join(NAMES)}")
    return 0
