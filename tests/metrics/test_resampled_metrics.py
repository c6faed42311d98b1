"""Metrics that know no error bar of their own have one by resampling tasks."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from harbor_metrics.testing import outcome

METRICS: list[tuple[str, dict[str, Any]]] = [
    ("f1", {"key": "guess", "reference": "gold"}),
    ("precision", {"key": "guess", "reference": "gold", "average": "macro"}),
    ("recall", {"key": "guess", "reference": "gold", "average": "weighted"}),
    ("balanced-accuracy", {"key": "guess", "reference": "gold"}),
    ("cohen-kappa", {"key": "guess", "reference": "gold"}),
    ("krippendorff-alpha", {"raters": ["guess", "gold"]}),
    ("correlation", {"key": "sure", "reference": "guess", "method": "kendall"}),
    ("auroc", {"key": "sure", "reference": "gold"}),
    ("average-precision", {"key": "sure", "reference": "gold"}),
    ("calibration-error", {"key": "gold", "confidence": "sure", "norm": 2}),
    ("consistency", {"key": "gold"}),
    ("flipped", {"key": "gold"}),
    ("variance-components", {"key": "gold", "part": "icc"}),
    ("normalized-mean", {"key": "sure", "high": 2}),
    ("majority-at-k", {"key": "gold", "k": 3}),
    ("g-pass-at-k", {"key": "gold", "k": 3, "tau": 0.5}),
    ("best-at-k", {"key": "sure", "k": 2}),
    ("worst-at-k", {"key": "sure", "k": 2}),
    ("usage-quantile", {"of": "seconds", "q": 0.9}),
    ("time-horizon", {"key": "gold", "minutes": "minutes"}),
]


def trials() -> dict[str, Any]:
    """Four attempts at each of thirty tasks, of which the longer ones fail more often."""
    rng = random.Random(1)
    rows = []
    for i in range(30):
        minutes = 2 ** (i / 4)
        for _ in range(4):
            right = int(rng.random() < 1 / (1 + math.exp(math.log2(minutes) - 4)))
            guess = right if rng.random() < 0.7 else 1 - right
            sure = round(0.3 * right + 0.6 * rng.random(), 2)
            rewards = {"gold": right, "guess": guess, "sure": sure}
            rows.append((rewards, f"t{i:02}", minutes, {"seconds": rng.random()}))
    return {
        "rewards": [row[0] for row in rows],
        "tasks": [row[1] for row in rows],
        "labels": [{"minutes": row[2]} for row in rows],
        "usage": [row[3] for row in rows],
        "texts": [{"prediction": "right" if row[0]["gold"] else "wrong"} for row in rows],
    }


@pytest.mark.parametrize(("name", "kwargs"), METRICS, ids=lambda value: str(value))
def test_bootstrap_stderr_works_over_it(name: str, kwargs: dict[str, Any]) -> None:
    common = {k: v for k, v in kwargs.items() if k == "key"}
    own = {k: v for k, v in kwargs.items() if k != "key"}
    found = outcome(
        "bootstrap-stderr",
        {**trials(), "kwargs": {"metric": {"type": name, "kwargs": own}, "samples": 30, **common}},
    )
    (value,) = found.values.values()
    assert value is not None, found
    assert value > 0


@pytest.mark.parametrize(
    ("name", "kwargs"), [("consistency", {}), ("flipped", {}), ("best-at-k", {"k": 2})]
)
def test_the_error_bar_of_a_mean_of_tasks_is_that_of_resampling(
    name: str, kwargs: dict[str, Any]
) -> None:
    case = {**trials(), "kwargs": {"key": "sure" if name == "best-at-k" else "gold", **kwargs}}
    found = outcome(name, case)
    own = {"metric": {"type": name, "kwargs": kwargs}, "key": case["kwargs"]["key"]}
    (drawn,) = outcome("bootstrap-stderr", {**case, "kwargs": own}).values.values()
    stderr = found.uncertainty[name].stderr
    assert drawn == pytest.approx(stderr, rel=0.1)
