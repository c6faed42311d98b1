"""Parquet of a few hundred bytes that unfolds to gigabytes is refused before an engine reads it."""

from __future__ import annotations

import random
import struct
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from parquet_by_hand import (
    DELTA,
    DELTA_LENGTH,
    DICTIONARY,
    PLAIN,
    Page,
    Written,
    deltas,
    plain,
    rewards,
    signed,
    texts,
    unsigned,
    write,
)
from pyarrow import parquet

from harbor_metrics import compute
from harbor_metrics.engines import texts as unfolding
from harbor_metrics.errors import InputError

# What DuckDB says has nothing of Python's in it.
pytestmark = pytest.mark.one_python
_LONG = b"x" * (1 << 20)


def of_dictionary(rows: int) -> list[Page]:
    """Two long texts, and rows that are each of them in turn."""
    turns = unsigned((rows // 8) << 1 | 1) + b"\xaa" * (rows // 8)
    return [
        Page(texts([_LONG, _LONG[1:]]), 2, PLAIN, is_dictionary=True),
        Page(b"\1" + turns, rows, DICTIONARY),
    ]


def with_shared(rows: int) -> list[Page]:
    """Texts of which each but the first is as the one before it."""
    shared = deltas([0, *[len(_LONG)] * (rows - 1)])
    own = deltas([len(_LONG), *[0] * (rows - 1)])
    return [Page(shared + own + _LONG, rows, DELTA)]


def written(path: Path, rows: int, pages: list[Page], codec: str = "zstd") -> str:
    columns = [Written(b"task", pages), rewards(rows)]
    return write(path / "x.parquet", rows, columns, codec)


@pytest.mark.parametrize("codec", ["zstd", "snappy", "gzip", "lz4_raw"])
@pytest.mark.parametrize("pages", [of_dictionary, with_shared])
def test_few_bytes_that_unfold_to_gigabytes_are_refused(
    pages: Any, codec: str, tmp_path: Path
) -> None:
    rows = 80_000
    with pytest.raises(InputError, match=r"column `task` would unfold to [\d,]+ bytes or more"):
        compute(written(tmp_path, rows, pages(rows), codec))


@pytest.mark.parametrize("pages", [of_dictionary, with_shared])
def test_the_same_in_few_rows_is_read(pages: Any, tmp_path: Path) -> None:
    (group,) = compute(written(tmp_path, 64, pages(64))).groups
    assert group.counts.found == 64


@pytest.mark.parametrize("encoding", [DELTA, DELTA_LENGTH])
def test_more_lengths_than_a_page_has_values_are_refused(encoding: int, tmp_path: Path) -> None:
    """Twenty bytes that say two thousand million zeros."""
    many = 1 << 31
    lengths = unsigned(many) + unsigned(4) + unsigned(many) + b"\0\0" + bytes(4)
    with pytest.raises(InputError):
        compute(written(tmp_path, 10, [Page(lengths * 2, 10, encoding)]))


def test_page_that_says_more_than_its_footer_is_refused(tmp_path: Path) -> None:
    page = Page(texts([b"a"] * 9), 9, PLAIN, said=(1 << 31) - 1)
    with pytest.raises(InputError, match="column `task` would unfold to 2,147,483,647 bytes"):
        compute(written(tmp_path, 9, [page]))


def test_differences_below_zero_take_nothing_from_the_sum(tmp_path: Path) -> None:
    """An engine has unfolded what stands before them when it meets them."""
    shared = deltas([0, *[len(_LONG)] * 2000, -len(_LONG) * 2000])
    own = deltas([len(_LONG), *[0] * 2001])
    with pytest.raises(InputError, match="a page of column `task` has no head"):
        compute(written(tmp_path, 2002, [Page(shared + own + _LONG, 2002, DELTA)]))


def test_file_that_ends_within_the_head_of_a_page_is_refused(tmp_path: Path) -> None:
    path = Path(written(tmp_path, 9, [Page(texts([b"a"] * 9), 9, PLAIN)]))
    data = path.read_bytes()
    path.write_bytes(data.replace(data[4:10], b"\x15\x80\x80\x80\x80\x80", 1))
    with pytest.raises(InputError):
        compute(str(path))


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "zstd"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", "PLAIN", None])
@pytest.mark.parametrize("nullable", [True, False])
def test_what_texts_unfold_to_is_what_they_are_long(
    nullable: bool, encoding: str | None, version: Any, codec: str, tmp_path: Path
) -> None:
    path = str(tmp_path / "x.parquet")
    rng = random.Random(7)  # the same texts each time
    values = ["t" * rng.choice([0, 1, 7, 300]) + str(rng.randrange(999)) for _ in range(3000)]
    long = sum(map(len, values))
    field = pa.field("task", pa.string(), nullable)
    data = [value if i % 7 or not nullable else None for i, value in enumerate(values)]
    parquet.write_table(
        pa.table({"task": data}, pa.schema([field])), path, compression=codec,
        data_page_version=version, use_dictionary=encoding is None, row_group_size=1100,
        column_encoding=None if encoding is None else {"task": encoding}, data_page_size=900,
    )  # fmt: skip
    columns = unfolding.Texts(duckdb.connect(), [path], nullcontext)
    columns.check("TASK")
    assert columns._asked(path, "Task") == sum(len(value or "") for value in data)
    with open(path, "rb") as file:
        chunks = columns._chunks["task"]
        most = 1 << 30, 1 << 30
        assert all(each.optional == nullable for each in chunks)
        found = [unfolding._unfolded(file, each, most) for each in chunks]
    shared = sum(each.shared for each in found)
    assert all(each.known == (encoding != "DELTA_LENGTH_BYTE_ARRAY") for each in found)
    if encoding == "DELTA_BYTE_ARRAY":
        assert sum(map(len, filter(None, data))) <= shared < 2 * long + 40_000
    else:
        assert shared == 0


@pytest.mark.parametrize("pages", ["1.0", "2.0"])
@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "zstd"])
@pytest.mark.parametrize("checksum", [True, False])
def test_page_that_is_not_what_its_checksum_says_is_refused(
    checksum: bool, codec: Any, pages: Any, tmp_path: Path
) -> None:
    """One that has none is what the engine makes of it; whole ones are read."""
    path = tmp_path / "t.parquet"
    table = pa.table(
        {"task": [f"t{i % 9}" for i in range(900)], "reward": [i / 7 for i in range(900)]}
    )
    parquet.write_table(
        table, path, compression=codec, data_page_version=pages, use_dictionary=False,
        write_page_checksum=checksum, data_page_size=1_000,
    )  # fmt: skip
    assert compute(path, metrics=["count"]).groups[0].counts.found == 900
    chunk = parquet.ParquetFile(path).metadata.row_group(0).column(1)
    data = bytearray(path.read_bytes())
    # Within the content of its last page.
    data[chunk.data_page_offset + chunk.total_compressed_size - 40] ^= 1
    path.write_bytes(data)
    if checksum or codec == "gzip":
        with pytest.raises(InputError, match="a page of column `reward` is damaged"):
            compute(path)


def test_column_whose_pages_have_fewer_values_than_rows_is_refused(tmp_path: Path) -> None:
    """DuckDB went on with the values of the next one."""
    path = tmp_path / "t.parquet"
    columns = {"task": [f"t{i}" for i in range(24)], "reward": [1.0] * 24, "cost_usd": [0.0] * 24}
    parquet.write_table(
        pa.table(columns), path, compression="none", use_dictionary=False, write_statistics=False
    )
    chunk = parquet.ParquetFile(path).metadata.row_group(0).column(1)
    data = bytearray(path.read_bytes())
    place = data.index(b"\x2c\x15\x30", chunk.data_page_offset)
    assert place < chunk.data_page_offset + 30
    data[place + 2] = 0x10
    path.write_bytes(data)
    with pytest.raises(InputError, match="those that are have fewer values than rows"):
        compute(path)


def test_page_whose_values_would_repeat_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    columns = {"task": [f"t{i}" for i in range(12)], "reward": [0.5, None, 1.0] * 4}
    parquet.write_table(
        pa.table(columns), path, compression="none", use_dictionary=False, data_page_version="2.0"
    )
    chunk = parquet.ParquetFile(path).metadata.row_group(0).column(1)
    data = bytearray(path.read_bytes())
    place = data.index(b"\x5c\x15\x18\x15\x08\x15\x18\x15\x00\x15", chunk.data_page_offset)
    # How many bytes say it, after how many say what is null.
    assert data[place + 12] == 0
    data[place + 12] = 4
    path.write_bytes(data)
    with pytest.raises(InputError, match="values would repeat in it"):
        compute(path)


@pytest.mark.parametrize("less", [1, 50])
def test_pages_of_the_next_column_are_not_read(less: int, tmp_path: Path) -> None:
    """Old programs say that a chunk is shorter than it is, and DuckDB went on with others'."""
    reward = Written(b"reward", [Page(struct.pack("<16d", *[1] * 16), 16, PLAIN)], is_text=False)
    cost = Written(b"cost_usd", [Page(bytes(8 * 24), 24, PLAIN)], is_text=False)
    tasks = Written(b"task", plain(*[b"t"] * 24))
    path = Path(write(tmp_path / "t.parquet", 24, [tasks, reward, cost]))
    query = "select total_compressed_size, data_page_offset from parquet_metadata(?)"
    size, start = duckdb.execute(query, [str(path)]).fetchall()[1]
    data = path.read_bytes()
    before, after = (
        b"\x16" + signed(length) + b"\x26" + signed(start) for length in (size, size - less)
    )
    assert (data.count(before), len(before)) == (1, len(after))
    path.write_bytes(data.replace(before, after))
    with pytest.raises(InputError, match="column `reward`"):
        compute(path)
