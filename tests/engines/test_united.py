"""Several files of Parquet are united where each keeps its numbers and names."""

from __future__ import annotations

import io
import random
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from pyarrow import parquet, table

from harbor_metrics import compute
from harbor_metrics.engines.united import Alike, United
from harbor_metrics.errors import InputError
from harbor_metrics.readers.columns import meanings

# What DuckDB says has nothing of Python's in it.
pytestmark = pytest.mark.one_python
AMOUNTS = ("reward", "n_input_tokens")
NUMBERS = {
    "TINYINT": "127", "INTEGER": "2147483647", "BIGINT": "3002399751580330", "UBIGINT": "16777217",
    "FLOAT": "0.1", "DOUBLE": "0.1", "DECIMAL(12,2)": "9876543210.91", "DECIMAL(38,30)": "0.1",
}  # fmt: skip


def write(path: Path, mine: str, **columns: str) -> str:
    """Three trials of a group of its own, with columns of these expressions."""
    named = "".join(f', {value} as "{name}"' for name, value in columns.items())
    of_group = "" if "task" in columns else f", '{mine}' || range as task"
    query = f"select '{mine}' as agent{of_group}{named} from range(3)"
    duckdb.sql(query).write_parquet(str(path / f"{mine}.parquet"))
    return str(path / f"{mine}.parquet")


def values(*paths: str, **options: Any) -> list[Any]:
    """What the metrics say of the trials of `mine`."""
    result = compute(*paths, metrics=["mean", "max"], **options)
    (group,) = (group for group in result.groups if group.agent == "mine")
    return [(m.name, m.values) for m in group.metrics] + [group.usage]


@pytest.mark.parametrize("other", NUMBERS)
@pytest.mark.parametrize("own", NUMBERS)
def test_strangers_type_changes_no_number_or_is_refused(
    own: str, other: str, tmp_path: Path
) -> None:
    mine = write(tmp_path, "mine", **dict.fromkeys(AMOUNTS, f"{NUMBERS[own]}::{own}"))
    theirs = write(tmp_path, "theirs", **dict.fromkeys(AMOUNTS, f"{NUMBERS[other]}::{other}"))
    try:
        found = values(mine, theirs)
    except InputError as error:
        refused = str(error)
    else:
        assert found == values(mine)
        return
    assert own != other
    assert f"{own} in {mine}" in refused
    assert f"{other} in {theirs}" in refused


@pytest.mark.parametrize("own", NUMBERS)
def test_types_that_keep_the_numbers_are_united(own: str, tmp_path: Path) -> None:
    mine = write(tmp_path, "mine", reward=f"1::{own}")
    theirs = [
        write(tmp_path, f"theirs{i}", reward=f"1::{other}") for i, other in enumerate(NUMBERS)
    ]
    assert values(mine, *theirs) == values(mine)


def test_float_beside_integers_that_it_does_not_hold_is_refused(tmp_path: Path) -> None:
    mine = write(tmp_path, "mine", reward="16777217::bigint")
    theirs = write(tmp_path, "theirs", reward="1::float")
    with pytest.raises(InputError) as caught:
        compute(mine, theirs)
    assert str(caught.value) == (
        f"column `reward` is BIGINT in {mine} and FLOAT in {theirs}: united, as FLOAT, values of "
        f"{mine}, or their sum, would be others"
    )
    assert caught.value.help == "write it as DOUBLE in both, or compute the sources apart"
    assert values(mine, write(tmp_path, "theirs", reward="1::double")) == values(mine)


def test_integers_that_no_float_is_are_refused_beside_floats_too(tmp_path: Path) -> None:
    mine = write(tmp_path, "mine", n_input_tokens="9007199254740993::bigint", reward="1")
    theirs = write(tmp_path, "theirs", n_input_tokens="1::double", reward="1")
    with pytest.raises(InputError, match=r"is BIGINT in .*mine.parquet and DOUBLE in"):
        compute(mine, theirs)


def test_integers_whose_sum_no_float_is_are_refused_beside_floats(tmp_path: Path) -> None:
    """The sum of a group of integers lost a bit beside another group's floats."""
    mine = write(tmp_path, "mine", reward="9007199254740992::bigint")
    with pytest.raises(InputError, match="or their sum, would be others"):
        compute(mine, write(tmp_path, "more", reward="5::bigint"),
                write(tmp_path, "theirs", reward="0.5::double"))  # fmt: skip


@pytest.mark.parametrize("kind", ["INTEGER", "DOUBLE", "BOOLEAN", '"NULL"', "VARCHAR"])
def test_column_in_which_nothing_is_fits_to_all(kind: str, tmp_path: Path) -> None:
    mine = write(tmp_path, "mine", reward="16777217::double", error="'Early'", n_input_tokens="3")
    null = {"error": f"null::{kind}"}
    if kind != "VARCHAR":
        null |= {"n_input_tokens": f"null::{kind}"}
    assert values(mine, write(tmp_path, "theirs", reward="1", **null)) == values(mine)


def test_tasks_may_be_numbers_in_one_file_and_texts_in_another(tmp_path: Path) -> None:
    mine = write(tmp_path, "mine", task="range", reward="1")
    assert values(mine, write(tmp_path, "theirs", task="'a' || range", reward="1")) == values(mine)
    theirs = write(tmp_path, "theirs", task="range + 0.5::double", reward="1")
    with pytest.raises(InputError, match="needs texts"):
        compute(mine, theirs)
    theirs = write(tmp_path, "theirs", task="uuid()", reward="1")
    with pytest.raises(InputError, match=r"`task` is BIGINT in .*and UUID in"):
        compute(mine, theirs)


@pytest.mark.parametrize(
    ("own", "other", "kept"),
    [
        ("range::bigint", "'x'", True),
        ("range::bigint", "0.5::double", True),
        ("range::double", "'x'", False),
        ("range > 1", "'x'", False),
        ("9007199254740993::bigint", "0.5::double", False),
    ],
)
def test_label_matters_where_it_is_asked_for(
    own: str, other: str, kept: bool, tmp_path: Path
) -> None:
    mine = write(tmp_path, "mine", reward="range", kind=own)
    theirs = write(tmp_path, "theirs", reward="1", kind=other)
    assert values(mine, theirs) == values(mine)
    if kept:
        assert values(mine, theirs, group_by="kind") == values(mine, group_by="kind")
        return
    with pytest.raises(InputError, match="`kind` is"):
        values(mine, theirs, group_by="kind")


def test_many_files_of_several_kinds_and_odd_names(tmp_path: Path) -> None:
    folder = tmp_path / "r[1] it's"
    folder.mkdir()
    mine = write(folder, "mine", reward="16777217::bigint", Filename="'a'")
    for i in range(4):
        write(folder, f"theirs{i}", Reward=f"1::{('bigint', 'double', 'integer', 'float')[i]}")
    assert values(mine, *(str(folder / f"theirs{i}.parquet") for i in range(3))) == values(mine)
    (folder / "theirs1.parquet").unlink()
    with pytest.raises(InputError, match=r"mine\.parquet and FLOAT in .*theirs3"):
        compute(str(folder), engine="duckdb")


def test_field_of_a_struct_and_of_a_list_is_no_column(tmp_path: Path) -> None:
    mine = write(tmp_path, "mine", reward="16777217::bigint")
    theirs = write(tmp_path, "theirs", reward="1::double", more="{'score': 1, 'reward': 'x'}")
    assert values(mine, theirs) == values(mine)


def test_decimals_are_numbers_as_those_of_a_text(tmp_path: Path) -> None:
    kept = values(write(tmp_path, "mine", reward="0.1::double"))
    assert values(write(tmp_path, "mine", reward="0.1::decimal(4,2)")) == kept


def test_what_folders_are_called_is_a_column_of_each_file(tmp_path: Path) -> None:
    for mine in ("a", "b"):
        (tmp_path / f"agent={mine}").mkdir()
        query = f"select 't' || range as task, 1 as reward, '{mine}' as agent_name from range(3)"
        duckdb.sql(query).write_parquet(str(tmp_path / f"agent={mine}/x.parquet"))
    assert len(compute(str(tmp_path), engine="duckdb").groups) == 2


OTHER_SPELLINGS = [
    ({"reward.acc": "range"}, {"REWARD.ACC": "1"}, "reward.acc", "REWARD.ACC"),
    ({"reward.acc": "range", "reward.f1": "1"}, {"reward.acc": "1", "REWARD.F1": "0"}, "reward.f1",
     "REWARD.F1"),
    ({"reward.Acc": "range"}, {"Reward.acc": "1"}, "reward.Acc", "Reward.acc"),
    ({"reward": "range", "kind": "'x'"}, {"reward": "1", "KIND": "'y'"}, "label.kind", "KIND"),
    ({"reward": "range", "label.kind": "'x'"}, {"reward": "1", "Label.Kind": "'y'"}, "label.kind",
     "Label.Kind"),
    ({"reward": "range"}, {"reward.reward": "1"}, "reward", "reward.reward"),
]  # fmt: skip


@pytest.mark.parametrize(("own", "other", "field", "column"), OTHER_SPELLINGS)
def test_column_that_means_something_else_in_another_file_is_refused(
    own: dict[str, str], other: dict[str, str], field: str, column: str, tmp_path: Path
) -> None:
    mine, theirs = write(tmp_path, "mine", **own), write(tmp_path, "theirs", **other)
    for sources in ((theirs, mine), (mine, theirs)):
        with pytest.raises(InputError) as caught:
            compute(*sources)
        said = str(caught.value)
        assert said.startswith((f"{mine} has its {field} in column", f"{theirs} has its "))
        assert "and another source in" in said
        assert f"`{column}`" in said


@pytest.mark.parametrize("spelling", ["REWARD.acc", "Reward.acc", "reward.acc"])
def test_case_of_a_prefix_is_as_that_of_a_name(spelling: str, tmp_path: Path) -> None:
    own = {"reward.acc": "range", "reward.f1": "1", "label.kind": "'a' || range"}
    mine = write(tmp_path, "mine", **own)
    other = {spelling: "1", "REWARD.f1": "0", "LABEL.kind": "'z'"}
    theirs = write(tmp_path, "theirs", **other)
    assert values(theirs, mine) == values(mine)
    assert values(theirs, mine, group_by="kind") == values(mine, group_by="kind")


@pytest.mark.parametrize("column", ["reward", "n_output_tokens", "task", "reward.k"])
def test_letter_that_only_python_folds_makes_no_other_column(column: str, tmp_path: Path) -> None:
    own = {"n_input_tokens": "1", "reward.k" if column == "reward.k" else "reward": "range"}
    own[column] = own.get(column, "range")
    mine = write(tmp_path, "mine", **own)
    strange = column.replace("k", "\u212a")
    theirs = write(tmp_path, "theirs", **{**own, "task": "'x'", strange: "1"})
    assert values(theirs, mine) == values(mine)
    assert values(mine, theirs) == values(mine)


NAMES = ["task", "TASK", "task_id", "reward", "Reward", "score", "SCORE", "reward.a", "REWARD.a",
         "reward.A", "reward.reward", "label.score", "LABEL.score", "kind", "Kind",
         "n_output_tokens", "n_output_to\u212aens"]  # fmt: skip


def test_united_files_mean_what_each_means_by_itself_or_are_refused() -> None:
    chance = random.Random(1)
    outcomes = set()
    for _ in range(3000):
        kinds: list[list[str]] = []
        for _ in range(2):
            own = {name.upper(): name for name in chance.sample(NAMES, 4)}
            kinds.append(list(own.values()))
        union: dict[str, str] = {}
        for name in chain.from_iterable(kinds):
            union.setdefault(name.encode().lower().decode(), name)
        names = list(union.values())
        united = United(lambda kinds=kinds: [Alike([str(i)], k) for i, k in enumerate(kinds)])
        means = {names[place]: field for field, place in meanings(names, {}).items()}
        same = all(
            means.get(union[own[place].encode().lower().decode()]) == field
            for own in kinds
            for field, place in meanings(own, {}).items()
        ) and all(any(field.startswith("reward") for field in meanings(own, {})) for own in kinds)
        try:
            united.check_places(names, {})
        except InputError:
            assert not same, kinds
        else:
            assert same, kinds
        outcomes.add(same)
    assert outcomes == {True, False}


def test_column_that_is_named_for_a_field_is_it_in_every_file(tmp_path: Path) -> None:
    mine = write(tmp_path, "mine", reward="range", Other="range + 5")
    theirs = write(tmp_path, "theirs", reward="1", other="7")
    lacking = write(tmp_path, "lacking", reward="1")
    for column, sources in (("Other", (mine, theirs)), ("other", (theirs, mine))):
        columns = {"reward": column}
        assert values(*sources, columns=columns) == values(mine, columns={"reward": "Other"})
        with pytest.raises(InputError, match="has no column of rewards"):
            values(*sources, lacking, columns=columns)


def test_a_file_that_lies_of_its_values_is_counted_by_them(tmp_path: Path) -> None:
    """By the least and largest that its footer names, DuckDB took a text for a shorter one."""
    mine = write(tmp_path, "me", reward="1.0")
    text = "me\0" + "x" * 255
    length = b"\x82\x02"
    columns = {"agent": [text] * 3, "task": ["me0", "me1", "me2"], "reward": [0.0] * 3}
    written = io.BytesIO()
    parquet.write_table(table(columns), written, compression="none", store_schema=False)
    data = written.getvalue()
    size = int.from_bytes(data[-8:-4], "little")
    body, footer = data[: -8 - size], data[-8 - size : -8]
    assert length + text.encode() in footer
    lying = footer.replace(length + text.encode(), b"\x02he")
    his = tmp_path / "his.parquet"
    his.write_bytes(body + lying + len(lying).to_bytes(4, "little") + b"PAR1")
    for paths in ([mine, str(his)], [str(his), mine]):
        groups = {group.agent: group for group in compute(*paths, metrics=["mean"]).groups}
        assert {agent: g.metrics[0].values for agent, g in groups.items()} == {
            "me": {"mean": 1.0},
            text: {"mean": 0.0},
        }


@pytest.mark.parametrize(
    "names",
    [
        ("reward", "reward"), ("reward", "Reward"), ("reward.acc", "reward.ACC"),
        ("reward.a", "reward.A", "reward.A_1"), ("reward", "side", "Side"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_first", [True, False])
def test_columns_of_one_name_are_refused(
    is_first: bool, names: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "x.parquet"
    nested = pa.array([{"reward": 1.0, "Reward": [{"reward": 2}]}])
    columns = [pa.array([float(place)]) for place in range(len(names))]
    task = pa.array(["a"])
    arrays = [nested, task, *columns] if is_first else [*columns, task, nested]
    called = ["more", "task", *names] if is_first else [*names, "task", "more"]
    parquet.write_table(pa.Table.from_arrays(arrays, names=called), path)
    other = write(tmp_path, "other", reward="1::double")
    for paths in ([path], [other, path], [path, other]):
        with pytest.raises(InputError, match=r"x\.parquet has two columns named `\w+") as caught:
            compute(*map(str, paths))
        assert str(caught.value).startswith(str(path))
        assert caught.value.help == "rename one"


def test_parts_of_a_column_have_any_names(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    inner = {"reward": 1.0, "Task": [{"task": 2}], "REWARD": {"reward": 3}}
    parquet.write_table(table({"more": [inner], "task": ["a"], "": [1], "reward": [0.5]}), path)
    (group,) = compute(str(path)).groups
    assert group.metrics[0].values == {"mean": 0.5}


@pytest.mark.parametrize("cost", ["'nan'::double", "power(10, 30 * (range - 1))::double"])
def test_amounts_that_cannot_be_added_up_are_said(cost: str, tmp_path: Path) -> None:
    """What the user's group cost was null, without a word, for another group's sake."""
    mine = write(tmp_path, "mine", reward="1", cost_usd="0.5::double")
    assert compute(mine).groups[0].usage.cost_usd == 1.5
    result = compute(mine, write(tmp_path, "theirs", reward="1", cost_usd=cost))
    (said,) = result.diagnostics
    assert (said["rule"], said["severity"]) == ("beyond-engine", "warning")
    assert "`cost_usd`" in said["message"]


def test_file_without_rewards_is_no_file_of_failures(tmp_path: Path) -> None:
    mine = write(tmp_path, "mine", reward="range")
    write(tmp_path, "other", kind="'x'")
    with pytest.raises(InputError, match=r"other\.parquet has no column of rewards"):
        compute(f"{tmp_path}/*.parquet")
    assert compute(mine).groups


def test_file_that_lacks_the_column_that_is_named_is_no_file_of_failures(tmp_path: Path) -> None:
    write(tmp_path, "mine", score="range")
    write(tmp_path, "other", reward="range")
    with pytest.raises(InputError, match=r"other\.parquet has no column of rewards"):
        compute(f"{tmp_path}/*.parquet", columns="reward=score")


@pytest.mark.parametrize(("digits", "is_kept"), [("0.5", True), ("0.1234567890123456789", False)])
def test_labels_whose_digits_a_float_does_not_keep_are_refused(
    digits: str, is_kept: bool, tmp_path: Path
) -> None:
    for name, label in (("a", f"{digits}::decimal(38, 19)"), ("b", "0.25::double")):
        query = f"select '{name}' as task, 1.0 as reward, {label} as c"
        duckdb.sql(query).write_parquet(str(tmp_path / f"{name}.parquet"))
    sources = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    assert compute(*sources).groups[0].counts.found == 2
    if is_kept:
        (metric,) = compute(*sources, metrics=["mean"], group_by=["c"]).groups[0].metrics
        assert metric.values == {"0.25": 1.0, "0.5": 1.0, "all": 1.0}
    else:
        with pytest.raises(InputError, match="united, as DOUBLE, values of"):
            compute(*sources, metrics=["mean"], group_by=["c"])


def test_dates_by_their_logical_type_alone_are_refused(tmp_path: Path) -> None:
    """Without the older type DuckDB reads days since 1970."""
    path = tmp_path / "t.parquet"
    columns = {"task": ["a", "b"], "reward": pa.array([0, 20_000], pa.date32())}
    parquet.write_table(table(columns), path, compression="none", store_schema=False)
    data = path.read_bytes()
    size = int.from_bytes(data[-8:-4], "little")
    body, footer = data[: -8 - size], data[-8 - size : -8]
    assert footer.count(b"\x06reward\x25\x0c\x4c") == 1
    footer = footer.replace(b"\x06reward\x25\x0c\x4c", b"\x06reward\x6c")
    path.write_bytes(body + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    assert pa.types.is_date(parquet.read_table(path)["reward"].type)
    with pytest.raises(InputError, match="logical type is not the older, converted one"):
        compute(path)


@pytest.mark.parametrize(
    ("values", "kind", "written", "instead"),
    [
        # Of 32 bits without a sign by the logical type alone, as the specification has it.
        ([1, 2**31 + 5], pa.uint32(), b"\x25\x1a\x4c", b"\x6c"),
        (
            [Decimal("0.10"), Decimal("0.30")],
            pa.decimal128(10, 2),
            b"\x25\x0a\x15\x04",
            b"\x25\x0a\x15\x00",
        ),
        ([1, -1], pa.int8(), b"\x25\x1e", b"\x25\x16"),
    ],
)
def test_column_whose_logical_type_an_engine_does_not_heed_is_refused(
    values: Any, kind: Any, written: bytes, instead: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "t.parquet"
    columns = {"task": ["a", "b"], "reward": pa.array(values, kind)}
    parquet.write_table(table(columns), path, compression="none", store_schema=False)
    assert compute(path).groups[0].counts.found == 2
    data = path.read_bytes()
    size = int.from_bytes(data[-8:-4], "little")
    body, footer = data[: -8 - size], data[-8 - size : -8]
    assert footer.count(b"\x06reward" + written) == 1
    footer = footer.replace(b"\x06reward" + written, b"\x06reward" + instead)
    path.write_bytes(body + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    assert parquet.read_table(path)["reward"].to_pylist() == values
    with pytest.raises(InputError, match="logical type is not the older, converted one"):
        compute(path)
