"""Rewards, one object a line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import ROOT, Run
from metric_scripts import COUNT
from metric_scripts import metric as script
from printed import group


def test_blank_line_in_a_large_file_costs_a_script_nothing(cli: Run, tmp_path: Path) -> None:
    rows = [f'{{"r": {i}.123456789}}' for i in range(120_000)]
    rows.insert(3, "")
    (tmp_path / "r.jsonl").write_text("\n".join(rows))
    (tmp_path / "n.py").write_text(COUNT)
    done = cli("compute", "r.jsonl", "--metric", script("n.py"), "--format", "json")
    assert group(done)["metrics"][1]["values"] == {"n": 120_000}
    assert group(done)["counts"]["tasks"] == 120_000


@pytest.mark.parametrize("key", ['a"b', "a\\b", "a\nb", "", "f0", "é" * 300])
def test_reward_keys_may_be_anything(key: str, cli: Run, tmp_path: Path) -> None:
    rows = [{key: 1.0}, None, {}, {key: 0.5, "other": 1}] + [{key: 1.0}] * 600
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = cli("compute", "r.jsonl", "--format", "json")
    assert group(done)["metrics"][0]["values"][key] == pytest.approx(601.5 / 604)
    assert group(done)["counts"]["scored"] == 603


def test_broken_first_line_hides_no_other(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('null\n\n{"r": tru}\n{"r": 1}\n')
    done = cli("compute", "r.jsonl", "--format", "json")
    assert (group(done)["counts"]["found"], group(done)["counts"]["unread"]) == (2, 1)
    assert "r.jsonl:3:7" in done.stderr


def test_rewards_take_their_dataset_from_the_command_line(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "rewards.jsonl").write_text('{"reward": 0.5}\nnull\n')
    registry = ROOT / "registry" / "registry.json"
    done = cli("compute", "rewards.jsonl", "--registry", registry)
    assert done.returncode == 2
    assert "buoys, charts" in done.stderr
    named = cli("compute", "rewards.jsonl", "--registry", registry, "--dataset", "buoys@1.0")
    assert "rewards on buoys@1.0" not in named.stderr
    assert named.stdout.startswith("buoys@1.0\n2 trials, 2 tasks, 1 missing, 0 errored\n")
    assert "\nsum " in named.stdout


def test_bad_lines_are_named_and_the_rest_counts(cli: Run, tmp_path: Path) -> None:
    text = '{"reward": 1}\n\n{"reward": true}\nnull\n{"reward": 0, "reward": 1}\n{"rewa'
    (tmp_path / "r.jsonl").write_text(text)
    done = cli("compute", "r.jsonl", "--format", "json")
    assert done.returncode == 1
    for place in ("r.jsonl:3:12", "r.jsonl:6:7", "line 6", "incomplete"):
        assert place in done.stderr
    counts = json.loads(done.stdout)["groups"][0]["counts"]
    assert (counts["found"], counts["unread"]) == (2, 3)
