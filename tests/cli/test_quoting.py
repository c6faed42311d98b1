"""Of what a link out of a stranger's folder leads to, no command quotes a word."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import duckdb
import pytest
from comparison.runs_by_hand import write_run
from conftest import JOBS, Run
from lm_eval_logs import line

SECRET = "hunter2"
LOG = (
    '{"version": 2, "status": "success", "eval": {"task": "t", "model": "m", '
    f'"token": "{SECRET}", "token": "{SECRET}2"}}, "plan": 5, "samples": [], "results": null}}'
)
DATASET = {"version": "1", "description": "", "tasks": []}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A stranger's folder, with links to what only its reader may see."""
    private, work = tmp_path / "private", tmp_path / "work"
    work.mkdir()
    for name in ("log", "lines", "parquet", "job"):
        (private / name).mkdir(parents=True)
        (work / name).symlink_to(f"../private/{name}")
    (private / "log" / "a.json").write_text(LOG)
    text = json.dumps(line(SECRET, metrics=["acc"], acc=1.0))
    (private / "lines" / "samples_x_2026-11-21T00-57-32.749507.jsonl").write_text(f"{text}\n" * 2)
    duckdb.sql(f"select 1 as {SECRET}").write_parquet(str(private / "parquet" / "a.parquet"))
    shutil.copytree(JOBS / "single", private / "job" / "run")
    result = next((private / "job" / "run").glob("*/result.json"))
    result.write_text(result.read_text().replace("{", f'{{"{SECRET}": 1, "{SECRET}": 2, ', 1))
    registry = [{**DATASET, "name": f"{SECRET}{i}"} for i in range(2)]
    (private / "registry.json").write_text(json.dumps(registry))
    (private / "broken.json").write_text(f'[{{"name": {SECRET}')
    (private / "result.json").write_text(
        json.dumps({"schema_version": "1", "groups": [], "tool": {}, "sources": [{"path": SECRET}]})
    )
    for name in ("registry.json", "broken.json", "result.json"):
        (work / name).symlink_to(f"../private/{name}")
    write_run(work / "r.jsonl", {"t": [1]})
    write_run(work / "d.jsonl", {"t": [1]}, dataset="d")
    return work


@pytest.mark.parametrize(
    "arguments",
    [
        "compute log",
        "audit log",
        "convert log",
        "report log -o x.html",
        "compare lines log",
        "compare base=log r.jsonl",
        "compute lines",
        "audit lines/",
        "compute parquet --engine duckdb",
        "compute parquet/*.parquet",
        "compute parquet/?.parquet r.jsonl",
        "compute log/a.json",
        "audit job/run",
        "audit job",
        "compute r.jsonl --registry registry.json",
        "compute r.jsonl --registry=broken.json",
        "compute d.jsonl --labels broken.json",
        "compare result.json r.jsonl",
        "script check r.jsonl --rewards log",
        "compute log/b.json",
    ],
)
def test_what_a_link_leads_to_is_quoted_by_no_command(arguments: str, cli: Run, work: Path) -> None:
    done = cli(*arguments.split(), cwd=work)
    assert done.returncode in (1, 2, 3), done.stdout
    for printed in (done.stdout, done.stderr):
        assert SECRET not in printed
    assert "a link to" in " ".join((done.stdout + done.stderr).split())
    assert SECRET not in "".join(page.read_text() for page in work.glob("x.html"))


def test_a_link_of_ones_own_is_read_and_what_is_wrong_said_of_where_it_leads(
    cli: Run, work: Path, tmp_path: Path
) -> None:
    good = tmp_path / "private" / "good"
    good.mkdir()
    write_run(good / "r.jsonl", {"t": [1]})
    (work / "results").symlink_to(good)
    assert cli("compute", "results/r.jsonl", cwd=work).returncode == 0
    (good / "r.jsonl").write_text("{")
    assert cli("compute", "results", cwd=work).returncode == 3
    done = cli("compute", tmp_path / "private" / "log", cwd=work)
    assert SECRET in done.stderr
