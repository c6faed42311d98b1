"""The numbers of an lm-eval results file, computed anew from the samples."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ..documents.wording import listed
from ..numbers.exact import Number
from ..readers.files.names import shown
from ..readers.lm_eval import layout
from ..readers.lm_eval.reported import EFFECTIVE, ORIGINAL
from ..readers.lm_eval.rows import NO_FILTER
from ..trials.source import Reported, Source
from ..trials.trial import GroupKey
from .lm_eval_aggregations import aggregated, error_of_mean, known, without_error
from .lm_eval_draws import Replay
from .lm_eval_groups import added, combined
from .lm_eval_samples import NO_SAMPLES, Samples, task_of
from .lm_eval_texts import Texts
from .reach import Missing, bounded
from .row import Absent, Answer, Between, Drawn, Instead, Known, Row, Unknown, agree, judge
from .tables import incomplete

_STDERR, _SIZE = "_stderr", "sample_len"
_NOT_THERE = "the samples have it, and the results file does not"
_NO_SIZE = "the results file does not say it, as those of earlier versions of lm-eval do not"
_NO_ERROR = "the results file has no error of it, as those of earlier versions of lm-eval have not"
# What the values on disk raise where they are not such as an aggregation takes.
_REFUSED = (ValueError, TypeError, ArithmeticError, LookupError)


class Run:
    """The numbers of one run beside its samples; what several tasks report is computed once.

    The numbers of groups need the samples of the other tasks, too.
    """

    def __init__(self, sources: Sequence[Source], replay: Replay | None = None) -> None:
        self._replay = replay or Replay()
        self._samples = Samples(sources)
        self._texts = Texts(self._samples)
        self._held: dict[GroupKey, Source] = {}
        for source in sources:
            held = self._of_those_on_disk(source)
            self._held.update(dict.fromkeys(source.scored(), held))
        self._lacking = {key: incomplete(held) for key, held in self._held.items()}
        # By the number itself, which several sources have.
        self._of_groups: dict[int, tuple[Reported, Answer, str]] = {}
        self._known: dict[tuple[object, ...], Answer | Exception] = {}

    @property
    def is_short(self) -> bool:
        """Whether other runs left it fewer draws than it would have had alone."""
        return self._replay.is_short

    def rows(self, source: Source) -> Iterator[Row]:
        """A row for each number of a source, those too that it should report and does not."""
        numbers = list(source.reported())
        own = next((self._held[key] for key in source.scored() if key in self._held), source)
        lacking, missing = incomplete(own), Missing(own)
        for reported, answer, reason in self._answers(source, numbers):
            if isinstance(answer, Known) and not reported.members:
                answer = self._bounded(reported, answer, missing)
            reason = reason or lacking
            yield judge(source.path, reported.group.in_words, reported, answer, incomplete=reason)

    def _answers(
        self, source: Source, numbers: Sequence[Reported]
    ) -> Iterator[tuple[Reported, Answer, str]]:
        """Each number with what it is by the samples, and why these may not be all."""
        for reported in numbers:
            if not reported.members:
                yield reported, self._answer(reported), self._lacking.get(reported.group, "")
                continue
            if id(reported) not in self._of_groups:
                reasons = (self._lacking.get(key) for key in reported.members)
                reason = next(filter(None, reasons), "")
                self._of_groups[id(reported)] = reported, self._answer(reported), reason
            yield self._of_groups[id(reported)]
        for reported, answer in self._absent(source, numbers):
            yield reported, answer, self._lacking.get(reported.group, "")

    def _of_those_on_disk(self, source: Source) -> Source:
        """The source without missing documents where its results were made of those on disk."""
        sizes = (n for n in source.reported() if n.metric == n.place == _SIZE and not n.members)
        said = next(sizes, None)
        if source.job is None or said is None or said.value != self._samples.size(said.group):
            return source
        return replace(source, job=replace(source.job, n_total_trials=None))

    def _answer(self, reported: Reported) -> Answer:
        if reported.not_finite == "[]" and reported.metric.endswith(_STDERR):
            return Unknown("earlier versions of lm-eval write an empty list where it has no error")
        try:
            return self._of_group(reported) if reported.members else self._of_task(reported)
        except _REFUSED:
            name = layout.aggregation(
                reported.metric.removesuffix(_STDERR), reported.params.get("aggregation")
            )
            return Unknown(f"the values on disk are not such as `{name}` takes")

    def _absent(
        self, source: Source, numbers: Sequence[Reported]
    ) -> Iterator[tuple[Reported, Answer]]:
        """What the samples have a metric of, and the results of their task do not."""
        if not numbers:
            return
        listed = {(n.group, n.metric) for n in numbers}
        task = next(
            (key._replace(dataset=task_of(str(key.dataset))) for key in source.scored()), None
        )
        if task is not None and not any(n.place == _SIZE and n.group == task for n in numbers):
            row = Reported(place=_SIZE, metric=_SIZE, value=None, group=task)
            yield row, Unknown(_NO_SIZE, self._samples.size(task))
        params = next((n.params for n in numbers if n.params and not n.members), {})
        own = {(n.group, n.key): n.params for n in reversed(numbers)}
        for group in source.scored():
            filter_ = str(group.dataset).removeprefix(task_of(str(group.dataset)))[1:] or NO_FILTER
            for name in sorted(self._samples.metrics(group)):
                for metric in (name, name + _STDERR):
                    if (group, metric) in listed:
                        continue
                    place = f"{metric},{filter_}"
                    row = Reported(
                        place=place,
                        metric=metric,
                        value=None,
                        group=group,
                        key=name,
                        params=own.get((group, name), params),
                    )
                    answer = self._answer(row)
                    value = getattr(answer, "value", None)
                    if metric == name:
                        yield row, Absent(_NOT_THERE, value)
                    elif value is not None and (group, name) in listed:
                        yield row, Unknown(_NO_ERROR, value)

    def _of_task(self, reported: Reported) -> Answer:
        """What a task's number is by its samples."""
        if reported.place == EFFECTIVE and reported.value == self._samples.size(reported.group):
            return Known(reported.value)
        if reported.place == ORIGINAL:
            return Unknown("of how many documents a task has without a limit samples say nothing")
        if reported.metric == _SIZE and not reported.place.startswith(f"{EFFECTIVE}."):
            return self._samples.count(reported.group)
        if reported.key is None:
            return Unknown("lm-eval writes no number of that name")
        if reported.group not in self._samples.lines:
            return Unknown(NO_SAMPLES)
        return self._recomputed(reported.metric, reported.params, reported.group, _bare(reported))

    def _bounded(self, reported: Reported, answer: Known, missing: Missing) -> Known:
        """A plain mean with the range in which it can be where samples are missing."""
        of_samples = reported.group in self._samples.lines
        is_mean = layout.aggregation(reported.metric, reported.params.get("aggregation")) == "mean"
        if not of_samples or not is_mean or reported.metric.endswith(_STDERR):
            return answer
        values = self._samples.values(reported.group, reported.metric)
        if not all(isinstance(value, int | float) for value in values):
            return answer
        return bounded(answer, values, len(values), missing.of(reported.group))

    def _recomputed(
        self, metric: str, params: Mapping[str, Any], group: GroupKey, bare: bool
    ) -> Answer:
        """The number of a metric, or its error; `bare` where the results file has none."""
        key = metric, group, bare, *params.items()
        if key not in self._known:
            try:
                self._known[key] = self._computed(metric, params, group, bare)
            except _REFUSED as error:
                self._known[key] = error
        found = self._known[key]
        if isinstance(found, Exception):
            raise found.with_traceback(None)
        return found

    def _computed(
        self, metric: str, params: Mapping[str, Any], group: GroupKey, bare: bool
    ) -> Answer:
        name = metric.removesuffix(_STDERR)
        aggregation = _aggregation(name, params)
        values = self._samples.values(group, name)
        if bare and metric != name:
            without = without_error(aggregation, values, params)
            if without is not None:
                return without
        draws = _count(params.get("bootstrap_iters"))
        if aggregation in layout.OF_TEXTS:
            of_error = draws if metric != name else None
            return self._texts.score(name, aggregation, group, of_error)
        if not known(aggregation):
            return Unknown(f"`{aggregation}` is an aggregation of the task's own")
        if aggregation == "brier_score" and not any(isinstance(v, list) for v in values):
            # From 0.5 on each document has its own score.
            aggregation = "mean"
        if metric == name:
            return aggregated(aggregation, values)
        if aggregation == "mean":
            return error_of_mean(values)
        if aggregation == layout.BYPASS:
            return aggregated(aggregation, values, written=0)
        if draws < 1:
            return Unknown("the log does not say how many resamples were drawn")
        return self._replay.error(aggregation, values, draws)

    def _of_group(self, reported: Reported) -> Answer:
        """Weighted by size or every task alike: the log does not say which, so either will do."""
        absent = [
            shown(str(key.dataset)) for key in reported.members if key not in self._samples.lines
        ]
        if absent:
            return Unknown(f"the samples of {listed(absent)} are not among the sources")
        if reported.metric == _SIZE:
            return added([self._samples.count(key) for key in reported.members])
        params = reported.params["members"]
        sizes = [self._samples.size(key) for key in reported.members]
        values: list[Number] = []
        errors: list[float] = []
        reasons: list[str] = []
        for key in reported.members:
            answer = self._recomputed(reported.metric, params[key.dataset], key, _bare(reported))
            if isinstance(answer, Unknown | Between | Absent):
                return Unknown(answer.reason)
            written = answer.written if isinstance(answer, Instead) else answer.value
            if written is None or isinstance(written, str):
                return Known(None, f"a task of the group has no number: {answer.reason}")
            values.append(written)
            if isinstance(answer, Instead | Drawn):
                reasons.append(answer.reason)
            errors += [answer.error] if isinstance(answer, Drawn) else []
        by_size, alike = combined(reported, values, sizes)
        is_alike = not agree(reported.value, by_size) and agree(reported.value, alike)
        value = alike if is_alike else by_size
        if errors:
            return Drawn(value, math.fsum(errors), reasons[0])
        weighs = "every task weighs the same" if is_alike else "tasks weigh as they have samples"
        return Known(value, weighs)


def _aggregation(name: str, params: Mapping[str, Any]) -> str:
    """What the task's configuration says; that it is not scored, of `bypass` alone."""
    said = layout.aggregation(name, params.get("aggregation"))
    return layout.aggregation(name) if said == layout.BYPASS != name else said


def _bare(reported: Reported) -> bool:
    """Whether the log has null or `N/A` in the place of a number."""
    return reported.value is None and not reported.not_finite


def _count(given: Any) -> int:
    return given if type(given) is int else 0
