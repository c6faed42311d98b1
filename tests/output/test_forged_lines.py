"""No name of a stranger's begins a line of its own, wherever it stands and whatever is printed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import Run, trial, write_job

from harbor_metrics.cli.compare import FORMATS as COMPARED
from harbor_metrics.cli.compute import FORMATS as COMPUTED
from harbor_metrics.cli.validate import FORMATS as VALIDATED

pytestmark = pytest.mark.one_python

WORD = "FORGED"
# The ends of lines; what hides, turns, colours and moves text; commands to runners of CI.
RAW = (
    *("\n", "\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\r\n"),
    *("\x1b[31m", "\x1b]0;", "\x9b", "\ufeff", "\u200b", "\u202e", "\u2066", "\u200f"),
    *("\n::error::", "\n  ::set-output name=a::", "\n##[error]", "##vso[task.complete]"),
    *("\nerror: ", ": it said\n  | "),
)
NAMES = {
    "inside": "a" + "".join(f"{raw}{WORD}" for raw in RAW),
    "first": f"::error::{WORD}",
}
# What no line of output holds; a command of GitHub only where it is first.
_HELD = re.compile("|".join(re.escape(f"{raw}{WORD}") for raw in (*RAW, "##[error]")))
_FIRST = re.compile(rf"(?m)^(?:\s*::error::)?{WORD}")
named = pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)


def check(done: Any) -> None:
    """Nothing raw is in what was printed, and a failure says something."""
    for printed in (done.stdout, done.stderr):
        assert not _HELD.search(printed), printed
        assert not _FIRST.search(printed), printed
    assert done.returncode == 0 or (done.returncode in (1, 2, 3) and done.stdout + done.stderr)


def on_disk(name: str) -> str:
    """The name as one of a file."""
    return name.replace("/", "")[:80]


def registry(folder: Path, name: str) -> Path:
    """Datasets, tasks, metrics, kwargs, scripts and fields of that name."""
    folder.mkdir(exist_ok=True)
    (folder / on_disk(name)).write_text("raise SystemExit('no')\n")
    entry = {
        "name": name,
        "version": name,
        "description": name,
        name: 1,
        "tasks": [{"name": name, "path": name, "git_url": name, "git_commit_id": name}],
        "metrics": [
            {"type": name},
            {"type": "mean", "kwargs": {"key": name}},
            {"type": "quantile", "kwargs": {"q": name}},
            {"type": "max", "kwargs": {name: name}},
            {"type": "uv-script", "kwargs": {"script_path": name}},
            {"type": "uv-script", "kwargs": {"script_path": on_disk(name)}},
            {"type": "uv-script", "kwargs": {"script_path": "m.py", "git_url": name}},
            {"type": f"{on_disk(name)}.py:{name}"},
        ],
        "extra_metrics": [{"type": "weighted-mean", "kwargs": {"weight": name}}],
    }
    path = folder / "registry.json"
    path.write_text(json.dumps([entry], ensure_ascii=False))
    return path


def job(folder: Path, name: str) -> Path:
    """A job of which all that a stranger names is named so."""
    info = {"name": name, "version": name, "model_info": {"name": name, "provider": name}}
    strange = {"agent_info": info, "source": name, "exception_info": {"exception_type": name}}
    rewards: list[Any] = [{name: 1, f"{name}2": 0}, None, {name: "x"}, {name: 0, "reward": 1e309}]
    trials = [
        trial(f"{name}{i}", each, trial_name=f"{on_disk(name)}{i}", **strange)
        for i, each in enumerate(rewards)
    ]
    asked = {"datasets": [{"name": name, "path": name}], "metrics": [{"type": name}]}
    made = write_job(folder / on_disk(name), trials, **asked)
    (made / f"{on_disk(name)}9").mkdir()
    (made / f"{on_disk(name)}9" / "result.json").write_text(f'{{"task_name": "{name}"')
    stats = {"evals": {name: {"metrics": [{name: 1}], "pass_at_k": {name: 1}}}}
    (made / "result.json").write_text(json.dumps({"n_total_trials": 4, "stats": stats}))
    return made


def lines(path: Path, name: str, agent: str) -> Path:
    """A trials file of which all that a stranger names is named so."""
    rows = [
        {"task": f"{name}{i}", "rewards": {name: i % 2, "b": i % 3}, "agent": f"{name}{agent}",
         "model": name, "dataset": name, "trial": f"{name}{i}", "labels": {name: name}}
        for i in range(6)
    ]  # fmt: skip
    rows[0]["task"] = f"{name}{agent}"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


@named
@pytest.mark.parametrize("format_", COMPUTED)
def test_compute(cli: Run, tmp_path: Path, name: str, format_: str) -> None:
    place, asked = job(tmp_path / "jobs", name), ["--format", format_]
    check(cli("compute", place, *asked))
    check(cli("compute", place, *asked, "--registry", registry(tmp_path / "r", name)))
    table = lines(tmp_path / on_disk(name), name, "a")
    check(cli("compute", table, *asked, "--group-by", name, "--metric", f"mean key={name}"))


@named
def test_compute_of_what_cannot_be_computed(cli: Run, tmp_path: Path, name: str) -> None:
    place = job(tmp_path / "jobs", name)
    check(cli("compute", place, "--registry", registry(tmp_path / "r", name), "--dry-run"))
    for option in ("--metric", "--labels", "--registry", "--dataset", "--group-by", "--as"):
        check(cli("compute", place, option, name))
    broken = tmp_path / f"{on_disk(name)}.jsonl"
    broken.write_text(f'{{"task": "t", "rewards": {{"{name}": "x"}}}}\n')
    for command in ("compute", "audit", "convert", "validate"):
        check(cli(command, broken))
        check(cli(command, name))


@named
@pytest.mark.parametrize("format_", COMPARED)
def test_compare(cli: Run, tmp_path: Path, name: str, format_: str) -> None:
    base, candidate = (lines(tmp_path / f"{on_disk(name)}{run}", name, run) for run in "ab")
    gates = ["--no-worse", "mean", "--fail-if", "tasks.worse >= 0", "--pairs", "all"]
    check(cli("compare", base, candidate, "--format", format_, *gates))
    for option in ("--by", "--only", "--base", "--no-worse", "--metric", "--cluster"):
        check(cli("compare", base, candidate, "--format", format_, option, name))
    check(cli("compare", base, "--by", "agent", "--format", format_))


@named
@pytest.mark.parametrize("format_", ["table", "json"])
def test_audit(cli: Run, tmp_path: Path, name: str, format_: str) -> None:
    place = job(tmp_path / "jobs", name)
    where = ["--registry", registry(tmp_path / "r", name)]
    for more in ([], ["--all"], where):
        check(cli("audit", place, "--format", format_, *more))


@named
def test_report_and_convert(cli: Run, tmp_path: Path, name: str) -> None:
    place = job(tmp_path / "jobs", name)
    check(cli("report", place, "-o", "page.html"))
    check(cli("convert", place))
    check(cli("convert", place, "-o", "out.jsonl"))
    cli("compute", place, "-o", "its.json", "--registry", registry(tmp_path / "r", name))
    check(cli("report", "its.json", "-o", "page.html"))
    assert not re.search(rf"[{''.join(RAW[:10])}]\s*{WORD}", (tmp_path / "page.html").read_text())


@named
@pytest.mark.parametrize("format_", VALIDATED)
def test_validate(cli: Run, tmp_path: Path, name: str, format_: str) -> None:
    strange = tmp_path / "r" / f"{on_disk(name)}.json"
    registry(tmp_path / "r", name).rename(strange)
    manifest = tmp_path / "dataset.toml"
    manifest.write_text(f"[dataset]\nname = {json.dumps(name)}\n")
    for more in ([], ["--select", "hints"], ["--fix"]):
        check(cli("validate", strange, manifest, "--format", format_, *more))


@named
def test_add_and_remove(cli: Run, tmp_path: Path, name: str) -> None:
    path = tmp_path / on_disk(name) / "registry.json"
    registry(tmp_path / on_disk(name), name)
    for more in (["mean"], [name], ["0"], ["mean", "-k", f"key={name}"]):
        check(cli("add", path, name, *more))
        check(cli("remove", path, name, *more[:1]))
    tasks = [{"name": "t", "path": "t"}]
    path.write_text(json.dumps([{"name": name, "version": name, "description": name,
                                 "tasks": tasks}]))  # fmt: skip
    check(cli("add", path, name, "mean", "-k", f"key={name}", "--diff"))
    check(cli("add", path, name, "uv-script", "-k", f"script_path={on_disk(name)}", "--pin"))
    check(cli("add", path, name, "uv-script", "-k", f"script_path=new{on_disk(name)}", "--new"))
    check(cli("add", path, name, "pass@2", "--for-harbor"))
    check(cli("add", path, name, "uv-script", "-k", f"git_url={name}"))
    check(cli("remove", path, name, "mean", "--diff"))
    task = tmp_path / f"{on_disk(name)}.yaml"
    listed = [{"metric": name}, {"metric": "acc", "aggregation": name}]
    task.write_text(json.dumps({"task": name, "metric_list": listed}, ensure_ascii=False))
    check(cli("add", path, name, "--from-lm-eval", task))


@named
def test_a_script_that_cannot_be_run(cli: Run, own_caches: None, tmp_path: Path, name: str) -> None:
    registry(tmp_path, name)
    check(cli("script", "check", on_disk(name)))
    check(cli("script", "check", "registry.json", "--rewards", on_disk(name)))
    for command in ("explain", "schema", "list", "script", "cache", name, "help"):
        check(cli(command, name))
