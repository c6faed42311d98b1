"""The numbers of an Inspect log, made anew of its scores as Inspect makes them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from msgspec import structs

from ..readers.inspect.scored import Log
from ..trials.source import Reported, Source
from . import inspect_thresholds
from .inspect_edits import contradict, n_differ, of_before
from .inspect_nested import computed
from .inspect_reducers import has_threshold, reduced
from .inspect_scores import NotHeldError, Scored, is_nan, number, scores_of
from .reach import bounded, n_missing
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
# More thresholds of a reducer are not tried.
_MOST_THRESHOLDS = 50
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
    yield from replay.agreed(found, numbers, edited=behind)


class _Replay:
    """The scores of a log, and what Inspect makes of them."""

    def __init__(self, source: Source) -> None:
        self.log: Log = source.scored()
        self._absent = incomplete(source)
        self.source = _held(source, self.log)
        self.lacking = incomplete(self.source)
        self._scores = cache(self._scores_of)
        self._behind = cache(self._reduced)
        self._threshold = cache(self._threshold_of)

    def may_be_of_before(self) -> bool:
        """Whether the reduced scores of the log allow that its numbers are of unedited scores."""
        nan = self.log.null_is_nan
        return not contradict(
            self.log.reductions, lambda scorer: self._scores(scorer, False), nan=nan
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
        own = inspect_thresholds.OWN
        row = self._row(reported, edited=edited, threshold=own if threshold is None else threshold)
        if threshold is None or threshold == own:
            if row.verdict == Verdict.DIFFERS and self._ambiguous(reported.reducer or ""):
                reason = f"two reducers are named `{reported.reducer}`; {_OWN}"
                return replace(row, verdict=Verdict.UNVERIFIED, reason=reason)
            return row
        passes = _passes(reported, threshold)
        reason = f"{passes}, as the log's reduced scores show; {_OWN}"
        if row.verdict == Verdict.DIFFERS:
            return replace(row, reason="; ".join(filter(None, (row.reason, reason))))
        by_own = self._row(reported, edited=edited, threshold=own)
        if by_own.verdict != Verdict.DIFFERS or row.verdict != Verdict.EQUAL:
            return by_own if by_own.verdict == Verdict.EQUAL else row
        if inspect_thresholds.parts(threshold, self._scores(self._scorer(reported), edited)):
            return replace(by_own, verdict=Verdict.EXPLAINED, reason=reason)
        reason = f"{_MAYBE} {passes}, whatever the scores are"
        return replace(by_own, verdict=Verdict.UNVERIFIED, reason=reason)

    def agreed(self, found: list[Row], numbers: list[Reported], *, edited: bool) -> list[Row]:
        """The rows; of a reducer whose reduced scores are not in the log, by any one threshold."""
        kept = {reduction.reducer for reduction in self.log.reductions}
        differ = {
            reported.reducer
            for row, reported in zip(found, numbers, strict=True)
            if row.verdict == Verdict.DIFFERS and has_threshold(reported.reducer or "")
        }
        for reducer in differ - kept:
            places = [i for i, reported in enumerate(numbers) if reported.reducer == reducer]
            scores = [
                score
                for scorer in {self._scorer(numbers[i]) for i in places}
                for score in self._scores(scorer, edited)
            ]
            for value in inspect_thresholds.candidates(scores)[1:_MOST_THRESHOLDS]:
                others = {i: self._row(numbers[i], edited=edited, threshold=value) for i in places}
                if n_differ(others.values()):
                    continue
                reason = f"{_MAYBE} {_passes(numbers[places[0]], value)}"
                for i in places:
                    if found[i].verdict == Verdict.DIFFERS:
                        found[i] = replace(found[i], verdict=Verdict.UNVERIFIED, reason=reason)
                break
        return found

    def _row(self, reported: Reported, *, edited: bool, threshold: float) -> Row:
        path, group = self.source.path, reported.group.in_words
        if reported.metric in _TOTALS:
            return judge(path, "", reported, self.samples(reported), incomplete=self._absent)
        answer: Answer
        try:
            answer = self._answer(reported, edited=edited, threshold=threshold)
        except NotHeldError as error:
            answer = Unknown(str(error))
        except (ValueError, TypeError, ArithmeticError) as error:
            answer = Unknown(f"Inspect makes no number of such scores: {error}")
        return judge(path, group, reported, answer, incomplete=self.lacking)

    def _ambiguous(self, reducer: str) -> bool:
        """Whether reducers with different thresholds have the same name."""
        kept = [r.scorer for r in self.log.reductions if r.reducer == reducer]
        return has_threshold(reducer) and len(kept) > len(set(kept))

    def _threshold_of(self, reducer: str, edited: bool) -> float | None:
        """What the log's own reduced scores show of the threshold; None where they do not."""
        if not has_threshold(reducer):
            return None
        return inspect_thresholds.of_reduced(
            reducer,
            self.log.reductions,
            lambda scorer: self._scores(scorer, edited),
            nan=self.log.null_is_nan,
        )

    def _scorer(self, reported: Reported) -> str:
        return str(self.log.scorers.get(reported.group))

    def _scores_of(self, scorer: str, edited: bool) -> list[Scored]:
        nan = self.log.null_is_nan
        return scores_of(self.log.samples, scorer, nan=nan, edited=edited)

    def _reduced(
        self,
        scorer: str,
        edited: bool,
        reducer: str,
        threshold: float,
    ) -> list[Scored]:
        behind = reduced(self._scores(scorer, edited), reducer, threshold)
        if behind is None:
            raise NotHeldError(
                f"`{reducer}` is a reducer of the eval's own, and the log does not hold its code"
            )
        return behind

    def _answer(self, reported: Reported, *, edited: bool, threshold: float) -> Answer:
        if not self.log.has_scores:
            return Unknown("the log has no scores" if self.log.samples else "it has no samples")
        scorer, key = self._scorer(reported), reported.key
        scores = self._scores(scorer, edited)
        if reported.reducer:
            scores = self._behind(scorer, edited, reported.reducer, threshold)
        if key is not None:
            if scores and not any(isinstance(s.value, dict) and key in s.value for s in scores):
                return Known(None, f"no score has `{key}`")
            scores = [score.of(_member(score.value, key)) for score in scores]
        kept = [score for score in scores if not is_nan(score.value)]
        if reported.metric in _COUNTS:
            of_kept = reported.metric == "scored_samples"
            return Known(len(kept) if of_kept else len(scores) - len(kept))
        if self.log.is_own(scorer, reported.metric):
            raise NotHeldError(
                f"`{reported.metric}` is a metric of the eval's own, and the log does not hold its "
                "code"
            )
        answer = _of_part(reported, kept)
        if isinstance(answer, Known) and reported.metric in _MEANS:
            missing = n_missing(self.source, reported.group)
            values = [number(score.value) for score in kept]
            answer = bounded(answer, values, len(values), missing)
        return answer


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
        raise ValueError(f"a score has no `{key}`")
    return value[key]


def _of_part(reported: Reported, scores: list[Scored]) -> Answer:
    """The value of a metric that the log reports, which may have several."""
    answer = computed(reported.metric, scores, reported.params)
    if isinstance(answer, dict):
        if not scores and reported.part is None:
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
