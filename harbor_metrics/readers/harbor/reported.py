"""The numbers that a Harbor job reports in its result.json, as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...numbers.exact import Number
from ...trials.source import Reported
from ...trials.trial import NO_GROUP

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
        yield Reported(place="n_total_trials", metric="n_total", value=total, group=NO_GROUP)
    for name, metric in _COUNTS.items():
        if type(stats.get(name)) is int:
            yield Reported(place=name, metric=metric, value=stats[name], group=NO_GROUP)
    for name in _TOTALS:
        spent = result.get(name, stats.get(name))
        if type(spent) in (int, float):
            yield Reported(place=name, metric=name, value=spent, group=NO_GROUP)
    evals = stats.get("evals")
    for key, numbers in evals.items() if isinstance(evals, dict) else ():
        if isinstance(numbers, dict):
            yield from _of_eval(key, numbers)


def _of_eval(key: str, numbers: dict[str, Any]) -> Iterator[Reported]:
    def reported_as(place: str, metric: str, value: Any, **more: Any) -> Reported:
        params = {"evals_key": key, **more.pop("params", {})}
        number: Number | None = value if type(value) in (int, float) else None
        return Reported(
            place=place, metric=metric, value=number, group=NO_GROUP, params=params, **more
        )

    for name, metric in (("n_trials", "n_scored"), ("n_errors", "n_errors")):
        if type(numbers.get(name)) is int:
            yield reported_as(name, metric, numbers[name])
    for index, values in enumerate(_list(numbers.get("metrics"))):
        for name, value in _items(values):
            yield reported_as(
                f"metrics[{index}].{name}",
                "metric",
                value,
                part=name,
                params={"index": index, "names": sorted(values)},
            )
    for k, value in _items(numbers.get("pass_at_k")):
        yield reported_as(f"pass_at_k.{k}", "pass_at_k", value, part=k)
    for reward, by_value in _items(numbers.get("reward_stats")):
        for text, trials in _items(by_value):
            params = {"trials": _names(trials)}
            place = f"reward_stats.{reward}.{text}"
            yield reported_as(
                place, "reward", len(_names(trials)), key=reward, part=text, params=params
            )
    for name, trials in _items(numbers.get("exception_stats")):
        params = {"trials": _names(trials)}
        yield reported_as(
            f"exception_stats.{name}", "exception", len(_names(trials)), part=name, params=params
        )


def _items(value: Any) -> Iterator[tuple[str, Any]]:
    yield from value.items() if isinstance(value, dict) else ()


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _names(value: Any) -> list[str]:
    return [name for name in _list(value) if isinstance(name, str)]
