"""The numbers of an lm-eval results file, computed anew from the samples."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..catalogue.names import find_metric, meaning
from ..contract.spec import MetricSpec
from ..errors import MetricFailure
from ..numbers.exact import Number
from ..readers.lm_eval import layout
from ..readers.lm_eval.scored import Line, values_of
from ..trials.source import Reported, Source
from ..trials.table import Table
from ..trials.trial import GroupKey
from .lm_eval_aggregations import aggregated, error_of_mean, known
from .lm_eval_draws import Replay
from .reach import bounded, n_missing
from .row import Answer, Between, Drawn, Instead, Known, Row, Unknown, agree, judge
from .tables import incomplete, measured, named, tables_of

_STDERR = "_stderr"
# lm-eval draws no more resamples of scores of texts, however many are asked for.
_FEW = 100


def rows(source: Source, others: Sequence[Source], replay: Replay | None = None) -> Iterator[Row]:
    """A row for each reported number; those of groups need the samples of the other tasks, too."""
    run = _Run(others, replay or Replay())
    lacking = {key: incomplete(other) for other in others for key in other.scored()}
    for reported in source.reported():
        if reported.value is None and not reported.not_finite:
            continue
        try:
            answer = run.of_group(reported) if reported.members else run.of_task(reported)
        except MetricFailure as error:
            answer = Unknown(str(error))
        except (ValueError, TypeError, ArithmeticError, LookupError):
            name = layout.aggregation(
                reported.metric.removesuffix(_STDERR), reported.params.get("aggregation")
            )
            answer = Unknown(f"the values on disk are not such as `{name}` takes")
        reasons = (lacking.get(key, "") for key in reported.members or (reported.group,))
        reason = next(filter(None, reasons), incomplete(source))
        if isinstance(answer, Known) and not reported.members:
            answer = run.bounded(reported, answer, source)
        yield judge(source.path, named(reported.group), reported, answer, incomplete=reason)


class _Run:
    """The samples of one run, by task and filter."""

    def __init__(self, sources: Sequence[Source], replay: Replay) -> None:
        self.replay = replay
        self.sources = sources
        self.lines: dict[GroupKey, list[Line]] = {}
        for source in sources:
            self.lines.update(source.scored())

    def of_task(self, reported: Reported) -> Answer:
        """What a task's number is by its samples."""
        if reported.metric == "sample_len":
            return self._count(reported.group)
        if reported.group not in self.lines:
            return Unknown("the samples of this filter are not on disk")
        return self._recomputed(reported.metric, reported.params, reported.group)

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
        if of_task and not any(line.values for line in of_task):
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

    def _recomputed(self, metric: str, params: Mapping[str, Any], group: GroupKey) -> Answer:
        name = metric.removesuffix(_STDERR)
        aggregation = layout.aggregation(name, params.get("aggregation"))
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

    def of_group(self, reported: Reported) -> Answer:
        """Weighted by size or every task alike: the log does not say which, so either will do."""
        absent = [str(key.dataset) for key in reported.members if key not in self.lines]
        if absent:
            return Unknown(f"the samples of {', '.join(absent)} are not among the sources")
        if reported.metric == "sample_len":
            return Known(sum(self._size(key) for key in reported.members))
        params = reported.params["members"]
        sizes = [self._size(key) for key in reported.members]
        values: list[Number] = []
        errors: list[float] = []
        reasons: list[str] = []
        for key in reported.members:
            answer = self._recomputed(reported.metric, params[key.dataset], key)
            if isinstance(answer, Unknown | Between):
                return Unknown(answer.reason)
            written = answer.written if isinstance(answer, Instead) else answer.value
            if written is None or isinstance(written, str):
                return Known(None, f"a task of the group has no number: {answer.reason}")
            values.append(written)
            if isinstance(answer, Instead | Drawn):
                reasons.append(answer.reason)
            errors += [answer.error] if isinstance(answer, Drawn) else []
        by_size, alike = _combined(reported, values, sizes)
        is_alike = not agree(reported.value, by_size) and agree(reported.value, alike)
        value = alike if is_alike else by_size
        if errors:
            return Drawn(value, math.fsum(errors), reasons[0])
        return Known(
            value, "every task weighs the same" if is_alike else "tasks weigh as they have samples"
        )


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


def _combined(
    reported: Reported, values: Sequence[Number], sizes: Sequence[int]
) -> tuple[float, float]:
    """The number of a group when its tasks are weighted by size, and when they are not."""
    if reported.metric.endswith(_STDERR):
        return _pooled(values, sizes), _unweighted(values)
    total = sum(sizes)
    by_size = math.fsum(v * n for v, n in zip(values, sizes, strict=True)) / total
    return by_size, math.fsum(values) / len(values)


def _pooled(errors: Sequence[Number], sizes: Sequence[int]) -> float:
    """lm-eval's error of a mean that is weighted by size."""
    spread = math.fsum((n - 1) * n * e * e for e, n in zip(errors, sizes, strict=True))
    total = sum(sizes)
    return math.sqrt(spread / (total - len(sizes)) / total) if total > len(sizes) else 0.0


def _unweighted(errors: Sequence[Number]) -> float:
    """The error of a mean of means."""
    return math.sqrt(math.fsum(e * e for e in errors)) / len(errors)
