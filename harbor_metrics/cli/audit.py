"""`harbor-metrics audit`: are the numbers that a log reports those of its trials?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import click

from ..output.streams import print_json, print_line, print_note, print_text
from . import Examples
from .options import AS_FORMAT, JOB_SCRIPTS
from .running import options_of, script_options
from .terminal import progress

_EXAMPLES = """\
harbor-metrics audit jobs/new
harbor-metrics audit jobs/new --all
harbor-metrics audit jobs/new --format json"""


@click.command(cls=Examples, epilog=_EXAMPLES)
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
    help="What to print.",
)
@click.option(
    "--allow-unverified",
    is_flag=True,
    help="Exit 0 also where nothing of a source could be verified.",
)
@click.option(
    "--most-draws",
    type=click.IntRange(min=0),
    metavar="N",
    help="Draw no more than N resamples to replay an error that lm-eval drew; by default its own "
    "100,000 of 500 documents, and fewer of more or where many errors are drawn.",
)
@script_options
@JOB_SCRIPTS
@AS_FORMAT
def command(
    sources: Sequence[str],
    registries: Sequence[str],
    every: bool,
    format_: Literal["table", "json"],
    allow_unverified: bool,
    most_draws: int | None,
    as_format: str | None,
    **scripts: Any,
) -> int:
    """Recompute every number that a job or a log reports from its trials, and show both.

    A number is equal, explained (another one was computed, and the reason is known), unverified
    (there is nothing to recompute it from), or it differs. A SOURCE is a Harbor job, an Inspect
    log, or the folder of an lm-eval run with its samples. Exit 1 where a number differs without an
    explanation, and where nothing of a source could be verified.
    """
    from ..audits import audit
    from ..render.audit import counts, table
    from ..render.text import text

    options = options_of(scripts)
    with progress("reading") as reading, progress("drawing") as drawing:
        result = audit(
            *sources,
            registry=registries,
            as_format=as_format,
            scripts=options,
            most_draws=most_draws,
            progress=reading,
            drawing=drawing,
        )
    if format_ == "json":
        print_json(result.to_json())
    else:
        print_text(table(result.rows, every=every))
        print_text(f"{counts(result.rows)}\n")
    allowed = "" if allow_unverified else "; --allow-unverified accepts that"
    for path in result.silent:
        print_line(f"{path} reports no numbers of its own{allowed}")
    for path in result.unverified:
        print_line(f"nothing that {path} reports could be verified{allowed}")
    for path in result.short:
        print_line(f"fewer errors of {path} were drawn anew than of it alone{allowed}")
    print_note(text(result.diagnostics))
    verified = allow_unverified or not (result.silent or result.unverified or result.short)
    return 0 if result.ok and verified else 1
