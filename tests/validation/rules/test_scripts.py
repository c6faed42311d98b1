"""Rules about the scripts that a registry names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Run
from metric_scripts import metric as script
from validation.validated import ONE, rules_of

import harbor_metrics


@pytest.mark.parametrize(
    "text",
    [
        "print('x')\nx = " + "-" * 200_000 + "1\n",
        "# /// script\n# a = " + "1" * 5_000 + "\n# ///\nimport sys; sys.argv\n",
        "# /// script\n# a = " + "[" * 5_000 + "\n# ///\nimport sys; sys.argv\n",
        "import sys; sys.argv\n\0",
    ],
    ids=["deep", "digits", "nested", "nul"],
)
def test_script_that_python_cannot_read_is_reported(text: str, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(text)
    entry = {**ONE, "metrics": [json.loads(script("m.py"))]}
    (tmp_path / "registry.json").write_text(json.dumps([entry]))
    report = harbor_metrics.validate(tmp_path / "registry.json")
    assert not report.ok
    assert "None" not in report.found[0].message


@pytest.mark.parametrize(
    "start", ["\ufeff# /// script", "x = '''" + "y" * 1_100_000 + "'''\n# /// script"]
)
def test_script_with_odd_text_that_runs_is_not_reported(start: str, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(
        f"{start}\n# dependencies = []\n# ///\nimport sys\nx = '\\d'\nsys.argv\n", encoding="utf-8"
    )
    entry = {**ONE, "metrics": [json.loads(script("m.py"))]}
    (tmp_path / "registry.json").write_text(json.dumps([entry]))
    assert rules_of(tmp_path / "registry.json") == []


def test_script_outside_both_folders_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "far" / "reg").mkdir(parents=True)
    (tmp_path / "o" / "cwd").mkdir(parents=True)
    (tmp_path / "o" / "nn.py").write_text("")
    entry = {**ONE, "metrics": [json.loads(script("../nn.py"))]}
    (tmp_path / "far" / "reg" / "r.json").write_text(json.dumps([entry]))
    monkeypatch.chdir(tmp_path / "o" / "cwd")
    assert rules_of(tmp_path / "far" / "reg" / "r.json") == ["script-path"]


def test_uppercase_commit_is_a_commit_and_null_is_not_an_address(tmp_path: Path) -> None:
    def registry(**kwargs: object) -> Path:
        entry = {**ONE, "metrics": [{"type": "uv-script", "kwargs": kwargs}]}
        (tmp_path / "r.json").write_text(json.dumps([entry]))
        return tmp_path / "r.json"

    upper = registry(git_url="https://x.org/m", git_commit_id="ABCDEF0123" * 4, script_path="m.py")
    assert "git-script-commit" not in rules_of(upper)
    assert "script-path" in rules_of(registry(git_url=None, script_path="gone.py"))


def test_backslash_in_a_path_is_told_where_the_slash_finds_the_script(tmp_path: Path) -> None:
    (tmp_path / "metrics").mkdir()
    (tmp_path / "metrics" / "m.py").write_text("# /// script\n# ///\nimport sys; sys.argv\n")
    path = tmp_path / "registry.json"
    for written, words in (("metrics\\m.py", '"metrics/m.py"'), ("metrics\\n.py", "that is there")):
        path.write_text(json.dumps([{**ONE, "metrics": [json.loads(script(written))]}]))
        (only,) = harbor_metrics.validate(path).found
        assert (only.rule, words in only.help) == ("script-path", True)
        assert ("not a backslash" in only.message) == ("m.py" in written)


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("gone.py", "when it makes the job"),
        ("m\0.py", "when it makes the job"),
        ("https://x.org/m.py", "when it makes the job"),
        ("-m.py", "when it runs the metric"),
        ("folder", "when it runs the metric"),
        ("../outside.py", "where nothing lies there"),
        ("../gone.py", "where nothing lies there"),
    ],
)
def test_it_is_said_where_harbor_fails(name: str, where: str, tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    (inside / "folder").mkdir(parents=True)
    (inside / "-m.py").write_text("")
    (tmp_path / "outside.py").write_text("")
    (inside / "registry.json").write_text(
        json.dumps([{**ONE, "metrics": [json.loads(script(name))]}])
    )
    (only,) = harbor_metrics.validate(inside / "registry.json").found
    assert only.rule == "script-path"
    assert [where in note for note in only.notes] == [True] * bool(where)


def test_what_lies_outside_is_not_told_by_what_is_said_of_a_path_that_leads_there(
    cli: Run, tmp_path: Path
) -> None:
    here, private = tmp_path / "here", tmp_path / "private.py"
    (here / "ds").mkdir(parents=True)
    makers = (lambda: None, private.touch, private.unlink, private.mkdir, private.rmdir)
    (here / "one.jsonl").write_text('{"task": "a", "dataset": "d", "rewards": {"reward": 1}}\n')
    for path in ("../private.py", "../../private.py", "..\\private.py", str(private)):
        entry = {**ONE, "name": "d", "metrics": [json.loads(script(path))]}
        (here / "ds" / "registry.json").write_text(json.dumps([entry]))
        said = []
        for make in makers:
            make()
            checked = cli("validate", "ds", cwd=here)
            ran = cli("compute", "one.jsonl", "--registry", "ds/registry.json", cwd=here)
            said.append((checked.stdout + checked.stderr, ran.stdout + ran.stderr))
        assert said == [said[0]] * len(makers)


def test_a_script_has_the_name_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "secrets.yaml").write_text("password: hunter2")
    path = tmp_path / "registry.json"
    path.write_text(json.dumps([{**ONE, "metrics": [json.loads(script("secrets.yaml"))]}]))
    monkeypatch.chdir(tmp_path)
    (only,) = harbor_metrics.validate(path).found
    assert only.rule == "script-path"
    assert "does not end in .py" in only.message
