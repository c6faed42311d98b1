"""One group of a run as a report shows it: its result, its tasks, metrics for pictures alone."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from ..computation.request import Request
from ..contract.spec import MetricSpec
from ..errors import NeedsRowsError
from ..evaluation.binding import bind
from ..evaluation.evaluate import evaluate
from ..evaluation.result import Group, Outcome
from ..trials.table import Table
from .rewards import Bins, bins
from .tasks import Tasks, tasks_of

_MOST_K = 10
_CHANCES = {"pass_at_k": "pass-at-k", "pass_hat_k": "pass-hat-k"}


@dataclass(frozen=True, slots=True)
class Series:
    """A group and what is drawn of it.

    `run` is None where there is one. Without its trials, as a document gives it, all else is None.
    `by_metric`: of several rewards that of its tasks is the one that a metric reads.
    """

    run: str | None
    group: Group
    tasks: Tasks | None = None
    pass_at_k: Outcome | None = None
    pass_hat_k: Outcome | None = None
    cost: Outcome | None = None
    rewards: Bins | None = None
    by_metric: bool = False


def series_of(
    run: str | None, group: Group, table: Table, request: Request, *, costs: bool = True
) -> Series:
    """The series of a group whose trials are known; with its costs, where it has any.

    Raises:
        NeedsRowsError: the trials were counted, and a picture needs them.
    """
    key = _first_key(group, table.columns)
    tasks = tasks_of(table, key)
    if tasks is None:
        return Series(run, group)
    chances: dict[str, Outcome] = {}
    if tasks.binary and tasks.fewest_attempts > 1:
        kwargs = {"k": ks(tasks.fewest_attempts), "key": tasks.key}
        chances = {
            field: _outcome(type_, kwargs, table, request) for field, type_ in _CHANCES.items()
        }
    known = costs and group.usage.cost_usd is not None
    return Series(
        run,
        group,
        tasks,
        cost=_outcome("cost-per-task", {}, table, request) if known else None,
        rewards=None if tasks.binary else bins(tasks.column),
        by_metric=tasks.n_keys > 1 and tasks.key == key,
        **chances,
    )


def ks(most: int) -> list[int]:
    """Up to ten k from 1 to the most, at growing distances."""
    if most <= _MOST_K:
        return list(range(1, most + 1))
    return sorted({round(most ** (i / (_MOST_K - 1))) for i in range(_MOST_K)})


def _first_key(group: Group, known: Collection[str]) -> str | None:
    """The reward that the first metric of which it is said reads, one that is asked for before all.

    A registry may be a stranger's.
    """
    outcomes = sorted(group.metrics, key=lambda outcome: outcome.origin != "command-line")
    keys = (outcome.kwargs.get("key") for outcome in outcomes)
    return next((key for key in keys if isinstance(key, str) and key in known), None)


def _outcome(type_: str, kwargs: dict[str, Any], table: Table, request: Request) -> Outcome:
    planned = bind(type_, MetricSpec(type=type_, kwargs=kwargs), "default")
    (outcome,) = evaluate(
        [planned],
        table,
        missing=request.missing,
        level=request.level,
        over=request.over,
        run_scripts=_none,
    )
    if outcome.needs_rows:
        raise NeedsRowsError(type_)
    return outcome


def _none(_planned: object, _table: Table) -> list[Outcome]:
    return []
