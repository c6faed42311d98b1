"""`harbor-metrics remove`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Run
from registries_by_hand import DATASET

METRICS = [{"type": "max"}, {"type": "min"}, {"type": "max", "kwargs": {"key": "r"}}]


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    path = tmp_path / "r.json"
    path.write_text(json.dumps([{**DATASET, "metrics": METRICS}], indent=2))
    return path


def left(registry: Path) -> list[dict[str, object]]:
    metrics: list[dict[str, object]] = json.loads(registry.read_text())[0]["metrics"]
    return metrics


@pytest.mark.parametrize(
    ("which", "metrics"),
    [("min", [METRICS[0], METRICS[2]]), ("0", METRICS[1:]), ("2", METRICS[:2])],
)
def test_metric_is_removed_by_its_type_or_index(
    which: str, metrics: list[object], cli: Run, registry: Path
) -> None:
    done = cli("remove", "r.json", "a@1", which)
    assert (done.returncode, left(registry)) == (0, metrics)
    assert done.stdout.startswith("removed")


def test_diff_shows_what_was_removed(cli: Run, registry: Path) -> None:
    done = cli("remove", "r.json", "a", "min", "--diff")
    assert '-        "type": "min"' in done.stdout or '-      "type": "min"' in done.stdout
    assert not [line for line in done.stdout.splitlines() if line.startswith("+ ")]


def test_type_that_stands_twice_is_refused(cli: Run, registry: Path) -> None:
    before = registry.read_bytes()
    done = cli("remove", "r.json", "a", "max")
    assert done.returncode == 1
    assert "0" in done.stderr
    assert "2" in done.stderr
    assert registry.read_bytes() == before
