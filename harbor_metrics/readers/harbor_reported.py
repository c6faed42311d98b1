"""The numbers that a Harbor job reports in its result.json, as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..exact import Number
from ..trial import GroupKey
from .source import Reported

_NOBODY: GroupKey = (None, None, None)
_TOTALS = ("n_input_tokens", "n_cache_tokens", "n_output_tokens", "cost_usd")
_COUNTS = {
    "n_completed_trials": "n_completed",
    "n_errored_trials": "n_errors",
    "n_errors": "n_errors",
    "n_trials": "n_completed",
}


def reported(result: dict[str, Any]) -> Iterator[Reported]:
    """Every number of the job; those of `stats.evals` name their group by `params["evals_key"]`.

    `params["trials"]` are the names that a count is of.
    """
    total = result.get("n_total_trials")
    stats = result.get("stats")
    stats = stats if isinstance(stats, dict) else {}
    if type(total) is int:
        yield Reported(place="n_total_trials", metric="n_total", value=total, group=_NOBODY)
    for name, metric in _COUNTS.items():
        if type(stats.get(name)) is int:
            yield Reported(place=name, metric=metric, value=stats[name], group=_NOBODY)
    for name in _TOTALS:
        spent = result.get(name, stats.get(name))
        if type(spent) in (int, float):
            yield Reported(place=name, metric=name, value=spent, group=_NOBODY)
    evals = stats.get("evals")
    for key, each in evals.items() if isinstance(evals, dict) else ():
        if isinstance(each, dict):
            yield from _of_eval(key, each)


def _of_eval(key: str, each: dict[str, Any]) -> Iterator[Reported]:
    def one(place: str, metric: str, value: Any, **more: Any) -> Reported:
        params = {"evals_key": key, **more.pop("params", {})}
        number: Number | None = value if type(value) in (int, float) else None
        return Reported(
            place=place, metric=metric, value=number, group=_NOBODY, params=params, **more
        )

    for name, metric in (("n_trials", "n_scored"), ("n_errors", "n_errors")):
        if type(each.get(name)) is int:
            yield one(name, metric, each[name])
    metrics = each.get("metrics")
    for index, values in enumerate(metrics if isinstance(metrics, list) else ()):
        for name, value in values.items() if isinstance(values, dict) else ():
            yield one(
                f"metrics[{index}].{name}",
                "metric",
                value,
                part=name,
                params={"index": index, "names": sorted(values)},
            )
    chances = each.get("pass_at_k")
    for k, value in chances.items() if isinstance(chances, dict) else ():
        yield one(f"pass_at_k.{k}", "pass_at_k", value, part=k)
    rewards = each.get("reward_stats")
    for reward, by_value in rewards.items() if isinstance(rewards, dict) else ():
        for text, trials in by_value.items() if isinstance(by_value, dict) else ():
            if isinstance(trials, list):
                place = f"reward_stats.{reward}.{text}"
                params = {"trials": trials}
                yield one(place, "reward", len(trials), key=reward, part=text, params=params)
    failures = each.get("exception_stats")
    for name, trials in failures.items() if isinstance(failures, dict) else ():
        if isinstance(trials, list):
            place, params = f"exception_stats.{name}", {"trials": trials}
            yield one(place, "exception", len(trials), part=name, params=params)
