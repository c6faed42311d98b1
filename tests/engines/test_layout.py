"""What columns hold that no task, reward or label can be, and how they are named."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from parquet_by_hand import Written, plain, rewards, write
from pyarrow import parquet

from harbor_metrics import compute
from harbor_metrics.engines.arrow_schema import durations
from harbor_metrics.engines.heads import BrokenError, Head, values_in
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


def _by_polars(table: pa.Table, path: Path) -> None:
    pl.DataFrame(pl.from_arrow(table)).write_parquet(path)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("write_table", [parquet.write_table, _by_polars])
@pytest.mark.parametrize("name", ["seconds", "reward", "label.spent"])
def test_durations_are_refused_as_in_frames(
    name: str, write_table: Any, unit: str, tmp_path: Path
) -> None:
    """In the file they are integers of their unit: a second was 1,000,000."""
    spent = pa.array([timedelta(seconds=1), timedelta(seconds=2)], pa.duration(unit))
    columns = {"task": ["a", "b"], "reward": [1.0, 0.0], name: spent}
    write_table(pa.table(columns), tmp_path / "t.parquet")
    group_by = ["spent"] if name == "label.spent" else []
    for source in (tmp_path / "t.parquet", pa.table(columns)):
        with pytest.raises(InputError, match=r"holds (durations|Duration)"):
            compute(source, metrics=["mean", "total-seconds"], group_by=group_by)


def test_durations_of_which_nothing_is_asked_are_no_matter(tmp_path: Path) -> None:
    columns = {"task": ["a"], "reward": [1.0], "spent": [timedelta(seconds=1)]}
    parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    assert compute(tmp_path / "t.parquet").groups[0].metrics[0].values == {"mean": 1.0}


@pytest.mark.parametrize("cut", range(0, 400, 7))
def test_schema_that_is_broken_is_refused_or_says_what_it_can(cut: int, tmp_path: Path) -> None:
    columns = {"task": ["a"], "reward": [1.0], "spent": [timedelta(seconds=1)]}
    parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    assert durations(str(tmp_path / "t.parquet")) == ["spent"]
    data = (tmp_path / "t.parquet").read_bytes()
    place = data.index(b"ARROW:schema") + 20 + cut
    (tmp_path / "t.parquet").write_bytes(data[:place] + b"A/9" + data[place + 3 :])
    with suppress(InputError):
        assert len(durations(str(tmp_path / "t.parquet"))) <= 3


@pytest.mark.parametrize(
    ("behind", "is_read"),
    [
        (b"\x18\x04AAAA\0", True),
        # The head of the value in the other way that Thrift has, or twice, or before the key.
        (b"\x08\x04\x04AAAA\0", False),
        (b"\x18\x04AAAA\x08\x04\x04BBBB\0", False),
        (b"\0", False),
        (b"\x18\x04AA", False),
    ],
)
def test_value_of_a_key_is_read_only_as_all_writers_have_it(behind: bytes, is_read: bool) -> None:
    footer = b"\x15\x02\x18\x0cARROW:schema" + behind
    assert list(values_in(footer, b"ARROW:schema")) == [b"AAAA" if is_read else None]


@pytest.mark.parametrize(
    ("page", "is_read"),
    [
        # A data page: type, two sizes, and how many values in which encodings.
        (b"\x15\0\x15\x10\x15\x10\x2c\x15\x10\x15\0\x15\x06\x15\x06\0\0", True),
        # Its type once more, as an integer of 64 bits, which Thrift passes over.
        (b"\x15\0\x15\x10\x15\x10\x2c\x15\x10\x15\0\x15\x06\x15\x06\0\x06\x02\x06\0", False),
        (b"\x16\0\x15\x10\x15\x10\0", False),
        (b"\x15\0\x15\x10\x15\x10\x05\x02\x02\0", False),
        (b"\x15\0\x15\x10\x15\x10\x2c\x16\x10\0\0", False),
    ],
)
def test_head_of_a_page_is_read_as_readers_agree_on_it(page: bytes, is_read: bool) -> None:
    if is_read:
        assert Head(page).struct() == {1: 0, 2: 8, 3: 8, 5: {1: 8, 2: 0, 3: 3, 4: 3}}
    else:
        with pytest.raises(BrokenError):
            Head(page).struct()


@pytest.mark.parametrize(("digits", "scale"), [(60, 30), (39, 0)])
def test_decimals_with_more_digits_than_an_engine_keeps_are_refused(
    digits: int, scale: int, tmp_path: Path
) -> None:
    """DuckDB made 0.09999999999999999 of 0.1."""
    reward = pa.array([Decimal(1)], pa.decimal256(digits, scale))
    parquet.write_table(pa.table({"task": ["a"], "reward": reward}), tmp_path / "t.parquet")
    with pytest.raises(InputError, match="holds decimals of more than 38 digits"):
        compute(tmp_path / "t.parquet")


@pytest.mark.parametrize("bits", [8, 16, 32])
@pytest.mark.parametrize("engine", [duckdb.from_arrow, pl.from_arrow, pa.Table.to_pandas, None])
def test_least_integer_of_a_type_is_a_reward(engine: Any, bits: int) -> None:
    """It has no magnitude that the type holds."""
    least = -(2 ** (bits - 1))
    rewards = pa.array([least, 0, 1], getattr(pa, f"int{bits}")())
    table = pa.table({"task": list("abc"), "reward": rewards})
    result = compute(engine(table) if engine else table, metrics=["min", "sum"])
    values = {metric.type: metric.values for metric in result.groups[0].metrics}
    assert (values["min"], values["sum"]) == ({"min": least}, {"sum": least + 1})


def test_schema_of_other_columns_than_the_file_is_refused(tmp_path: Path) -> None:
    """PyArrow takes it by places: durations were seconds, whatever the schema called them."""
    columns = {"task": ["a"], "reward": [1.0], "instead": [timedelta(seconds=1)]}
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table(columns), path)
    # Arrow's own schema is in base64, and stays.
    path.write_bytes(path.read_bytes().replace(b"instead", b"seconds"))
    assert parquet.read_table(path)["seconds"].type == pa.duration("us")
    with pytest.raises(InputError, match="has other columns than it"):
        compute(path, metrics=["total-seconds"])
