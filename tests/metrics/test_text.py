"""Texts that are compared."""

from __future__ import annotations

import pytest

from harbor_metrics.evaluation.result import Failure
from harbor_metrics.metrics import intervals, text
from harbor_metrics.testing import Case, outcome


def test_regular_expression_that_never_ends_fails_its_metric(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(text, "_SECONDS", 0.01)
    case: Case = {
        "rewards": [None],
        "texts": [{"prediction": "a" * 60, "reference": "b"}],
        "kwargs": {"regexes_to_ignore": ["(a|a)*$b"]},
    }
    failed = outcome("exact-match", case)
    assert failed.error is not None
    assert failed.error.rule == "invalid-metric-kwargs"
    assert failed.error.message.startswith("`regexes_to_ignore` of `exact-match` takes more than")


def test_what_sacrebleu_does_not_end_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "_SECONDS_OF_CORPUS", 0.01)
    words = [str(i * 7 % 30) for i in range(200)]
    texts = {"prediction": " ".join(words), "reference": " ".join(sorted(words))}
    failed = outcome("ter", {"rewards": [None], "texts": [texts]})
    assert failed.error is not None
    assert failed.error.rule == "metric-raised"
    assert failed.error.message == "sacrebleu takes more than 0.01 s for these texts"


@pytest.mark.parametrize("method", ["resample", "lm-eval"])
def test_resamples_of_texts_end_together(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each within its own time, a hundred of them took hours."""
    monkeypatch.setattr(intervals, "_SECONDS", 0.05)
    texts = [{"prediction": "a b", "reference": "b a"}] * 10
    kwargs = {"metric": "ter", "samples": 100_000, "method": method}
    failed = outcome("bootstrap-stderr", {"rewards": [None] * 10, "texts": texts, "kwargs": kwargs})
    assert failed.error is not None
    assert failed.error.rule == "metric-raised"
    assert failed.error.message.startswith("100000 resamples of these texts take more than 0.05 s")


def test_texts_whose_edits_would_fill_the_memory_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "_MOST_EDITS", 12)
    for words, fails in (("a b c d", False), ("a b c d e", True)):
        case: Case = {"rewards": [None], "texts": [{"prediction": words, "reference": "a b c"}]}
        found = outcome("ter", case)
        assert (found.status == "failed") == fails
        if isinstance(found.error, Failure):
            assert (
                "a prediction of 5 words and a reference of 3 are too long" in found.error.message
            )


@pytest.mark.parametrize("metric", ["bleu", "chrf", "ter"])
@pytest.mark.parametrize("n", [20, 21])
def test_trials_are_not_filled_up_to_the_references_of_one(
    metric: str, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """10,000 trials and one with 100,000 references were a table of a thousand million."""
    monkeypatch.setattr(text, "_MANY_REFERENCES", 40)
    monkeypatch.setattr(text, "_MOST_TIMES", 1)
    texts = [{"prediction": "a", "reference": "a"}, {"prediction": "a", "reference": ["a"] * n}]
    found = outcome(metric, {"rewards": [None, None], "texts": texts})
    assert (found.status == "failed") == (n == 21)
