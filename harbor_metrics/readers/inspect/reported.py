"""The numbers that an Inspect log reports, as data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from ...numbers.exact import Number
from ...trials.source import Reported
from ...trials.trial import NO_GROUP, GroupKey
from ..files.lenient import constant
from ..files.names import shown
from ..written import numbers_in

# A number that Inspect does not read.
OTHER = "other"


class Metric(msgspec.Struct, gc=False):
    """One value; `group` is the metric whose result has several, `name` then the result's part."""

    name: str
    value: Number | str | None = None
    group: str | None = None
    params: dict[str, Any] | None = None


class Scores(msgspec.Struct, gc=False):
    """The metrics of one scorer, reducer, and key of a dict score."""

    name: str
    scorer: str
    reducer: str | None = None
    scored_samples: int | None = None
    unscored_samples: int | None = None
    metrics: dict[str, Metric] = {}


class _Scorer(msgspec.Struct, gc=False):
    """The only scorer of a log of the first versions; its metrics mostly stand beside it."""

    name: str
    reducer: str | None = None
    scored_samples: int | None = None
    unscored_samples: int | None = None
    metrics: dict[str, Metric] = {}


class Results(msgspec.Struct, gc=False):
    """The part of a header that has the numbers.

    `scorer` and `metrics` are those of the first versions, of which Inspect makes `scores`;
    `passed_over` are metrics that it does not read, by their place.
    """

    total_samples: int | None = None
    completed_samples: int | None = None
    scores: list[Scores] = []
    scorer: _Scorer | None = None
    metrics: Any = None
    sample_reductions: Any = None
    passed_over: Any = None

    def __post_init__(self) -> None:
        """Read it as Inspect does."""
        self.passed_over = {}
        if self.scorer is None:
            self.passed_over["metrics"] = self.metrics
            return
        if self.scores:
            raise ValueError("`scorer` stands beside `scores`, which Inspect refuses")
        own = self.scorer.metrics
        if self.metrics:
            self.passed_over["scorer.metrics"] = msgspec.to_builtins(own)
            own = msgspec.convert(self.metrics, dict[str, Metric])
        self.scores = [
            Scores(
                name=self.scorer.name,
                scorer=self.scorer.name,
                reducer=self.scorer.reducer,
                scored_samples=self.scorer.scored_samples,
                unscored_samples=self.scorer.unscored_samples,
                metrics=own,
            )
        ]


def reported(
    results: Results | None, group_of: Callable[[str], GroupKey], *, unreduced: bool
) -> Iterator[Reported]:
    """Every value of the log.

    Args:
        results: the part of the header that has them.
        group_of: the group of a scorer.
        unreduced: the log was made without a reducer: attempts count one by one.
    """
    for name in ("total_samples", "completed_samples") if results else ():
        count = getattr(results, name)
        if count is not None:
            yield Reported(place=name, metric=name, value=count, group=NO_GROUP)
    for name, metrics in results.passed_over.items() if results else ():
        for place, value in numbers_in(name, metrics):
            number = value if isinstance(value, int | float) else None
            text = "" if number is not None else str(value)
            yield Reported(place=place, metric=OTHER, value=number, not_finite=text, group=NO_GROUP)
    with_reducer = {row.scorer for row in results.scores if row.reducer} if results else set()
    for row in results.scores if results else ():
        key = row.name if row.name != row.scorer else None
        # Frequencies are over attempts, whatever the reducer; their rows name none.
        apart = row.scorer in with_reducer or any(
            "frequency" in (metric.group, metric.name) for metric in row.metrics.values()
        )
        reducer = row.reducer or (None if unreduced or apart else "mean")
        where = shown(row.name)
        where = f"{where}, {shown(row.reducer)}" if row.reducer else where
        for name, metric in row.metrics.items():
            value, params = metric.value, metric.params or {}
            # Until 0.3.250 or so a group's value did not say that it is one.
            group = metric.group or ("grouped" if "group_key" in params else None)
            yield Reported(
                place=f"{where}: {name}",
                metric=(group or metric.name).rpartition("/")[2],
                value=value if isinstance(value, int | float) else None,
                not_finite=constant(value) or (value if isinstance(value, str) else ""),
                group=group_of(row.scorer),
                key=key,
                part=metric.name if group else None,
                reducer=reducer,
                params=params,
                under=name,
            )
        for name in ("scored_samples", "unscored_samples"):
            count = getattr(row, name)
            if count is not None:
                yield Reported(
                    place=f"{where}: {name}",
                    metric=name,
                    value=count,
                    group=group_of(row.scorer),
                    key=key,
                    reducer=reducer,
                )
