"""`harbor-metrics compare`: do runs of the same tasks differ, and by how much?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import click

from ..output.streams import as_printed, print_commands, print_json, print_note, print_text
from ..trials.table import Missing
from . import Examples
from .files import check_suffix, copies_of, refuse_input
from .gating import gate_options
from .options import AS_FORMAT, COLUMNS, DATASET, JOB_SCRIPTS, MISSING, ONLY_ASKED, OVER, REGISTRY
from .running import options_of, script_options
from .terminal import progress, terminal, working
from .until_exit import hold

if TYPE_CHECKING:
    from ..comparison.document import Comparison

FORMATS = ("table", "markdown", "json", "csv", "github")

_EXAMPLES = """\
harbor-metrics compare jobs/old jobs/new
harbor-metrics compare base=jobs/old candidate=jobs/new --metric pass@2
harbor-metrics compare jobs --by model
harbor-metrics compare jobs/old jobs/new --detect 0.1
harbor-metrics compare jobs/old jobs/new --no-worse mean --also markdown:comment.md
harbor-metrics compare jobs/old jobs/new --format csv > comparison.csv
harbor-metrics explain comparing"""


@click.command(cls=Examples, epilog=_EXAMPLES)
@click.argument("sources", nargs=-1, required=True, metavar="[NAME=]SOURCE...")
@click.option("--base", metavar="NAME", help="The run to compare with; by default the first.")
@click.option(
    "--by",
    metavar="run|agent|model|LABEL",
    help="What tells the runs apart: by default the sources, of one source its agents or models.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="KEY=VALUE",
    help="Only trials of this agent, model, dataset or label, as model=sail-1. Repeatable: of one "
    "KEY any VALUE fits.",
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="METRIC",
    help="One more metric, as for `compute`: pass@5, 'quantile q=0.9', FILE.py:FUNCTION. "
    "Repeatable.",
)
@ONLY_ASKED
@OVER
@click.option(
    "--cluster",
    metavar="LABEL",
    help="Tasks with the same value of this label are alike, not independent.",
)
@click.option(
    "--adjust",
    type=click.Choice(["holm", "bh", "none"]),
    default="holm",
    show_default=True,
    help="How p allows for several candidates: Holm, Benjamini-Hochberg, or not.",
)
@click.option(
    "--pairs",
    type=click.Choice(["base", "all"]),
    default="base",
    show_default=True,
    help="Compare each run with the base, or every two, which ranks three or more.",
)
@click.option(
    "--margin",
    type=float,
    metavar="NUMBER",
    help="Differences smaller than this do not matter: `same`.",
)
@click.option(
    "--detect",
    type=float,
    metavar="NUMBER",
    help="Say how many tasks it takes to show a difference of this size.",
)
@click.option(
    "--power",
    type=float,
    default=0.8,
    show_default=True,
    metavar="NUMBER",
    help="With --detect: the probability with which they show it.",
)
@gate_options
@click.option(
    "--script-error-bars",
    is_flag=True,
    help="Run each metric script 20 times more on either side, without some tasks each time, for "
    "an interval.",
)
@click.option(
    "--higher-is-better",
    "higher",
    multiple=True,
    metavar="NAME",
    help="More of this metric, value or reward is better. Repeatable.",
)
@click.option(
    "--lower-is-better",
    "lower",
    multiple=True,
    metavar="NAME",
    help="Less of this metric, value or reward is better, as of a cost. Repeatable.",
)
@REGISTRY
@DATASET
@MISSING
@click.option(
    "--level",
    type=float,
    default=0.95,
    show_default=True,
    metavar="NUMBER",
    help="Confidence of the intervals.",
)
@click.option(
    "--labels",
    metavar="FILE",
    help="A file of labels for --by, --only and --cluster: JSON, JSONL or CSV with a `task`.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="What to print.",
)
@click.option(
    "--also",
    multiple=True,
    metavar="FORMAT:FILE",
    help="Write a second rendering of the same comparison to a file. Repeatable.",
)
@click.option(
    "-o",
    "--output",
    metavar="COMPARISON.json|.csv",
    help="Write the comparison document to this file; its rows where it ends in .csv.",
)
@script_options
@JOB_SCRIPTS
@AS_FORMAT
@COLUMNS
def command(
    sources: Sequence[str],
    base: str | None,
    by: str | None,
    only: Sequence[str],
    metrics: Sequence[str],
    only_asked: bool,
    over: Literal["tasks", "attempts"],
    cluster: str | None,
    adjust: Literal["holm", "bh", "none"],
    pairs: Literal["base", "all"],
    margin: float | None,
    detect: float | None,
    power: float,
    no_worse: Sequence[str],
    non_inferior: Sequence[str],
    better: Sequence[str],
    fail_if: Sequence[str],
    unpaired: Literal["drop", "error"] | None,
    script_error_bars: bool,
    higher: Sequence[str],
    lower: Sequence[str],
    registries: Sequence[str],
    dataset: str | None,
    missing: Missing | None,
    level: float,
    labels: str | None,
    format_: str,
    also: Sequence[str],
    output: str | None,
    as_format: str | None,
    columns: str,
    **script: Any,
) -> int:
    """Say whether runs of the same tasks differ, by how much, and which tasks turned.

    A SOURCE is what `compute` takes, such as jobs/NAME; sources of one NAME are one run. The first
    run is the base, and every other one is compared with it. Tasks are paired by their names within
    a dataset. Exit 0 whatever the difference, but 1 where a gate fails or cannot be decided.
    """
    from ..comparison.gates import gates
    from ..comparison.request import ComparisonRequest, finish, prepare
    from ..comparison.settings import Settings
    from ..computation.request import Request
    from ..documents.files import check_writable, write_atomically
    from ..render.text import text

    options = options_of(script)
    settings = Settings(
        level=level,
        over=over,
        missing=missing,
        cluster=cluster,
        adjust=adjust,
        margin=margin,
        detect=detect,
        power=power,
        pairs=pairs,
        unpaired=unpaired,
        script_error_bars=script_error_bars,
        gates=gates(no_worse=no_worse, non_inferior=non_inferior, better=better, fail_if=fail_if),
        higher=tuple(higher),
        lower=tuple(lower),
    )
    copies = copies_of(also, FORMATS, output)
    written = [*([output] if output is not None else []), *(path for _, path in copies)]
    named = [source.partition("=")[2] for source in sources if "=" in source]
    for path in written:
        refuse_input(path, [*sources, *named, *registries, *([labels] if labels else [])])
        check_writable(path)
    if output is not None:
        check_suffix(output, tables=["CSV"])
    with progress("reading") as update:
        request = ComparisonRequest(
            computed=Request(
                sources=tuple(sources),
                registries=tuple(registries),
                dataset=dataset,
                metrics=tuple(metrics),
                only_asked=only_asked,
                missing=missing,
                labels=labels,
                as_format=as_format,
                columns=columns,
                scripts=options,
                progress=update,
            ),
            base=base,
            by=by,
            only=tuple(only),
            settings=settings,
        )
        prepared = prepare(request)
    hold(source for _, source in prepared.sources)
    for path in written:
        refuse_input(path, prepared.inputs)
    with working("comparing"):
        comparison = finish(request, prepared)
    if output is not None:
        copies = [("csv" if output.lower().endswith(".csv") else "json", output), *copies]
    for also_format, path in copies:
        write_atomically(path, as_printed(_render(comparison, also_format), also_format))
    width, _ = terminal()
    shown = _render(comparison, format_, width)
    show = {"json": print_json, "github": print_commands}.get(format_, print_text)
    show(shown)
    if format_ == "github":
        print_note(_render(comparison, "table"))
    print_note(text(comparison.found))
    return 0 if comparison.ok else 1


def _render(comparison: Comparison, format_: str, width: int = 80) -> str:
    # The imports are inside for weight: one format is asked for.
    if format_ == "json":
        return comparison.to_json()
    if format_ == "csv":
        from ..render.csv import csv_of_comparison

        return csv_of_comparison(comparison)
    if format_ == "markdown":
        from ..render.comment import comment

        return comment(comparison)
    if format_ == "github":
        from ..render.github import github_of_comparison

        return github_of_comparison(comparison)
    from ..render.comparison import table

    return table(comparison, width=width)
