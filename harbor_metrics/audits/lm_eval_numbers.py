"""The numbers of an lm-eval results file, computed anew from the samples."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ..catalogue.names import find_metric, meaning
from ..contract.spec import MetricSpec
from ..errors import MetricFailure
from ..numbers.exact import Number
from ..readers.lm_eval import layout
from ..readers.lm_eval.reported import EFFECTIVE
from ..readers.lm_eval.rows import NO_FILTER
from ..readers.lm_eval.scored import Line, values_of
from ..trials.source import Reported, Source
from ..trials.table import Table
from ..trials.trial import GroupKey
from .lm_eval_aggregations import aggregated, error_of_mean, known, without_error
from .lm_eval_draws import Replay
from .lm_eval_groups import added, combined
from .reach import bounded, n_missing
from .row import Absent, Answer, Between, Drawn, Instead, Known, Row, Unknown, agree, judge
from .tables import incomplete, measured, tables_of

_STDERR, _SIZE = "_stderr", "sample_len"
_NO_SAMPLES = "the samples of this task or filter are not on disk"
_NOT_THERE = "the samples have it, and the results file does not"
_NO_SIZE = "the results file does not say it, as those of earlier versions of lm-eval do not"
_NO_ERROR = "the results file has no error of it, as those of earlier versions of lm-eval have not"
# lm-eval draws no more resamples of scores of texts, however many are asked for.
_FEW = 100


def rows(source: Source, others: Sequence[Source], replay: Replay | None = None) -> Iterator[Row]:
    """A row for each number, those too that the run should report and does not.

    The numbers of groups need the samples of the other tasks, too.
    """
    run = _Run(others, replay or Replay())
    numbers = list(source.reported())
    held = {key: run.held(other) for other in others for key in other.scored()}
    own = next((held[key] for key in source.scored() if key in held), source)
    for reported, answer in [*run.answers(numbers), *run.absent(source, numbers)]:
        members = [held[key] for key in reported.members or (reported.group,) if key in held]
        reason = next(filter(None, map(incomplete, [*members, own])), "")
        if isinstance(answer, Known) and not reported.members:
            answer = run.bounded(reported, answer, own)
        yield judge(source.path, reported.group.in_words, reported, answer, incomplete=reason)


class _Run:
    """The samples of one run, by task and filter."""

    def __init__(self, sources: Sequence[Source], replay: Replay) -> None:
        self.replay = replay
        self.sources = sources
        self.lines: dict[GroupKey, list[Line]] = {}
        for source in sources:
            self.lines.update(source.scored())

    def held(self, source: Source) -> Source:
        """The source without missing documents where its results were made of those on disk."""
        said = [n for n in source.reported() if n.metric == n.place == _SIZE and not n.members]
        if source.job is None or not any(n.value == self._size(n.group) for n in said[:1]):
            return source
        return replace(source, job=replace(source.job, n_total_trials=None))

    def answers(self, numbers: Sequence[Reported]) -> Iterator[tuple[Reported, Answer]]:
        """Each number with what it is by the samples."""
        for reported in numbers:
            yield reported, self._answer(reported)

    def _answer(self, reported: Reported) -> Answer:
        if reported.not_finite == "[]" and reported.metric.endswith(_STDERR):
            return Unknown("earlier versions of lm-eval write an empty list where it has no error")
        try:
            return self._of_group(reported) if reported.members else self._of_task(reported)
        except MetricFailure as error:
            return Unknown(str(error))
        except (ValueError, TypeError, ArithmeticError, LookupError):
            name = layout.aggregation(
                reported.metric.removesuffix(_STDERR), reported.params.get("aggregation")
            )
            return Unknown(f"the values on disk are not such as `{name}` takes")

    def absent(
        self, source: Source, numbers: Sequence[Reported]
    ) -> Iterator[tuple[Reported, Answer]]:
        """What the samples have a metric of, and the results of their task do not."""
        if not numbers:
            return
        listed = {(n.group, n.metric) for n in numbers}
        task = next(
            (key._replace(dataset=_task(str(key.dataset))) for key in source.scored()), None
        )
        if task is not None and not any(n.place == _SIZE and n.group == task for n in numbers):
            row = Reported(place=_SIZE, metric=_SIZE, value=None, group=task)
            yield row, Unknown(_NO_SIZE, self._size(task))
        params = next((n.params for n in numbers if n.params and not n.members), {})
        for group, lines in source.scored().items():
            filter_ = str(group.dataset).removeprefix(_task(str(group.dataset)))[1:] or NO_FILTER
            for name in sorted({name for line in lines for name in line.values}):
                own = next((n.params for n in numbers if (n.group, n.key) == (group, name)), params)
                for metric in (name, name + _STDERR):
                    if (group, metric) in listed:
                        continue
                    place = f"{metric},{filter_}"
                    row = Reported(
                        place=place, metric=metric, value=None, group=group, key=name, params=own
                    )
                    answer = self._answer(row)
                    value = getattr(answer, "value", None)
                    if metric == name:
                        yield (
                            row,
                            Absent("the samples have it, and the results file does not", value),
                        )
                    elif value is not None and (group, name) in listed:
                        yield row, Unknown(_NO_ERROR, value)

    def _of_task(self, reported: Reported) -> Answer:
        """What a task's number is by its samples."""
        if reported.place == EFFECTIVE and reported.value == self._size(reported.group):
            return Known(reported.value)
        if reported.metric == _SIZE:
            return self._count(reported.group)
        if reported.key is None:
            return Unknown("lm-eval writes no number of that name")
        if reported.group not in self.lines:
            return Unknown(_NO_SAMPLES)
        return self._recomputed(reported.metric, reported.params, reported.group, _bare(reported))

    def bounded(self, reported: Reported, answer: Known, source: Source) -> Known:
        """A plain mean with the range in which it can be where samples are missing."""
        lines = self.lines.get(reported.group)
        is_mean = layout.aggregation(reported.metric, reported.params.get("aggregation")) == "mean"
        if lines is None or not is_mean or reported.metric.endswith(_STDERR):
            return answer
        values = values_of(lines, reported.metric)
        if not all(isinstance(value, int | float) for value in values):
            return answer
        return bounded(answer, values, len(values), n_missing(source, reported.group))

    def _count(self, group: GroupKey) -> Answer:
        """How many documents lm-eval says that a task has: none where nothing was scored."""
        size = self._size(group)
        of_task = [
            line
            for (_, other, name), lines in self.lines.items()
            if other == group.model
            and name is not None
            and _task(name) == _task(str(group.dataset))
            for line in lines
        ]
        if not of_task:
            return Unknown(_NO_SAMPLES)
        if not any(line.values for line in of_task):
            reason = "nothing was scored (--predict_only), and lm-eval counts no document"
            return Instead(0, reason, size)
        return Known(size)

    def _size(self, group: GroupKey) -> int:
        """How many documents a task has: as many as the filter with the most."""
        _, model, task = group
        sizes = [
            len(lines)
            for (_, other, name), lines in self.lines.items()
            if other == model and name is not None and _task(name) == _task(str(task))
        ]
        return max(sizes, default=0)

    def _recomputed(
        self, metric: str, params: Mapping[str, Any], group: GroupKey, bare: bool
    ) -> Answer:
        """The number of a metric, or its error; `bare` where the results file has none."""
        name = metric.removesuffix(_STDERR)
        aggregation = _aggregation(name, params)
        if bare and metric != name:
            without = without_error(aggregation, values_of(self.lines[group], name), params)
            if without is not None:
                return without
        if aggregation in layout.OF_TEXTS:
            return self._of_texts(metric, name, aggregation, params, group)
        if not known(aggregation):
            return Unknown(f"`{aggregation}` is an aggregation of the task's own")
        values = values_of(self.lines[group], name)
        if aggregation == "brier_score" and not any(isinstance(v, list) for v in values):
            # From 0.5 on each document has its own score.
            aggregation = "mean"
        if metric == name:
            return aggregated(aggregation, values)
        if aggregation == "mean":
            return error_of_mean(values)
        if aggregation == layout.BYPASS:
            return aggregated(aggregation, values, written=0)
        draws = _count(params.get("bootstrap_iters"))
        if draws < 1:
            return Unknown("the log does not say how many resamples were drawn")
        return self.replay.error(aggregation, values, draws)

    def _of_texts(
        self, metric: str, name: str, aggregation: str, params: Mapping[str, Any], group: GroupKey
    ) -> Answer:
        """A score of texts, by the metric here."""
        table = tables_of(self.sources)[group]
        texts = {kind: layout.part(name, kind) for kind in (layout.REFERENCE, layout.PREDICTION)}
        apart = any(texts[layout.REFERENCE] in trial.texts for trial in table)
        spec = meaning(f"lm-eval/{aggregation}", texts if apart else {})
        assert spec is not None  # an alias of ours
        if metric == name:
            return _measured(spec, table)
        draws = min(_count(params.get("bootstrap_iters")), _FEW)
        if draws < 1:
            return Unknown("the log does not say how many resamples were drawn")
        common = {k: v for k, v in spec.kwargs.items() if k in find_metric(spec.type).common}
        inner = {k: v for k, v in spec.kwargs.items() if k not in common}
        kwargs = {
            **common,
            "metric": {"type": spec.type, "kwargs": inner},
            "method": "lm-eval",
            "samples": draws,
        }
        return _measured(MetricSpec(type="bootstrap-stderr", kwargs=kwargs), table)

    def _of_group(self, reported: Reported) -> Answer:
        """Weighted by size or every task alike: the log does not say which, so either will do."""
        absent = [str(key.dataset) for key in reported.members if key not in self.lines]
        if absent:
            return Unknown(f"the samples of {', '.join(absent)} are not among the sources")
        if reported.metric == _SIZE:
            return added([self._count(key) for key in reported.members])
        params = reported.params["members"]
        sizes = [self._size(key) for key in reported.members]
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


def _task(name: str) -> str:
    """The task of a group's name, which has the filter behind a colon; two belong to a task."""
    head, *rest = name.split("::")
    return "::".join(
        [head, *rest[:-1], rest[-1].partition(":")[0]] if rest else [head.partition(":")[0]]
    )


def _count(given: Any) -> int:
    return given if type(given) is int else 0


def _measured(spec: MetricSpec, table: Table) -> Answer:
    measurement = measured(spec, table)
    ((name, value),) = measurement.values.items()
    return Known(value, measurement.reasons.get(name, ""))
