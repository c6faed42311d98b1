"""`harbor-metrics explain`: what a rule, a metric or a reducer means."""

from __future__ import annotations

import click


@click.command()
@click.argument("name", required=False)
def command(name: str | None) -> int:
    """Explain a metric, a reducer or a rule of `validate`; without a NAME, list the rules."""
    from ..explanations import explain, rule_names

    if name is not None:
        click.echo(explain(name), nl=False)
    else:
        click.echo(
            f"rules: {', '.join(rule_names())}\n\nmetrics and reducers: `harbor-metrics list`"
        )
    return 0
