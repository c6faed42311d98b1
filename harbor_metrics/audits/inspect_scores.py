"""The scores of an Inspect log as its scorers gave them: texts, booleans, objects, lists, NaN."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..readers.files.lenient import constant
from ..readers.inspect.sample import Sample, Score
from ..readers.inspect.scores import number_of

_UNCHANGED = "UNCHANGED"


class NotHeldError(Exception):
    """The log does not hold what a number was made by; the message says what."""


@dataclass(frozen=True, slots=True)
class Scored:
    """One score: of a sample and epoch, or of a sample behind a reducer.

    `labels` is the metadata of the sample, `notes` that of the score.
    """

    sample: str
    value: Any
    labels: dict[str, Any]
    notes: dict[str, Any]

    def of(self, value: Any) -> Scored:
        """The same sample with another value."""
        # Not `replace`, which takes six times as long.
        return Scored(self.sample, value, self.labels, self.notes)


def scores_of(samples: Iterable[Sample], scorer: str, *, nan: bool, edited: bool) -> list[Scored]:
    """The scores of a scorer, the epochs of a sample in order.

    Args:
        samples: of the log.
        scorer: whose scores.
        nan: whether null stands for NaN, as in logs until 0.3.253.
        edited: whether the values are those behind the edits of people, or before.
    """
    found = []
    for sample in sorted(samples, key=lambda sample: sample.epoch):
        score = (sample.scores or {}).get(scorer)
        if score is None or sample.id is None:
            continue
        if not edited and _is_of_edits(score) and len(score.history) < 2:
            # People gave it: before there was none.
            continue
        value = score.value
        if not edited and _is_of_edits(score):
            value = next((e.value for e in score.history if e.value != _UNCHANGED), value)
        labels = sample.metadata if isinstance(sample.metadata, dict) else {}
        found.append(
            Scored(
                sample=str(sample.id),
                value=plain(value, nan=nan, root=True),
                labels=labels,
                notes=score.metadata or {},
            )
        )
    return found


def _is_of_edits(score: Score) -> bool:
    """Whether the history of a score leads to it: what else stands there is of no edit."""
    values = [edit.value for edit in score.history if edit.value != _UNCHANGED]
    return bool(values) and values[-1] == score.value


def plain(value: Any, *, nan: bool, root: bool = False) -> Any:
    """The value as Inspect had it: a constant of the JSON is a float."""
    if isinstance(value, dict):
        return {key: plain(item, nan=nan) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item, nan=nan) for item in value]
    if value is None and (nan or root):
        return math.nan
    bare = constant(value)
    return float(bare) if bare else value


def is_nan(value: Any) -> bool:
    """Whether it is the value of what was not scored."""
    return isinstance(value, float) and math.isnan(value)


def number(value: Any) -> float:
    """What Inspect counts a value as; an object, a list and null count as 0."""
    if isinstance(value, float) and not math.isfinite(value):
        return value
    if isinstance(value, str | int | float):
        return float(number_of(value, lambda _: None))
    return 0.0
