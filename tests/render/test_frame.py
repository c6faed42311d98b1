"""Results as data frames, as a stream of Arrow and as Parquet: the rows of the CSV."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from conftest import ROOT, Run

import harbor_metrics
from harbor_metrics import InputError, UsageError
from harbor_metrics.engines import frames
from harbor_metrics.render.csv import HEADINGS
from harbor_metrics.render.csv import csv as as_csv

RESULT = harbor_metrics.compute(ROOT / "registry/jobs/buoys", metrics=["ci", "pass@20"])
NUMBERS = (
    "value",
    "stderr",
    "low",
    "high",
    "level",
    "n_effective",
    "n",
    "trials",
    "tasks",
    "passed",
)


def expected() -> list[tuple[Any, ...]]:
    rows = csv.DictReader(io.StringIO(as_csv(RESULT)))
    return [
        tuple(None if not row[n] else float(row[n]) if n in NUMBERS else row[n] for n in HEADINGS)
        for row in rows
    ]


def test_stream_of_arrow_has_the_rows_of_the_csv() -> None:
    table = pa.table(RESULT)
    assert [tuple(row.values()) for row in table.to_pylist()] == expected()
    assert str(table.schema.field("n").type) == "int64"


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frame_of_a_library_has_them(backend: str) -> None:
    frame = RESULT.to_frame(backend)
    assert type(frame).__module__.startswith(backend)
    assert frame.shape == (len(expected()), len(HEADINGS))


def test_result_without_groups_is_an_empty_frame(tmp_path: Path) -> None:
    (tmp_path / "trials.jsonl").write_text('{"task": "a", "rewards": null}\n')
    result = harbor_metrics.compute(tmp_path / "trials.jsonl", metrics=["min"])
    assert pa.table(result).column("value").to_pylist() == [None] * 2
    nothing = type(result)(sources=[], groups=[])
    assert pa.table(nothing).num_rows == 0


def test_file_is_what_its_name_says(cli: Run, tmp_path: Path) -> None:
    job = ROOT / "registry/jobs/buoys"
    for name in ("x.csv", "x.parquet"):
        assert cli("compute", job, "--metric", "ci", "-o", name).returncode == 0
    text = (tmp_path / "x.csv").read_text()
    assert text == cli("compute", job, "--metric", "ci", "--format", "csv").stdout
    read = duckdb.read_parquet(str(tmp_path / "x.parquet"))
    assert tuple(read.columns) == HEADINGS
    assert len(read.fetchall()) == len(text.splitlines()) - 1
    refused = cli("compute", job, "-o", "x.md")
    assert refused.returncode == 2
    assert "or its values as CSV or Parquet, and x.md ends in .md" in refused.stderr


def test_library_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"a frame is of pandas, polars, pyarrow, not of numpy"):
        RESULT.to_frame("numpy")
    monkeypatch.setattr(frames, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"polars is not installed"):
        RESULT.to_frame("polars")


def test_integer_that_no_float_is_is_not_rounded(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text(f'{{"reward": {2**53 + 1}}}\n{{"reward": 1}}\n')
    asked = ("compute", "r.jsonl", "--only-asked", "--metric", "max", "-o")
    done = cli(*asked, "x.parquet")
    assert done.returncode == 3
    assert "`value` of max is 9007199254740993, which no column" in done.stderr
    assert not (tmp_path / "x.parquet").exists()
    assert cli(*asked, "x.csv").returncode == 0
