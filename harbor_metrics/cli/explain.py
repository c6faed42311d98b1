"""`harbor-metrics explain`: what a topic, a metric, a reducer or a rule means."""

from __future__ import annotations

import click

from ..output.streams import print_text
from . import Examples

_EXAMPLES = """\
harbor-metrics explain
harbor-metrics explain low-score
harbor-metrics explain pass@5
harbor-metrics explain unknown-metric-field"""


@click.command(cls=Examples, epilog=_EXAMPLES)
@click.argument("name", required=False)
def command(name: str | None) -> int:
    """Explain a topic, a metric, a reducer or a rule; without a NAME, list all there are.

    The NAME of a rule stands in brackets behind the word `error` or `warning`.
    """
    from ..validation.explanations import explain, topics

    print_text(topics() if name is None else explain(name))
    return 0
