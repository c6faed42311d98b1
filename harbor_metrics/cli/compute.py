"""`harbor-metrics compute`: sources and registries in, one result document and its tables out."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import click

from ..documents.wording import in_command
from ..errors import UsageError
from ..output.streams import as_printed, print_json, print_line, print_note, print_text
from ..trials.table import Missing
from . import Examples
from .files import check_suffix, copies_of, refuse_input
from .options import (
    AS_FORMAT,
    COLUMNS,
    DATASET,
    JOB_SCRIPTS,
    MISSING,
    ONLY_ASKED,
    OVER,
    REGISTRY,
    level_of,
)
from .running import options_of, script_options
from .terminal import note_width, progress, terminal, working
from .until_exit import hold

if TYPE_CHECKING:
    from ..computation.preparation import Prepared
    from ..evaluation.result import Result
    from ..render.numerals import Digits

# Where Harbor puts jobs unless it is told otherwise.
_JOBS = "jobs"
FORMATS = ("table", "blocks", "markdown", "json", "csv", "hub-rows")


_EXAMPLES = """\
harbor-metrics compute jobs/new
harbor-metrics compute jobs/new --metric pass@2 --metric cost-per-solved-task
harbor-metrics compute jobs/new --metric 'accuracy reducer=max missing=skip'
harbor-metrics compute jobs/new --metric my_metric.py:worst_task
harbor-metrics compute jobs/new --group-by category
harbor-metrics compute jobs/old jobs/new --sort mean
harbor-metrics compute jobs/new --format csv > result.csv
harbor-metrics compute scores.csv --columns task=problem,reward=score
harbor-metrics list                 every metric
harbor-metrics explain low-score    why a score can be lower than expected
harbor-metrics explain own-metric   how to write my_metric.py"""


@click.command(cls=Examples, epilog=_EXAMPLES)
@click.argument("sources", nargs=-1, metavar="[SOURCE...]")
@REGISTRY
@DATASET
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="TYPE|JSON",
    help="One more metric, for this run: its name (pass@5), a name and kwargs ('quantile q=0.9'), "
    'FILE.py:FUNCTION, or an entry {"type": …, "kwargs": …}. Repeatable.',
)
@ONLY_ASKED
@MISSING
@click.option(
    "--level",
    metavar="NUMBER|off",
    default="0.95",
    show_default=True,
    help="Confidence of the intervals; off shows none.",
)
@OVER
@click.option(
    "--labels",
    metavar="FILE",
    help="A file of labels for --group-by: JSON, JSONL or CSV with a column `task`.",
)
@click.option(
    "--group-by",
    "group_by",
    multiple=True,
    metavar="LABEL",
    help="Compute each metric for every value of this label, such as category: of task.toml's "
    "[metadata], the registry or --labels. Repeatable.",
)
@click.option("--require-complete", is_flag=True, help="Exit 1 where a planned trial is missing.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Say which metrics would run, and who asks for them; run nothing.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="What to print; hub-rows are rows of a leaderboard of Harbor.",
)
@click.option(
    "--also",
    multiple=True,
    metavar="FORMAT:FILE",
    help="Write the same result in another format to a file, as csv:result.csv. Repeatable.",
)
@click.option(
    "--sort",
    metavar="METRIC",
    help="Order the lines of several agents or datasets by this metric, the best first.",
)
@click.option(
    "--digits",
    type=click.Choice(["significant", "full"]),
    default="significant",
    show_default=True,
    help="How exact the table is: two digits of each standard error, or all digits. JSON and CSV "
    "have all.",
)
@click.option(
    "-o",
    "--output",
    metavar="RESULT.json|.csv|.parquet",
    help="Write the result document to this file; a row for each value where it ends in .csv "
    "or .parquet.",
)
@script_options
@JOB_SCRIPTS
@click.option(
    "--verify-repeat",
    is_flag=True,
    help="Run each metric script twice, and name those whose numbers differ.",
)
@AS_FORMAT
@COLUMNS
@click.option(
    "--engine",
    metavar="ENGINE",
    help="What computes from Parquet: duckdb, which is the default, spark, or sc://HOST:PORT.",
)
def command(
    sources: Sequence[str],
    registries: Sequence[str],
    dataset: str | None,
    metrics: Sequence[str],
    only_asked: bool,
    missing: Missing | None,
    level: str,
    over: Literal["tasks", "attempts"],
    labels: str | None,
    group_by: Sequence[str],
    require_complete: bool,
    dry_run: bool,
    format_: str,
    also: Sequence[str],
    sort: str | None,
    digits: Digits,
    output: str | None,
    as_format: str | None,
    columns: str,
    engine: str | None,
    **script: Any,
) -> int:
    """Print the score of jobs and logs: every metric, with its interval and what is missing.

    A SOURCE is a Harbor job (jobs/NAME), a folder of jobs, an Inspect log, lm-eval samples or the
    folder of them, evsys rewards, a CSV, a rewards JSONL (an object of numbers or null a line), a
    trials JSONL (with `task` and `rewards`), or - for standard input; lines may be packed (.gz,
    .zst). The content says which it is. Without a SOURCE, on a terminal, it is the job below ./jobs
    that was started last. Parquet ('trials/*.parquet', s3://…) stays where it lies, and an engine
    is asked. Each agent, model and dataset gets numbers of its own.

    The metrics are those of the dataset's registry, the job's own, and those of --metric.
    """
    from ..computation.computing import finish
    from ..computation.preparation import prepare
    from ..computation.request import Request
    from ..documents.diagnostics import Severity
    from ..documents.files import check_writable, write_atomically
    from ..render.remarks import remarks

    if dry_run and (output is not None or also or format_ != "table"):
        raise UsageError(
            "--dry-run prints text and computes no result: there is nothing for -o, --also or "
            "--format to write",
            "leave them out, or --dry-run",
        )
    sources = sources or [_newest()]
    confidence = level_of(level)
    options = options_of(script)
    copies = copies_of(also, FORMATS, output)
    written = [*([output] if output is not None else []), *(path for _, path in copies)]
    for path in written:
        refuse_input(path, [*sources, *registries, *([labels] if labels else [])])
        check_writable(path)
    if output is not None:
        check_suffix(output)
    with progress("reading") as update:
        request = Request(
            sources=tuple(sources),
            registries=tuple(registries),
            dataset=dataset,
            metrics=tuple(metrics),
            only_asked=only_asked,
            missing=missing,
            level=confidence,
            over=over,
            labels=labels,
            group_by=tuple(group_by),
            as_format=as_format,
            columns=columns,
            scripts=options,
            progress=update,
            engine=engine,
        )
        # Rows name their trials, which are otherwise counted where there are many.
        keep = "hub-rows" in (format_, *(copy for copy, _ in copies))
        prepared = prepare(request, keep=keep)
    hold(prepared.sources)
    if dry_run:
        from ..catalogue.plugins import imported
        from ..render.dry_run import dry_run as render

        print_text(render(prepared.groups))
        print_note(remarks(prepared.diagnostics, width=note_width()))
        print_note(imported())
        failing = any(metric.failure is not None for metric in prepared.planned)
        return int(failing or any(d.severity == Severity.ERROR for d in prepared.diagnostics))
    for path in written:
        refuse_input(path, prepared.inputs)
    with working("computing"):
        result = finish(request, prepared)
    if output is not None:
        _write(result, output)
    for also_format, path in copies:
        copy = _render(result, prepared, also_format, digits, sort)
        write_atomically(path, as_printed(copy, also_format))
    width, colour = terminal()
    shown = _render(result, prepared, format_, digits, sort, width, colour=colour)
    if format_ in ("json", "hub-rows"):
        print_json(shown)
    else:
        print_text(shown, styles=colour)
    print_note(remarks(result.found, width=note_width()))
    if require_complete and not result.complete:
        print_line(f"error: {result.not_as_planned}, and --require-complete was given")
        return 1
    return 0 if result.ok else 1


def _render(
    result: Result,
    prepared: Prepared,
    format_: str,
    digits: Digits,
    sort: str | None,
    width: int = 80,
    *,
    colour: bool = False,
) -> str:
    # The imports are inside for weight: one format is asked for.
    if format_ == "json":
        return result.to_json()
    if format_ == "csv":
        from ..render.csv import csv

        return csv(result)
    if format_ == "hub-rows":
        from ..render.hub_rows import hub_rows

        # Those that are left out, too: a row shows all that ran.
        trials = [group.pool.everything for group in prepared.groups]
        return hub_rows(result, [[trial.id for trial in of_group] for of_group in trials])
    from ..render.overview import sheets

    made = sheets(
        result,
        blocks=format_ == "blocks",
        digits=digits,
        sort=sort,
        hints=format_ != "markdown",
    )
    if format_ == "markdown":
        from ..render.markdown import markdown

        return markdown(made)
    from ..render.table import table

    return table(made, width=width, colour=colour)


def _write(result: Result, output: str) -> None:
    """Write the document, or its values where the file's name says CSV or Parquet."""
    from ..documents.files import write_atomically

    suffix = os.path.splitext(output)[1].lower()
    if suffix == ".csv":
        from ..render.csv import csv

        write_atomically(output, as_printed(csv(result), "csv"))
    elif suffix == ".parquet":
        from ..render.frame import parquet

        write_atomically(output, parquet(result))
    else:
        write_atomically(output, as_printed(result.to_json(), "json"))


def _newest() -> str:
    """The job that was started last, where somebody is there to see which one it is.

    Raises:
        UsageError: there is none, or nobody is.
    """
    from ..readers.harbor.newest import newest_job

    job = newest_job(_JOBS)
    if job is None:
        raise UsageError(
            f"no SOURCE was given, and there is no job in ./{_JOBS}",
            "harbor-metrics compute FOLDER-OF-A-JOB",
        )
    if not sys.stdout.isatty():
        raise UsageError("no SOURCE was given", f"harbor-metrics compute {in_command(job)}")
    print_line(f"the job that was started last: {job}")
    return job
