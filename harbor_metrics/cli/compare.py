"""`harbor-metrics compare`: do runs of the same tasks differ, and by how much?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import click

from ..output.streams import print_json, print_note, print_text
from ..trials.table import Missing
from . import AS_HELP, COLUMNS_HELP, progress, terminal, working
from .running import JOB_SCRIPTS_HELP, options_of, script_options


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="[NAME=]SOURCE...")
@click.option("--base", metavar="NAME", help="The run to compare with; by default the first.")
@click.option(
    "--by",
    metavar="run|agent|model|LABEL",
    help="What tells runs apart; by default sources, of one source its agents and models.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="KEY=VALUE",
    help="Only trials of this agent, model, dataset or label. Repeatable.",
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="METRIC",
    help="A further metric, as for `compute`. Repeatable.",
)
@click.option(
    "--over",
    type=click.Choice(["tasks", "attempts"]),
    default="tasks",
    show_default=True,
    help="What the intervals allow for: other such tasks, or other attempts at these.",
)
@click.option("--cluster", metavar="LABEL", help="Tasks with the same label are alike.")
@click.option(
    "--adjust",
    type=click.Choice(["holm", "bh", "none"]),
    default="holm",
    show_default=True,
    help="What several comparisons of one metric do to p.",
)
@click.option("--margin", type=float, metavar="NUMBER", help="Smaller differences are none.")
@click.option(
    "--detect", type=float, metavar="NUMBER", help="Say how many tasks would show this difference."
)
@click.option(
    "--power",
    type=float,
    default=0.8,
    show_default=True,
    metavar="NUMBER",
    help="With which probability they would.",
)
@click.option(
    "--higher-is-better", "higher", multiple=True, metavar="NAME", help="A metric or a value."
)
@click.option(
    "--lower-is-better", "lower", multiple=True, metavar="NAME", help="A metric or a value."
)
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
    "--missing",
    type=click.Choice(["zero", "skip", "error"]),
    help="What a missing reward counts as; zero is Harbor's rule and the default.",
)
@click.option(
    "--level", type=float, default=0.95, show_default=True, metavar="NUMBER", help="Of intervals."
)
@click.option(
    "--labels",
    metavar="FILE",
    help="Labels of tasks: JSON, JSONL or CSV with a `task`.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["table", "json", "csv"]),
    default="table",
    show_default=True,
)
@click.option(
    "-o", "--output", metavar="COMPARISON.json", help="Write the comparison document to this file."
)
@script_options
@click.option("--job-scripts", is_flag=True, help=JOB_SCRIPTS_HELP)
@click.option("--as", "as_format", metavar="FORMAT", help=AS_HELP)
@click.option("--columns", metavar="FIELD=COLUMN,...", default="", help=COLUMNS_HELP)
def command(
    sources: Sequence[str],
    base: str | None,
    by: str | None,
    only: Sequence[str],
    metrics: Sequence[str],
    over: Literal["tasks", "attempts"],
    cluster: str | None,
    adjust: Literal["holm", "bh", "none"],
    margin: float | None,
    detect: float | None,
    power: float,
    higher: Sequence[str],
    lower: Sequence[str],
    registries: Sequence[str],
    dataset: str | None,
    missing: Missing | None,
    level: float,
    labels: str | None,
    format_: Literal["table", "json", "csv"],
    output: str | None,
    as_format: str | None,
    columns: str,
    **script: Any,
) -> int:
    """Compare runs of the same tasks: differences with intervals, and the tasks that turned.

    A SOURCE is what `compute` takes; sources of one NAME are one run, and the first run is the
    base. Tasks are paired by their names within a dataset. Exit 0 whatever the difference.
    """
    from ..api import Request
    from ..comparison.request import ComparisonRequest, finish, prepare
    from ..comparison.settings import Settings
    from ..documents.files import check_writable
    from ..render import comparison as render
    from ..render.text import text
    from .compute import refuse_input

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
        higher=tuple(higher),
        lower=tuple(lower),
    )
    if output is not None:
        named = [source.partition("=")[2] for source in sources if "=" in source]
        refuse_input(output, [*sources, *named, *registries, *([labels] if labels else [])])
        check_writable(output)
    with progress("reading") as update:
        request = ComparisonRequest(
            computed=Request(
                sources=tuple(sources),
                registries=tuple(registries),
                dataset=dataset,
                metrics=tuple(metrics),
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
    if output is not None:
        refuse_input(output, prepared.inputs)
    with working("comparing"):
        comparison = finish(request, prepared)
    if output is not None:
        comparison.write(output)
    if format_ == "json":
        print_json(comparison.to_json())
    elif format_ == "csv":
        print_text(render.csv(comparison))
    else:
        width, _ = terminal()
        print_text(render.table(comparison, width=width))
    print_note(text(comparison.found))
    return 0 if comparison.ok else 1
