"""The options that several commands have, each written once."""

from __future__ import annotations

import click

from ..errors import UsageError
from ..readers import formats

REGISTRY = click.option(
    "--registry",
    "registries",
    multiple=True,
    metavar="FILE",
    help="The registry that the dataset stands in; by default the one that the job was run with.",
)
DATASET = click.option(
    "--dataset",
    metavar="NAME[@VERSION]",
    help="Only this dataset; or the dataset of a source that names none.",
)
ONLY_ASKED = click.option(
    "--only-asked",
    is_flag=True,
    help="Run only the metrics of --metric, not those of the registry.",
)
MISSING = click.option(
    "--missing",
    type=click.Choice(["zero", "skip", "error"]),
    help="A trial without a reward counts as 0 (Harbor's rule and the default), is left out, or is "
    "an error.",
)
OVER = click.option(
    "--over",
    type=click.Choice(["tasks", "attempts"]),
    default="tasks",
    show_default=True,
    help="What the intervals allow for: other tasks of the kind, or other attempts at these tasks.",
)
JOB_SCRIPTS = click.option(
    "--job-scripts",
    is_flag=True,
    help="Run also the metric scripts that only the job's own configuration names, confined.",
)
*_FORMATS, _LAST = formats.names()
AS_FORMAT = click.option(
    "--as",
    "as_format",
    metavar="FORMAT",
    help="Read the sources as this format, whatever they look like: "
    f"{', '.join(_FORMATS)} or {_LAST}.",
)
COLUMNS = click.option(
    "--columns",
    metavar="FIELD=COLUMN,...",
    default="",
    help="Which column of a CSV or of Parquet is what, as task=problem_id,reward=score.",
)


def level_of(text: str) -> float | None:
    """The level of `--level`; None for `off`.

    Raises:
        UsageError: it is neither.
    """
    if text == "off":
        return None
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"--level {text} is neither a number such as 0.95 nor `off`") from None
