"""The numbers of one group of a Harbor job: an agent, a model and a dataset."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, cached_property, partial

from ..contract.spec import HARBOR_TYPES, UV_SCRIPT, MetricSpec, in_harbor
from ..evaluation.naming import names
from ..evaluation.result import Group, Outcome
from ..numbers.exact import Number
from ..registries.registry import Dataset
from ..trials.pool import Pool
from ..trials.source import Job, Reported
from ..trials.table import Table
from ..trials.trial import NO_GROUP, Trial
from .harbor_list import in_order
from .row import Absent, Answer, Instead, Known, Unknown, agree
from .tables import measured

_KINDS = tuple(name for name in HARBOR_TYPES if name != UV_SCRIPT)
# The origins of the metrics that Harbor lists: it knows nothing of others.
_HARBORS = ("registry", "job", "default")
_NO_REWARDS = "undefined, because no trial of the group has rewards; Harbor writes 0"
_UNLISTED = "the trials have it, and result.json does not"
_NO_SECTION = "result.json has no `{}`, which earlier versions of Harbor did not write"
_UNKNOWN = "metric unknown: the registry was not found; give it with --registry"


class Trials:
    """The trials of a group, and what Harbor reports of such.

    Args:
        group: as it is computed here.
        pool: its trials.
        more_errors: those of the steps of trials, by trial, where Harbor counts these, too.
        job: whose they are.
        entries: those of its datasets in registries.
        registry: whether the registry was found.
        finished: whether the job is.
    """

    def __init__(
        self,
        group: Group,
        pool: Pool,
        more_errors: Mapping[str, Collection[str]],
        *,
        job: Job,
        entries: Sequence[Dataset],
        registry: bool,
        finished: bool,
    ) -> None:
        self.group = group
        self.table = pool.table
        self.everything = pool.everything
        self._more_errors = more_errors
        self._registry = registry
        self._finished = finished
        self._kinds: dict[int, str | None] = {}
        self._by_name = cache(partial(_value, table=self.table))
        # A job may report as many means as it likes.
        self.extremes = cache(self._extremes)
        outcomes = [outcome for outcome in group.metrics if outcome.origin in _HARBORS]
        dataset = group.dataset.name if group.dataset else None
        self._outcomes = in_order(outcomes, dataset, job, entries)

    def answer(self, reported: Reported) -> Answer:
        """What a number of the group is by its trials."""
        if reported.metric == "n_scored":
            return Known(self.group.counts.scored)
        if reported.metric == "n_errors":
            return Known(self.group.counts.errored)
        if reported.metric == "pass_at_k":
            value = self.group.pass_at_k.get(str(reported.part))
            return Known(value, "" if value is not None else "Harbor has no such k of these trials")
        if reported.metric == "reward":
            return self._with_reward(reported)
        if reported.metric == "exception":
            return _same_trials(reported, self._by_error.get(str(reported.part), set()))
        return self._of_metric(reported)

    def _with_reward(self, reported: Reported) -> Answer:
        """How many trials have the reward that Harbor wrote as text."""
        value = _number(str(reported.part))
        if value is None:
            return Unknown(f"the reward `{reported.part}` is no number")
        return _same_trials(reported, self._by_reward.get((str(reported.key), value), set()))

    # Both once: a job may report as many rewards, and errors, as it has trials.
    @cached_property
    def _by_reward(self) -> dict[tuple[str, Number], set[str]]:
        """The names of the trials that have a reward."""
        names: dict[tuple[str, Number], set[str]] = {}
        for trial in self.table:
            for key, value in (trial.rewards or {}).items():
                names.setdefault((key, value), set()).add(str(trial.trial))
        return names

    @cached_property
    def _by_error(self) -> dict[str, set[str]]:
        """The names of the trials that ended with an error."""
        names: dict[str, set[str]] = {}
        for trial in self.everything:
            for error in self._errors(trial):
                names.setdefault(error, set()).add(str(trial.trial))
        return names

    def _errors(self, trial: Trial) -> set[str]:
        first = set() if trial.error is None else {trial.error}
        return first.union(self._more_errors.get(str(trial.trial), ()))

    def _of_metric(self, reported: Reported) -> Answer:
        index, name = reported.params["index"], str(reported.part)
        if not self._registry:
            return self._without_registry(index, name, reported.params["values"])
        if index >= len(self._outcomes):
            return Unknown("the registry of today has fewer metrics")
        outcome = self._outcomes[index]
        if outcome.status == "failed":
            message = outcome.error.message if outcome.error else ""
            return Unknown(f"{outcome.name} failed here: {message}")
        if outcome.type != UV_SCRIPT and not in_harbor(
            {"type": outcome.type, "kwargs": outcome.kwargs}
        ):
            return Unknown(f"Harbor has no {names(outcome).metric}, which stands there")
        if name not in outcome.values:
            return Unknown(f"the registry of today has {outcome.name} there")
        return self._of_outcome(outcome, name)

    @property
    def _all_missing(self) -> bool:
        """Whether no trial has rewards, all of which Harbor then counts as 0."""
        return len(self.table) > 0 and not self.table.n_scored

    def _of_outcome(self, outcome: Outcome, name: str) -> Answer:
        value, reason = outcome.values[name], outcome.reasons.get(name, "")
        if value is None and self._all_missing and outcome.type in _KINDS:
            return Instead(0, _NO_REWARDS)
        return Known(value, reason)

    def _without_registry(self, index: int, name: str, values: Mapping[str, object]) -> Answer:
        """By the name of a number; of several reward keys, by the one metric that gives all."""
        without = "the registry was not found"
        if name in _KINDS and self._all_missing:
            return Instead(0, _NO_REWARDS)
        if len(self.table.columns) <= 1:
            if name not in _KINDS or len(values) > 1:
                return Unknown(_UNKNOWN)
            return Known(self._by_name(name), f"by its name, since {without}")
        kind = self._kind_of(index, values)
        if kind is None:
            return Unknown(_UNKNOWN)
        return Known(self._by_kind[kind][name], f"{without}: it is `{kind}`")

    def _kind_of(self, index: int, values: Mapping[str, object]) -> str | None:
        """The metric that gives all of these values, once for all of them."""
        if index not in self._kinds:
            kinds = (
                kind
                for kind, numbers in self._by_kind.items()
                if values.keys() == numbers.keys()
                and all(_same(value, numbers[key]) for key, value in values.items())
            )
            self._kinds[index] = next(kinds, None)
        return self._kinds[index]

    @cached_property
    def _by_kind(self) -> dict[str, dict[str, Number | None]]:
        """What each of Harbor's metrics makes of each reward key."""
        return {
            kind: {key: _value(kind, self.table, key) for key in self.table.columns}
            for kind in _KINDS
        }

    def mean_of(self, reported: Reported) -> str | None:
        """The reward of which a number is Harbor's own mean; None of any other number."""
        if reported.metric != "metric":
            return None
        index, name, columns = reported.params["index"], str(reported.part), self.table.columns
        if self._registry:
            known = index < len(self._outcomes)
            kind = self._outcomes[index].type if known else None
        elif len(columns) <= 1:
            kind = name
        else:
            kind = self._kind_of(index, reported.params["values"])
        if kind != "mean":
            return None
        # Of a single reward it has the metric's own name.
        return next(iter(columns), None) if len(columns) == 1 else name

    def _extremes(self, key: str) -> list[Number]:
        """The least and the most of a reward; none where there is none."""
        values = [value for value in self.table.columns.get(key, ()) if value is not None]
        return [min(values), max(values)] if values else []

    def unlisted(self, numbers: Sequence[Reported]) -> Iterator[tuple[Reported, Answer]]:
        """What Harbor reports of such trials, and the job does not, with what it should be."""
        sections: Collection[str] = numbers[0].params["sections"]
        places = {each.place for each in numbers}
        for name, metric in (("n_trials", "n_scored"), ("n_errors", "n_errors")):
            if name not in places:
                absent = _absent(name, metric)
                yield absent, self.answer(absent)
        for section, expected in self._expected(numbers).items():
            if expected and section not in sections:
                yield _absent(section), Unknown(_NO_SECTION.format(section))
                continue
            for name, n in expected.items():
                yield _absent(f"{section}.{name}"), Absent(_UNLISTED, n)
        yield from self._unlisted_metrics(numbers)

    def _expected(self, numbers: Sequence[Reported]) -> dict[str, dict[str, Number]]:
        """By section what should be there and is not."""
        rewards = {(n.key, _number(str(n.part))) for n in numbers if n.metric == "reward"}
        listed = {(n.metric, n.part) for n in numbers}
        counts: dict[str, dict[str, Number]] = {"reward_stats": {}, "exception_stats": {}}
        for trial in self.table:
            for key, value in (trial.rewards or {}).items():
                if (key, value) not in rewards:
                    _count(counts["reward_stats"], f"{key}.{value}")
        for trial in self.everything:
            for error in self._errors(trial):
                if ("exception", error) not in listed:
                    _count(counts["exception_stats"], error)
        chances = {
            k: chance
            for k, chance in self.group.pass_at_k.items()
            if ("pass_at_k", k) not in listed
        }
        return {**counts, "pass_at_k": {**chances}}

    def _unlisted_metrics(self, numbers: Sequence[Reported]) -> Iterator[tuple[Reported, Answer]]:
        listed: dict[int, set[str]] = {}
        for each in numbers:
            if each.metric == "metric":
                listed.setdefault(each.params["index"], set()).add(str(each.part))
        if not listed and not len(self.table):
            # All are left out: Harbor then computes no metric.
            return
        if not listed:
            n = max(len(self._outcomes), 1)
            least = "a job that is finished has the numbers of each of its metrics"
            early = "a job that is not finished may have no metric yet"
            yield _absent("metrics"), Absent(least, n) if self._finished else Unknown(early)
            return
        for index, outcome in enumerate(self._outcomes if self._registry else ()):
            names = listed.get(index, set())
            some = bool(names) and names < outcome.values.keys()
            for name in [each for each in outcome.values if each not in names]:
                place = _absent(f"metrics[{index}].{name}")
                if some:
                    yield place, self._of_outcome(outcome, name)
                else:
                    yield place, Unknown(f"the registry of today has {outcome.name} there")


def _absent(place: str, metric: str = "") -> Reported:
    return Reported(place=place, metric=metric, value=None, group=NO_GROUP)


def _count(times: dict[str, Number], name: str) -> None:
    times[name] = times.get(name, 0) + 1


def _number(text: str) -> Number | None:
    """The reward that Harbor wrote as text; an integer as such: not each above 2**53 is a float."""
    try:
        return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        return None


def _same_trials(reported: Reported, names: set[str]) -> Known:
    listed = reported.params["trials"]
    if names == set(listed) or len(names) != len(listed):
        return Known(len(names))
    other = names.symmetric_difference(listed)
    return Known(None, f"it is as many, but other trials: {', '.join(sorted(other)[:3])}")


def _same(given: object, value: Number | None) -> bool:
    return isinstance(given, int | float) and agree(given, value)


def _value(kind: str, table: Table, key: str | None = None) -> Number | None:
    spec = MetricSpec(type=kind, kwargs={} if key is None else {"key": key})
    return next(iter(measured(spec, table).values.values()))
