"""Folders that are named for a column, as Spark, Polars, pandas and DuckDB write them."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import duckdb
import pytest
from conftest import Run
from printed import document
from pyarrow import parquet

from harbor_metrics import compute
from harbor_metrics.engines.partitions import Below, partitions
from harbor_metrics.errors import InputError

# Of the system or of other programs: it is the same on every Python.
pytestmark = pytest.mark.one_python

ROWS = [(task, float(model == "x"), model) for model in ("x", "y") for task in "abc"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The same trials as one file, and parted by their model."""
    rows = duckdb.sql(f"select * from (values {', '.join(map(str, ROWS))}) t(task, reward, model)")
    rows.write_parquet(str(tmp_path / "whole.parquet"))
    rows.write_parquet(str(tmp_path / "parted.parquet"), partition_by=["model"])
    return tmp_path


@pytest.mark.parametrize(
    "parted", ["parted.parquet", "parted.parquet/*/*.parquet", "{folder}/parted.parquet"]
)
def test_folders_say_a_column(cli: Run, folder: Path, parted: str) -> None:
    def groups(path: str) -> object:
        return document(cli("compute", path, "--format", "json"))["groups"]

    assert groups(parted.format(folder=folder)) == groups("whole.parquet")


def test_a_folder_above_says_nothing(cli: Run, folder: Path) -> None:
    """As for Spark: what is named is what is read."""
    (folder / "parted.parquet/model=y").rename(folder / "model=y")
    found = document(cli("compute", "model=y/*.parquet", "--format", "json"))["groups"]
    assert [(group["model"], group["counts"]["found"]) for group in found] == [(None, 3)]
    (folder / "run=1").mkdir()
    (folder / "parted.parquet").rename(folder / "run=1/parted.parquet")
    found = document(cli("compute", "run=1/parted.parquet", "--format", "json"))["groups"]
    assert [(group["model"], group["counts"]["found"]) for group in found] == [("x", 3)]


@pytest.mark.parametrize(
    ("one", "other"),
    [("1.1", "1.10"), ("1e5", "100000"), ("a:b", "a:c"), ("a", "a\\x"), ("a'", "?")],
)
def test_values_are_read_as_they_are(one: str, other: str, cli: Run, tmp_path: Path) -> None:
    """Not as the engine has it, nor with the folders above, where it is told a whole path."""
    here = tmp_path / "model=above"
    for value, reward in ((one, 1), (other, 0)):
        path = here / f"t.parquet/model={value}"
        path.mkdir(parents=True)
        duckdb.sql(f"select 'a' as task, {reward} as reward").write_parquet(str(path / "f.parquet"))
    done = cli("compute", "t.parquet", "--format", "json", cwd=here)
    if "?" in other or "\\" in other:
        assert done.returncode in (0, 3)
    if done.returncode == 0:
        found = {g["model"]: g["metrics"][0]["values"]["mean"] for g in document(done)["groups"]}
        assert found == {one: 1, other: 0}


def test_folders_of_other_names_are_refused(cli: Run, folder: Path) -> None:
    (folder / "parted.parquet/model=y").rename(folder / "parted.parquet/agent=y")
    for sources in (["parted.parquet"], ["whole.parquet", "parted.parquet/*/*.parquet"]):
        done = cli("compute", *sources)
        assert done.returncode == 3
        assert "named for other columns" in done.stderr


@pytest.mark.parametrize("lacking", [False, True])
def test_what_files_say_themselves_counts(cli: Run, tmp_path: Path, *, lacking: bool) -> None:
    for reward, own in ((1, "0.25 as reward"), (0, "1 as n" if lacking else "0.75 as reward")):
        path = tmp_path / f"t.parquet/reward={reward}"
        path.mkdir(parents=True)
        duckdb.sql(f"select 'a' as task, {own}").write_parquet(str(path / "f.parquet"))
    done = cli("compute", "t.parquet", "--format", "json")
    if lacking:
        assert done.returncode == 3
        assert "write what the folders say to all files, or to none" in done.stderr
    else:
        assert document(done)["groups"][0]["metrics"][0]["values"] == {"mean": 0.5}


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        (["1", "-20", "__HIVE_DEFAULT_PARTITION__"], "BIGINT"),
        (["1", "0.5", "1e-05"], "DOUBLE"),
        (["1", "01"], "VARCHAR"),
        (["9" * 19], "VARCHAR"),
        (["9" * 18], "BIGINT"),
        (["1.10"], "VARCHAR"),
        (["-0", "0"], "VARCHAR"),
        (["0.5", str(2**53 + 1)], "VARCHAR"),
        (["nan"], "VARCHAR"),
        (["2026-01-01"], "VARCHAR"),
        (["a%3Db", ""], "VARCHAR"),
    ],
)
def test_values_are_numbers_where_they_keep_every_sign(values: list[str], type_: str) -> None:
    files = [Below(f"t/reward.x={value}/f.parquet", "t") for value in values]
    said = partitions(files)
    assert said.types == {"reward.x": type_}
    last = "None" if values[-1].startswith("__HIVE") else unquote(values[-1])
    assert str(said.values[files[-1].file]["reward.x"]) == last


def test_names_stay_texts(cli: Run, tmp_path: Path) -> None:
    for model, reward in (("4.1", 1), ("4.2", 0)):
        path = tmp_path / f"t.parquet/model={model}"
        path.mkdir(parents=True)
        query = f"select 'a' as task, {reward} as reward"
        duckdb.sql(query).write_parquet(str(path / "f.parquet"))
    groups = document(cli("compute", "t.parquet", "--format", "json"))["groups"]
    assert [group["model"] for group in groups] == ["4.1", "4.2"]


def test_rewards_can_be_said_by_folders(cli: Run, tmp_path: Path) -> None:
    for reward, task in ((1, "a"), (0, "b"), (0.5, "c"), ("__HIVE_DEFAULT_PARTITION__", "d%3D")):
        path = tmp_path / f"t.parquet/reward={reward}/task={task}"
        path.mkdir(parents=True)
        duckdb.sql("select 'oracle' as agent").write_parquet(str(path / "f.parquet"))
    done = cli("compute", "t.parquet", "--format", "json")
    (group,) = document(done)["groups"]
    assert group["metrics"][0]["values"] == {"mean": 0.375}
    assert (group["counts"]["missing"], group["counts"]["tasks"]) == (1, 4)


def test_integers_that_are_decimals_are_integers(cli: Run, tmp_path: Path) -> None:
    query = "select 'a' as task, {}::decimal(20, 0) as reward"
    for reward, code in ((3, 0), (2**53 + 1, 3)):
        duckdb.sql(query.format(reward)).write_parquet(str(tmp_path / "t.parquet"))
        done = cli("compute", "t.parquet", "--metric", "max", "--format", "json")
        assert done.returncode == code, done.stderr
        if not code:
            assert '"max": 3\n' in done.stdout


@pytest.mark.cluster
def test_spark_reads_what_duckdb_reads(cli: Run, folder: Path) -> None:
    pytest.importorskip("pyspark")
    (folder / "deep.parquet/below").mkdir(parents=True)
    columns = (
        "3::ubigint as reward, timestamptz '2024-11-03 05:30:00Z' as at, null::ubigint as error"
    )
    for i, place in enumerate(("deep.parquet/a.parquet", "deep.parquet/below/b.parquet")):
        task = f"(18446744073709551615 - {i})::ubigint as task"
        duckdb.sql(f"select {task}, {columns}").write_parquet(str(folder / place))
    duckdb.sql("select 'a' as task, 1 as reward").write_parquet(str(folder / "_a.parquet"))

    def groups(engine: str, *arguments: str) -> object:
        options = ("--engine", engine, "--format", "json")
        return document(cli("compute", *arguments, *options, env={"TZ": "America/New_York"}))[
            "groups"
        ]

    for arguments in (
        ("parted.parquet",),
        ("deep.parquet", "--columns", "label.at=at", "--group-by", "at", "--metric", "max"),
    ):
        assert groups("spark", *arguments) == groups("duckdb", *arguments)
    done = cli("compute", "whole.parquet", "_a.parquet", "--engine", "spark")
    assert done.returncode == 3
    assert "Spark does not read _a.parquet" in done.stderr


def test_integers_beyond_64_bits_are_texts_and_null_is_null(cli: Run, tmp_path: Path) -> None:
    rows = ", ".join(f"(18446744073709551615 - {i}, {i % 2}, null::hugeint)" for i in range(4))
    columns = (
        "task::decimal(20, 0) as task, reward::ubigint as reward, error::decimal(20, 0) as error"
    )
    query = f"select {columns} from (values {rows}) t(task, reward, error)"
    duckdb.sql(query).write_parquet(str(tmp_path / "t.parquet"))
    (group,) = document(cli("compute", "t.parquet", "--format", "json"))["groups"]
    assert (group["counts"]["tasks"], group["counts"]["errored"]) == (4, 0)


@pytest.mark.parametrize(
    ("reward", "said"), [(3, "3"), (2**53 + 1, ""), (10**19, ""), (-(10**19), "")]
)
@pytest.mark.parametrize("kind", ["arrow", "duckdb", "path"])
def test_decimals_without_a_fraction_are_integers_in_frames(
    kind: str, reward: int, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "t.parquet"
    query = f"select 'a' as task, {reward}::decimal(20, 0) as reward union all select 'b', null"
    duckdb.sql(query).write_parquet(str(path))
    frame = duckdb.read_parquet(str(path)) if kind != "path" else path
    if kind == "arrow":
        frame = parquet.read_table(path)
    if not said:
        with pytest.raises(InputError):
            compute(frame, metrics=["max"])
    else:
        values = compute(frame, metrics=["max"], missing="skip").groups[0].metrics[-1].values
        assert str(values["max"]) == said


@pytest.mark.parametrize("other", ["double", "decimal(10, 2)"])
@pytest.mark.parametrize("many", [False, True])
def test_decimals_without_a_fraction_beside_others_are_as_integers(
    other: str, tmp_path: Path, *, many: bool
) -> None:
    # Beyond what a float holds, or only their sum is.
    own = 2**53 if many else 2**53 + 1
    rows = f"select 'a' || range as task, {own}::decimal(20, 0) as reward from range({1 + many})"
    duckdb.sql(rows).write_parquet(str(tmp_path / "a.parquet"))
    rest = f"select 'b' as task, 1.5::{other} as reward"
    duckdb.sql(rest).write_parquet(str(tmp_path / "b.parquet"))
    with pytest.raises(InputError, match=r"DECIMAL\(20,0\)"):
        compute(f"{tmp_path}/*.parquet")


def test_what_a_strangers_group_holds_leaves_the_users_its_numbers(tmp_path: Path) -> None:
    mine = "select 'a' || range % 3 as task, range % 2 / 2 as reward, 0.5 as cost_usd, 'u' as model"
    duckdb.sql(f"{mine} from range(9)").write_parquet(str(tmp_path / "mine.parquet"))
    theirs = "select 'a' as task, {} as reward, {} as cost_usd, 's' as model from range(100)"
    wild = "if(range % 2 = 0, 1e-30, 1e30)"
    options = {"metrics": ["flipped", "median", "best-at-k k=2"], "over": "attempts"}
    (alone,) = compute(tmp_path / "mine.parquet", **options).groups
    for amounts in (("range / 100", "0.5"), (wild, wild)):
        path = tmp_path / "theirs.parquet"
        duckdb.sql(theirs.format(*amounts)).write_parquet(str(path))
        groups = compute(tmp_path / "mine.parquet", path, **options).groups
        assert next(group for group in groups if group.model == "u") == alone
