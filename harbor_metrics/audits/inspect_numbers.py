"""The numbers of an Inspect log, computed anew by the metrics of that name."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from ..catalogue.names import find_metric, meaning
from ..contract.spec import MetricSpec
from ..errors import MetricFailure
from ..numbers.exact import Number
from ..trials.labelled import label_text
from ..trials.source import Reported, Source
from ..trials.table import Table
from ..trials.trial import GroupKey
from .inspect_votes import SILENT, STATUS, VALUE, by_vote
from .reach import bounded_mean, n_missing
from .row import Answer, Known, Row, Unknown, judge
from .tables import incomplete, measured, named, scored_with, tables_of

_RANDOM = "drawn without a seed: its digits cannot be repeated"
# How many standard deviations of the noise of a bootstrap may be chance.
_CHANCE = 6
# Inspect says 0 of these where one sample or cluster is too few.
_SPREADS = ("stderr", "std", "var")
_OF_NUMBERS = ("accuracy", "mean", "grouped", "ci", *_SPREADS)
_MEANS = ("accuracy", "mean")
_ENDS = {"lower": "low", "upper": "high"}
_SCORER = "inspect/scorer"


def rows(source: Source) -> Iterator[Row]:
    """A row for reported number of the log."""
    tables = tables_of([source])
    lacking = incomplete(source)
    for reported in source.reported():
        table = tables.get(reported.group)
        answer: Answer
        if reported.metric in ("total_samples", "completed_samples"):
            answer = _samples(reported, tables)
        elif table is None:
            answer = Unknown("the log has no samples")
        else:
            try:
                answer = _recomputed(reported, table)
            except MetricFailure as error:
                answer = Unknown(str(error))
            if isinstance(answer, Known) and reported.metric in _MEANS:
                missing = n_missing(source, reported.group)
                key, by_task = _key(reported, table), reported.reducer is not None
                answer = bounded_mean(answer, table, key, by_task=by_task, missing=missing)
        yield judge(source.path, named(reported.group), reported, answer, incomplete=lacking)


def _key(reported: Reported, table: Table) -> str:
    """The reward key: that of a scalar score is the name of the scorer."""
    return reported.key or str(table.trials[0].labels.get(_SCORER))


def _samples(reported: Reported, tables: dict[GroupKey, Table]) -> Known:
    table = next(iter(tables.values()), Table([]))
    if reported.metric == "total_samples":
        return Known(len(table))
    return Known(sum(trial.error is None for trial in table))


def _recomputed(reported: Reported, table: Table) -> Answer:
    key = _key(reported, table)
    if reported.reducer in ("mode", "majority") and key in table.columns:
        table, reported = (
            by_vote(table, key, reported.reducer),
            msgspec.structs.replace(reported, reducer=None),
        )
    if reported.metric in _OWN:
        return _OWN[reported.metric](reported, table, key)
    if reported.metric == "ci" and reported.params.get("method") == "bootstrap":
        return _of_draws(reported, table, key)
    own = reported.key is None and key not in table.columns
    if table.columns and own and reported.metric in _OF_NUMBERS:
        return Known(0, "the score is an object or a list, which Inspect counts as 0 here")
    return _measured(reported, table, key)


def _measured(reported: Reported, table: Table, key: str) -> Answer:
    """What the metric of that name gives."""
    spec = _spec(reported, key)
    if isinstance(spec, Unknown):
        return spec
    spec, ignored = _known(spec)
    measurement = measured(spec, table)
    if reported.metric == "grouped":
        return _of_groups(reported, table, measurement.values)
    part = _ENDS.get(str(reported.part)) if reported.part else next(iter(measurement.values))
    if part not in measurement.values:
        return Known(None, f"`{reported.metric}` gives no `{reported.part}`")
    value = measurement.values[part]
    reason = measurement.reasons.get(part, "")
    if (
        value is None
        and reported.value is not None
        and reported.value == _instead(reported, table, key)
    ):
        return Unknown(f"{reason}; Inspect says {reported.value:g} there")
    if value is not None and reported.not_finite == "Infinity" and _overflows(table, key):
        return Unknown("Inspect's squares overflow there", near=value)
    without = ", ".join(f"`{name}`" for name in ignored)
    return Known(value, f"recomputed without {without}, not known here" if ignored else reason)


def _known(spec: MetricSpec) -> tuple[MetricSpec, list[str]]:
    """The spec with the kwargs that the metric takes, and the names of the others."""
    known = find_metric(spec.type)
    takes = {*known.kwargs.__struct_fields__, *known.common}
    kept = {name: value for name, value in spec.kwargs.items() if name in takes}
    return MetricSpec(type=spec.type, kwargs=kept), [n for n in spec.kwargs if n not in takes]


def _values(table: Table, key: str) -> list[Number]:
    return [value for _, value in scored_with(table, key)]


def _overflows(table: Table, key: str) -> bool:
    """Whether a sum of squares of the values is beyond binary64."""
    top = max((abs(float(value)) for value in _values(table, key)), default=0.0)
    return math.isinf(4 * top * top * len(table))


def _of_draws(reported: Reported, table: Table, key: str) -> Answer:
    """An end of an interval that was drawn without a seed: it is between two of the values."""
    values = _values(table, key)
    if reported.value is None or not values or min(values) <= reported.value <= max(values):
        return Unknown(_RANDOM)
    return Known(None, f"no draws give that: scores are {min(values):g} to {max(values):g}")


def _instead(reported: Reported, table: Table, key: str) -> Number | None:
    """Inspect's number where there is too little for an error: 0, or for an interval the mean."""
    if reported.metric in ("ci", "ci_wilson") and table.n_scored:
        spec = MetricSpec(type="mean-reward", kwargs={"key": key, "missing": "skip"})
        return next(iter(measured(spec, table).values.values()))
    return 0


def _spec(reported: Reported, key: str) -> MetricSpec | Unknown:
    """The metric of that name with these parameters, over the same reward and reducer."""
    params = {k: v for k, v in reported.params.items() if v is not None}
    if reported.metric == "grouped":
        inner = params.pop("metric", None)
        if not isinstance(inner, dict) or not isinstance(inner.get("name"), str):
            return Unknown("the log does not say which metric was taken of reported group")
        given = inner.get("params")
        of_group = _alias(inner["name"], given if isinstance(given, dict) else {})
        if isinstance(of_group, Unknown):
            return of_group
        kwargs = {k: v for k, v in of_group.kwargs.items() if k not in ("reducer", "missing")}
        params["metric"] = {"type": of_group.type, "kwargs": kwargs}
        params["by"] = params.pop("group_key", None)
        params.pop("all_label", None)
    spec = _alias(reported.metric, {**params, "key": key})
    if isinstance(spec, Unknown):
        return spec
    kwargs = {name: value for name, value in spec.kwargs.items() if name != "reducer"}
    return MetricSpec(type=spec.type, kwargs={**kwargs, **_reducer(reported)})


def _alias(name: str, kwargs: dict[str, Any]) -> MetricSpec | Unknown:
    spec = meaning(f"inspect/{name.rpartition('/')[2]}", kwargs)
    return spec or Unknown(f"no metric here is called `{name}`")


def _reducer(reported: Reported) -> dict[str, str]:
    """The kwarg that names the reducer; none where attempts count one by one."""
    return {"reducer": f"inspect/{reported.reducer}"} if reported.reducer else {}


def _of_groups(reported: Reported, table: Table, values: dict[str, Number | None]) -> Answer:
    """A group's value by the name that Inspect gives it; over groups it is their plain mean."""
    by = reported.params["group_key"]
    inner = str(reported.params["metric"]["name"]).rpartition("/")[2]
    spread = inner in _SPREADS
    template = str(reported.params.get("name_template") or "{group_name}")
    labels = {
        template.replace("{group_name}", str(label)): template.replace(
            "{group_name}", label_text(label)
        )
        # True and 1 are equal, and have names of their own.
        for _, label in dict.fromkeys((type(x), x) for x in table.label(str(by)))
    }
    if (
        reported.part == reported.params.get("all_label", "all")
        and reported.params.get("all") == "groups"
    ):
        groups = [value for name, value in values.items() if name != "all"]
        if not groups or (None in groups and not spread):
            return Known(None, "a group has no value")
        # Inspect counts the spread of a single sample as 0.
        return Known(math.fsum(value or 0 for value in groups) / len(groups))
    name = (
        "all"
        if reported.part == reported.params.get("all_label", "all")
        else labels.get(str(reported.part))
    )
    value = values.get(name or "")
    if value is None and reported.value == 0 and spread:
        return Unknown(f"undefined for a single sample; Inspect says {reported.value:g} there")
    return Known(value)


def _counted(reported: Reported, table: Table, key: str) -> Known:
    """Samples with a value behind the reducer, or those with a score and without a value."""
    kwargs = {"missing": "skip", **_reducer(reported)}
    # Where the score is an object and no key is meant, it counts when any of its members does.
    counted = [key] if key in table.columns else list(table.columns)
    scored = 0
    for name in counted:
        spec = MetricSpec(type="count", kwargs={**kwargs, "key": name})
        scored = max(scored, int(measured(spec, table).values["count"] or 0))
    if reported.metric == "scored_samples":
        return Known(scored)
    given = [t for t in table if t.labels.get(STATUS) not in SILENT]
    n = len({trial.task for trial in given}) if reported.reducer else len(given)
    return Known(n - scored)


def _frequency(reported: Reported, table: Table, key: str) -> Answer:
    """How often a score stands as it was given: texts are labels, numbers are rewards."""
    times: dict[str, int] = {}
    for trial in table:
        if trial.rewards is None:
            continue
        label = trial.labels.get(VALUE)
        value = label if label is not None else trial.rewards.get(key)
        times[str(value)] = times.get(str(value), 0) + 1
    n = sum(times.values())
    if not n:
        return Known(None, "no scores")
    count = times.get(str(reported.part), 0)
    return Known(count / n if reported.params.get("normalize", True) else count)


def _perplexity(reported: Reported, table: Table, _key: str) -> Answer:
    """Of Score metadata, which the reader keeps as rewards."""
    pairs = [
        (trial.rewards["sum_log_probs"], trial.rewards["num_tokens"])
        for trial in table
        if trial.rewards is not None and "num_tokens" in trial.rewards
    ]
    if not pairs or not any(tokens for _, tokens in pairs):
        return Known(None, "no tokens")
    if reported.reducer and len(pairs) != table.n_tasks:
        return Unknown("over several epochs Inspect takes the metadata of the first")
    try:
        if reported.metric == "perplexity_per_token":
            chances, tokens = (math.fsum(column) for column in zip(*pairs, strict=True))
            return Known(math.exp(-chances / tokens))
        return Known(math.exp(math.fsum(-c / n for c, n in pairs) / len(pairs)))
    except (OverflowError, ZeroDivisionError):
        return Known(None, "beyond binary64")


def _drawn(reported: Reported, table: Table, key: str) -> Answer:
    """Whether a bootstrap without a seed is near what ever more draws tend to."""
    given = reported.params.get("num_samples")
    n = given if type(given) is int and given > 1 else 1000
    kwargs = {"key": key, **_reducer(reported), "missing": "skip", "cluster": None}
    spec = MetricSpec(type="bootstrap-stderr", kwargs={**kwargs, "method": "closed-form"})
    measurement = measured(spec, table)
    (value,) = measurement.values.values()
    if value is None or reported.value is None:
        reason = next(iter(measurement.reasons.values()), "no value")
        return Known(None, reason) if reported.value else Unknown(f"{reason}; Inspect says 0 there")
    noise = _CHANCE * value / math.sqrt(2 * max(n - 1, 1))
    if abs(value - reported.value) <= noise:
        return Unknown(f"{_RANDOM}; {n} draws may well give it", near=value)
    return Known(value, f"{n} draws do not give that; this is what ever more draws tend to")


# Numbers that are not a metric of ours over one reward.
_OWN: dict[str, Callable[[Reported, Table, str], Answer]] = {
    "scored_samples": _counted,
    "unscored_samples": _counted,
    "frequency": _frequency,
    "perplexity_per_token": _perplexity,
    "perplexity_per_seq": _perplexity,
    "bootstrap_stderr": _drawn,
}
