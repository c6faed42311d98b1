"""`--fix` mends what has one answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Run

from harbor_metrics.validation.fix import fix
from harbor_metrics.validation.validation import findings_in


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


def test_fix_mends_many_datasets_at_once(cli: Run, tmp_path: Path) -> None:
    mend = [{"type": "SUM"}]
    one = {"version": "1", "description": "", "tasks": [], "metrics": mend}
    datasets = [{"name": f"d{i}", **one} for i in range(60)]
    (tmp_path / "registry.json").write_text(json.dumps(datasets))
    assert cli("validate", "registry.json", "--fix").returncode == 0
    mended = json.loads((tmp_path / "registry.json").read_text())
    assert [dataset["metrics"] for dataset in mended] == [[{"type": "sum"}]] * 60


def test_fix_mends_an_entry_as_often_as_there_is_something_to_mend(
    cli: Run, tmp_path: Path
) -> None:
    names = [f"m{i}.py" for i in range(20)]
    for name in names:
        (tmp_path / name).write_text("# /// script\n# a = 1\n# ///\nimport sys\nsys.argv\n")
    wrong = [{"typ": "UV_script", "script_path": name} for name in names]
    right = [{"type": "uv-script", "kwargs": {"script_path": name}} for name in names]
    assert mended([*wrong, *wrong], cli, tmp_path) == right


def test_fix_keeps_the_lines_that_it_does_not_mend(cli: Run, tmp_path: Path) -> None:
    lines = ['[{"name": "a", "version": "1", "description": "",  "tasks": [', "\t", "],"]
    lines += [' "metrics": [ {"type": "max"} ,', '   {"typ":"min" }, {"type": "max"},']
    lines += ['  {"type" : "MEAN"}]}]']
    (tmp_path / "registry.json").write_text("\r\n".join(lines), newline="")
    assert cli("validate", "registry.json", "--fix").returncode == 0
    lines[4] = '   {"type":"min" },'
    lines[5] = '  {"type" : "mean"}]}]'
    assert (tmp_path / "registry.json").read_bytes() == "\r\n".join(lines).encode()


@pytest.mark.parametrize(
    "text",
    [
        '[{"metrics":[{"type":0,"missing":"zero"}]}]',
        '[{"name":"a","version":"1","metrics":[{"type":null,"k":4},{"type":[],"kwargs":{}}]}]',
        '[{"metrics":0,"tasks":{"nam":1}},7,{"tasks":[null,{"pth":[]}],"extra_metrics":[[]]}]',
    ],
)
def test_fix_survives_entries_of_any_type(text: str, cli: Run, tmp_path: Path) -> None:
    (tmp_path / "registry.json").write_text(text)
    done = cli("validate", "registry.json", "--fix")
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)


def test_fix_looks_for_the_mistakes_of_an_entry_in_that_entry_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """800 tasks to mend beside 800 unknown fields of their dataset took 22 s."""
    sizes: list[int] = []

    def count(value: Any, *more: Any) -> Any:
        sizes.append(len(json.dumps(value)))
        return findings_in(value, *more)

    monkeypatch.setattr("harbor_metrics.validation.fix.findings_in", count)
    odd = {f"odd{i}": i for i in range(100)}
    tasks = [{"name": f"t{i}", "git_ulr": "x"} for i in range(5)]
    path = tmp_path / "registry.json"
    path.write_text(json.dumps([{"name": "a", "version": "1", **odd, "tasks": tasks}]))
    fix(str(path))
    mended = json.loads(path.read_text())[0]["tasks"]
    assert mended == [{"name": f"t{i}", "git_url": "x"} for i in range(5)]
    assert len(sizes) == 10
    assert max(sizes) < 100
