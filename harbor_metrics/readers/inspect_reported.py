"""The metrics that an Inspect log reports, as data."""

from __future__ import annotations

from typing import Any

import msgspec

from ..exact import Number
from .source import Reported


class Metric(msgspec.Struct, gc=False):
    """One value; `group` is the metric whose result has several, `name` then the result's part."""

    name: str
    value: Number | str | None = None
    group: str | None = None
    params: dict[str, Any] = {}


class Scores(msgspec.Struct, gc=False):
    """The metrics of one scorer, reducer, and key of a dict score."""

    name: str
    scorer: str
    reducer: str | None = None
    scored_samples: int | None = None
    unscored_samples: int | None = None
    metrics: dict[str, Metric] = {}


class Results(msgspec.Struct, gc=False):
    """The part of a header that has the numbers."""

    total_samples: int | None = None
    completed_samples: int | None = None
    scores: list[Scores] = []


def reported(results: Results | None, *, multiple: bool) -> tuple[Reported, ...]:
    """Every value of the log; `multiple` where the scorers are groups of their own."""
    return ()
