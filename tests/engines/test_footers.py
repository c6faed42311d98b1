"""What the footer of a Parquet says of its pages is not taken for what they hold."""

from __future__ import annotations

import io
import struct
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from conftest import Run
from parquet_by_hand import PLAIN, Page, Written, plain, rewards, signed, write
from pyarrow import parquet

from harbor_metrics import compute
from harbor_metrics.engines import footers
from harbor_metrics.engines.footers import _Chunk, _nulls, check_nulls
from harbor_metrics.engines.heads import BrokenError, Head, footer_length
from harbor_metrics.engines.pages import unpacked_page
from harbor_metrics.errors import InputError

# What DuckDB says has nothing of Python's in it.
pytestmark = pytest.mark.one_python
_NULLS = {
    "double": pa.float64(),
    "integer": pa.int64(),
    "text": pa.string(),
    "flag": pa.bool_(),
    "list": pa.list_(pa.string()),
}


def lying(path: Path, rewards: list[float | None], written: bytes, said: bytes) -> str:
    """A file whose footer says another number of rewards that are null than was written."""
    columns = {"task": [f"t{place}" for place in range(len(rewards))], "reward": rewards}
    stream = io.BytesIO()
    parquet.write_table(pa.table(columns), stream, store_schema=False, use_dictionary=False)
    data = stream.getvalue()
    size = int.from_bytes(data[-8:-4], "little")
    body, footer = data[: -8 - size], data[-8 - size : -8]
    assert footer.count(written) == 1
    footer = footer.replace(written, said)
    path.write_bytes(body + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    return str(path)


@pytest.mark.parametrize(
    ("rewards", "written", "said"),
    [
        ([1.0, None, 0.5, 1.0, 1.0, 0.0, 1.0], b"\x16\x02\x28", b"\x16\x0e\x28"),
        # Of such the footer names no least and no largest, and the page tells alone.
        ([float("nan"), None, *[float("nan")] * 5], b"\x36\x02\x00", b"\x36\x0e\x00"),
    ],
)
def test_footer_that_says_all_null_of_rewards_is_refused(
    rewards: list[float | None], written: bytes, said: bytes, tmp_path: Path
) -> None:
    """DuckDB counted them as missing, and others read them."""
    path = lying(tmp_path / "x.parquet", rewards, written, said)
    read = parquet.read_table(path).column("reward").to_pylist()
    assert str(read) == str(rewards)
    with pytest.raises(InputError) as caught:
        compute(path)
    assert str(caught.value) == (
        f"{path}: its footer says that all values of a part of column `reward` are null, and they "
        "are not"
    )


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("engine", ["duckdb", pytest.param("spark", marks=pytest.mark.cluster)])
def test_part_whose_footer_denies_what_is_looked_for_is_looked_into(
    engine: str, parts: int, tmp_path: Path
) -> None:
    """The groups, so far apart, are asked one after the other; engines left out parts of one."""
    if engine == "spark":
        pytest.importorskip("pyspark")
    path = tmp_path / "x.parquet"
    rewards = [0.0, 0.0, 0.0, 0.25, 1.0, 1.0, 1.0, 0.75, *[1e25, 2e25] * 2]
    columns = {
        "task": [f"t{place}" for place in range(12)],
        "agent": ["me"] * 8 + ["other"] * 4,
        "reward": rewards,
    }
    stream = io.BytesIO()
    parquet.write_table(pa.table(columns), stream, store_schema=False, row_group_size=4)
    data = stream.getvalue()
    size = int.from_bytes(data[-8:-4], "little")
    body, footer = data[: -8 - size], data[-8 - size : -8]
    named = footer.count(b"\x02me")
    assert named >= 4
    footer = footer.replace(b"\x02me", b"\x02zz", named * parts // 2)
    path.write_bytes(body + footer + data[-8:])
    groups = compute(path, metrics=["mean"], engine=engine).groups
    assert [(g.agent, g.metrics[0].values["mean"]) for g in groups] == [
        ("me", 0.5),
        ("other", 1.5000000000000002e25),
    ]


@pytest.mark.parametrize("rows", [1, 8, 1000, 20_001])
@pytest.mark.parametrize("pages", ["1.0", "2.0"])
def test_columns_that_are_null_are_read(pages: Any, rows: int, tmp_path: Path) -> None:
    path = str(tmp_path / "x.parquet")
    nulls = {name: pa.nulls(rows, kind) for name, kind in _NULLS.items()}
    nulls["lists"] = pa.array([None, *[[]] * (rows - 1)], pa.list_(pa.string()))
    for codec, dictionary in product(["none", "snappy", "zstd"], [True, False]):
        parquet.write_table(
            pa.table(nulls), path, compression=codec, data_page_version=pages,
            use_dictionary=dictionary,
        )  # fmt: skip
        check_nulls(duckdb.connect(), [path])


@pytest.mark.parametrize("rows", [1, 8, 1000, 130_000])
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_columns_that_are_null_and_written_by_duckdb_are_read(
    version: str, rows: int, tmp_path: Path
) -> None:
    path = str(tmp_path / "x.parquet")
    connection = duckdb.connect()
    connection.execute(
        "copy (select null::double as d, null::varchar as t, null::integer as i, null::varchar[] "
        f"as l, if(range % 2 = 0, [], null)::varchar[] as e from range({rows})) to '{path}' "
        f"(format parquet, parquet_version {version})"
    )
    check_nulls(connection, [path])


@pytest.mark.parametrize("what", ["rows", "bytes"])
def test_small_file_that_unpacks_to_very_much_is_refused(
    what: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(footers, f"_MOST_{what.upper()}", 1000)
    path = str(tmp_path / "x.parquet")
    value, rows = ("'t'", 2_000_000) if what == "rows" else ("repeat('t', 2000000)", 2)
    duckdb.sql(
        f"copy (select {value} as task, 1.0::double as reward from range({rows})) to '{path}' "
        "(format parquet, compression zstd, row_group_size 10000000)"
    )
    with pytest.raises(InputError, match=rf"would unpack to [\d,]+ {what}, .* at most 500 times"):
        compute(path)


def test_few_bytes_may_unpack_to_some(tmp_path: Path) -> None:
    path = str(tmp_path / "x.parquet")
    duckdb.sql("select 't' as task, 1.0 as reward from range(1000000)").write_parquet(path)
    (group,) = compute(path).groups
    assert group.counts.found == 1_000_000


@pytest.mark.parametrize("rows", [1, 9, 100])
@pytest.mark.parametrize("codec", ["UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD"])
def test_nulls_that_are_said_bit_by_bit_are_nulls(codec: str, rows: int) -> None:
    """As fastparquet writes them: with eight bytes more, as many as a number takes."""
    groups = (rows + 7) // 8
    for bits, null in ((b"\0" * groups, True), (b"\1" + b"\0" * (groups - 1), False)):
        levels = bytes([2 * groups + 1]) + bits
        page = len(levels).to_bytes(4, "little") + levels + b"\0" * 8
        packer = None if codec == "UNCOMPRESSED" else pa.Codec(codec.lower())
        packed = packer.compress(page, asbytes=True) if packer else page
        head = _thrift(len(page), len(packed), rows)
        end = len(head) + len(packed)
        chunk = footers._Chunk("f", "c", codec, rows, rows, False, True, 0, end)
        assert footers._has_values(io.BytesIO(head + packed), chunk) is not null


def _thrift(unpacked: int, packed: int, rows: int) -> bytes:
    """The head of a page: its kind, both sizes, and how many values, plain, after RLE."""

    def integer(n: int) -> bytes:
        n *= 2
        return b"\x15" + (bytes([n]) if n < 128 else bytes([n & 127 | 128, n >> 7]))

    sizes = integer(0) + integer(unpacked) + integer(packed)
    return sizes + b"\x2c" + integer(rows) + integer(0) + integer(3) + integer(4) + b"\0\0"


def test_what_snappy_packs_is_unpacked() -> None:
    for data in (b"a" * 5000, bytes(range(256)) * 20, b"ab" * 30 + bytes(range(200)), b""):
        packed = pa.Codec("snappy").compress(data, asbytes=True)
        assert unpacked_page("SNAPPY", packed, len(data)) == data
    assert unpacked_page("SNAPPY", b"\x05\x01\x09", 5) is None
    assert unpacked_page("BROTLI", b"", 5) is None


@pytest.mark.parametrize("rows", [1, 3_000])
def test_long_footer_is_read(rows: int, tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    n = 6_000
    table = pa.table({"task": [f"t{i}" for i in range(n)], "reward": [1.0, 0.0] * (n // 2)})
    parquet.write_table(table, path, row_group_size=rows)
    assert (footer_length(str(path)) > footers._SHORT) == (rows == 1)
    assert compute(path, metrics=["mean"]).groups[0].metrics[0].values == {"mean": 0.5}


@pytest.mark.parametrize(
    "footer",
    [
        # Of a group of rows 300,000 columns, of a schema as many, and of it no more than is there.
        b"\x15\x02\x49\x1c\x19\xfc" + b"\xe0\xa7\x12" + bytes(300_000),
        b"\x15\x02\x29\xfc" + b"\xe0\xa7\x12" + bytes(300_000),
        b"\x15\x02\x29\xfc" + b"\xff\xff\xff\xff\x07" + bytes(300_000),
        bytes([0x1C]) * 300_000,
    ],
)
def test_footer_that_lists_more_than_it_can_hold_is_refused(footer: bytes, tmp_path: Path) -> None:
    """DuckDB made room for all of it first, 800 times as much as the file has."""
    path = tmp_path / "x.parquet"
    path.write_bytes(b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(InputError, match="lists more than it can hold"):
        compute(path)


def test_footer_longer_than_any_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(footers, "_SHORT", 10)
    monkeypatch.setattr(footers, "_LONGEST", 20)
    parquet.write_table(pa.table({"task": ["a"], "reward": [1.0]}), tmp_path / "x.parquet")
    with pytest.raises(InputError, match="or is longer than 0 MiB"):
        compute(tmp_path / "x.parquet")


_FLAT = _Chunk("t.parquet", "reward", "UNCOMPRESSED", 8, 8, False, True, 0, 0)
_ONES = struct.pack("<8d", *[1.0] * 8)


@pytest.mark.parametrize(
    ("page", "data", "codec", "nulls"),
    [
        ({1: 3, 2: 2, 8: {1: 8, 2: 8, 5: 2, 6: 0}}, b"\x10\x00", "UNCOMPRESSED", 8),
        # What the head of a page says is not what its levels say.
        ({1: 3, 2: 66, 8: {1: 8, 2: 8, 5: 2, 6: 0}}, b"\x10\x01" + _ONES, "UNCOMPRESSED", None),
        ({1: 0, 2: 6, 5: {1: 8, 2: 0, 3: 3, 4: 3}}, b"\2\0\0\0\x10\0", "UNCOMPRESSED", 8),
        # Levels in the way that is no longer written.
        ({1: 0, 2: 6, 5: {1: 8, 2: 0, 3: 4, 4: 3}}, b"\2\0\0\0\x10\0", "UNCOMPRESSED", None),
        # Of what is packed otherwise only the size is known.
        ({1: 0, 2: 6, 5: {1: 8, 2: 0, 3: 3, 4: 3}}, b"?", "BROTLI", 8),
        ({1: 0, 2: 14, 5: {1: 1, 2: 0, 3: 3, 4: 3}}, b"?", "BROTLI", None),
        ({1: 0, 2: 11, 5: {1: 64, 2: 5, 3: 3, 4: 3}}, b"?", "BROTLI", 64),
        ({1: 0, 2: 11, 5: {1: 1, 2: 5, 3: 3, 4: 3}}, b"?", "BROTLI", None),
    ],
)
def test_nulls_of_a_page_are_those_that_it_shows(
    page: dict[int, Any], data: bytes, codec: str, nulls: int | None
) -> None:
    assert _nulls(page, data, _FLAT._replace(codec=codec)) == nulls


def test_column_that_can_have_no_nulls_has_none_by_its_footer(tmp_path: Path) -> None:
    """Levels of which there are none would be read in its values."""
    names = [("task", pa.string()), ("reward", pa.float64())]
    schema = pa.schema([pa.field(name, kind, nullable=False) for name, kind in names])
    stream = io.BytesIO()
    parquet.write_table(
        pa.table({"task": [*"abcdefg"], "reward": [float("nan")] * 7}, schema=schema),
        stream,
        store_schema=False,
        use_dictionary=False,
    )
    data = stream.getvalue()
    said = data.rindex(b"\x36\x00\x00") + 1
    path = tmp_path / "t.parquet"
    path.write_bytes(data[:said] + b"\x0e" + data[said + 1 :])
    with pytest.raises(InputError, match="says that all values of a part of column `reward`"):
        compute(path)


def test_parts_of_a_column_are_known_by_their_places(tmp_path: Path) -> None:
    """Called otherwise in the footer they were read and not looked at."""
    reward = Written(b"reward", [Page(struct.pack("<2d", 1, 1), 2, PLAIN)], is_text=False)
    cost = Written(b"cost_usd", [Page(struct.pack("<9d", *[0.0] * 9), 9, PLAIN)], is_text=False)
    task = Written(b"task", plain(*[b"t"] * 9))
    path = Path(write(tmp_path / "t.parquet", 9, [task, reward, cost]))
    with pytest.raises(InputError, match="fewer values than rows"):
        compute(path)
    data = path.read_bytes()
    place = data.rindex(b"reward")
    path.write_bytes(data[:place] + b"others" + data[place + 6 :])
    with pytest.raises(InputError, match="fewer values than rows"):
        compute(path)


def test_levels_in_an_old_way_are_refused(tmp_path: Path) -> None:
    """DuckDB reads them as if they were in the newer one."""
    stream = io.BytesIO()
    columns = {"task": [*"abcd"], "reward": [1.0, None, 1.0, 1.0]}
    parquet.write_table(pa.table(columns), stream, use_dictionary=False, compression="none")
    data = stream.getvalue()
    head = b"\x15\x08\x15\x00\x15\x06\x15\x06"
    assert data.count(head) == 2
    (tmp_path / "t.parquet").write_bytes(data.replace(head, b"\x15\x08\x15\x00\x15\x08\x15\x06"))
    with pytest.raises(InputError, match="in a way that DuckDB does not read"):
        compute(tmp_path / "t.parquet")


def test_dictionary_behind_the_values_is_refused(tmp_path: Path) -> None:
    """DuckDB begins with it, and others with the values: of two pages each read another one."""
    path = Path(
        write(tmp_path / "t.parquet", 9, [Written(b"task", plain(*[b"t"] * 9)), rewards(9)])
    )
    query = "select data_page_offset, dictionary_page_offset from parquet_metadata(?)"
    (first, second) = duckdb.execute(query, [str(path)]).fetchall()[1]
    data = path.read_bytes()
    before, after = (
        b"\x26" + signed(a) + b"\x26" + signed(b) for a, b in ((first, second), (second, first))
    )
    assert (second < first, data.count(before)) == (True, 1)
    assert compute(path).groups[0].metrics[0].values == {"mean": 0.0}
    path.write_bytes(data.replace(before, after))
    with pytest.raises(InputError, match="a column's dictionary lies where none can be"):
        compute(path)


def test_a_file_without_rows_adds_nothing(cli: Run, tmp_path: Path) -> None:
    """PyArrow notes a dictionary of each column, and no page of values."""
    table = pa.table({"task": ["a", "b"], "reward": [1.0, 0.0]})
    (tmp_path / "both").mkdir()
    parquet.write_table(table, tmp_path / "both" / "full.parquet")
    parquet.write_table(table.slice(0, 0), tmp_path / "both" / "empty.parquet")
    parquet.write_table(table, tmp_path / "alone.parquet")
    both, alone = cli("compute", "both/*.parquet"), cli("compute", "alone.parquet")
    assert (both.returncode, both.stdout, both.stderr) == (0, alone.stdout, alone.stderr)


@pytest.mark.parametrize(
    "fields",
    [
        b"\x05" + signed(65538) + signed(0),
        b"\x05" + signed(-65534) + signed(0),
        b"\xf5\0" * 2185,
        b"\x15" + signed(2**32 + 3),
        b"\x15" + signed(2**31),
        b"\xc4" + signed(2**15),
        b"\x15" + signed(1) + b"\x10" + signed(0) * 3,
    ],
)
def test_integers_that_thrift_cuts_are_refused(fields: bytes) -> None:
    """It takes field 65538 for field 2, and 4294967299 for 3."""
    with pytest.raises(BrokenError):
        Head(fields + b"\0").struct()


@pytest.mark.parametrize("value", [2**31 - 1, -(2**31), 0])
def test_integers_of_32_bits_are_read(value: int) -> None:
    assert Head(b"\x15" + signed(value) + b"\0").struct() == {1: value}


@pytest.mark.parametrize("codec", ["none", "snappy", "zstd"])
def test_a_dictionary_beside_nulls_alone_is_read(codec: str, tmp_path: Path) -> None:
    """PyArrow writes all categories of a column with each group of rows."""
    names = pa.array([None, None, "d", "d"]).dictionary_encode()
    table = pa.table({"task": [*"abcd"], "reward": [1.0, 0.0, 1.0, 1.0], "kind": names})
    parquet.write_table(table, tmp_path / "x.parquet", row_group_size=2, compression=codec)
    assert compute(tmp_path / "x.parquet").groups[0].metrics[0].values == {"mean": 0.75}
    check_nulls(duckdb.connect(), [str(tmp_path / "x.parquet")])
