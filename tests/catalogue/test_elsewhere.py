"""Names of other systems that nothing here has: `explain` says why, and what to write."""

from __future__ import annotations

import pytest

from harbor_metrics.catalogue import aliases, elsewhere, names
from harbor_metrics.contract.spec import MetricSpec
from harbor_metrics.validation.explanations import explain

HERE = [alias.name for alias in (*aliases.METRICS, *aliases.REDUCERS)]
# What Inspect and lm-eval have, metrics and reducers, by the names of their registries.
THEIRS = [
    *(
        f"inspect/{name}"
        for name in (
            "accuracy", "mean", "var", "std", "stderr", "bootstrap_stderr", "ci", "ci_wilson",
            "grouped", "aggregate", "frequency", "categorical", "krippendorff_alpha",
            "perplexity_per_token", "perplexity_per_seq", "median", "mode", "max", "majority",
            "collect", "at_least_2", "pass_at_2", "pass_k_2",
        )
    ),
    *(
        f"lm-eval/{name}"
        for name in (
            "acc", "acc_norm", "acc_bytes", "acc_mutual_info", "acc_all", "exact_match", "bypass",
            "exact_match_mc", "perplexity", "word_perplexity", "byte_perplexity", "bits_per_byte",
            "weighted_perplexity", "f1", "mcc", "matthews_corrcoef", "brier_score", "bleu", "chrf",
            "ter", "likelihood", "bpb", "logprob", "choice_logprob", "choice_prob_norm",
            "choice_logprob_norm", "mean", "nanmean", "median", "take_first", "pass@k", "pass@2",
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize("name", THEIRS)
def test_every_metric_and_reducer_of_inspect_and_lm_eval_is_explained(name: str) -> None:
    page = explain(name)
    assert "elsewhere" in page.split("\n")[0]
    assert "It means" in page or elsewhere.find(name) is not None


@pytest.mark.parametrize("name", elsewhere.names())
def test_what_is_written_instead_exists(name: str) -> None:
    other = elsewhere.find(name)
    assert other is not None
    assert name not in HERE
    assert elsewhere.find(name.rpartition("/")[2]) == other
    if other.instead is None:
        assert "nothing to compute" in other.paragraph
        return
    assert "instead" in explain(name)
    assert names.bind(MetricSpec(**other.instead)).metric.name == other.instead["type"]


def test_a_misspelt_name_is_led_to_them() -> None:
    with pytest.raises(Exception, match="did you mean `inspect/aggregate`"):
        explain("inspect/agregate")
