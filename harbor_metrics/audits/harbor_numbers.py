"""The numbers of a Harbor job, computed anew with the registry's metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from ..computation.computing import finish
from ..computation.preparation import plan_groups
from ..computation.request import Request
from ..documents.diagnostics import Diagnostic
from ..documents.quoting import without_quotes
from ..evaluation.group import evals_key_of
from ..readers.harbor.documents import repeated_in_trials
from ..readers.harbor.reported import OTHER
from ..registries.registry import Registries
from ..scripts.options import ScriptOptions
from ..trials.source import Job, Reported, Source
from ..trials.trial import NO_GROUP, group_key
from .harbor_groups import Trials
from .harbor_keys import Keys
from .harbor_plan import Plan
from .reach import bounded
from .row import Absent, Known, Row, Unknown, judge

_NO_REGISTRY = "registry-not-found"
_NO_TRIALS = "no trial on disk is of this agent, model and dataset"
_OTHER = "Harbor writes no number of that name"
_NO_USAGE = "result.json does not say it, as those of earlier versions of Harbor do not"
# Each with the name that Harbor gave it before 2026-05, when it wrote no others.
_COUNTS = {
    ("n_completed_trials", "n_completed"): "n_trials",
    ("n_errored_trials", "n_errors"): "n_errors",
}
_PROGRESS = {
    "n_running_trials": "n_running",
    "n_pending_trials": "n_pending",
    "n_cancelled_trials": "n_cancelled",
    "n_retries": "n_retries",
}
_USAGE = ("n_input_tokens", "n_cache_tokens", "n_output_tokens", "cost_usd")


def rows(
    source: Source,
    registries: Registries,
    diagnostics: list[Diagnostic],
    scripts: ScriptOptions | None = None,
) -> Iterator[Row]:
    """A row for each number of the job, those too that it should report and does not.

    Scripts of the registry run, as `scripts` says; what was found while the metrics were planned
    goes to `diagnostics`.
    """
    request = Request(sources=(source.path,), level=None, scripts=scripts or ScriptOptions())
    prepared = plan_groups(request, [source], [], registries)
    result = finish(request, prepared)
    more_errors: dict[str, list[str]] = {}
    leaves_out = source.job is not None and source.job.leaves_out
    repeated = repeated_in_trials(source.path, more_errors if leaves_out else None)
    found = [*prepared.diagnostics, *without_quotes(repeated, [source.path])]
    known = set(diagnostics)
    diagnostics += [each for each in found if each not in known]
    numbers = list(source.reported())
    if not numbers:
        return
    entries = [e for group in prepared.groups for e in group.plan.datasets]
    plan = Plan(source, numbers, entries, more_errors)
    yield from _of_job(plan, [each for each in numbers if "evals_key" not in each.params])

    keyed = [(evals_key_of(group.key, group.pool), group.pool) for group in prepared.groups]
    pools, called = dict(keyed), Counter(key for key, _ in keyed)
    of_group = {
        key: group.plan.datasets for (key, _), group in zip(keyed, prepared.groups, strict=True)
    }
    groups = {str(group.evals_key): group for group in result.groups}
    by_key: dict[str, list[Reported]] = {}
    for each in numbers:
        if "evals_key" in each.params:
            by_key.setdefault(each.params["evals_key"], []).append(each)
    models = source.job.models if source.job else ()
    registry = not any(finding.rule == _NO_REGISTRY for finding in prepared.diagnostics)
    finished = source.job is not None and not source.job.running
    keys = Keys(groups, models)
    names = {key: keys.group_of(key) for key in by_key}
    listed = set(names.values())
    # All trials are those of the other keys.
    none_left = finished and not plan.lacking and groups.keys() <= listed
    for key, of_key in by_key.items():
        name = names[key]
        if name is None or called[name] > 1:
            other = Absent(_NO_TRIALS) if none_left else Unknown(_NO_TRIALS)
            if name is not None:
                words = f"{called[name]} agents, models and datasets are called so together"
                other = Unknown(words)
            yield from (judge(source.path, key, each, other, incomplete="") for each in of_key)
            continue
        own = Trials(
            groups[name],
            pools[name],
            more_errors,
            job=source.job or Job(),
            entries=of_group[name],
            registry=registry,
            finished=finished,
        )
        yield from _of_group(plan, key, own, of_key)
    for name in [each for each in groups if each not in listed]:
        absent = Reported(place="evals", metric="evals", value=None, group=NO_GROUP)
        answer = Absent("result.json has no numbers of these trials", len(pools[name].everything))
        yield judge(source.path, name, absent, answer, incomplete=plan.lacking)


def _of_job(plan: Plan, numbers: Sequence[Reported]) -> Iterator[Row]:
    """The numbers over all trials, and those that should be among them."""
    places = {each.place for each in numbers if each.metric != OTHER}
    for each in numbers:
        row = _row(plan, each)
        if each.metric not in _USAGE or row.reported is not None or row.recomputed is not None:
            yield row
    for name, metric in _absent(places):
        yield _row(plan, Reported(place=name, metric=metric, value=None, group=NO_GROUP))
    for name in _USAGE:
        value = plan.counted(name).value
        if name not in places and value is not None:
            absent = Reported(place=name, metric=name, value=None, group=NO_GROUP)
            yield judge(plan.source.path, "", absent, Unknown(_NO_USAGE, value), incomplete="")


def _row(plan: Plan, reported: Reported) -> Row:
    answer, incomplete = plan.total, ""
    if reported.metric in plan.progress:
        answer = plan.progress[reported.metric]
    elif reported.metric == OTHER:
        answer = Unknown(_OTHER)
    elif reported.metric != "n_total":
        answer, incomplete = plan.counted(reported.metric), plan.lacking
    return judge(plan.source.path, "", reported, answer, incomplete=incomplete)


def _absent(places: Collection[str]) -> Iterator[tuple[str, str]]:
    """Name and metric of the counts that Harbor writes and the job does not have."""
    for (name, metric), older in _COUNTS.items():
        if name not in places and older not in places:
            yield name, metric
    if "n_completed_trials" in places:
        yield from ((name, metric) for name, metric in _PROGRESS.items() if name not in places)


def _of_group(plan: Plan, key: str, trials: Trials, numbers: list[Reported]) -> Iterator[Row]:
    """The numbers of one group, and what it should have."""
    path, table = plan.source.path, trials.table
    for reported in numbers:
        answer = Unknown(_OTHER) if reported.metric == OTHER else trials.answer(reported)
        reward = trials.mean_of(reported)
        if isinstance(answer, Known) and reward is not None and len(table):
            missing = plan.missing.of(group_key(table.trials[0])) + plan.n_late
            values = [0, *trials.extremes(reward)]
            answer = bounded(answer, values, max(len(table) - plan.n_late, 1), missing)
        yield judge(path, key, reported, answer, incomplete=plan.lacking)
    for absent, answer in trials.unlisted(numbers):
        yield judge(path, key, absent, answer, incomplete=plan.lacking)
