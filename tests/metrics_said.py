"""What a metric says of a table, and which metrics need the trials themselves."""

from __future__ import annotations

from typing import Any

from harbor_metrics.contract.spec import MetricSpec
from harbor_metrics.evaluation.asked import plan_asked
from harbor_metrics.evaluation.evaluate import evaluate
from harbor_metrics.evaluation.result import Outcome
from harbor_metrics.trials.table import Table

# What reads labels, texts, usage, the order of attempts, or several rewards of one trial.
NEED_ROWS = {
    "all-first-k",
    "any-first-k",
    "auroc",
    "average-precision",
    "balanced-accuracy",
    "bits-per-byte",
    "bleu",
    "brier-score",
    "calibration-error",
    "chrf",
    "cohen-kappa",
    "correlation",
    "cost-per-task",
    "exact-match",
    "f1",
    "grouped",
    "krippendorff-alpha",
    "likelihood",
    "majority-at-k",
    "matthews-corrcoef",
    "micro-average",
    "normalized-mean",
    "precision",
    "recall",
    "seconds-per-task",
    "ter",
    "time-horizon",
    "tokens-per-task",
    "usage-quantile",
    "weighted-mean",
    "weighted-perplexity",
}


def said(entry: dict[str, Any], table: Table, **options: Any) -> Outcome:
    """What a metric says of a table."""
    (outcome,) = evaluate(
        [plan_asked(MetricSpec(**entry))],
        table,
        missing=options.get("missing"),
        level=0.95,
        over=options.get("over", "tasks"),
        run_scripts=lambda *_: [],
    )
    return outcome
