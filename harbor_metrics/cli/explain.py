"""`harbor-metrics explain`: what a rule or a metric means."""

from __future__ import annotations

import click


@click.command()
@click.argument("name", required=False)
def command(name: str | None) -> int:
    """Explain a metric or a rule of `validate`; without a NAME, list both."""
    from ..explanations import explain, rule_names
    from ..metric import names

    if name is not None:
        click.echo(explain(name), nl=False)
    else:
        click.echo(f"metrics: {', '.join(names())}\n\nrules: {', '.join(rule_names())}")
    return 0
