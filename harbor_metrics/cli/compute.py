"""`harbor-metrics compute`: sources and registries in, one result document and its tables out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal

import click

from ..errors import UsageError
from ..table import Missing
from . import AS_HELP, COLUMNS_HELP, progress, terminal
from .running import options_of, script_options

_JOB_DOCUMENTS = ("result.json", "config.json", "lock.json")


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option(
    "--registry",
    "registries",
    multiple=True,
    metavar="FILE",
    help="Registry to look for the dataset in; by default the one the job names.",
)
@click.option(
    "--dataset",
    metavar="NAME[@VERSION]",
    help="Only this dataset; or the dataset of a source that names none.",
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="TYPE|JSON",
    help='A further metric: a type, or {"type": …, "kwargs": …}. Repeatable.',
)
@click.option(
    "--missing",
    type=click.Choice(["zero", "skip", "error"]),
    help="What a missing reward counts as; zero is Harbor's rule and the default.",
)
@click.option(
    "--level",
    metavar="NUMBER|off",
    default="0.95",
    show_default=True,
    help="Of the intervals beside means, rates and chances.",
)
@click.option(
    "--labels",
    metavar="FILE",
    help="Labels of tasks to group by: JSON, JSONL or CSV with a `task`.",
)
@click.option("--require-complete", is_flag=True, help="Exit 1 when a planned trial is missing.")
@click.option(
    "--dry-run", is_flag=True, help="Say which metrics and scripts would run; run nothing."
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["table", "markdown", "json"]),
    default="table",
    show_default=True,
)
@click.option(
    "-o", "--output", metavar="RESULT.json", help="Write the result document to this file."
)
@script_options
@click.option(
    "--verify-repeat",
    is_flag=True,
    help="Run each metric script twice, and name those whose numbers differ.",
)
@click.option("--as", "as_format", metavar="FORMAT", help=AS_HELP)
@click.option("--columns", metavar="FIELD=COLUMN,...", default="", help=COLUMNS_HELP)
def command(
    sources: Sequence[str],
    registries: Sequence[str],
    dataset: str | None,
    metrics: Sequence[str],
    missing: Missing | None,
    level: str,
    labels: str | None,
    require_complete: bool,
    dry_run: bool,
    format_: Literal["table", "markdown", "json"],
    output: str | None,
    as_format: str | None,
    columns: str,
    **script: Any,
) -> int:
    """Compute dataset-level results of jobs and reward files.

    A SOURCE is a Harbor job directory, a directory of several jobs, a rewards JSONL (an object of
    numbers or null a line), a trials JSONL (with `task` and `rewards`), an Inspect log, lm-eval
    samples or the folder of them, evsys rewards, a CSV, or - for standard input. Lines may be
    packed (.gz, .zst). The format is recognised from the content. Several sources pool into one.
    """
    from ..api import finish, inputs, prepare, scripts
    from ..atomic import check_writable
    from ..diagnostics import Severity
    from ..render.text import text

    sure = _level(level)
    options = options_of(script)
    allow_outside = options.allow_outside
    if output is not None:
        refuse_input(output, [*sources, *registries, *([labels] if labels else [])])
        check_writable(output)
    with progress("reading") as update:
        prepared = prepare(
            *sources,
            registry=registries,
            dataset=dataset,
            metrics=metrics,
            as_format=as_format,
            columns=columns,
            labels=labels,
            progress=update,
        )
    if dry_run:
        from ..render.dry_run import cannot_run
        from ..render.dry_run import dry_run as render

        known = scripts(prepared, allow_outside=allow_outside)
        click.echo(render(prepared.groups, known), nl=False)
        click.echo(text(prepared.diagnostics), err=True, nl=False)
        failing = any(
            cannot_run(one, known) for _, _, made in prepared.groups for one in made.metrics
        )
        return int(failing or any(d.severity == Severity.ERROR for d in prepared.diagnostics))
    if output is not None:
        refuse_input(output, inputs(prepared, allow_outside=allow_outside))
    result = finish(prepared, missing=missing, level=sure, scripts=options)
    if output is not None:
        result.write(output)
    if format_ == "json":
        click.echo(result.to_json(), nl=False)
    elif format_ == "markdown":
        from ..render.markdown import markdown

        click.echo(markdown(result), nl=False)
    else:
        from ..render.table import table

        width, colour = terminal()
        click.echo(table(result, width=width, colour=colour), nl=False)
    click.echo(text(result.found), err=True, nl=False)
    if require_complete and not result.complete:
        click.echo("error: trials are missing, and --require-complete was given", err=True)
        return 1
    return 0 if result.ok else 1


def _level(text: str) -> float | None:
    if text == "off":
        return None
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"--level {text} is neither a number such as 0.95 nor `off`") from None


def refuse_input(output: str, inputs: Sequence[str]) -> None:
    """Never replace what the result is computed from."""
    target = os.path.realpath(output)
    for path in inputs:
        real = os.path.realpath(path)
        of_the_job = os.path.basename(target) in _JOB_DOCUMENTS and target.startswith(
            f"{real}{os.sep}"
        )
        if target == real or of_the_job:
            what = "a document of the input" if of_the_job else "the same file as the input"
            raise UsageError(
                f"-o {output} is {what} {path}: it is the same file that would be read"
            )
