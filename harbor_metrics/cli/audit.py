"""`harbor-metrics audit`: are the numbers that a log reports those of its trials?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import click

from . import AS_HELP, progress


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option(
    "--registry",
    "registries",
    multiple=True,
    metavar="FILE",
    help="Registry of the jobs' datasets; by default the one each job names.",
)
@click.option("--all", "every", is_flag=True, help="Show every number, also where many are equal.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
)
@click.option("--as", "as_format", metavar="FORMAT", help=AS_HELP)
def command(
    sources: Sequence[str],
    registries: Sequence[str],
    every: bool,
    format_: Literal["table", "json"],
    as_format: str | None,
) -> int:
    """Recompute every number that jobs and logs report, and show both.

    A SOURCE is a Harbor job, an Inspect log, or the folder of an lm-eval run with its samples. Exit
    1 where a number differs without an explanation.
    """
    from ..audits import audit
    from ..audits.row import Verdict
    from ..render.audit import table
    from ..render.text import text

    with progress("reading") as update:
        done = audit(*sources, registry=registries, as_format=as_format, progress=update)
    if format_ == "json":
        click.echo(done.to_json(), nl=False)
    else:
        click.echo(table(done.rows, every=every), nl=False)
        words = {Verdict.DIFFERS: "differ without an explanation"}
        counts = ", ".join(f"{done.count(each)} {words.get(each, each)}" for each in Verdict)
        click.echo(f"{len(done.rows)} numbers: {counts}")
    for path in done.silent:
        click.echo(f"{path} reports no numbers of its own", err=True)
    click.echo(text(done.diagnostics), err=True, nl=False)
    return 0 if done.ok else 1
