"""What columns hold that no task, reward or label can be, and how they are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from parquet_by_hand import Written, plain, rewards, write

from harbor_metrics import compute
from harbor_metrics.errors import InputError

# What DuckDB says has nothing of Python's in it.
pytestmark = pytest.mark.one_python


@pytest.mark.parametrize("name", [b"lab\xff", b"reward.\xff\xfe", b"label.\xed\xa0\x80"])
def test_name_of_a_column_that_is_not_utf_8_is_refused(name: bytes, tmp_path: Path) -> None:
    columns = [Written(b"task", plain(b"a", b"b")), rewards(2), Written(name, plain(b"x", b"y"))]
    path = write(tmp_path / "x.parquet", 2, columns)
    with pytest.raises(InputError) as caught:
        compute(path)
    words = "cannot be read: the name of one of its columns is not UTF-8"
    assert str(caught.value) == f"{path} {words}"


@pytest.mark.parametrize("value", ["[1, 2]", "{'a': 1}", "map {'a': 1}", "[1, 2]::integer[2]"])
@pytest.mark.parametrize(
    "metric",
    [
        "grouped metric=mean by=x",
        "cohen-kappa reference=x",
    ],
)
def test_label_that_is_a_list_or_a_structure_is_refused(
    metric: str, value: str, tmp_path: Path
) -> None:
    path = str(tmp_path / "x.parquet")
    query = f"select 't' || range as task, 1 as reward, {value} as x from range(3)"
    duckdb.sql(query).write_parquet(path)
    assert compute(path).groups[0].counts.found == 3
    with pytest.raises(InputError, match="holds lists or structures, and a label"):
        compute(path, metrics=[metric])


def test_what_an_engine_fails_with_names_the_file(tmp_path: Path) -> None:
    columns = [Written(b"task", plain(b"a\xff", b"b")), rewards(2)]
    path = write(tmp_path / "x.parquet", 2, columns)
    with pytest.raises(InputError) as caught:
        compute(path)
    assert str(caught.value).startswith(f"{path}: duckdb could not answer: ")


@pytest.mark.parametrize("label", ["*", "^k.*$", "c0", 'a "b".c', "#1"])
@pytest.mark.parametrize("engine", [duckdb.from_arrow, pl.from_arrow, pa.Table.to_pandas, None])
def test_column_is_read_whatever_it_is_called(engine: Any, label: str) -> None:
    """To DuckDB a star is each column, to Polars some names are patterns."""
    columns = {
        "kind": ["p", "q", "p", "q"],
        "task": list("abcd"),
        "reward": [1.0, 1.0, 1.0, 0.0],
        label: ["x", "x", "y", "y"],
    }
    table = pa.table(columns)
    result = compute(engine(table) if engine else table, metrics=["mean"], group_by=[label])
    assert result.groups[0].metrics[0].values == {"x": 1.0, "y": 0.5, "all": 0.75}
