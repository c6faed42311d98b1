"""`harbor-metrics explain`: what a rule, a metric or a reducer means."""

from __future__ import annotations

import click

from ..output.streams import print_text


@click.command()
@click.argument("name", required=False)
def command(name: str | None) -> int:
    """Explain a metric, a reducer or a rule; without a NAME, list the rules."""
    from ..validation.explanations import explain, other_rule_names, rule_names
    from ..validation.rules import hints

    usual = [rule for rule in rule_names() if rule not in hints()]
    if name is not None:
        print_text(explain(name))
    else:
        print_text(f"rules of validate: {', '.join(usual)}\n\n")
        print_text(f"hints, off unless selected: {', '.join(sorted(hints()))}\n\n")
        print_text(f"rules of the other commands: {', '.join(other_rule_names())}\n\n")
        print_text("metrics and reducers: `harbor-metrics list`\n")
    return 0
