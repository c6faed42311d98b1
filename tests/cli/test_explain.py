"""`harbor-metrics explain`."""

from __future__ import annotations

from conftest import Run

from harbor_metrics.validation.explanations import rule_names


def test_explain_suggests_the_nearest_name(cli: Run) -> None:
    done = cli("explain", "pass-at-kk")
    assert done.returncode == 2
    assert "did you mean `pass-at-k`?" in done.stderr
    everything = cli("explain").stdout
    assert all(rule in everything for rule in rule_names())
