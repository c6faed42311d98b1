"""No output replaces a file that is read, whatever way it was named."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Run, trial, write_job
from lm_eval_logs import OLD

from harbor_metrics.trials.snapshot import SNAPSHOT

SAMPLES = next(OLD.glob("samples_ends_*"))
RESULTS = next(OLD.glob("results_*"))
ROW = '{"task": "a", "rewards": {"reward": 1}}\n'


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A run of lm-eval, two files of Parquet beside each other, a job of two trials and lines."""
    duckdb = pytest.importorskip("duckdb")
    (tmp_path / "lm").mkdir()
    for log in (SAMPLES, RESULTS):
        shutil.copy(log, tmp_path / "lm")
    (tmp_path / "p").mkdir()
    for name in ("a", "b"):
        path = tmp_path / "p" / f"{name}.parquet"
        duckdb.sql(f"select '{name}' as task, 1.0 as reward").write_parquet(str(path))
    job = write_job(tmp_path / "jobs" / "one", [trial(f"t{i}", {"r": 1}, i) for i in range(2)])
    (job / SNAPSHOT).write_text('{"schema_version": "1", "datasets": []}')
    (tmp_path / "rows.jsonl").write_text(ROW)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "sources", "output"),
    [
        ("compute", ["p/*.parquet"], "p/b.parquet"),
        ("compute", ["p", "--engine=duckdb"], "p/a.parquet"),
        ("compute", ["lm"], f"lm/{RESULTS.name}"),
        ("compute", [f"lm/{SAMPLES.name}"], f"lm/{RESULTS.name}"),
        ("compute", ["jobs"], "jobs/one/result.json"),
        ("compute", ["jobs"], f"jobs/one/{SNAPSHOT}"),
        ("convert", ["lm"], f"lm/{SAMPLES.name}"),
        ("convert", ["jobs"], "jobs/one/t0__0000000/result.json"),
        ("compare", ["rows.jsonl", "other=lm"], f"lm/{RESULTS.name}"),
        ("report", ["lm"], f"lm/{SAMPLES.name}"),
        ("report", ["lm", "rows.jsonl"], f"lm/{RESULTS.name}"),
    ],
)
def test_no_output_replaces_a_file_that_is_read(
    command: str, sources: list[str], output: str, cli: Run, work: Path
) -> None:
    before = {path: path.read_bytes() for path in work.rglob("*") if path.is_file()}
    done = cli(command, *sources, "-o", output)
    assert done.returncode == 2, done.stderr
    assert "it is the same file that would be read" in done.stderr
    assert {path: path.read_bytes() for path in work.rglob("*") if path.is_file()} == before


@pytest.mark.skipif(sys.platform != "linux", reason="no path tells what standard input is")
def test_no_output_replaces_the_file_that_is_standard_input(work: Path) -> None:
    with (work / "rows.jsonl").open() as rows:
        command = [sys.executable, "-m", "harbor_metrics", "convert", "-", "-o", "rows.jsonl"]
        done = subprocess.run(command, stdin=rows, cwd=work, capture_output=True, text=True)
    assert done.returncode == 2
    assert "it is the same file that would be read" in done.stderr
    assert (work / "rows.jsonl").read_text() == ROW


@pytest.mark.parametrize("source", ["jobs", "jobs/one", "lm"])
def test_a_result_that_lies_beside_what_is_read_is_replaced(
    source: str, cli: Run, work: Path
) -> None:
    for _ in range(2):
        done = cli("compute", source, "-o", f"{source}/metrics.json")
        assert done.returncode == 0, done.stderr
