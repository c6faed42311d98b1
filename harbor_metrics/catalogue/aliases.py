"""The names that other systems use, as data: each is a metric or a reducer of ours with kwargs."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Literal

import msgspec

from ..readers.lm_eval import layout

_K = "{k}"


class Alias(msgspec.Struct, frozen=True):
    """A name with its system in front, what it stands for, and where the two differ.

    `prefixed`: the name means something else without its system. A name without any system is a
    common one. `higher_is_better` is where the name says another thing of it than the metric does;
    None, that it says nothing.
    """

    name: str
    type: str
    kwargs: dict[str, Any]
    difference: str = ""
    kind: Literal["metric", "reducer"] = "metric"
    prefixed: bool = False
    higher_is_better: bool | msgspec.UnsetType | None = msgspec.UNSET

    @property
    def system(self) -> str:
        """The system whose name it is; empty for a common name."""
        return self.name.rpartition("/")[0]

    @property
    def pattern(self) -> str:
        """A regular expression for every way of writing it."""
        return _pattern(self.name, self.prefixed)

    def matched(self, name: str) -> Alias | None:
        """The alias as this name writes it, with or without its system; None where it does not."""
        match = re.fullmatch(self.pattern, name)
        if match is None:
            return None
        if _K not in self.name:
            return self
        k = match[1]
        kwargs = {**self.kwargs, "k": int(k)}
        return msgspec.structs.replace(self, name=self.name.replace(_K, k), kwargs=kwargs)


_INSPECT: dict[str, Any] = {"reducer": "mean", "missing": "skip"}
_UNSCORED = "A sample without a score is left out, as Inspect leaves it out."
_PAIRWISE = "Inspect rounds in pairs, and so differs in the last digits."
_ONE = "Undefined for one sample, where Inspect says 0."
_CATEGORIES: dict[str, Any] = {"missing": "skip", "label": "inspect/value"}
_OF_TEXTS = (
    "Texts and booleans are counted as they were given (`true` is Inspect's `True`), numbers as "
    "numbers: 1 and 1.0 are one value. Of a member of objects `label` is `inspect/value/MEMBER`."
)
_SEED = "`samples` for `num_samples`; Inspect draws without a seed, here the same gives the same."

METRICS: tuple[Alias, ...] = (
    Alias(f"pass@{_K}", "pass-at-k", {}),
    Alias(f"pass_at_{_K}", "pass-at-k", {}),
    Alias(f"pass^{_K}", "pass-hat-k", {}),
    Alias("inspect/accuracy", "accuracy", _INSPECT, f"{_UNSCORED} Inspect rounds at each step."),
    Alias(
        "inspect/mean",
        "accuracy",
        _INSPECT,
        f"{_UNSCORED} {_PAIRWISE}",
        higher_is_better=None,
    ),
    Alias("inspect/var", "var", _INSPECT, f"{_ONE} {_PAIRWISE}"),
    Alias("inspect/std", "std", _INSPECT, f"{_ONE} {_PAIRWISE}"),
    Alias("inspect/stderr", "stderr", {**_INSPECT, "cluster": None}, f"{_ONE} {_PAIRWISE}"),
    Alias("inspect/bootstrap_stderr", "bootstrap-stderr", {**_INSPECT, "cluster": None}, _SEED),
    Alias(
        "inspect/ci",
        "ci",
        {**_INSPECT, "method": "t", "cluster": None},
        "`low` and `high` for `lower` and `upper`, the same but for the last digits. Undefined "
        "for one sample or cluster, and where all values are the same: Inspect says the mean "
        "twice there, and 0 twice of no sample. With `method` `bootstrap` both take quantiles of "
        "the means of drawn samples, or clusters: `samples` for `num_samples`; Inspect draws "
        "without a seed, so that its ends differ from run to run, here the same gives the same.",
    ),
    Alias(
        "inspect/ci_wilson",
        "ci",
        {**_INSPECT, "method": "korn-graubard", "cluster": None},
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
        _CATEGORIES,
        f"Inspect's `categories` are those that there are. {_OF_TEXTS}",
    ),
    Alias(
        "inspect/categorical",
        "frequency",
        _CATEGORIES,
        f"A list of Inspect's `frequency` alone. {_OF_TEXTS}",
    ),
    Alias(
        "inspect/perplexity_per_token",
        "weighted-perplexity",
        {"missing": "skip", "key": "sum_log_probs", "weight": "num_tokens"},
        "Over all epochs, where Inspect takes the first one's. Undefined where Inspect says NaN or "
        "infinity.",
    ),
    Alias(
        "inspect/perplexity_per_seq",
        "perplexity",
        {"missing": "skip", "key": "sum_log_probs", "per": "num_tokens"},
        "Over all epochs, where Inspect takes the first one's. Undefined where Inspect says NaN or "
        "infinity, and where a sample has no tokens, which Inspect leaves out.",
    ),
    Alias("evsys/mean_reward", "mean-reward", {}, "evsys rounds each task's mean."),
    Alias("evsys/avg", "mean-reward", {}, "evsys rounds each task's mean."),
    Alias("evsys/pass_rate", "pass-rate", {}),
    Alias(
        f"evsys/pass@{_K}",
        "any-first-k",
        {"method": "available"},
        "Undefined for no tasks. Without `evsys/` the name is that of `pass-at-k`.",
        prefixed=True,
    ),
    Alias(
        f"evsys/pass^{_K}",
        "all-first-k",
        {"method": "available"},
        "Undefined for no tasks. Without `evsys/` the name is that of `pass-hat-k`.",
        prefixed=True,
    ),
    Alias("evsys/time_per_task", "seconds-per-task", {}, "Undefined where evsys leaves it out."),
    Alias("evsys/tokens_per_task", "tokens-per-task", {}, "Undefined where evsys leaves it out."),
    Alias("evsys/cost_per_task", "cost-per-task", {}, "Undefined where evsys leaves it out."),
)
_LM_EVAL: dict[str, Any] = {"missing": "skip"}
_EMPTY = "Undefined for no values, where lm-eval raises."
_ABSENT = "A document without the value is left out, as lm-eval leaves it out."
_OF_RUN = "Which values are better the results file of a run says."
_IID = {**_LM_EVAL, "cluster": None}


def _of(metric: str) -> dict[str, Any]:
    """The kwargs for the values of a metric, as the reader of lm-eval's samples puts them."""
    return {**_LM_EVAL, **layout.kwargs(metric, layout.AGGREGATIONS[metric])}


METRICS += (
    *(
        Alias(f"lm-eval/{name}", "accuracy", _LM_EVAL, difference, higher_is_better=None)
        for name, difference in (
            ("mean", f"{_ABSENT} {_EMPTY} {_OF_RUN}"),
            ("nanmean", f"NaN is no reward, and so left out. {_OF_RUN}"),
        )
    ),
    Alias(
        "lm-eval/bpb",
        "accuracy",
        {**_LM_EVAL, "key": "bpb"},
        f"{_ABSENT} Less of it is better.",
        higher_is_better=layout.HIGHER_IS_BETTER["bpb"],
    ),
    Alias("lm-eval/median", "median", {**_LM_EVAL, "method": "upper"}, _EMPTY),
    *(
        Alias(f"lm-eval/{name}", "accuracy", _of(name), _ABSENT)
        for name in ("acc", "acc_norm", "acc_bytes", "acc_mutual_info")
    ),
    *(
        Alias(f"lm-eval/{name}", "accuracy", {**_LM_EVAL, "key": name}, _ABSENT)
        for name in (
            "logprob",
            "choice_logprob",
            "choice_prob_norm",
            "choice_logprob_norm",
            "exact_match_mc",
        )
    ),
    Alias("lm-eval/perplexity", "perplexity", _of("perplexity"), _EMPTY),
    Alias(
        "lm-eval/weighted_perplexity",
        "weighted-perplexity",
        _LM_EVAL,
        "Of pairs: `key` the loglikelihoods, `weight` the counts.",
    ),
    Alias("lm-eval/word_perplexity", "weighted-perplexity", _of("word_perplexity")),
    Alias("lm-eval/byte_perplexity", "weighted-perplexity", _of("byte_perplexity")),
    Alias("lm-eval/bits_per_byte", "bits-per-byte", _of("bits_per_byte")),
    Alias("lm-eval/f1", "f1", _of("f1"), "Undefined where lm-eval says 0 of nothing."),
    Alias("lm-eval/mcc", "matthews-corrcoef", _of("mcc"), "Undefined where lm-eval says 0."),
    Alias(
        "lm-eval/matthews_corrcoef",
        "matthews-corrcoef",
        _of("mcc"),
        "Undefined where lm-eval says 0.",
    ),
    Alias("lm-eval/brier_score", "brier-score", _of("brier_score"), _EMPTY),
    Alias(
        "lm-eval/likelihood",
        "likelihood",
        _of("likelihood"),
        "From lm-eval 0.5 on: before, it is a list for each document.",
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
_NOTHING = "Undefined where scikit-learn says 0 of nothing."
_ONE_CLASS = "Undefined for one class, where scikit-learn says nothing or NaN."
METRICS += (
    *(Alias(f"scikit-learn/{name}", name, {}, _NOTHING) for name in ("f1", "precision", "recall")),
    *(
        Alias(f"scikit-learn/{name}_{average}", name, {"average": average})
        for name in ("f1", "precision", "recall")
        for average in ("macro", "micro", "weighted")
    ),
    Alias("scikit-learn/balanced_accuracy", "balanced-accuracy", {}),
    Alias("scikit-learn/roc_auc", "auroc", {}, _ONE_CLASS),
    Alias("scikit-learn/average_precision", "average-precision", {}, _NOTHING),
    Alias("scikit-learn/cohen_kappa_score", "cohen-kappa", {}, _ONE_CLASS),
    Alias("scipy/pearsonr", "correlation", {"method": "pearson"}),
    Alias("scipy/spearmanr", "correlation", {"method": "spearman"}),
    Alias("scipy/kendalltau", "correlation", {"method": "kendall"}),
    Alias("scorio/g_pass_at_k_tau", "g-pass-at-k", {}),
    Alias("scorio/mg_pass_at_k", "g-pass-at-k", {"tau": "mean"}, "Undefined for k = 1."),
    Alias("scorio/max_at_k", "best-at-k", {}),
    Alias("uncertainty-calibration/get_ece", "calibration-error", {"bins": 15}),
    Alias(
        "uncertainty-calibration/get_ece_em",
        "calibration-error",
        {"bins": 15, "equal": "mass"},
        "With `debias` false.",
    ),
    Alias(
        "inspect/krippendorff_alpha",
        "krippendorff-alpha",
        {},
        "`raters` names the ratings; undefined where all are equal, and Inspect says 1.",
    ),
)
_TOO_FEW = "Undefined for fewer than k attempts; `missing` `skip` leaves such a task out."
_VOTES: dict[str, Any] = {"label": "inspect/value"}
_OF_VOTES = (
    "Texts and booleans vote as they were given, numbers as numbers: 1, 1.0 and `true` are one "
    "vote. Of a member of objects `label` is `inspect/value/MEMBER`."
)
_TRUTHY = "What is not 0 passes in lm-eval, here what reaches the `threshold`."
REDUCERS: tuple[Alias, ...] = tuple(
    msgspec.structs.replace(alias, kind="reducer")
    for alias in (
        Alias(f"pass^{_K}", "pass-hat-k", {}),
        Alias("inspect/mean", "mean", {}),
        Alias("inspect/median", "median", {}),
        Alias("inspect/mode", "mode", _VOTES, _OF_VOTES),
        Alias("inspect/max", "max", {}),
        Alias(
            "inspect/majority",
            "majority",
            _VOTES,
            f"A missing score does not count as a vote against. {_OF_VOTES}",
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

OF_KIND: dict[Literal["metrics", "reducers"], tuple[Alias, ...]] = {
    "metrics": METRICS,
    "reducers": REDUCERS,
}


def meanings(name: str, aliases: tuple[Alias, ...]) -> list[Alias]:
    """The aliases that a name matches, one for each different meaning."""
    matches = [match for alias in aliases if (match := alias.matched(name)) is not None]
    return list({(alias.type, repr(alias.kwargs)): alias for alias in reversed(matches)}.values())


def find(name: str) -> list[Alias]:
    """Every alias of a metric or reducer that a name can mean, with the k that it says."""
    matches = [
        alias if alias.name == name else alias.matched(name) for alias in (*METRICS, *REDUCERS)
    ]
    return [match for match in matches if match is not None]


def implied_kwargs(name: str) -> dict[str, Any]:
    """The kwargs that the name of a metric in another system stands for; none for other names."""
    matches = meanings(name, METRICS)
    return matches[0].kwargs if len(matches) == 1 else {}


@cache
def said_direction(name: str, key: str | None) -> bool | msgspec.UnsetType | None:
    """What a name elsewhere says of which values are better; UNSET where the metric says it.

    Of lm-eval's means the names of its own metrics do.
    """
    meant = meanings(name, METRICS)
    if len({alias.higher_is_better for alias in meant}) != 1:
        return msgspec.UNSET
    alias = meant[0]
    if alias.higher_is_better is None and alias.system == "lm-eval":
        return layout.HIGHER_IS_BETTER.get(key or "")
    return alias.higher_is_better


@cache
def _pattern(name: str, prefixed: bool) -> str:
    system, _, rest = name.rpartition("/")
    body = re.escape(rest).replace(re.escape(_K), "([1-9][0-9]{0,8})")
    if not system:
        return body
    return f"{system}/{body}" if prefixed else f"(?:{system}/)?{body}"
