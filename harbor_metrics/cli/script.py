"""`harbor-metrics script check`: a metric script tried while it is being written."""

from __future__ import annotations

from typing import Any

import click

from ..errors import InputError
from .running import options_of, script_options


@click.group()
def command() -> None:
    """Try a metric script."""


@command.command()
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
    from ..render.check import check as render
    from ..scripts.check import built_in
    from ..scripts.check import check as try_out
    from ..scripts.file import ScriptError, find

    options = options_of(script)
    try:
        found = find(file, None)
        done = try_out(found, built_in() if rewards is None else _given(rewards), options)
    except ScriptError as error:
        raise InputError(str(error)) from error
    click.echo(render(done), nl=False)
    return 0 if done.ok else 1


def _given(path: str) -> dict[str, Any]:
    from ..readers import read
    from ..render.text import text
    from ..table import Table

    tables = {}
    for source in read(path):
        click.echo(text(source.diagnostics), err=True, nl=False)
        tables[source.path] = Table(source.trials)
    return tables
