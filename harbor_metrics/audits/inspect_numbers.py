"""The numbers of an Inspect log, made anew of its scores as Inspect makes them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, lru_cache
from itertools import starmap
from typing import Any

from msgspec import structs

from ..readers.files.names import shown
from ..readers.inspect.document import Reduction
from ..readers.inspect.scored import Log
from ..trials.source import Reported, Source
from ..trials.trial import NO_GROUP
from . import inspect_thresholds
from .inspect_edits import contradict, n_differ, of_before
from .inspect_metrics import Parts, is_under_its_name
from .inspect_nested import computed
from .inspect_reducers import has_threshold, reduced
from .inspect_scores import NotHeldError, Scored, is_nan, number, scores_of
from .inspect_thresholds import OWN
from .inspect_work import DRAWN, Work
from .reach import Missing, bounded
from .row import Answer, Known, Row, Unknown, Verdict, judge
from .tables import incomplete

_MEANS = ("accuracy", "mean")
_COUNTS = ("scored_samples", "unscored_samples")
_TOTALS = ("total_samples", "completed_samples")
# What Inspect's metrics take; a version to come may have more.
_PARAMS = {
    "accuracy": ("to_float",),
    "mean": ("to_float",),
    "std": ("to_float",),
    "var": ("to_float",),
    "stderr": ("to_float", "cluster"),
    "bootstrap_stderr": ("to_float", "num_samples"),
}
# Numbers of the same scores stand together in a log.
_KEPT = 16
# More thresholds of a reducer are not tried.
_MOST_THRESHOLDS = 50
# Nor more of all reducers together.
_MOST_TRIES = 500
_MAYBE = "the log does not hold its threshold; it is right if"
_OWN = "the log does not name the threshold, which is 1 by default"


def rows(source: Source) -> Iterator[Row]:
    """A row for each reported number of the log."""
    replay = _Replay(source)
    numbers = list(source.reported())
    found = [replay.row(each) for each in numbers]
    behind = True
    if replay.log.n_edited and n_differ(found) and replay.may_be_of_before():
        before = [replay.row(each, edited=False) for each in numbers]
        # All numbers are of the scores behind the edits, or all of those before.
        if n_differ(before) < n_differ(found):
            behind = False
            n = replay.log.n_edited
            reason = f"it is of the scores before those of {n} samples were edited"
            found = [of_before(*pair, reason) for pair in zip(found, before, strict=True)]
    found = replay.agreed(found, numbers, edited=behind)
    yield from starmap(_named, zip(found, numbers, strict=True))


def _named(row: Row, reported: Reported) -> Row:
    """The row; a right number under a name that is not its own verifies nothing."""
    if row.verdict not in (Verdict.EQUAL, Verdict.EXPLAINED) or is_under_its_name(reported):
        return row
    of = reported.metric if reported.part is None else f"{reported.part} of {reported.metric}"
    reason = f"Inspect writes no `{shown(of)}` under that name"
    return replace(row, verdict=Verdict.UNVERIFIED, reason=reason)


class _Replay:
    """The scores of a log, and what Inspect makes of them."""

    def __init__(self, source: Source) -> None:
        self.log: Log = source.scored()
        self._absent = incomplete(source)
        self.source = _held(source, self.log)
        self.lacking = incomplete(self.source)
        self._spend = Work(self.log).spend
        self._tries = _MOST_TRIES
        self._scores = cache(self._scores_of)
        self._extremes = cache(self._extremes_of)
        self._threshold = cache(self._threshold_of)
        self._missing = Missing(self.source)
        self._behind = lru_cache(_KEPT)(self._reduced)
        self._values = lru_cache(_KEPT)(self._values_of)
        self._computed: dict[tuple[object, ...], tuple[Answer | Parts, list[float]]] = {}
        self._kept: dict[str | None, list[Reduction]] = {}
        for reduction in self.log.reductions:
            self._kept.setdefault(reduction.reducer, []).append(reduction)

    def may_be_of_before(self) -> bool:
        """Whether the reduced scores of the log allow that its numbers are of unedited scores."""
        nan = self.log.null_is_nan
        return not contradict(
            self.log.reductions, lambda *of: self._behind(*of, False, OWN), nan=nan
        )

    def samples(self, reported: Reported) -> Answer:
        """How many samples there are, or have ended without an error."""
        log = self.log
        if not log.samples:
            return Unknown("the log has no samples")
        if reported.metric == "completed_samples":
            return Known(sum(sample.error is None for sample in log.samples))
        read = len(log.samples)
        if self._absent and reported.value == log.planned:
            return Unknown(self._absent, read)
        return Known(read)

    def row(self, reported: Reported, *, edited: bool = True) -> Row:
        """The number beside what Inspect makes of the scores."""
        threshold = self._threshold(reported.reducer or "", edited)
        own = OWN if threshold is None else threshold
        row = self._row(reported, edited=edited, threshold=own)
        if threshold is None or threshold == OWN:
            if row.verdict == Verdict.DIFFERS and self._ambiguous(reported.reducer or ""):
                reason = f"two reducers are named `{reported.reducer}`; {_OWN}"
                return replace(row, verdict=Verdict.UNVERIFIED, reason=reason)
            return row
        passes = _passes(reported, threshold)
        reason = f"{passes}, as the log's reduced scores show; {_OWN}"
        if row.verdict == Verdict.DIFFERS:
            return replace(row, reason="; ".join(filter(None, (row.reason, reason))))
        by_own = self._row(reported, edited=edited, threshold=OWN)
        if by_own.verdict != Verdict.DIFFERS or row.verdict != Verdict.EQUAL:
            return by_own if by_own.verdict == Verdict.EQUAL else row
        if inspect_thresholds.parts(threshold, self._extremes(self._scorer(reported), edited)):
            return replace(by_own, verdict=Verdict.EXPLAINED, reason=reason)
        reason = f"{_MAYBE} {passes}, whatever the scores are"
        return replace(by_own, verdict=Verdict.UNVERIFIED, reason=reason)

    def agreed(self, found: list[Row], numbers: list[Reported], *, edited: bool) -> list[Row]:
        """The rows; of a reducer whose reduced scores are not in the log, by any one threshold."""
        places: dict[str, list[int]] = {}
        for i, reported in enumerate(numbers):
            if has_threshold(reported.reducer or "") and reported.reducer not in self._kept:
                places.setdefault(str(reported.reducer), []).append(i)
        for of_reducer in places.values():
            differing = [i for i in of_reducer if found[i].verdict == Verdict.DIFFERS]
            value = self._fitting(numbers, of_reducer, edited=edited) if differing else None
            if value is not None:
                reason = f"{_MAYBE} {_passes(numbers[of_reducer[0]], value)}"
                for i in differing:
                    found[i] = replace(found[i], verdict=Verdict.UNVERIFIED, reason=reason)
        return found

    def _fitting(self, numbers: list[Reported], places: list[int], *, edited: bool) -> float | None:
        """Another threshold by which none of the numbers of a reducer differs."""
        try:
            scorers = {self._scorer(numbers[i]): None for i in places}
            scores = [score for scorer in scorers for score in self._scores(scorer, edited)]
            self._spend(len(scores))
            for value in inspect_thresholds.candidates(scores)[1:_MOST_THRESHOLDS][: self._tries]:
                self._tries -= 1
                rows = (self._row(numbers[i], edited=edited, threshold=value) for i in places)
                if all(row.verdict != Verdict.DIFFERS for row in rows):
                    self._spend(0)
                    return value
        except NotHeldError:
            pass
        return None

    def _row(self, reported: Reported, *, edited: bool, threshold: float) -> Row:
        path, group = self.source.path, reported.group.in_words
        if reported.metric in _TOTALS:
            return judge(path, "", reported, self.samples(reported), incomplete=self._absent)
        answer: Answer
        if reported.group == NO_GROUP:
            other = Unknown("Inspect reads no number there")
            return judge(path, "", reported, other, incomplete="")
        try:
            answer = self._answer(reported, edited=edited, threshold=threshold)
        except NotHeldError as error:
            answer = Unknown(str(error))
        except (ValueError, TypeError, ArithmeticError) as error:
            answer = Unknown(f"Inspect makes no number of such scores: {error}")
        return judge(path, group, reported, answer, incomplete=self.lacking)

    def _ambiguous(self, reducer: str) -> bool:
        """Whether reducers with different thresholds have the same name."""
        kept = [reduction.scorer for reduction in self._kept.get(reducer, ())]
        return has_threshold(reducer) and len(kept) > len(set(kept))

    def _threshold_of(self, reducer: str, edited: bool) -> float | None:
        """What the log's own reduced scores show of the threshold; None where they do not."""
        if not has_threshold(reducer):
            return None
        try:
            return inspect_thresholds.of_reduced(
                reducer,
                self._kept.get(reducer, ()),
                lambda scorer: self._scores(scorer, edited),
                self._spend,
                nan=self.log.null_is_nan,
            )
        except NotHeldError:
            return None

    def _scorer(self, reported: Reported) -> str:
        return str(self.log.scorers.get(reported.group))

    def _scores_of(self, scorer: str, edited: bool) -> list[Scored]:
        nan = self.log.null_is_nan
        return scores_of(self.log.samples, scorer, nan=nan, edited=edited)

    def _extremes_of(self, scorer: str, edited: bool) -> tuple[float, float] | None:
        return inspect_thresholds.extremes(self._scores(scorer, edited))

    def _reduced(self, scorer: str, reducer: str, edited: bool, threshold: float) -> list[Scored]:
        scores = self._scores(scorer, edited)
        self._spend(len(scores))
        behind = reduced(scores, reducer, threshold)
        if behind is None:
            raise NotHeldError(
                f"`{reducer}` is a reducer of the eval's own, and the log does not hold its code"
            )
        return behind

    def _values_of(
        self, scorer: str, reducer: str | None, edited: bool, threshold: float, key: str | None
    ) -> tuple[int, list[Scored]] | None:
        """How many scores there are, and those that are not NaN; None where none has the key."""
        scores = self._scores(scorer, edited)
        if reducer:
            scores = self._behind(scorer, reducer, edited, threshold)
        self._spend(len(scores))
        if key is not None:
            if scores and not any(isinstance(s.value, dict) and key in s.value for s in scores):
                return None
            scores = [score.of(_member(score.value, key)) for score in scores]
        return len(scores), [score for score in scores if not is_nan(score.value)]

    def _whole(self, reported: Reported, *of: Any) -> tuple[Answer | Parts, list[float]]:
        """What a metric gives for scores, and of a mean the numbers that it is of."""
        key = reported.metric, repr(reported.params), *of
        if key not in self._computed:
            if len(self._computed) == _KEPT:
                self._computed.clear()
            _, kept = self._values(*of) or (0, [])
            draws = reported.params.get("method") == "bootstrap"
            self._spend(len(kept) * (DRAWN if draws else 1))
            values = [number(score.value) for score in kept] if reported.metric in _MEANS else []
            self._computed[key] = computed(reported.metric, kept, reported.params), values
        return self._computed[key]

    def _answer(self, reported: Reported, *, edited: bool, threshold: float) -> Answer:
        if not self.log.has_scores:
            return Unknown("the log has no scores" if self.log.samples else "it has no samples")
        scorer, key = self._scorer(reported), reported.key
        of = scorer, reported.reducer or None, edited, threshold, key
        found = self._values(*of)
        if found is None:
            return Known(None, f"no score has `{shown(str(key))}`")
        n, kept = found
        if reported.metric in _COUNTS:
            return Known(len(kept) if reported.metric == "scored_samples" else n - len(kept))
        if self.log.is_own(scorer, reported.metric):
            raise NotHeldError(
                f"`{reported.metric}` is a metric of the eval's own, and the log does not hold its "
                "code"
            )
        answer, values = self._whole(reported, *of)
        part = _of_part(reported, answer, is_scored=bool(kept))
        if isinstance(part, Known) and reported.metric in _MEANS:
            part = bounded(part, values, len(values), self._missing.of(reported.group))
        return part


def _held(source: Source, log: Log) -> Source:
    """The source without missing samples where its numbers were made of those in the log."""
    n = sum(sample.error is None for sample in log.samples)
    said = (each.value for each in source.reported() if each.metric == "completed_samples")
    if source.job is None or next(said, None) != n:
        return source
    return structs.replace(source, job=structs.replace(source.job, n_total_trials=None))


def _member(value: Any, key: str) -> Any:
    """The member of a score that a row is of.

    Raises:
        ValueError: it has none, which Inspect refuses.
    """
    if is_nan(value):
        return value
    if not isinstance(value, dict) or key not in value:
        raise ValueError(f"a score has no `{shown(key)}`")
    return value[key]


def _of_part(reported: Reported, answer: Answer | Parts, *, is_scored: bool) -> Answer:
    """The value of a metric that the log reports, which may have several."""
    if isinstance(answer, dict):
        if not is_scored and reported.part is None:
            return Known(None, "no sample is scored")
        part = str(reported.part)
        if reported.metric == "frequency":
            return answer.get(part, Known(0.0))
        return answer.get(part, Known(None, f"`{reported.metric}` gives no `{part}`"))
    takes = _PARAMS.get(reported.metric, tuple(reported.params))
    ignored = ", ".join(f"`{name}`" for name in reported.params if name not in takes)
    if isinstance(answer, Known) and ignored:
        return answer._replace(reason=f"recomputed without {ignored}, not known here")
    return answer


def _passes(reported: Reported, threshold: float) -> str:
    """From which score on the reducer of a number took a score for a pass, in words."""
    passed = f"scores of {threshold:g} and more for passes"
    return f"`{reported.reducer}` took {passed if threshold < math.inf else 'no score for a pass'}"
