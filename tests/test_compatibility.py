"""Documents that version 0.1.0 wrote are read, and say today what they said then."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from conftest import HERE, Run

import harbor_metrics

OLD = HERE / "of_version_0_1_0"


def numbers(document: dict[str, Any]) -> list[Any]:
    """Values and standard errors; intervals have another method since 0.2.0."""
    (group,) = document["groups"]
    return [
        (
            [outcome[name] for name in ("type", "kwargs", "status", "values")],
            {name: found["stderr"] for name, found in outcome["uncertainty"].items()},
        )
        for outcome in group["metrics"]
    ]


def test_its_documents_have_no_mistakes(cli: Run) -> None:
    paths = [str(OLD / name) for name in ("registry.json", "trials.jsonl", "result.json")]
    assert cli("validate", *paths).returncode == 0


def test_its_trials_and_registry_give_its_numbers(cli: Run) -> None:
    trials, registry = str(OLD / "trials.jsonl"), str(OLD / "registry.json")
    done = cli("compute", trials, "--registry", registry, "--format", "json")
    assert numbers(json.loads(done.stdout)) == numbers(
        json.loads((OLD / "result.json").read_text())
    )


def test_its_result_is_read_shown_and_drawn(cli: Run, tmp_path: Path) -> None:
    result = harbor_metrics.Result.read(str(OLD / "result.json"))
    assert result.tool.version == "0.1.0"
    assert result.groups[0].metrics[0].values == {"mean": 5 / 12}
    assert "<table" in result._repr_html_()
    page = tmp_path / "page.html"
    assert (
        cli("report", str(OLD / "result.json"), "-o", str(page)).returncode == 1
    )  # a metric failed
    assert "<svg" in page.read_text()


def test_its_result_is_written_again_without_a_loss() -> None:
    path = OLD / "result.json"
    was, now = json.loads(path.read_text()), harbor_metrics.Result.read(str(path)).to_json()

    def lost(old: Any, new: Any, place: str = "") -> list[str]:
        if isinstance(old, dict):
            return [
                text
                for key, value in old.items()
                for text in (
                    lost(value, new[key], f"{place}/{key}") if key in new else [f"{place}/{key}"]
                )
            ]
        if isinstance(old, list):
            pairs = zip(old, new, strict=True)
            return [text for i, (a, b) in enumerate(pairs) for text in lost(a, b, f"{place}/{i}")]
        return [] if old == new else [place]

    assert lost(was, json.loads(now)) == []
