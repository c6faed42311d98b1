"""A line that is not a trial is explained alike, whether it is validated or computed."""

from __future__ import annotations

from pathlib import Path

import pytest

import harbor_metrics
from harbor_metrics.documents.document import parse
from harbor_metrics.trials.check import check_trial

GOOD = '{"task": "a", "rewards": {"reward": 1}}'


@pytest.mark.parametrize(
    ("line", "rule", "message"),
    [
        ('{"task": 1, "rewards": null}', "wrong-type", "`task` must be a string, not a number"),
        ('{"task": "a"}', "missing-field", "a trial has no `rewards` and no `reward`"),
        ('{"rewards": null}', "missing-field", "a trial has no `task`"),
        (
            '{"task": "a", "rewards": null, "reward": 1}',
            "schema",
            "a trial has `rewards` and `reward`, of which one says it all",
        ),
        ('{"task": "a", "reward": "1"}', "wrong-type", "`reward` must be a number or null, not a"),
        ('{"task": "a", "rewards": 0.5}', "invalid-rewards", "rewards must be an object of number"),
        ('{"task": "a", "rewards": {"r": true}}', "invalid-reward", "reward `r` must be a number"),
        ('{"task": "a", "rewards": null, "color": 1}', "schema", "a trial has no field `color`"),
        (
            '{"task": "a", "rewards": null, "atempt": 1}',
            "schema",
            "a trial has no field `atempt`; did you mean `attempt`?",
        ),
        ('{"task": "a", "rewards": null, "attempt": "1"}', "wrong-type", "`attempt` must be an in"),
        (
            '{"task": "a", "rewards": null, "texts": {"p": 5}}',
            "wrong-type",
            "`p` must be a string or an array, not a number",
        ),
        (
            '{"task": "a", "rewards": null, "usage": {"cost": 5}}',
            "schema",
            "`usage` has no field `cost`",
        ),
        ('["a", 1]', "wrong-type", "a trial must be an object such as"),
    ],
)
def test_compute_and_validate_say_the_same(
    line: str, rule: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "trials.jsonl"
    path.write_text(f"{GOOD}\n{line}\n")
    result = harbor_metrics.compute(path)
    (found,) = harbor_metrics.validate(path).found
    assert result.diagnostics == [found.as_json()]
    assert (found.rule, message in found.message) == (rule, True), found.message
    assert found.subject == "line 2"
    assert result.groups[0].counts.unread == 1


def test_a_trial_is_not_complained_about() -> None:
    document, _ = parse(GOOD.encode(), "trials.jsonl")
    assert document is not None
    assert check_trial(document, "line 1") == []
