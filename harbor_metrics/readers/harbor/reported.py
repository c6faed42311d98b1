"""The numbers that a Harbor job reports in its result.json, as data."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from ...numbers.exact import Number
from ...trials.source import Reported
from ...trials.trial import NO_GROUP
from ..files.names import shown
from ..written import is_number, numbers_in

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
    yield from (_reported(n, _COUNTS[n], value) for n, value in stats.items() if n in _COUNTS)
    for name in _TOTALS:
        said = [fields[name] for fields in (result, stats) if name in fields]
        yield from (_reported(name, name, spent) for spent in said)
    known = [*_TOTALS, "n_total_trials", *(("stats",) if "stats" in result and stats else ())]
    if result.get("schema_version") == 1:
        known.append("schema_version")
    evals = stats.get("evals")
    by_key = evals if isinstance(evals, dict) else {}
    for place, value in (
        *_without(result, known),
        *_without(stats, (*_COUNTS, *_TOTALS, *(("evals",) if by_key else ()))),
        *(numbers_in("evals", {k: v for k, v in by_key.items() if not isinstance(v, dict)})),
    ):
        yield _reported(place, OTHER, value)
    for key, numbers in by_key.items():
        if isinstance(numbers, dict):
            yield from _of_eval(key, numbers)


def _without(value: dict[str, Any], known: Collection[str]) -> Iterator[tuple[str, Any]]:
    """The numbers under other names than those that are known."""
    for name, inner in value.items():
        if name not in known:
            yield from numbers_in(name, inner)


def _reported(place: str, metric: str, value: Any, **more: Any) -> Reported:
    """A number, or the text of what stands in its place."""
    number: Number | None = value if is_number(value) else None
    text = "" if number is not None or value is None else str(value)
    return Reported(
        place=place, metric=metric, value=number, not_finite=text, group=NO_GROUP, **more
    )


def not_listed(result: dict[str, Any], names: Collection[str]) -> list[str]:
    """Which of these trials the job's result does not name; none where it names not all it had."""
    if result.get("finished_at") is None:
        return []
    stats = result.get("stats")
    known: set[str] = set()
    for _, numbers in _items(stats.get("evals") if isinstance(stats, dict) else None):
        of_eval = numbers if isinstance(numbers, dict) else {}
        for _, by_value in (
            *_items(of_eval.get("reward_stats")),
            ("", of_eval.get("exception_stats")),
        ):
            for _, trials in _items(by_value):
                known.update(_names(trials))
    whole = len(known) == result.get("n_total_trials")
    # That there are more is said anyway.
    return sorted(set(names) - known) if whole and len(names) <= len(known) else []


def _of_eval(key: str, numbers: dict[str, Any]) -> Iterator[Reported]:
    sections = [*numbers]

    def reported_as(place: str, metric: str, value: Any, **more: Any) -> Reported:
        params = {"evals_key": key, "sections": sections, **more.pop("params", {})}
        return _reported(place, metric, value, params=params, **more)

    for name in (name for name in _OF_EVAL if name in numbers):
        yield reported_as(name, _OF_EVAL[name], numbers[name])
    for place, value in _not_of_harbor(numbers):
        yield reported_as(place, OTHER, value)
    for place, part, params, value in _of_metrics(numbers.get("metrics")):
        yield reported_as(place, "metric", value, part=part, params=params)
    for k, value in _items(numbers.get("pass_at_k")):
        yield reported_as(f"pass_at_k.{k}", "pass_at_k", value, part=k)
    for reward, by_value in _items(numbers.get("reward_stats")):
        for text, trials in _items(by_value):
            params = {"trials": _names(trials)}
            place = f"reward_stats.{shown(reward)}.{text}"
            yield reported_as(
                place, "reward", len(_names(trials)), key=reward, part=text, params=params
            )
    for name, trials in _items(numbers.get("exception_stats")):
        params = {"trials": _names(trials)}
        yield reported_as(
            f"exception_stats.{name}", "exception", len(_names(trials)), part=name, params=params
        )


def _not_of_harbor(numbers: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The numbers of a group that stand where Harbor writes none."""
    yield from _without(numbers, (*_OF_EVAL, *_SECTIONS))
    for name, kind in (("metrics", list), ("pass_at_k", dict)):
        if not isinstance(numbers.get(name), kind):
            yield from numbers_in(name, numbers.get(name))
    by_reward = numbers.get("reward_stats")
    if not isinstance(by_reward, dict):
        yield from numbers_in("reward_stats", by_reward)
    yield from _among_names("exception_stats", numbers.get("exception_stats"))
    for reward, by_value in _items(by_reward):
        yield from _among_names(f"reward_stats.{shown(reward)}", by_value)


def _among_names(place: str, by_what: Any) -> Iterator[tuple[str, Any]]:
    """The numbers where names of trials should stand."""
    if not isinstance(by_what, dict):
        yield from numbers_in(place, by_what)
    for name, trials in _items(by_what):
        if isinstance(trials, list):
            others = {str(i): each for i, each in enumerate(trials) if not isinstance(each, str)}
            yield from numbers_in(f"{place}.{name}", others)
        else:
            yield from numbers_in(f"{place}.{name}", trials)


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
