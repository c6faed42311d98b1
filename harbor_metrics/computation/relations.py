"""The sources of a request that lie on an engine."""

from __future__ import annotations

from collections.abc import Sequence

from ..engines.extras import require
from ..engines.recognition import is_relation
from ..errors import UsageError
from ..evaluation.planned import Planned
from ..readers.columns import columns_of
from ..trials.source import Source
from .request import Request


def relations(request: Request, asked: Sequence[Planned], *, keep: bool) -> list[Source]:
    """The sources that an engine is asked about.

    Raises:
        UsageError: something is asked for that needs the trials, or other sources stand beside.
        InputError: the engine is not installed, or cannot read them.
    """
    require("narwhals", "engine")
    # For weight, and because what it imports is installed with an extra.
    from ..engines.sources import read

    if not all(is_relation(source, request.engine) for source in request.sources):
        raise UsageError(
            "some sources lie on an engine, and some are read: they cannot be pooled",
            "harbor-metrics convert SOURCE -o trials.parquet makes one of the other kind",
        )
    if keep:
        raise UsageError(
            "this needs every trial, and of Parquet and data frames an engine gives counts and sums"
        )
    if request.as_format is not None:
        raise UsageError("--as names the format of a file, and these sources lie on an engine")
    if request.labels is not None:
        raise UsageError(
            "--labels joins a file to trials, which stay on the engine",
            "join it there, as a column `label.NAME`",
        )
    columns = request.columns
    own = [metric.bound.common.key if metric.bound else None for metric in asked]
    return read(
        request.sources,
        engine=request.engine,
        columns=columns_of(columns),
        keys=[key for key in own if key] if request.only_asked and all(own) else None,
        totals_only=request.level is None,
    )
