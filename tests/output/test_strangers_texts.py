"""Whatever a stranger calls a dataset, a file or a number, no command prints a command of his."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import Run, trial, write_job
from metric_scripts import metric
from printed import is_text

from harbor_metrics.cli.compare import FORMATS as COMPARED
from harbor_metrics.cli.validate import FORMATS

# A colour, a title, a bell, the end of a line and a command after it, C1, directions, hidden text.
EVIL = (
    "a\x1b[31mb\x1b]0;title\x07c\n::error::d\r##[error]e\n::set-output name=f::g"
    "\n  ::stop-commands::h\x9bi\x85::j\u202ek"
    "\u2066l\u200bm\ufeff::n\u2028::o\x7f##vso[task.complete]p\U000e0041\x08q"
)
SCRIPT = f"""
import json, sys
print({EVIL!r})
print({EVIL!r}, file=sys.stderr)
rows = open(sys.argv[sys.argv.index("-i") + 1]).read().split()
if "null" in rows:
    sys.exit(3)
json.dump({{{EVIL!r}: 1}}, open(sys.argv[sys.argv.index("-o") + 1], "w"))
"""
# A name of a file holds neither NUL nor a slash; some systems take no byte that is not UTF-8.
FILE = EVIL[:60]
ENTRY = {
    "name": EVIL,
    "version": EVIL,
    "description": EVIL,
    EVIL: 1,
    "tasks": [{"name": EVIL, "path": EVIL, "git_url": EVIL, "git_commit_id": EVIL}] * 2,
    "metrics": [
        {"type": EVIL, "kwargs": {EVIL: EVIL}},
        {"type": "uv-script", "kwargs": {"script_path": EVIL}},
        {"type": "uv-script", "kwargs": {"script_path": "m.py"}, "sha256": EVIL},
    ],
    "extra_metrics": [{"type": EVIL}, {"type": "mean", "kwargs": {"key": EVIL, EVIL: 1}}],
}


def registry(folder: Path) -> Path:
    (folder / "m.py").write_text(SCRIPT)
    path = folder / "registry.json"
    path.write_text(json.dumps([ENTRY, {**ENTRY, "metrics": []}, EVIL], ensure_ascii=False))
    return path


def job(folder: Path, **more: Any) -> Path:
    info = {"name": EVIL, "version": EVIL, "model_info": {"name": EVIL, "provider": EVIL}}
    strange = {"agent_info": info, "source": EVIL, "exception_info": {"exception_type": EVIL}}
    rewards = [{EVIL: 1, "##[error]": 0.5, "::error::x": 2}, None, {EVIL: "x"}, {EVIL: True}]
    trials = [
        trial(EVIL, r, trial_name=f"{FILE}{i}", **strange, **more) for i, r in enumerate(rewards)
    ]
    written = write_job(folder / FILE, trials, datasets=[{"name": EVIL}], metrics=[{"type": EVIL}])
    broken = written / f"{FILE}9"
    broken.mkdir()
    (broken / "result.json").write_text(f'{{"task_name": "{EVIL}"')
    return written


def printed_text(done: subprocess.CompletedProcess[str]) -> str:
    """All that was printed, which is text."""
    assert is_text(done.stderr), done.stderr
    assert is_text(done.stdout), done.stdout
    assert done.returncode in (0, 1, 2, 3)
    return done.stdout + done.stderr


@pytest.mark.parametrize("format_", FORMATS)
def test_validate(cli: Run, tmp_path: Path, format_: str) -> None:
    strange = tmp_path / f"{FILE}.json"
    registry(tmp_path).rename(strange)
    lines = tmp_path / "rewards.jsonl"
    lines.write_text(json.dumps({EVIL: EVIL}) + f"\n{EVIL}\n")
    manifest = tmp_path / "dataset.toml"
    manifest.write_text(f"[dataset]\nname = {json.dumps(EVIL)}\n")
    done = cli("validate", strange, lines, manifest, "--format", format_)
    assert done.stdout
    assert is_text(done.stderr), done.stderr
    assert is_text(done.stdout, commands=format_ == "github"), done.stdout
    if format_ == "github":
        started = [
            line.split("::")[1].split()[0] for line in done.stdout.split("\n") if "::" in line
        ]
        assert set(started) <= {"error", "warning", "notice"}
    if format_ in ("json", "sarif"):
        json.loads(done.stdout)
    if format_ == "jsonl":
        assert all(map(json.loads, done.stdout.splitlines()))


def test_validate_mends(cli: Run, tmp_path: Path) -> None:
    path = registry(tmp_path)
    assert "registry.json" in printed_text(cli("validate", path, "--fix"))


@pytest.mark.parametrize("format_", ["table", "markdown", "json"])
def test_compute(cli: Run, tmp_path: Path, format_: str) -> None:
    where = ["--registry", registry(tmp_path), "--labels", "dataset=demo"]
    for more in ([], where[:2], ["--dry-run"], ["--metric", EVIL], ["--key", EVIL]):
        done = cli(
            "compute", job(tmp_path / str(len(os.listdir(tmp_path)))), "--format", format_, *more
        )
        assert printed_text(done)
        if format_ == "json" and "--dry-run" not in more and done.returncode < 2:
            assert json.loads(done.stdout)["groups"][0]["agent"] == EVIL


@pytest.mark.parametrize("format_", COMPARED)
def test_compare(cli: Run, tmp_path: Path, format_: str) -> None:
    for agent in ("a", "b"):
        lines = [
            {"task": f"{EVIL}{i}", "rewards": {EVIL: i % 2}, "agent": f"{EVIL}{agent}",
             "dataset": EVIL, "model": EVIL, "labels": {EVIL: EVIL}, "trial": f"{agent}{i}"}
            for i in range(6)
        ]  # fmt: skip
        lines[0]["task"] = agent + EVIL
        (tmp_path / agent).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    run = EVIL.replace("=", "").replace("/", "")
    gates = ["--no-worse", "mean", "--fail-if", "missing > 0", "--fail-if", "tasks.worse >= 0"]
    done = cli("compare", f"{run}1=a", f"{run}2=b", *gates, "--format", format_)
    assert done.returncode == 1, done.stderr
    assert is_text(done.stderr), done.stderr
    assert is_text(done.stdout, commands=format_ == "github"), done.stdout
    if format_ == "github":
        started = [line.split("::")[1].split()[0] for line in done.stdout.splitlines()]
        assert set(started) <= {"error", "warning", "notice"}
    for option in ("--no-worse", "--non-inferior", "--better", "--fail-if", "--also", "--base"):
        assert printed_text(cli("compare", "a", "b", option, EVIL))


@pytest.mark.parametrize("format_", ["csv", "markdown", "table", "blocks", "json", "hub-rows"])
def test_a_file_holds_what_would_be_printed(cli: Run, tmp_path: Path, format_: str) -> None:
    # Without words that would be broken at the width of the terminal.
    name = "a\x1b[31m\u202e\x9b##[error]\x7f"
    path = write_job(tmp_path / "job", [trial("t", {name: 1, "b": 2})])
    done = cli("compute", path, "--format", format_, "--also", f"{format_}:file")
    assert is_text(done.stdout)
    assert (tmp_path / "file").read_bytes() == done.stdout.encode()
    for suffix in ("csv", "json"):
        cli("compute", path, "-o", f"its.{suffix}")
        assert is_text((tmp_path / f"its.{suffix}").read_text())


@pytest.mark.parametrize("format_", COMPARED)
def test_a_file_of_a_comparison_is_text(cli: Run, tmp_path: Path, format_: str) -> None:
    for reward, run in enumerate(("a", "b")):
        line = {"task": EVIL, "rewards": {EVIL: reward}, "dataset": EVIL, "agent": EVIL}
        (tmp_path / run).write_text(f"{json.dumps(line)}\n")
    cli("compare", "a", "b", "--also", f"{format_}:file", "-o", "its.json")
    assert is_text((tmp_path / "file").read_text(), commands=format_ == "github")
    assert is_text((tmp_path / "its.json").read_text())


@pytest.mark.parametrize("format_", ["text", "concise", "github", "sarif", "json", "jsonl"])
def test_a_file_of_what_was_found_is_text(cli: Run, tmp_path: Path, format_: str) -> None:
    cli("validate", registry(tmp_path), "--also", f"{format_}:file")
    assert is_text((tmp_path / "file").read_text(), commands=format_ == "github")


def test_a_value_in_json_is_what_it_was(cli: Run, tmp_path: Path) -> None:
    name = "\x1b[31m\u202e##[error]\x7f"
    path = write_job(tmp_path / "job", [trial("t", {name: 1, "b": 2})])
    done = cli("compute", path, "--format", "json")
    assert is_text(done.stdout)
    assert json.loads(done.stdout)["groups"][0]["metrics"][0]["values"] == {name: 1, "b": 2}


@pytest.mark.parametrize("format_", ["table", "json"])
def test_audit(cli: Run, tmp_path: Path, format_: str) -> None:
    path = job(tmp_path)
    (path / "result.json").write_text(
        json.dumps({"n_total_trials": 4, "stats": {"evals": {EVIL: {"metrics": [{EVIL: 1}]}}}})
    )
    assert printed_text(cli("audit", path, "--all", "--format", format_))


def test_convert(cli: Run, tmp_path: Path) -> None:
    rewards = tmp_path / "in.jsonl"
    rewards.write_text(json.dumps({"task": EVIL, "rewards": {EVIL: 1}}, ensure_ascii=False) + "\n")
    done = cli("convert", rewards)
    assert is_text(printed_text(done))
    assert json.loads(done.stdout)["task"] == EVIL
    cli("convert", rewards, "-o", "out.jsonl")
    assert (tmp_path / "out.jsonl").read_text() == done.stdout
    assert printed_text(cli("convert", job(tmp_path)))
    assert printed_text(cli("convert", job(tmp_path / "b"), "-o", f"{FILE}.jsonl"))


def test_add_and_remove(cli: Run, tmp_path: Path) -> None:
    path = registry(tmp_path)
    for command in ("add", "remove"):
        for more in (["mean"], [EVIL], ["mean", "--diff"]):
            assert printed_text(cli(command, path, EVIL, *more))
    path.write_text(json.dumps([{"name": "d", "version": "1", "description": EVIL, "tasks": []}]))
    diff = printed_text(cli("add", path, "d", "mean", "-k", f"key={EVIL}", "--diff"))
    assert "a\\u001b" in diff
    assert "\\u202e" in diff
    task = tmp_path / "task.yaml"
    task.write_text(json.dumps({"task": EVIL, "metric_list": [{"metric": EVIL}]}))
    # YAML makes two halves of what JSON escapes as a surrogate pair.
    assert "surrogate" in printed_text(cli("add", path, "d", "--from-lm-eval", task))


def test_a_script(cli: Run, own_caches: None, tmp_path: Path) -> None:
    (tmp_path / f"{FILE}.py").write_text(SCRIPT)
    (tmp_path / "m.py").write_text(SCRIPT)
    assert "\\x1b" in printed_text(cli("script", "check", "m.py"))
    assert "\\x1b" in printed_text(cli("script", "check", tmp_path / f"{FILE}.py"))
    for rewards in ('{"reward": 1}\n', "null\n"):
        (tmp_path / "r.jsonl").write_text(rewards)
        for format_ in ("table", "markdown", "json"):
            done = cli("compute", "r.jsonl", "--metric", metric("m.py"), "--format", format_)
            assert printed_text(done)


@pytest.mark.parametrize(
    "arguments",
    [
        [EVIL],
        ["compute", EVIL],
        ["compute", f"--{EVIL}"],
        ["compute", "x", "--format", EVIL],
        ["explain", EVIL],
        ["list", EVIL],
        ["schema", EVIL],
        ["validate", EVIL],
        ["validate", "--select", EVIL, "x"],
        ["audit", EVIL],
        ["convert", EVIL],
        ["script", EVIL],
        ["script", "check", EVIL],
        ["add", EVIL, EVIL, EVIL],
        ["remove", EVIL, EVIL, EVIL],
    ],
    ids=lambda arguments: " ".join(a for a in arguments if EVIL not in a),
)
def test_an_error_that_repeats_what_was_asked_for(cli: Run, arguments: list[str]) -> None:
    done = cli(*arguments)
    assert done.returncode in (2, 3)
    assert printed_text(done)


def test_an_error_about_a_strangers_file_stays_on_its_line(cli: Run, tmp_path: Path) -> None:
    path = tmp_path / "a\nerror: all is lost\n.jsonl"
    path.write_bytes(b"\xff\xff")
    for command in ("compute", "audit", "convert"):
        assert "\nerror: all is lost" not in printed_text(cli(command, path))
