"""Names of other systems."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import ROOT, Run
from printed import computed
from registries_by_hand import entry

from harbor_metrics.catalogue import aliases


def test_an_alias_in_metrics_is_not_for_harbor(cli: Run, job: Path, tmp_path: Path) -> None:
    dataset = {"name": "demo", "version": "1", "description": "", "tasks": []}
    entries = [{"type": "inspect/accuracy"}, {"type": "pass_rate"}]
    (tmp_path / "r.json").write_text(json.dumps([{**dataset, "metrics": entries}]))
    done = cli("validate", "r.json")
    assert done.stdout.count("error[not-in-harbor]") == 2
    computed = cli("compute", job, "--registry", "r.json", "--format", "json")
    first, second = json.loads(computed.stdout)["groups"][0]["metrics"]
    assert (first["type"], first["status"]) == ("accuracy", "ok")
    # Without its system's name, no alias counts where Harbor reads.
    assert (second["type"], second["status"]) == ("pass_rate", "failed")


def test_names_of_other_systems_in_the_docs_exist() -> None:
    page = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    for name in ("evsys/pass@3", "inspect/stderr"):
        assert name in page
        assert aliases.find(name)


@pytest.mark.parametrize("name", ["pass@k", "pass_at_k", "lm-eval/pass@k", "lm-eval/pass_at_k"])
def test_reductions_are_known_by_the_names_of_lm_eval(cli: Run, tmp_path: Path, name: str) -> None:
    lines = "".join(f'{{"task": "a", "rewards": {{"r": {r}}}}}\n' for r in (1, 0))
    asked = entry("accuracy", reducer={"type": name, "kwargs": {"k": 1}})
    assert computed(cli, lines, asked, cwd=tmp_path)["accuracy"]["values"] == {"accuracy": 0.5}


@pytest.mark.parametrize(
    ("name", "type_"),
    [
        ("pass@2", "pass-at-k"),
        ("pass_at_2", "pass-at-k"),
        ("pass^2", "pass-hat-k"),
        ("evsys/pass@2", "any-first-k"),
        ("evsys/pass^2", "all-first-k"),
    ],
)
def test_pass_at_k_is_without_bias_unless_evsys_is_named(
    cli: Run, tmp_path: Path, name: str, type_: str
) -> None:
    lines = "".join(
        f'{{"task": "a", "attempt": {i}, "rewards": {{"r": {r}}}}}\n'
        for i, r in enumerate((0, 0, 1, 1))
    )
    value = {"pass-at-k": 5 / 6, "pass-hat-k": 1 / 6, "any-first-k": 0.0, "all-first-k": 0.0}
    assert computed(cli, lines, name, cwd=tmp_path)[type_]["values"] == {type_: value[type_]}
    # The same inside another metric, and as the name in a registry's `extra_metrics`.
    labelled = lines.replace('"rewards"', '"labels": {"l": "x"}, "rewards"')
    grouped = computed(cli, labelled, entry("grouped", metric=name, by="l"), cwd=tmp_path)
    assert grouped["grouped"]["values"]["all"] == value[type_]


@pytest.mark.parametrize(
    ("name", "value"), [("pass@2", 5 / 6), ("pass_at_2", 5 / 6), ("pass^2", 1 / 6)]
)
def test_bare_names_of_reducers_are_without_bias(
    cli: Run, tmp_path: Path, name: str, value: float
) -> None:
    lines = "".join(f'{{"task": "a", "rewards": {{"r": {r}}}}}\n' for r in (0, 0, 1, 1))
    found = computed(cli, lines, entry("accuracy", reducer=name), cwd=tmp_path)
    assert found["accuracy"]["values"] == {"accuracy": value}


def test_bare_names_are_valid_in_a_registry_and_explained(cli: Run, tmp_path: Path) -> None:
    task = {"name": "t", "git_url": "https://example.com/r", "git_commit_id": "a", "path": "t"}
    dataset = {
        "name": "d",
        "version": "1",
        "description": "",
        "tasks": [task],
        "extra_metrics": [{"type": "pass@2"}, {"type": "pass^2"}, {"type": "pass_at_4"}],
    }
    (tmp_path / "r.json").write_text(json.dumps([dataset]))
    assert "invalid-metric" not in cli("validate", "r.json").stdout
    assert "a common name of a metric" in cli("explain", "pass@2").stdout
    assert '"type": "pass-at-k"' in cli("explain", "pass@2").stdout
