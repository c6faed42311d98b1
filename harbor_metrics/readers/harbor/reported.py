"""The numbers that a Harbor job reports in its result.json, as data."""

from __future__ import annotations

from collections.abc import Collection, Iterator
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
    "n_running_trials": "n_running",
    "n_pending_trials": "n_pending",
    "n_cancelled_trials": "n_cancelled",
    "n_retries": "n_retries",
}
_OF_EVAL = {"n_trials": "n_scored", "n_errors": "n_errors"}
_SECTIONS = ("metrics", "pass_at_k", "reward_stats", "exception_stats")
# A number that Harbor does not write.
OTHER = "other"


def reported(result: dict[str, Any]) -> Iterator[Reported]:
    """Every number of the job; those of `stats.evals` name their group by `params["evals_key"]`.

    `params["trials"]` are the names that a count is of, `params["sections"]` the fields that the
    result.json has of the group, `params["values"]` the whole object that a metric gave.
    """
    if not result:
        return
    stats = result.get("stats")
    stats = stats if isinstance(stats, dict) else {}
    yield _reported("n_total_trials", "n_total", result.get("n_total_trials"))
    for name, value in stats.items():
        if name in _COUNTS:
            yield _reported(name, _COUNTS[name], value)
    for name in _TOTALS:
        said = [fields[name] for fields in (result, stats) if name in fields]
        yield from (_reported(name, name, spent) for spent in said)
    known = {*_COUNTS, *_TOTALS, "n_total_trials", "evals"}
    own = {name: value for name, value in result.items() if _is_number(value)}
    for place, value in _others({**own, "stats": stats}, known):
        yield _reported(place.removeprefix("stats."), OTHER, value)
    evals = stats.get("evals")
    for key, numbers in evals.items() if isinstance(evals, dict) else ():
        if isinstance(numbers, dict):
            yield from _of_eval(key, numbers)


def _others(value: dict[str, Any], known: Collection[str]) -> Iterator[tuple[str, Number]]:
    """The numbers of other names than those that are known, at any depth."""
    for name, inner in value.items():
        if name in known:
            continue
        if _is_number(inner):
            yield name, inner
        elif isinstance(inner, dict):
            yield from ((f"{name}.{place}", n) for place, n in _others(inner, known))


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _reported(place: str, metric: str, value: Any, **more: Any) -> Reported:
    """A number, or the text of what stands in its place."""
    number: Number | None = value if _is_number(value) else None
    text = "" if number is not None or value is None else str(value)
    return Reported(
        place=place, metric=metric, value=number, not_finite=text, group=NO_GROUP, **more
    )


def _of_eval(key: str, numbers: dict[str, Any]) -> Iterator[Reported]:
    def reported_as(place: str, metric: str, value: Any, **more: Any) -> Reported:
        params = {"evals_key": key, "sections": [*numbers], **more.pop("params", {})}
        return _reported(place, metric, value, params=params, **more)

    for name in (name for name in _OF_EVAL if name in numbers):
        yield reported_as(name, _OF_EVAL[name], numbers[name])
    for place, value in _others(numbers, {*_OF_EVAL, *_SECTIONS}):
        yield reported_as(place, OTHER, value)
    for place, part, params, value in _of_metrics(numbers.get("metrics")):
        yield reported_as(place, "metric", value, part=part, params=params)
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


def _of_metrics(metrics: Any) -> Iterator[tuple[str, str | None, dict[str, Any], Any]]:
    """Place, part, params and value of each number, and of each metric that has none."""
    for index, values in enumerate(_list(metrics)):
        place = f"metrics[{index}]"
        if not values or not isinstance(values, dict):
            yield place, None, {"index": index, "values": {}}, values or None
        for name, value in _items(values):
            yield f"{place}.{name}", name, {"index": index, "values": values}, value


def _items(value: Any) -> Iterator[tuple[str, Any]]:
    yield from value.items() if isinstance(value, dict) else ()


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _names(value: Any) -> list[str]:
    return [name for name in _list(value) if isinstance(name, str)]
