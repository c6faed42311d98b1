"""The numbers of an Inspect log, computed anew by the metrics of that name."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from .. import aliases
from ..column import LabelError, label_text
from ..exact import Number
from ..metric import MetricSpec, lookup
from ..readers.source import Reported, Source
from ..signature import SpecError
from ..table import Table
from ..trial import GroupKey
from .inspect_votes import SILENT, STATUS, VALUE, by_vote
from .reach import bounded, n_missing
from .row import Known, Row, Unknown, judge
from .tables import incomplete, measured, named, tables_of

_RANDOM = "drawn without a seed: its digits cannot be repeated"
# Standard deviations of a bootstrap's own noise that chance may account for.
_CHANCE = 6
# What Inspect says 0 of where one sample or cluster is too few.
_SPREADS = ("stderr", "std", "var")
_OF_NUMBERS = ("accuracy", "mean", "grouped", "ci", *_SPREADS)
_MEANS = ("accuracy", "mean")
_ENDS = {"lower": "low", "upper": "high"}
_SCORER = "inspect/scorer"


def rows(source: Source) -> Iterator[Row]:
    """A row a number."""
    tables = tables_of([source])
    lacking = incomplete(source)
    for each in source.reported():
        table = tables.get(each.group)
        found: Known | Unknown
        if each.metric in ("total_samples", "completed_samples"):
            found = _samples(each, tables)
        elif table is None:
            found = Unknown("the log has no samples")
        else:
            try:
                found = _recomputed(each, table)
            except (SpecError, LabelError) as error:
                found = Unknown(str(error))
            if isinstance(found, Known) and each.metric in _MEANS:
                found = _bounded(found, each, table, source)
        yield judge(source.path, named(each.group), each, found, incomplete=lacking)


def _bounded(found: Known, each: Reported, table: Table, source: Source) -> Known:
    key = each.key or str(table.trials[0].labels.get(_SCORER))
    scored = [t.task for t in table if t.rewards is not None and key in t.rewards]
    n = len(set(scored)) if each.reducer else len(scored)
    return bounded(found, _values(table, key), n, n_missing(source, each.group))


def _samples(each: Reported, tables: dict[GroupKey, Table]) -> Known:
    table = next(iter(tables.values()), Table([]))
    if each.metric == "total_samples":
        return Known(len(table))
    return Known(sum(trial.error is None for trial in table))


def _recomputed(each: Reported, table: Table) -> Known | Unknown:
    scorer = str(table.trials[0].labels.get(_SCORER))
    key = each.key or scorer
    if each.reducer in ("mode", "majority") and key in table.columns:
        table, each = by_vote(table, key, each.reducer), replace(each, reducer=None)
    if each.metric in _OWN:
        return _OWN[each.metric](each, table, key)
    if each.metric == "ci" and each.params.get("method") == "bootstrap":
        return _of_draws(each, table, key)
    own = each.key is None and key not in table.columns
    if table.columns and own and each.metric in _OF_NUMBERS:
        return Known(0, "the score is an object or a list, which Inspect counts as 0 here")
    return _measured(each, table, key)


def _measured(each: Reported, table: Table, key: str) -> Known | Unknown:
    """By the metric of that name."""
    spec = _spec(each, key)
    if isinstance(spec, Unknown):
        return spec
    spec, ignored = _known(spec)
    found = measured(spec, table)
    if each.metric == "grouped":
        return _of_groups(each, table, found.values)
    part = _ENDS.get(str(each.part)) if each.part else next(iter(found.values))
    if part not in found.values:
        return Known(None, f"`{each.metric}` gives no `{each.part}`")
    value = found.values[part]
    reason = found.reasons.get(part, "")
    if value is None and each.value is not None and each.value == _said_instead(each, table, key):
        return Unknown(f"{reason}; Inspect says {each.value:g} there")
    if value is not None and each.not_finite == "Infinity" and _overflows(table, key):
        return Unknown("Inspect's squares overflow there", near=value)
    without = ", ".join(f"`{name}`" for name in ignored)
    return Known(value, f"recomputed without {without}, not known here" if ignored else reason)


def _known(spec: MetricSpec) -> tuple[MetricSpec, list[str]]:
    """The spec with the kwargs that the metric takes, and the names of the others."""
    known = lookup(spec.type)
    takes = {*known.kwargs.__struct_fields__, *known.common}
    kept = {name: value for name, value in spec.kwargs.items() if name in takes}
    return MetricSpec(type=spec.type, kwargs=kept), [n for n in spec.kwargs if n not in takes]


def _values(table: Table, key: str) -> list[Number]:
    return [t.rewards[key] for t in table if t.rewards is not None and key in t.rewards]


def _overflows(table: Table, key: str) -> bool:
    """Whether a sum of squares of the values is beyond binary64."""
    top = max((abs(float(value)) for value in _values(table, key)), default=0.0)
    return math.isinf(4 * top * top * len(table))


def _of_draws(each: Reported, table: Table, key: str) -> Known | Unknown:
    """An end of an interval that was drawn without a seed: it is between two of the values."""
    values = _values(table, key)
    if each.value is None or not values or min(values) <= each.value <= max(values):
        return Unknown(_RANDOM)
    return Known(None, f"no draws give that: scores are {min(values):g} to {max(values):g}")


def _said_instead(each: Reported, table: Table, key: str) -> Number | None:
    """What Inspect says where there is too little for an error: 0, or for an interval the mean."""
    if each.metric in ("ci", "ci_wilson") and table.n_scored:
        spec = MetricSpec(type="mean-reward", kwargs={"key": key, "missing": "skip"})
        return next(iter(measured(spec, table).values.values()))
    return 0


def _spec(each: Reported, key: str) -> MetricSpec | Unknown:
    """The metric of that name with these parameters, over the same reward and reducer."""
    common: dict[str, Any] = {"key": key, "reducer": _reducer(each)}
    params = {k: v for k, v in each.params.items() if v is not None}
    if each.metric == "grouped":
        inner = params.pop("metric", None)
        if not isinstance(inner, dict) or not isinstance(inner.get("name"), str):
            return Unknown("the log does not say which metric was taken of each group")
        given = inner.get("params")
        found = _alias(inner["name"], given if isinstance(given, dict) else {})
        if isinstance(found, Unknown):
            return found
        own = {k: v for k, v in found.kwargs.items() if k not in ("reducer", "missing")}
        params["metric"] = {"type": found.type, "kwargs": own}
        params["by"] = params.pop("group_key", None)
        params.pop("all_label", None)
    spec = _alias(each.metric, {**params, **common})
    if isinstance(spec, Unknown) or spec.kwargs["reducer"] is not None:
        return spec
    return MetricSpec(
        type=spec.type, kwargs={k: v for k, v in spec.kwargs.items() if k != "reducer"}
    )


def _alias(name: str, kwargs: dict[str, Any]) -> MetricSpec | Unknown:
    spec = aliases.metric_of(f"inspect/{name.rpartition('/')[2]}", kwargs)
    return spec or Unknown(f"no metric here is called `{name}`")


def _reducer(each: Reported) -> str | None:
    return f"inspect/{each.reducer}" if each.reducer else None


def _of_groups(each: Reported, table: Table, values: dict[str, Number | None]) -> Known | Unknown:
    """A group's value by the name that Inspect gives it; over groups it is their plain mean."""
    by = each.params["group_key"]
    inner = str(each.params["metric"]["name"]).rpartition("/")[2]
    spread = inner in _SPREADS
    template = str(each.params.get("name_template") or "{group_name}")
    labels = {
        template.replace("{group_name}", str(label)): template.replace(
            "{group_name}", label_text(label)
        )
        # True and 1 are equal, and have names of their own.
        for _, label in dict.fromkeys((type(x), x) for x in table.label(str(by)))
    }
    if each.part == each.params.get("all_label", "all") and each.params.get("all") == "groups":
        groups = [value for name, value in values.items() if name != "all"]
        if not groups or (None in groups and not spread):
            return Known(None, "a group has no value")
        # Inspect counts the spread of a single sample as 0.
        return Known(math.fsum(value or 0 for value in groups) / len(groups))
    name = "all" if each.part == each.params.get("all_label", "all") else labels.get(str(each.part))
    value = values.get(name or "")
    if value is None and each.value == 0 and spread:
        return Unknown(f"undefined for a single sample; Inspect says {each.value:g} there")
    return Known(value)


def _counted(each: Reported, table: Table, key: str) -> Known:
    """Samples with a value behind the reducer, or those with a score that is none."""
    kwargs: dict[str, Any] = {"missing": "skip"}
    if each.reducer:
        kwargs["reducer"] = _reducer(each)
    # Where the score is an object and no key is meant, it counts when any of its members does.
    counted = [key] if key in table.columns else list(table.columns)
    scored = 0
    for name in counted:
        spec = MetricSpec(type="count", kwargs={**kwargs, "key": name})
        found = measured(spec, table)
        scored = max(scored, int(found.values["count"] or 0))
    if each.metric == "scored_samples":
        return Known(scored)
    given = [t for t in table if t.labels.get(STATUS) not in SILENT]
    n = len({trial.task for trial in given}) if each.reducer else len(given)
    return Known(n - scored)


def _frequency(each: Reported, table: Table, key: str) -> Known | Unknown:
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
    count = times.get(str(each.part), 0)
    return Known(count / n if each.params.get("normalize", True) else count)


def _perplexity(each: Reported, table: Table, _key: str) -> Known | Unknown:
    """Of Score metadata, which the reader keeps as rewards."""
    pairs = [
        (trial.rewards["sum_log_probs"], trial.rewards["num_tokens"])
        for trial in table
        if trial.rewards is not None and "num_tokens" in trial.rewards
    ]
    if not pairs or not any(tokens for _, tokens in pairs):
        return Known(None, "no tokens")
    if each.reducer and len(pairs) != table.n_tasks:
        return Unknown("over several epochs Inspect takes the metadata of the first")
    try:
        if each.metric == "perplexity_per_token":
            chances, tokens = (math.fsum(column) for column in zip(*pairs, strict=True))
            return Known(math.exp(-chances / tokens))
        return Known(math.exp(math.fsum(-c / n for c, n in pairs) / len(pairs)))
    except (OverflowError, ZeroDivisionError):
        return Known(None, "beyond binary64")


def _drawn(each: Reported, table: Table, key: str) -> Known | Unknown:
    """Whether a bootstrap without a seed is near what ever more draws tend to."""
    given = each.params.get("num_samples")
    n = given if type(given) is int and given > 1 else 1000
    kwargs = {"key": key, "reducer": _reducer(each), "missing": "skip", "cluster": None}
    spec = MetricSpec(type="bootstrap-stderr", kwargs={**kwargs, "method": "closed-form"})
    found = measured(_without_null(spec), table)
    (value,) = found.values.values()
    if value is None or each.value is None:
        why = next(iter(found.reasons.values()), "no value")
        return Known(None, why) if each.value else Unknown(f"{why}; Inspect says 0 there")
    noise = _CHANCE * value / math.sqrt(2 * max(n - 1, 1))
    if abs(value - each.value) <= noise:
        return Unknown(f"{_RANDOM}; {n} draws may well give it", near=value)
    return Known(value, f"{n} draws do not give that; this is what ever more draws tend to")


def _without_null(spec: MetricSpec) -> MetricSpec:
    """`reducer` is left out where there is none."""
    if spec.kwargs.get("reducer") is not None:
        return spec
    return MetricSpec(
        type=spec.type, kwargs={k: v for k, v in spec.kwargs.items() if k != "reducer"}
    )


# What is not one of our metrics over a reward.
_OWN: dict[str, Callable[[Reported, Table, str], Known | Unknown]] = {
    "scored_samples": _counted,
    "unscored_samples": _counted,
    "frequency": _frequency,
    "perplexity_per_token": _perplexity,
    "perplexity_per_seq": _perplexity,
    "bootstrap_stderr": _drawn,
}
