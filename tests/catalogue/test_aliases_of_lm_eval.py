"""What lm-eval's own functions returned, against their aliases here.

Every case is equal within 1e-12, or of a class of difference that `explain` states.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from conftest import HERE

from harbor_metrics.catalogue.names import bind_reducer
from harbor_metrics.contract.estimate import Estimate, Undefined, macro
from harbor_metrics.contract.spec import ReducerSpec
from harbor_metrics.metrics.intervals import _pooled
from harbor_metrics.numbers.uncertainty import stderr
from harbor_metrics.numbers.units import Stratum, Units
from harbor_metrics.testing import outcome

CASES = json.loads((HERE / "golden" / "lm_eval.json").read_text())["cases"]
AGGREGATIONS = {
    "mean", "median", "nanmean", "perplexity", "weighted_perplexity", "bits_per_byte", "f1",
    "matthews_corrcoef", "bleu", "chrf", "chrf++", "ter", "brier_score", "mean_stderr",
}  # fmt: skip
# What is no aggregation, reduction, stderr or group rule, or has no counterpart here, and why.
NOT_HERE = {
    "bypass": "always 999, whatever the values",
    "acc_all": "over paragraphs and questions of a document, which a reward does not have",
    "acc_all_stderr": "counts questions of different paragraphs as one",
    "registry": "the names that the system itself registers",
    "combined_sample_stderr": "marked as not to be used there",
    "stderr_for_metric": "which function is called for which; `bootstrap-stderr` takes any metric",
    "_default_k_values": "the k are said here, never chosen from the number of attempts",
    "pop_stddev": "the population's deviation; `std` is the sample's",
}


# Class: NaN and infinity are not rewards, and are refused where they stand.
NOT_FINITE = {
    "agg.mean_inf", "agg.mean_nan", "agg.median_nan", "stderr.mean_nan", "boot.nanmean_100",
    "boot.nanmean_1000", "boot.nanmean_2500", "reduce.pass@k_nan_scores",
}  # fmt: skip


def rows(values: list[Any], function: str) -> dict[str, Any]:
    """Values as trials, with the kwargs that name their parts."""
    if function in ("weighted_perplexity", "bits_per_byte", "weighted_mean"):
        rewards = [{"ll": ll, "n": n} for ll, n in values]
        return {"rewards": rewards, "kwargs": {"key": "ll", "weight": "n"}}
    if function in ("f1", "matthews_corrcoef", "mcc"):
        rewards = [{"gold": gold, "guess": guess} for gold, guess in values]
        return {"rewards": rewards, "kwargs": {"key": "guess", "reference": "gold"}}
    if function == "brier_score":
        rewards = [{"y": y, **{f"p/{i}": p for i, p in enumerate(ps)}} for y, ps in values]
        return {"rewards": rewards, "kwargs": {"key": "y", "probabilities": "p"}}
    if function in ("bleu", "chrf", "chrf++", "ter"):
        texts = [
            {"reference": ref, "prediction": guess if isinstance(guess, str) else guess[0]}
            for ref, guess in values
        ]
        return {"rewards": [None] * len(texts), "texts": texts, "kwargs": {}}
    return {"rewards": [{"v": value} for value in values], "kwargs": {"key": "v"}}


def finite(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(finite, value))
    return not isinstance(value, dict) or "__float__" not in value


def params(*functions: str) -> list[Any]:
    chosen = [c for c in CASES if c["function"] in functions and c["id"] not in NOT_FINITE]
    return [pytest.param(c, id=f"{c['lm_eval'][:5]} {c['id']}") for c in chosen]


def test_every_function_is_compared_or_named() -> None:
    compared = AGGREGATIONS | {
        "bootstrap_stderr", "exact_match", "sample_stddev", "pass@k", "take_first",
        "pooled_sample_stderr", "unweighted_mean_stderr", "aggregate_subtask_metrics",
        "weighted_mean", "Scorer.reduce+aggregate",
    }  # fmt: skip
    assert {case["function"] for case in CASES} == compared | set(NOT_HERE)


def test_only_what_is_not_finite_is_left_out() -> None:
    compared = [c for c in CASES if c["function"] not in {*NOT_HERE, "nanmean"}]
    assert {case["id"] for case in compared if not finite(case["args"])} == NOT_FINITE


@pytest.mark.parametrize("case", params(*AGGREGATIONS))
def test_aggregation_equals_that_of_lm_eval(case: dict[str, Any]) -> None:
    (values,) = case["args"]
    name = case["function"]
    if name == "nanmean":
        values = [value for value in values if finite(value)]
    one = outcome(f"lm-eval/{name}", rows(values, name))
    (value,) = one.values.values()
    if "error" in case or not finite(case["expected"]):
        # Class: undefined with the reason, where lm-eval raises or says NaN.
        assert value is None
        assert one.reasons
    elif value is None:
        # Class: an undefined ratio, where scikit-learn says 0; one value has no error.
        assert case["expected"] == 0.0
        assert "undefined" in " ".join(one.reasons.values())
    else:
        assert value == pytest.approx(case["expected"], rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("case", params("bootstrap_stderr"))
def test_bootstrap_equals_that_of_lm_eval(case: dict[str, Any]) -> None:
    (values,) = case["args"]
    name, iters = case["kwargs"]["aggregation"], case["kwargs"]["iters"]
    given = rows(values, name)
    kwargs = {
        "metric": {
            "type": f"lm-eval/{name}",
            "kwargs": {k: v for k, v in given["kwargs"].items() if k != "key"},
        },
        "samples": iters,
    }
    kwargs |= {k: v for k, v in given["kwargs"].items() if k == "key"}
    one = outcome("lm-eval/bootstrap_stderr", {**given, "kwargs": kwargs})
    if "error" in case:
        assert one.status == "failed"  # one sample has no deviation
        return
    (value,) = one.values.values()
    assert value == pytest.approx(case["expected"], rel=1e-12)


@pytest.mark.parametrize("case", params("exact_match"))
def test_exact_match_equals_that_of_lm_eval(case: dict[str, Any]) -> None:
    kwargs = dict(case["kwargs"])
    references, predictions = kwargs.pop("references"), kwargs.pop("predictions")
    if kwargs.pop("multiple_targets", False):
        references = references * len(predictions)  # of a text, several are several right ones
    texts = [
        {"reference": reference, "prediction": prediction}
        for reference, prediction in zip(references, predictions, strict=True)
    ]
    one = outcome(
        "lm-eval/exact_match",
        {"rewards": [None] * len(texts), "texts": texts, "kwargs": kwargs},
    )
    if "error" in case or one.status == "failed":
        # Class: a misspelt option is an error here, and dropped or an error there.
        assert one.status == "failed"
        return
    expected = case["expected"]["exact_match"]
    mean = sum(expected) / len(expected) if isinstance(expected, list) else expected
    assert one.values == {"exact-match": pytest.approx(mean, rel=1e-12)}


@pytest.mark.parametrize("case", params("sample_stddev"))
def test_deviation_equals_that_of_lm_eval(case: dict[str, Any]) -> None:
    (values,) = case["args"]
    (value,) = outcome("std", rows(values, "std")).values.values()
    if "error" in case:
        assert value is None
    else:
        assert value == pytest.approx(case["expected"], rel=1e-12, abs=1e-16)


@pytest.mark.parametrize("case", params("pass@k"))
def test_pass_at_k_equals_that_of_lm_eval(case: dict[str, Any]) -> None:
    _, attempts = case["args"]
    for name, theirs in case["expected"].items():
        bound = bind_reducer(ReducerSpec(type=f"lm-eval/{name}"))
        found = bound.reducer.function([float(a) for a in attempts], **bound.arguments)
        if isinstance(found, Undefined):
            # Class: k above n is undefined here, and 1.0 there.
            assert int(name.removeprefix("pass@")) > len(attempts)
        elif any(a not in (0, 1) for a in attempts):
            assert bound.arguments["threshold"] == 1.0  # Class: what is not 0 passes there.
        else:
            assert found == pytest.approx(theirs, rel=1e-12)


def test_take_first_equals_that_of_lm_eval() -> None:
    (case,) = (case for case in CASES if case["function"] == "take_first")
    bound = bind_reducer(ReducerSpec(type="lm-eval/take_first"))
    assert bound.reducer.function(case["args"][1], **bound.arguments) == case["expected"]


def with_error(error: float, n: int) -> Units:
    """Independent units that have that standard error."""
    # n - 1 zeros and a number x have the error x / n.
    numerator, denominator = Fraction(error * n).as_integer_ratio()
    return Units([0, numerator], None, denominator, [n - 1, 1])


@pytest.mark.parametrize("case", params("pooled_sample_stderr"))
def test_pooled_error_equals_that_of_lm_eval(case: dict[str, Any]) -> None:
    errors, sizes = case["args"]
    strata = tuple(
        Stratum(Fraction(n, sum(sizes)), with_error(error, n) if n > 1 else Units([0]))
        for error, n in zip(errors, sizes, strict=True)
    )
    found = _pooled(Estimate(value=0.0, strata=strata))
    if "error" in case:
        assert isinstance(found, Undefined)
    else:
        assert isinstance(found, Estimate)
        assert found.value == pytest.approx(case["expected"], rel=1e-12)


def test_unweighted_error_equals_that_of_lm_eval() -> None:
    for case in (case for case in CASES if case["function"] == "unweighted_mean_stderr"):
        (errors,) = case["args"]
        means = [
            Estimate(value=0.0, strata=(Stratum(Fraction(1), with_error(error, 50)),))
            for error in errors
        ]
        assert stderr(macro(means).strata) == pytest.approx(case["expected"], rel=1e-12)


@pytest.mark.parametrize("case", params("aggregate_subtask_metrics"))
def test_mean_of_a_group_equals_that_of_lm_eval(case: dict[str, Any]) -> None:
    means, sizes = case["args"]
    given = [Estimate(value=mean) for mean in means]
    by_size = case["kwargs"].get("weight_by_size", True)
    found = macro(given, sizes if by_size else None)
    assert found.value == pytest.approx(case["expected"], rel=1e-12)


def test_weighted_mean_equals_that_of_lm_eval() -> None:
    (case,) = (case for case in CASES if case["function"] == "weighted_mean")
    (values,) = case["args"]
    (value,) = outcome("micro-average", rows(values, "weighted_mean")).values.values()
    assert value == pytest.approx(case["expected"], rel=1e-12)


PIPELINE = [case for case in CASES if case["function"] == "Scorer.reduce+aggregate"]


def test_reductions_have_the_names_that_lm_eval_documents() -> None:
    """Class: names that its page documents and its code does not have work here."""
    named = {config["reduction"] for case in PIPELINE for config in case["args"][0]}
    assert named == {"take_first", "mean", "pass_at_k"}
    for name in named:
        kwargs = {"k": 1} if name == "pass_at_k" else {}
        bound = bind_reducer(ReducerSpec(type=f"lm-eval/{name}", kwargs=kwargs))
        assert bound.reducer.function([1.0, 1.0], **bound.arguments) == 1.0


def test_mean_without_a_metric_equals_that_of_lm_eval() -> None:
    (case,) = (case for case in PIPELINE if "expected" in case)
    _, documents, *_ = case["args"]
    expected = case["expected"]["agg"]
    given = {"rewards": [{"custom": reward} for (reward,) in (d["custom"] for d in documents)]}
    assert outcome("lm-eval/mean", given).values == {"accuracy": expected["custom,none"]}
    assert outcome("lm-eval/mean_stderr", given).values == {
        "stderr": expected["custom_stderr,none"]
    }
