"""`harbor-metrics script check`: a metric script tried while it is being written."""

from __future__ import annotations

from typing import Any

import click

from ..output.streams import print_note, print_text
from . import Examples
from .running import options_of, script_options


@click.group()
def command() -> None:
    """Try a metric script."""


_EXAMPLES = """\
harbor-metrics script check metrics/mine.py
harbor-metrics script check metrics/mine.py --rewards jobs/new"""


@command.command(cls=Examples, epilog=_EXAMPLES)
@click.argument("file")
@click.option(
    "--rewards",
    metavar="SOURCE",
    help="Run it on these trials instead: anything that compute reads.",
)
@script_options
def check(file: str, rewards: str | None, **script: Any) -> int:
    """Run a metric script as a metric would, and show what came out.

    It runs on a small set of rewards of every shape: one key, several, missing ones, none at all;
    each a second time, to see whether the numbers are the same and what it was refused.
    """
    from ..registries.script_file import find
    from ..render.check import check as render
    from ..scripts.check import built_in
    from ..scripts.check import check as try_out

    options = options_of(script)
    metric_script = find(file, None)
    cases = built_in() if rewards is None else _read_cases(rewards)
    result = try_out(metric_script, cases, options)
    print_text(render(result))
    return 0 if result.ok else 1


def _read_cases(path: str) -> dict[str, Any]:
    from ..readers import read
    from ..render.text import text
    from ..trials.counts import parted
    from ..trials.table import Table

    tables = {}
    for source in read(path):
        print_note(text(source.diagnostics))
        tables[source.path] = Table(parted(source.trials)[0])
    return tables
