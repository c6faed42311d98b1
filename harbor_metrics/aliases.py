"""The names that other systems use, as data: each is a metric or a reducer of ours with kwargs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, NamedTuple

from . import metric, plugins, reducer
from .metric import MetricSpec
from .reducer import ReducerSpec

_K = "{k}"


class Alias(NamedTuple):
    """A name with its system in front, what it stands for, and where the two differ."""

    name: str
    type: str
    kwargs: dict[str, Any]
    difference: str = ""
    kind: Literal["metric", "reducer"] = "metric"


_INSPECT: dict[str, Any] = {"reducer": "mean", "missing": "skip"}
_UNSCORED = "A sample without a score is left out, as Inspect leaves it out."
_PAIRWISE = "Inspect rounds in pairs, and so differs in the last digits."
_ONE = "Undefined for one sample, where Inspect says 0."
_SEED = "`samples` for `num_samples`; Inspect draws without a seed, here the same gives the same."

METRICS: tuple[Alias, ...] = (
    Alias("inspect/accuracy", "accuracy", _INSPECT, f"{_UNSCORED} Inspect rounds at each step."),
    Alias("inspect/mean", "accuracy", _INSPECT, f"{_UNSCORED} {_PAIRWISE}"),
    Alias("inspect/var", "var", _INSPECT, f"{_ONE} {_PAIRWISE}"),
    Alias("inspect/std", "std", _INSPECT, f"{_ONE} {_PAIRWISE}"),
    Alias("inspect/stderr", "stderr", {**_INSPECT, "cluster": None}, f"{_ONE} {_PAIRWISE}"),
    Alias("inspect/bootstrap_stderr", "bootstrap-stderr", {**_INSPECT, "cluster": None}, _SEED),
    Alias(
        "inspect/ci",
        "ci",
        {**_INSPECT, "method": "t", "cluster": None},
        f"`low` and `high` for `lower` and `upper`. {_ONE} With `method` `bootstrap`: {_SEED}",
    ),
    Alias(
        "inspect/ci_wilson",
        "ci",
        {**_INSPECT, "method": "wilson", "cluster": None},
        "`low` and `high` for `lower` and `upper`.",
    ),
    Alias(
        "inspect/grouped",
        "grouped",
        _INSPECT,
        "`by` for `group_key`; the groups' names are sorted; a label that is no string is named as "
        "JSON writes it. With `all` `groups` the stderr is that of the macro mean, where Inspect "
        "averages stderrs.",
    ),
    Alias(
        "inspect/frequency",
        "frequency",
        {"missing": "skip"},
        "Of numbers: what the reader made of the scores. 1 and 1.0 are one value.",
    ),
    Alias("evsys/mean_reward", "mean-reward", {}, "evsys rounds each task's mean."),
    Alias("evsys/avg", "mean-reward", {}, "evsys rounds each task's mean."),
    Alias("evsys/pass_rate", "pass-rate", {}),
    Alias(f"evsys/pass@{_K}", "any-first-k", {"method": "available"}, "Undefined for no tasks."),
    Alias(f"evsys/pass^{_K}", "all-first-k", {"method": "available"}, "Undefined for no tasks."),
    Alias("evsys/time_per_task", "seconds-per-task", {}, "Undefined where evsys leaves it out."),
    Alias("evsys/tokens_per_task", "tokens-per-task", {}, "Undefined where evsys leaves it out."),
    Alias("evsys/cost_per_task", "cost-per-task", {}, "Undefined where evsys leaves it out."),
)
_LM_EVAL: dict[str, Any] = {"missing": "skip"}
_EMPTY = "Undefined for no values, where lm-eval raises."
_ABSENT = "A document without the value is left out, as lm-eval leaves it out."
_IID = {**_LM_EVAL, "cluster": None}


def _pair(name: str, first: str, second: str) -> dict[str, Any]:
    """The kwargs for a value that is a pair, as the reader of lm-eval's samples names it."""
    return {**_LM_EVAL, "key": f"{name}/{first}", "weight": f"{name}/{second}"}


def _guess(name: str) -> dict[str, Any]:
    return {**_LM_EVAL, "key": f"{name}/1", "reference": f"{name}/0"}


METRICS += (
    Alias("lm-eval/mean", "accuracy", _LM_EVAL, f"{_ABSENT} {_EMPTY}"),
    Alias("lm-eval/nanmean", "accuracy", _LM_EVAL, "NaN is no reward, and so left out."),
    Alias("lm-eval/median", "median", {**_LM_EVAL, "method": "upper"}, _EMPTY),
    *(
        Alias(f"lm-eval/{name}", "accuracy", {**_LM_EVAL, "key": name}, _ABSENT)
        for name in ("acc", "acc_norm", "acc_bytes", "acc_mutual_info")
    ),
    Alias("lm-eval/perplexity", "perplexity", {**_LM_EVAL, "key": "perplexity"}, _EMPTY),
    Alias(
        "lm-eval/weighted_perplexity",
        "weighted-perplexity",
        _LM_EVAL,
        "Of pairs: `key` the loglikelihoods, `weight` the counts.",
    ),
    Alias("lm-eval/word_perplexity", "weighted-perplexity", _pair("word_perplexity", "0", "1")),
    Alias("lm-eval/byte_perplexity", "weighted-perplexity", _pair("byte_perplexity", "0", "1")),
    Alias("lm-eval/bits_per_byte", "bits-per-byte", _pair("bits_per_byte", "0", "1")),
    Alias("lm-eval/f1", "f1", _guess("f1"), "Undefined where lm-eval says 0 of nothing."),
    Alias("lm-eval/mcc", "matthews-corrcoef", _guess("mcc"), "Undefined where lm-eval says 0."),
    Alias(
        "lm-eval/matthews_corrcoef",
        "matthews-corrcoef",
        _guess("mcc"),
        "Undefined where lm-eval says 0.",
    ),
    Alias(
        "lm-eval/brier_score",
        "brier-score",
        {**_LM_EVAL, "key": "brier_score/0", "probabilities": "brier_score/1"},
        _EMPTY,
    ),
    Alias("lm-eval/exact_match", "exact-match", _LM_EVAL, "A misspelt option is an error here."),
    Alias("lm-eval/bleu", "bleu", _LM_EVAL),
    Alias("lm-eval/chrf", "chrf", _LM_EVAL),
    Alias("lm-eval/chrf++", "chrf", {**_LM_EVAL, "word_order": 2}),
    Alias("lm-eval/ter", "ter", _LM_EVAL),
    Alias(
        "lm-eval/mean_stderr", "stderr", _IID, "Undefined for one value, where lm-eval has none."
    ),
    Alias("lm-eval/bootstrap_stderr", "bootstrap-stderr", {"method": "lm-eval"}),
)
_TOO_FEW = "Undefined for fewer than k attempts; `missing` `skip` leaves such a task out."
_TRUTHY = "What is not 0 passes in lm-eval, here what reaches the `threshold`."
REDUCERS: tuple[Alias, ...] = tuple(
    alias._replace(kind="reducer")
    for alias in (
        Alias("inspect/mean", "mean", {}),
        Alias("inspect/median", "median", {}),
        Alias("inspect/mode", "mode", {}),
        Alias("inspect/max", "max", {}),
        Alias(
            "inspect/majority", "majority", {}, "A missing score does not count as a vote against."
        ),
        Alias(f"inspect/at_least_{_K}", "at-least-k", {"method": "available"}),
        Alias(f"inspect/pass_at_{_K}", "pass-at-k", {}, _TOO_FEW),
        Alias(f"inspect/pass_k_{_K}", "pass-hat-k", {}, _TOO_FEW),
        Alias("lm-eval/take_first", "first", {}),
        Alias("lm-eval/mean", "mean", {}),
        Alias(
            "lm-eval/pass@k", "pass-at-k", {}, f"lm-eval chooses the k; here `k` says it. {_TRUTHY}"
        ),
        Alias("lm-eval/pass_at_k", "pass-at-k", {}, "The documented name of `lm-eval/pass@k`."),
        Alias(f"lm-eval/pass@{_K}", "pass-at-k", {}, f"{_TOO_FEW} lm-eval says 1 there. {_TRUTHY}"),
        Alias(
            f"lm-eval/pass_at_{_K}", "pass-at-k", {}, f"{_TOO_FEW} lm-eval says 1 there. {_TRUTHY}"
        ),
    )
)


def metric_of(name: str, kwargs: Mapping[str, Any]) -> MetricSpec | None:
    """What an alias of a metric means with these kwargs on top; None for what is no alias."""
    if name in metric.names() or _is_plugin("metrics", name):
        return None
    matches = _meanings(name, METRICS)
    if len(matches) != 1 or ambiguous(name):
        return None
    implied = matches[0].kwargs
    if matches[0].type == "grouped" and "metric" in kwargs:
        implied = _fitting(implied, kwargs["metric"])
    return MetricSpec(type=matches[0].type, kwargs={**implied, **kwargs})


def _fitting(implied: dict[str, Any], inner: Any) -> dict[str, Any]:
    """Those of the implied kwargs that mean something for the metric inside."""
    name = inner.get("type", metric.DEFAULT_TYPE) if isinstance(inner, dict) else inner
    if not isinstance(name, str):
        return implied
    spec = metric_of(name, {}) or MetricSpec(type=name)
    if spec.type not in metric.names() or spec.type == metric.UV_SCRIPT:
        return implied
    takes = metric.COMMON[metric.lookup(spec.type).takes]
    return {k: v for k, v in implied.items() if k in takes or k not in metric.COMMON["inner"]}


def reducer_of(name: str, kwargs: Mapping[str, Any]) -> ReducerSpec | None:
    """The same of a reducer."""
    if name in reducer.names() or _is_plugin("reducers", name):
        return None
    matches = _meanings(name, REDUCERS)
    if len(matches) != 1:
        return None
    return ReducerSpec(type=matches[0].type, kwargs={**matches[0].kwargs, **kwargs})


def _is_plugin(kind: plugins.Kind, name: str) -> bool:
    """Whether a plugin has the name; asked only where it would be an alias without its system."""
    known = METRICS if kind == "metrics" else REDUCERS
    return "/" not in name and bool(_meanings(name, known)) and name in plugins.found(kind)


def ambiguous(name: str) -> list[str]:
    """The full names where a name without a system means several metrics; else none."""
    matches = _meanings(name, METRICS)
    names = [each.name for each in matches]
    twin = name.replace("_", "-")
    if (
        "/" not in name
        and twin != name
        and twin in metric.names()
        and any(each.kwargs for each in matches)
    ):
        names.append(twin)
    return names if len(names) > 1 else []


def find(name: str) -> list[Alias]:
    """Every alias that a name can mean, with the k that it says."""
    return [
        found
        for alias in (*METRICS, *REDUCERS)
        if (found := alias if alias.name == name else _matched(alias, name)) is not None
    ]


def _meanings(name: str, aliases: tuple[Alias, ...]) -> list[Alias]:
    """The aliases that match, one for each different meaning."""
    matches = [found for alias in aliases if (found := _matched(alias, name)) is not None]
    return list({(each.type, repr(each.kwargs)): each for each in reversed(matches)}.values())


def _matched(alias: Alias, name: str) -> Alias | None:
    """The alias as this name writes it, with or without its system in front."""
    match = re.fullmatch(pattern(alias.name, bare=True), name)
    if match is None:
        return None
    if _K not in alias.name:
        return alias
    k = match[1]
    kwargs = {**alias.kwargs, "k": int(k)}
    return alias._replace(name=alias.name.replace(_K, k), kwargs=kwargs)


@cache
def pattern(name: str, *, bare: bool = False) -> str:
    """A regular expression for an alias; with `bare` the system's name may be left out."""
    system, _, rest = name.partition("/")
    body = re.escape(rest).replace(re.escape(_K), "([1-9][0-9]{0,8})")
    return f"(?:{system}/)?{body}" if bare else f"{system}/{body}"
