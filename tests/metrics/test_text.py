"""Texts that are compared."""

from __future__ import annotations

import pytest

from harbor_metrics.metrics import text
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
