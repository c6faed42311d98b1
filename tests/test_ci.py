"""`validate` where maintainers meet it: annotations, code scanning, hooks, mending."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from conftest import HERE, ROOT, Run

from harbor_metrics.change import add
from harbor_metrics.explanations import explain
from harbor_metrics.render.github import PER_STEP, github
from harbor_metrics.render.sarif import sarif
from harbor_metrics.validation import validate

FOLDERS = sorted(path for path in (HERE / "validate").iterdir() if path.is_dir())
SARIF = ROOT.parent / "shared" / "field" / "sarif-schema-2.1.0.json"
COMMAND = re.compile(r"::(error|warning|notice) (.*?)::(.*)")


def report_of(folder: Path, monkeypatch: pytest.MonkeyPatch):
    found = (p for p in folder.rglob("*") if p.suffix in (".json", ".jsonl", ".toml"))
    (file,) = (str(p.relative_to(folder)) for p in found)
    monkeypatch.chdir(folder)
    return validate(file)


def decoded(text: str) -> str:
    for code, char in (("%0A", "\n"), ("%0D", "\r"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, char)
    return text


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f.name)
def test_every_annotation_reads_back(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = report_of(folder, monkeypatch)
    lines = [COMMAND.fullmatch(line) for line in github(report.found).splitlines()]
    read = []
    for match in lines:
        assert match
        properties = dict(pair.split("=", 1) for pair in match[2].split(","))
        severity = {"notice": "note"}.get(match[1], match[1])
        rule = decoded(properties["title"])[len("harbor-metrics (") : -1]
        message = decoded(match[3]).split("\n")[0]
        read.append((severity, rule, int(properties["line"]), properties.get("col"), message))
    wanted = [
        (
            str(d.severity),
            d.rule,
            d.span.line,
            str(d.span.column) if d.span.line == d.span.end_line else None,
            d.message + (f" (in {d.subject})" if d.subject else ""),
        )
        for d in report.found
    ]
    shown = [(a, b, c, d, m.encode("unicode_escape")) for a, b, c, d, m in read]
    assert sorted(s[:4] for s in shown) == sorted(w[:4] for w in wanted)
    assert {m for *_, m in read} == {m for *_, m in wanted}


def test_annotations_are_escaped_limited_and_worst_first(cli: Run, tmp_path: Path) -> None:
    bad = [
        {"name": f"a__{i}, b:%\n", "version": "1", "description": "", "tasks": []}
        for i in range(14)
    ]
    (tmp_path / "registry.json").write_text(json.dumps([*bad, {"name": 1}]))
    done = cli("validate", "registry.json", "--format", "github")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("::error ")
    assert sum(line.startswith("::warning ") for line in lines) == PER_STEP
    assert re.fullmatch(r"\d+ more: GitHub shows 10 of a kind; the log has all", lines[-1])
    assert "error[" in done.stderr
    assert done.returncode == 1


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f.name)
def test_sarif_tells_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = report_of(folder, monkeypatch)
    (run,) = json.loads(sarif(report.found, explain))["runs"]
    assert len(run["results"]) == len(report.found)
    for result, d in zip(run["results"], report.found, strict=True):
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == d.rule
        region = result["locations"][0]["physicalLocation"]["region"]
        assert (region["startLine"], region["startColumn"]) == (d.span.line, d.span.column)
    if SARIF.exists():
        schema = json.loads(SARIF.read_text(encoding="utf-8"))
        validator = jsonschema.validators.validator_for(schema)
        validator(schema).validate(json.loads(sarif(report.found, explain)))


def test_sarif_exits_0_and_also_writes_a_copy(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "registry.json").write_text("[1]")
    done = cli("validate", "registry.json", "--format", "sarif", "--also", "concise:c.txt")
    assert done.returncode == 0
    assert json.loads(done.stdout)["version"] == "2.1.0"
    assert (tmp_path / "c.txt").read_text().startswith("registry.json:1:2: error[wrong-type]")
    assert cli("validate", "registry.json", "--also", "bogus:x").returncode == 2
    assert cli("validate", "registry.json", "--also", "text:no/such").returncode == 3


def test_configuration_ignores_with_a_reason(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "registry.json").write_text(
        '[{"name": "a__b", "version": "1", "description": "", "tasks": []}]'
    )
    table = '[tool.harbor-metrics.ignore]\nempty-dataset = "filled by a script"\n'
    table += 'name-breaks-results = "old"\n'
    (tmp_path / "pyproject.toml").write_text(table)
    done = cli("validate", "registry.json")
    assert "ignored 1 x empty-dataset: filled by a script" in done.stdout
    assert done.stdout.endswith("No mistakes in 1 file, 1 dataset.\n")
    for wrong in (
        'ignore = ["x"]',
        'ignore = {"empty-dataset" = ""}',
        "more = 1",
        'select = ["zz"]',
    ):
        (tmp_path / "pyproject.toml").write_text(f"[tool.harbor-metrics]\n{wrong}\n")
        assert cli("validate", "registry.json").returncode == 2
    (tmp_path / "pyproject.toml").write_text('[tool.harbor-metrics]\nselect = ["empty-dataset"]\n')
    assert "name-breaks-results" not in cli("validate", "registry.json").stdout


def test_fix_mends_what_has_one_answer(cli: Run, tmp_path: Path) -> None:
    task = {"name": "t", "path": "p"}
    wrong = [
        {
            "name": "a",
            "versoin": "1",
            "description": "",
            "tasks": [task],
            "metrics": [
                {"typ": "max"},
                {"type": "Mean"},
                {"type": "uv_script", "kwargs": {"script_path": "m.py"}},
                {"type": "max"},
                {"type": "zebra"},
            ],
        },
        {
            "name": "b",
            "version": "1",
            "description": "",
            "tasks": [task],
            "metric": [{"type": "uv-script", "script_path": "m.py"}],
        },
    ]
    (tmp_path / "m.py").write_text("# /// script\n# a = 1\n# ///\nimport sys\nsys.argv\n")
    path = tmp_path / "registry.json"
    path.write_text(json.dumps(wrong, indent=4))
    done = cli("validate", "registry.json", "--fix", "--format", "concise")
    assert done.stdout.count("error[") == 1
    assert "zebra" in done.stdout
    assert "renamed `versoin` to `version`" in done.stderr
    first, second = json.loads(path.read_text())
    script = {"type": "uv-script", "kwargs": {"script_path": "m.py"}}
    assert first["metrics"] == [{"type": "max"}, {"type": "mean"}, script, {"type": "zebra"}]
    assert second["metrics"] == [script]
    before = path.read_bytes()
    cli("validate", "registry.json", "--fix")
    assert path.read_bytes() == before


def test_fix_leaves_what_it_cannot_read(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "registry.json").write_text('[{"typ": 1 "a": 2}]')
    done = cli("validate", "registry.json", "--fix")
    assert done.returncode == 1
    assert (tmp_path / "registry.json").read_text() == '[{"typ": 1 "a": 2}]'


@pytest.mark.parametrize("rewards", ['{"a": 1, "b": 0.5}\nnull\n{}\n', "null\n", '{"r": 1}\n'])
def test_new_script_works(rewards: str, cli: Run, tmp_path: Path) -> None:
    dataset = {
        "name": "a",
        "version": "1",
        "description": "",
        "tasks": [{"name": "t", "path": "p"}],
    }
    (tmp_path / "registry.json").write_text(json.dumps([dataset], indent=2))
    done = cli("add", "registry.json", "a", "uv-script", "-k", "script_path=m.py", "--new")
    assert done.returncode == 0
    assert cli("validate", "registry.json").stdout == "No mistakes in 1 file, 1 dataset.\n"
    (tmp_path / "r.jsonl").write_text(rewards)
    computed = cli("compute", "r.jsonl", "--registry", "registry.json", "--format", "json")
    (metric,) = json.loads(computed.stdout)["groups"][0]["metrics"]
    assert metric["status"] == "ok"
    again = cli("add", "registry.json", "a", "uv-script", "-k", "script_path=m.py", "--new")
    assert again.returncode == 3
    assert cli("add", "registry.json", "a", "mean", "--new").returncode == 2
    failed = cli("add", "registry.json", "zz", "uv-script", "-k", "script_path=n.py", "--new")
    assert failed.returncode == 1
    assert not (tmp_path / "n.py").exists()


def test_hook_matches_registries_only() -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text()
    pattern = re.search(r"files: (\S+)", text)[1]
    assert re.search(pattern, "a/registry.json")
    assert not re.search(pattern, "a/my-registry.json")


def test_action_steps_by_hand(tmp_path: Path) -> None:
    """The second step, as a runner would start it, with the tool in place of the installed one."""
    text = (ROOT / "action.yml").read_text()
    script = text.split("run: |")[2].replace("\n        ", "\n")
    tool = tmp_path / "harbor-metrics" / "bin" / "harbor-metrics"
    tool.parent.mkdir(parents=True)
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m harbor_metrics "$@"\n')
    tool.chmod(0o755)
    (tmp_path / "registry.json").write_text('[{"name": "a__b"}]')
    env = {**os.environ, "RUNNER_TEMP": str(tmp_path), "FILES": "*.json\nregistry.json"}
    env["GITHUB_STEP_SUMMARY"] = str(tmp_path / "summary.md")
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::error ")
    assert "error[missing-field]" in (tmp_path / "summary.md").read_text()


def test_add_is_for_ci_too(tmp_path: Path) -> None:
    path = tmp_path / "registry.json"
    path.write_text((ROOT / "registry" / "registry.json").read_text())
    change = add(str(path), "buoys", "max", {})
    assert change.diff("registry.json").count("\n+") == 4


def mended(metrics: list[object], cli: Run, tmp_path: Path, *options: str) -> list[object]:
    task = {"name": "t", "path": "p"}
    dataset = {"name": "a", "version": "1", "description": "", "tasks": [task], "metrics": metrics}
    (tmp_path / "registry.json").write_text(json.dumps([dataset]))
    cli("validate", "*.json", "--fix", *options)
    return json.loads((tmp_path / "registry.json").read_text())[0]["metrics"]


@pytest.mark.parametrize(
    "metrics",
    [
        [{"type": "sum"}, {"type": "sum", "threshold": 1.0}],
        [{"type": "sum"}, {"type": "sum", "sha256": "00"}],
        [
            {"type": "sum", "kwargs": {"key": "1", "x": 1}},
            {"type": "sum", "kwargs": {"key": "1", "x": True}},
        ],
        [{"type": "mean", "missing": 1.0}],
        [{"type": "uv-script", "é": 1.5, "kwargs": {}}],
        [{"tpe": "max", "typ": "min"}],
    ],
    ids=str,
)
def test_fix_leaves_what_has_two_answers(metrics: list[object], cli: Run, tmp_path: Path) -> None:
    assert mended(metrics, cli, tmp_path) == metrics


def test_fix_mends_only_what_is_selected(cli: Run, tmp_path: Path) -> None:
    metrics = [{"typ": "max"}, {"type": "Mean"}]
    assert mended(metrics, cli, tmp_path, "--select", "unknown-metric-type")[1] == {"type": "mean"}
    assert mended(metrics, cli, tmp_path, "--ignore", "unknown-metric-type")[1] == {"type": "Mean"}


def test_fix_of_many_is_done_soon(cli: Run, tmp_path: Path) -> None:
    mend = [{"type": "SUM"}]
    one = {"version": "1", "description": "", "tasks": [], "metrics": mend}
    datasets = [{"name": f"d{i}", **one} for i in range(60)]
    (tmp_path / "registry.json").write_text(json.dumps(datasets))
    assert cli("validate", "registry.json", "--fix").returncode == 0


def test_also_never_replaces_an_input(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "registry.json").write_text("[1]")
    done = cli("validate", "registry.json", "--also", "sarif:./registry.json")
    assert done.returncode == 2
    assert (tmp_path / "registry.json").read_text() == "[1]"


@pytest.mark.parametrize("text", ["[tool.harbor-metrics\n", "[tool]\nharbor-metrics = 3\n"])
def test_broken_configuration_is_said(text: str, cli: Run, tmp_path: Path) -> None:
    (tmp_path / "registry.json").write_text("[]")
    (tmp_path / "pyproject.toml").write_text(text)
    assert cli("validate", "registry.json").returncode == 2
