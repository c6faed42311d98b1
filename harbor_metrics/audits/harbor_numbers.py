"""The numbers of a Harbor job, computed anew with the registry's metrics."""

from __future__ import annotations

from collections.abc import Iterator

from .. import api, exact
from ..diagnostics import Diagnostic
from ..exact import Number
from ..metric import HARBOR_TYPES, UV_SCRIPT, MetricSpec
from ..plan import Registries
from ..readers.source import Reported, Source
from ..result import Group, Outcome
from ..table import Table
from ..trial import Trial, group_key
from .reach import bounded, n_missing
from .row import Known, Row, Unknown, agree, judge
from .tables import incomplete, measured

_NUMBERS = tuple(each for each in HARBOR_TYPES if each != UV_SCRIPT)
# What Harbor lists: an `extra` metric is not its business.
_HARBORS = ("registry", "job", "default")
_NO_REGISTRY = "registry-not-found"


def rows(source: Source, registries: Registries, found: list[Diagnostic]) -> Iterator[Row]:
    """A row a number; scripts of the registry run."""
    prepared = api.planned([source], registries, found)
    result = api.finish(prepared, level=None)
    lacking = incomplete(source)
    tables = {
        group.evals_key: each.table
        for group, (_, each, _) in zip(result.groups, prepared.groups, strict=True)
    }
    groups = {group.evals_key: group for group in result.groups}
    unknown = any(each.rule == _NO_REGISTRY for each in prepared.diagnostics)
    for each in source.reported():
        key = each.params.get("evals_key")
        if key is None:
            yield judge(source.path, "", each, _of_job(each, source), incomplete=lacking)
            continue
        name = key
        if name not in groups and len(groups) == 1:
            # Later versions name the model otherwise; with one group there is no doubt.
            (name,) = (each for each in groups)
        answer: Known | Unknown
        if name not in groups:
            answer = Unknown("no trial on disk is of this agent, model and dataset")
        else:
            table = tables[name]
            answer = _of_group(each, groups[name], table, unknown=unknown)
            if isinstance(answer, Known) and each.metric == "metric" and each.part == "mean":
                values = [v for t in table for v in (t.rewards or {}).values()]
                missing = n_missing(source, group_key(table.trials[0]))
                answer = bounded(answer, [0, *values], len(table), missing)
        yield judge(source.path, str(key), each, answer, incomplete=lacking)


def _of_job(each: Reported, source: Source) -> Known | Unknown:
    trials = source.trials
    if each.metric in ("n_total", "n_completed"):
        return Known(len(trials))
    if each.metric == "n_errors":
        return Known(sum(trial.error is not None for trial in trials))
    values = [v for trial in trials if (v := getattr(trial.usage, each.metric)) is not None]
    return Known(exact.total(values) if values else None, "no trial says it")


def _of_group(each: Reported, group: Group, table: Table, *, unknown: bool) -> Known | Unknown:
    if each.metric == "n_scored":
        return Known(group.counts.scored)
    if each.metric == "n_errors":
        return Known(group.counts.errored)
    if each.metric == "pass_at_k":
        return Known(group.pass_at_k.get(str(each.part)), "no such k here")
    if each.metric == "reward":
        return _trials_with(each, table)
    if each.metric == "exception":
        return _same_trials(each, [t for t in table if t.error == each.part])
    outcomes = [outcome for outcome in group.metrics if outcome.origin in _HARBORS]
    return _of_metric(each, outcomes, table, unknown=unknown)


def _trials_with(each: Reported, table: Table) -> Known | Unknown:
    """The trials whose reward is what Harbor wrote as text."""
    try:
        value = float(str(each.part))
    except ValueError:
        return Unknown(f"the reward `{each.part}` is no number")
    return _same_trials(
        each, [t for t in table if t.rewards is not None and t.rewards.get(str(each.key)) == value]
    )


def _same_trials(each: Reported, trials: list[Trial]) -> Known:
    names, said = {trial.trial for trial in trials}, set(each.params["trials"])
    if names == said or len(names) != len(said):
        return Known(len(names))
    other = sorted(str(name) for name in names - said)
    return Known(None, f"it is as many, but other trials: {', '.join(other[:3])}")


def _of_metric(
    each: Reported, outcomes: list[Outcome], table: Table, *, unknown: bool
) -> Known | Unknown:
    index, name = each.params["index"], str(each.part)
    if unknown:
        return _guessed(each, table, name)
    if index >= len(outcomes):
        return Unknown("the registry of today has fewer metrics")
    outcome = outcomes[index]
    if outcome.status == "failed":
        why = outcome.error.message if outcome.error else ""
        return Unknown(f"{outcome.name} failed here: {why}")
    if name not in outcome.values:
        return Unknown(f"the registry of today has {outcome.name} there")
    return Known(outcome.values[name], outcome.reasons.get(name, ""))


def _guessed(each: Reported, table: Table, name: str) -> Known | Unknown:
    """Without the registry: by its name, or with several reward keys the one that gives it."""
    without = "the registry was not found"
    if name in _NUMBERS and len(table.columns) <= 1:
        return Known(_value(name, name, table), without)
    if name in table.columns:
        for kind in _NUMBERS:
            if agree(each.value, value := _value(kind, name, table)):
                return Known(value, f"{without}: it is `{kind}`")
    return Unknown(f"metric unknown: {without}; give it with --registry")


def _value(kind: str, name: str, table: Table) -> Number | None:
    spec = MetricSpec(type=kind, kwargs={"key": name} if name in table.columns else {})
    return next(iter(measured(spec, table).values.values()))
