"""The numbers of a Harbor job, computed anew with the registry's metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..computation.computing import finish
from ..computation.preparation import plan_groups
from ..computation.request import Request
from ..contract.spec import HARBOR_TYPES, UV_SCRIPT, MetricSpec
from ..documents.diagnostics import Diagnostic
from ..evaluation.group import evals_key_of
from ..evaluation.result import Group, Outcome
from ..numbers import exact
from ..numbers.exact import Number
from ..registries.registry import Dataset, Registries
from ..scripts.options import ScriptOptions
from ..trials.source import Job, Reported, Source
from ..trials.table import Table
from ..trials.trial import Trial, group_key
from .reach import bounded, n_missing
from .row import Answer, Instead, Known, Row, Unknown, agree, judge
from .tables import incomplete, measured

_NUMBERS = tuple(name for name in HARBOR_TYPES if name != UV_SCRIPT)
# The origins of the metrics that Harbor lists: it knows nothing of others.
_HARBORS = ("registry", "job", "default")
_NO_REGISTRY = "registry-not-found"
_NO_REWARDS = "undefined, because no trial of the group has rewards; Harbor writes 0"


def rows(
    source: Source,
    registries: Registries,
    diagnostics: list[Diagnostic],
    scripts: ScriptOptions | None = None,
) -> Iterator[Row]:
    """A row for each reported number of the job; scripts of the registry run, as `scripts` says.

    What was found while the metrics were planned goes to `diagnostics`.
    """
    request = Request(sources=(source.path,), level=None, scripts=scripts or ScriptOptions())
    prepared = plan_groups(request, [source], [], registries)
    result = finish(request, prepared)
    diagnostics += [found for found in prepared.diagnostics if found not in diagnostics]
    lacking = incomplete(source)
    tables = {evals_key_of(group.key, group.pool): group.pool.table for group in prepared.groups}
    groups = {group.evals_key: group for group in result.groups}
    entries = [entry for group in prepared.groups for entry in group.plan.datasets]
    unknown = any(finding.rule == _NO_REGISTRY for finding in prepared.diagnostics)
    for reported in source.reported():
        key = reported.params.get("evals_key")
        answer: Answer
        if key is None:
            answer = _of_job(reported, source, entries)
            reason = "" if _is_planned(reported, answer, source) else lacking
            yield judge(source.path, "", reported, answer, incomplete=reason)
            continue
        name = key
        if name not in groups and len(groups) == 1:
            # Later versions name the model otherwise; with one group there is no doubt.
            (name,) = groups
        if name not in groups:
            answer = Unknown("no trial on disk is of this agent, model and dataset")
        else:
            table = tables[name]
            answer = _of_group(reported, groups[name], table, unknown=unknown)
            if (
                isinstance(answer, Known)
                and reported.metric == "metric"
                and reported.part == "mean"
            ):
                values = [v for t in table for v in (t.rewards or {}).values()]
                missing = n_missing(source, group_key(table.trials[0]))
                answer = bounded(answer, [0, *values], len(table), missing)
        yield judge(source.path, str(key), reported, answer, incomplete=lacking)


def _of_job(reported: Reported, source: Source, entries: Sequence[Dataset]) -> Answer:
    trials = source.trials
    if reported.metric == "n_total":
        return _planned(reported, source, entries)
    if reported.metric == "n_completed":
        return Known(len(trials))
    if reported.metric == "n_errors":
        return Known(sum(trial.error is not None for trial in trials))
    values = [v for trial in trials if (v := getattr(trial.usage, reported.metric)) is not None]
    return Known(exact.total(values) if values else None, "no trial says it")


def _is_planned(reported: Reported, answer: Answer, source: Source) -> bool:
    """Whether it is the number of planned trials, which is known whatever is missing."""
    by_job = source.job is not None and source.job.n_planned is not None
    return reported.metric == "n_total" and (by_job or isinstance(answer, Instead))


def _planned(reported: Reported, source: Source, entries: Sequence[Dataset]) -> Answer:
    """How many trials the job planned: by its lock, configuration or registry, else those found."""
    job, found = source.job, len(source.trials) + len(source.unread)
    if job is not None and job.n_planned is not None:
        return Known(job.n_planned, "by the lock or the tasks of the job")
    each = job.n_each if job is not None else 1
    if reported.value is not None and reported.value % each:
        return Instead(
            found, f"each task has {each} trials by config.json, and so the number is a multiple"
        )
    by_registry = _by_registry(job, entries) if job is not None else None
    if by_registry is not None and reported.value not in (found, by_registry):
        return Instead(found, f"by the tasks of the registry it is {by_registry}")
    return Known(found)


def _by_registry(job: Job, entries: Sequence[Dataset]) -> int | None:
    """How many trials the tasks of the job's datasets make; None where these are not all known."""
    n = 0
    for named in job.datasets:
        tasks = [
            len(entry.tasks)
            for entry in entries
            if entry.name == named.name and named.version in (None, entry.version) and entry.tasks
        ]
        if not named.whole or len(set(tasks)) != 1:
            return None
        n += tasks[0]
    return n * job.n_each or None


def _of_group(reported: Reported, group: Group, table: Table, *, unknown: bool) -> Answer:
    if reported.metric == "n_scored":
        return Known(group.counts.scored)
    if reported.metric == "n_errors":
        return Known(group.counts.errored)
    if reported.metric == "pass_at_k":
        return Known(group.pass_at_k.get(str(reported.part)), "no such k here")
    if reported.metric == "reward":
        return _trials_with(reported, table)
    if reported.metric == "exception":
        return _same_trials(reported, [t for t in table if t.error == reported.part])
    outcomes = [outcome for outcome in group.metrics if outcome.origin in _HARBORS]
    return _of_metric(reported, outcomes, table, unknown=unknown)


def _trials_with(reported: Reported, table: Table) -> Answer:
    """How many trials have the reward that Harbor wrote as text."""
    text, key = str(reported.part), str(reported.key)
    try:
        # An integer as such: above 2**53 not every one is a float.
        value: Number = int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        return Unknown(f"the reward `{text}` is no number")
    return _same_trials(
        reported, [t for t in table if t.rewards is not None and t.rewards.get(key) == value]
    )


def _same_trials(reported: Reported, trials: list[Trial]) -> Known:
    names, listed = {trial.trial for trial in trials}, set(reported.params["trials"])
    if names == listed or len(names) != len(listed):
        return Known(len(names))
    other = sorted(str(name) for name in names - listed)
    return Known(None, f"it is as many, but other trials: {', '.join(other[:3])}")


def _of_metric(
    reported: Reported, outcomes: list[Outcome], table: Table, *, unknown: bool
) -> Answer:
    index, name = reported.params["index"], str(reported.part)
    if unknown:
        return _without_registry(reported, table, name)
    if index >= len(outcomes):
        return Unknown("the registry of today has fewer metrics")
    outcome = outcomes[index]
    if outcome.status == "failed":
        message = outcome.error.message if outcome.error else ""
        return Unknown(f"{outcome.name} failed here: {message}")
    if name not in outcome.values:
        return Unknown(f"the registry of today has {outcome.name} there")
    value, reason = outcome.values[name], outcome.reasons.get(name, "")
    if value is None and not table.n_scored and outcome.type in _NUMBERS:
        return Instead(0, _NO_REWARDS)
    return Known(value, reason)


def _without_registry(reported: Reported, table: Table, name: str) -> Answer:
    """By the name of the number, or with several reward keys by the metric that gives it."""
    without = "the registry was not found"
    if name in _NUMBERS and not table.n_scored:
        return Instead(0, _NO_REWARDS)
    if name in _NUMBERS and len(table.columns) <= 1:
        return Known(_value(name, name, table), without)
    if name in table.columns:
        for kind in _NUMBERS:
            if agree(reported.value, value := _value(kind, name, table)):
                return Known(value, f"{without}: it is `{kind}`")
    return Unknown(f"metric unknown: {without}; give it with --registry")


def _value(kind: str, name: str, table: Table) -> Number | None:
    spec = MetricSpec(type=kind, kwargs={"key": name} if name in table.columns else {})
    return next(iter(measured(spec, table).values.values()))
