"""`harbor-metrics audit`: are the numbers that a log reports those of its trials?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import click

from ..output.streams import print_json, print_note, print_text
from . import AS_HELP, progress
from .running import JOB_SCRIPTS_HELP


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
@click.option("--job-scripts", is_flag=True, help=JOB_SCRIPTS_HELP)
@click.option("--as", "as_format", metavar="FORMAT", help=AS_HELP)
def command(
    sources: Sequence[str],
    registries: Sequence[str],
    every: bool,
    format_: Literal["table", "json"],
    job_scripts: bool,
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
        result = audit(
            *sources,
            registry=registries,
            as_format=as_format,
            job_scripts=job_scripts,
            progress=update,
        )
    if format_ == "json":
        print_json(result.to_json())
    else:
        print_text(table(result.rows, every=every))
        words = {verdict: str(verdict) for verdict in Verdict}
        words[Verdict.DIFFERS] = "differ without an explanation"
        counts = ", ".join(f"{result.count(verdict)} {word}" for verdict, word in words.items())
        print_text(f"{len(result.rows)} numbers: {counts}\n")
    for path in result.silent:
        print_note(f"{path} reports no numbers of its own\n")
    print_note(text(result.diagnostics))
    return 0 if result.ok else 1
