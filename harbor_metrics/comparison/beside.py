"""Two runs beside each other, on each dataset that both have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from operator import attrgetter

import msgspec

from ..documents.diagnostics import Diagnostic
from ..documents.wording import listed, plural
from ..errors import MetricFailure, UsageError
from ..evaluation.group import counts_of, dataset_of
from ..evaluation.planned import Planned, each_once
from ..trials.table import Table
from ..trials.trial import REWARD, LineTrials
from .changes import changes_of_tasks
from .directions import Directions
from .document import Compared, Row, Side, TaskLists
from .finding import Asked, RunScripts
from .grouping import clusters_of
from .lacking import with_lacking
from .missing import with_policies
from .pairing import Pairs, pair, with_keys
from .remarks import by_two_rules, remark_on_rules, remarks
from .rows import rows_of
from .runs import Part, Run
from .settings import Settings
from .together import Pair, told_by

# Of more tasks than these only the largest changes are listed.
_MOST_TASKS, _LISTED = 20_000, 1_000


def compared(
    pairs: Sequence[tuple[Run, Run]],
    settings: Settings,
    run_scripts: RunScripts,
    diagnostics: list[Diagnostic],
) -> list[Pair]:
    """Each base with a candidate: the metrics of the base on both, and their differences.

    Raises:
        UsageError: runs have no dataset, no task or no reward in common, or the same trials.
    """
    return [
        _compared(base, candidate, parts, settings, run_scripts, diagnostics)
        for base, candidate in pairs
        for parts in _matching(base, candidate)
    ]


def all_pairs(runs: Sequence[Run]) -> list[tuple[Run, Run]]:
    """Every two runs, those with the first run first, whose metrics all of them are compared by."""
    base = runs[0]
    others = [_with_plans_of(base, run) for run in runs[1:]]
    return [*((base, run) for run in runs[1:]), *combinations(others, 2)]


def _with_plans_of(base: Run, run: Run) -> Run:
    parts = {
        name: _with_plan_of(base.parts[name], part, (base.name, run.name))
        if name in base.parts
        else part
        for name, part in run.parts.items()
    }
    return Run(run.name, parts)


def _with_plan_of(base: Part, part: Part, names: tuple[str, str]) -> Part:
    metrics = [own for _, own in _permitted((base, part), names)]
    plan = msgspec.structs.replace(part.plan, metrics=metrics)
    return msgspec.structs.replace(part, plan=plan)


def tasks_alone(base: Run, candidate: Run) -> list[tuple[str, int]]:
    """The datasets that only one of two runs has, whose it is, and how many tasks lie in it."""
    both = base.parts.keys() & candidate.parts.keys()
    return [
        (f"{name} of {run.name}", len(set(part.pool.table.tasks)))
        for run in (base, candidate)
        for name, part in run.parts.items()
        if both and name not in both
    ]


def _matching(base: Run, candidate: Run) -> list[tuple[Part, Part]]:
    """The groups of both runs on each dataset, by its name."""
    both = [name for name in base.parts if name in candidate.parts]
    if both:
        return [(base.parts[name], candidate.parts[name]) for name in both]
    ours, theirs = list(base.parts.values()), list(candidate.parts.values())
    if len(ours) == len(theirs) == 1 and None in (*base.parts, *candidate.parts):
        # Only one of them says what it is of.
        return [(ours[0], theirs[0])]
    names = [listed(sorted(name or "unnamed" for name in run.parts)) for run in (base, candidate)]
    raise UsageError(
        f"{base.name} and {candidate.name} have no dataset in common: {names[0]}, and {names[1]}",
        "--dataset NAME names the dataset of sources that name none",
    )


def _permitted(
    parts: tuple[Part, Part], names: tuple[str, str]
) -> Iterator[tuple[Planned, Planned]]:
    """The metrics of the base, each with what is run over the candidate: its own script, if equal.

    As failed a script that would read trials of a run that lacks it: it would answer with what it
    read, and only the job of the base has asked for it.
    """
    ours, theirs = (part.plan.metrics for part in parts)
    # Once, whoever names it again: it would count twice among all that is compared.
    for metric in each_once([], ours):
        # What the user names, and what is no script, is the same for both.
        if not metric.runs_script or metric.named_by == "user":
            yield metric, metric
            continue
        # Beside each may lie data, which are of the run that it came with.
        own = next((other for other in theirs if _is_same(other, metric)), None)
        if own is None:
            failure = MetricFailure(
                "metrics-differ",
                f"only {names[0]} comes with this script, so it is not run over {names[1]} "
                "(--registry FILE runs it over both)",
            )
            metric = msgspec.structs.replace(metric, script=None, failure=failure)
        yield metric, own or metric


def _is_same(one: Planned, other: Planned) -> bool:
    scripts = [metric.script and metric.script.identity for metric in (one, other)]
    return one.runs_script and one.spec == other.spec and scripts[0] == scripts[1]


def _said_by_runs(parts: Sequence[Part]) -> dict[str, bool | None]:
    """Reward -> whether more of it is better, as all the runs say; None where one says that less is
    and another one does not, for one of them may be somebody else's.
    """
    said: list[Mapping[str, bool]] = [
        job.higher_is_better for part in parts for _, job in part.pool.jobs
    ]
    said += [{} for part in parts for _ in part.pool.without_job[:1]]
    words = {key: {each.get(key) for each in said} for key in set().union(*said)}
    return {
        key: word.pop() if len(word) == 1 else None
        for key, word in words.items()
        if word != {True, None}
    }


def _compared(
    base: Run,
    candidate: Run,
    parts: tuple[Part, Part],
    settings: Settings,
    run_scripts: RunScripts,
    diagnostics: list[Diagnostic],
) -> Pair:
    ours, theirs = parts
    tables = (ours.pool.table, theirs.pool.table)
    names = (base.name, candidate.name)
    _refuse_same_trials(tables, names)
    pairs = pair(*tables)
    subject = f"{names[1]} against {names[0]}"
    if not pairs.paired:
        raise _nothing_paired(pairs, names)
    ranked = _by_times(tables[0])
    keys = _common_keys((ranked, list(tables[1].columns)), names)
    diagnostics += remarks(pairs, parts, names, subject)
    whole, lacking = pairs.base, [key for key in ours.pool.table.columns if key not in keys]
    if keys:
        pairs = msgspec.structs.replace(
            pairs, base=with_keys(pairs.base, keys), candidate=with_keys(pairs.candidate, keys)
        )
    of_tasks = clusters_of(pairs, names, settings.cluster)
    rows: list[Row] = []
    asked_of: list[Asked] = []
    ranks: dict[str | None, int] = {key: rank for rank, key in enumerate(keys)}
    for planned, there in _permitted(parts, names):
        asked = Asked(planned, settings, of_tasks, run_scripts, names, keys, there)
        own = with_lacking(asked, whole, pairs.base, lacking if keys else [], rows_of(asked, pairs))
        rows += sorted(own, key=lambda row: ranks.get(row.key, 0))
        asked_of += [asked] * len(own)
    # That one run leaves out a reward does not make another one the score; `reward` is it by name.
    is_only_reward = keys == [REWARD] or len({*tables[0].columns, *tables[1].columns}) <= 1
    directions = Directions(
        higher=settings.higher,
        lower=settings.lower,
        of_runs=_said_by_runs(parts),
        is_only_reward=is_only_reward,
    )
    metrics = [asked.planned for asked in asked_of]
    directed = directions.directed(list(zip(rows, metrics, strict=True)), keys)
    rows = with_policies([row for row, _ in directed], asked_of, pairs)
    changes = changes_of_tasks(pairs, keys[0], settings) if keys else {}
    by_task = [row for row in changes.values() if row is not None]
    by_task.sort(key=lambda row: (-abs(row.difference), row.task))
    listed_tasks = by_task if len(by_task) <= _MOST_TASKS else by_task[:_LISTED]
    sides = [
        Side(
            run=name,
            agent=part.key.agent,
            model=part.key.model,
            complete=part.pool.whole,
            counts=counts_of(part.pool),
        )
        for name, part in zip(names, parts, strict=True)
    ]
    rules = by_two_rules(parts, names, settings.missing)
    if rules is not None:
        diagnostics.append(remark_on_rules(*rules, subject))
    beside = Compared(
        dataset=dataset_of(ours.key.dataset or theirs.key.dataset, ours.plan),
        base=sides[0],
        candidate=sides[1],
        tasks=TaskLists(
            paired=len(pairs.paired),
            higher=sum(sign > 0 for _, sign in changes),
            lower=sum(sign < 0 for _, sign in changes),
            only_base=pairs.only_base,
            only_candidate=pairs.only_candidate,
            changed=pairs.changed,
        ),
        rows=rows,
        key=keys[0] if keys else None,
        higher_is_better=directions.of_reward(keys[0], directed, keys) if keys else None,
        lacking=lacking or msgspec.UNSET,
        first=ranked[0] if keys and ranked[0] != keys[0] else msgspec.UNSET,
        by_two_rules=rules or msgspec.UNSET,
        by_task=listed_tasks,
        not_listed=len(changes) - len(listed_tasks),
    )
    return Pair(beside, list(map(told_by, metrics)))


def _refuse_same_trials(tables: tuple[Table, Table], names: tuple[str, str]) -> None:
    if any(isinstance(table.trials, LineTrials) for table in tables):
        return
    ours, theirs = (map(attrgetter("id"), table) for table in tables)
    known = set(ours) - {None}
    if not known.isdisjoint(their_ids := list(theirs)):
        same = sum(map(known.__contains__, their_ids))
        raise UsageError(
            f"{plural(same, 'trial')} stand{'s' if same == 1 else ''} in both {names[0]} and "
            f"{names[1]}, which a comparison takes for different runs"
        )


def _nothing_paired(pairs: Pairs, names: tuple[str, str]) -> UsageError:
    if pairs.changed:
        n = plural(len(pairs.changed), "task")
        return UsageError(
            f"{names[0]} and {names[1]} have no task in common: {n} of the same name have changed "
            f"({listed(pairs.changed)})",
            "run both on the same version of the dataset",
        )
    return UsageError(
        f"{names[0]} and {names[1]} have no task in common: {listed(pairs.only_base)}, against "
        f"{listed(pairs.only_candidate)}",
        "a comparison pairs tasks by their names",
    )


def _common_keys(of_runs: tuple[list[str], list[str]], names: tuple[str, str]) -> list[str]:
    """The rewards that both runs have, none where neither has any.

    Raises:
        UsageError: both have rewards, and not one of the same name.
    """
    ours, theirs = of_runs
    both = [key for key in ours if key in theirs]
    if not both and ours and theirs:
        raise UsageError(
            f"{names[0]} and {names[1]} have no reward in common: {listed(sorted(ours))}, and "
            f"{listed(theirs)}"
        )
    return both


def _by_times(table: Table) -> list[str]:
    """The rewards, those first that the most trials have.

    The verifier of a single task, which may be a stranger's, does not say what a comparison is of.
    """
    times = table.key_times.times
    return sorted(table.columns, key=lambda key: -times[key])
