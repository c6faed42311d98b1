"""What the numbers of an Inspect log were made of, kept where an audit asks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...trials.trial import GroupKey
from .document import Header, Reduction
from .sample import Sample

# Since this version NaN is written as such, and null is null.
_NAN_WRITTEN = (0, 3, 253)
_OWN = "inspect_ai/"


class Log:
    """The samples of a log with their scores as they were given, and what it says of metrics.

    `reductions` are what its reducers made of them, where it keeps that; `scorers` are the scorers
    by the group of their trials.
    """

    def __init__(
        self,
        header: Header,
        samples: list[Sample],
        reductions: list[Reduction],
        scorers: Mapping[GroupKey, str | None],
    ) -> None:
        self.samples = [sample for sample in samples if sample.id is not None]
        self.reductions = reductions
        self.scorers = scorers
        self.planned = header.planned
        self.null_is_nan = _version(header.eval.packages) < _NAN_WRITTEN
        self.has_scores = any(sample.scores for sample in samples)
        self.n_edited = sum(
            any(score.history for score in (sample.scores or {}).values()) for sample in samples
        )
        self._metrics: dict[str, set[str]] = {}
        for scorer in header.eval.scorers if isinstance(header.eval.scorers, list) else ():
            if isinstance(scorer, dict):
                names = self._metrics.setdefault(str(scorer.get("name")), set())
                names.update(_names(scorer.get("metrics")))

    def is_own(self, scorer: str, metric: str) -> bool:
        """Whether a metric that has the name of one of Inspect's is the eval's own."""
        names = self._metrics.get(scorer, set())
        return metric in names and f"{_OWN}{metric}" not in names


def _names(metrics: Any) -> list[str]:
    """The names of metrics, those of each key of a score too."""
    if isinstance(metrics, list):
        return [name for inner in metrics for name in _names(inner)]
    if not isinstance(metrics, dict):
        return []
    name = metrics.get("name")
    if isinstance(name, str):
        return [name]
    return [name for inner in metrics.values() for name in _names(inner)]


def _version(packages: Any) -> tuple[int, ...]:
    text = packages.get("inspect_ai") if isinstance(packages, dict) else None
    numbers = re.match(r"(\d+)\.(\d+)\.(\d+)", text) if isinstance(text, str) else None
    return tuple(map(int, numbers.groups())) if numbers else (0,)
