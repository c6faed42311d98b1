"""Labels name the same groups whichever engine reads them, and as rows do."""

from __future__ import annotations

import datetime as dt
import decimal
import math
from pathlib import Path
from typing import Any

import pytest

import harbor_metrics
from harbor_metrics.contract.spec import MetricSpec
from harbor_metrics.errors import InputError

pytestmark = pytest.mark.one_python

UTC = dt.UTC
D = decimal.Decimal
KINDS: dict[str, tuple[list[Any], list[str]]] = {
    "booleans": ([True, False, True], ["false", "true"]),
    "integers": ([1, 2, 2], ["1", "2"]),
    "large integers": ([2**53, 2**53 + 1, 2**53], [str(2**53), str(2**53 + 1)]),
    "floats": ([0.5, 1.0, 1.0], ["0.5", "1"]),
    "zeros": ([0.0, -0.0, 0.0], ["0"]),
    "infinities": ([math.inf, -math.inf, math.inf], ["-inf", "inf"]),
    "decimals": ([D("1.50"), D("2.00"), D("2.00")], ["1.5", "2"]),
    "long decimals": ([D(10**20), D(10**20 + 1), D(10**20)], [str(10**20), str(10**20 + 1)]),
    "texts": (["true", "1", "1"], ["1", "true"]),
    "dates": ([dt.date(2026, 1, 2)] * 3, ["2026-01-02"]),
    "times": ([dt.datetime(2026, 1, 2, 3, 4)] * 3, ["2026-01-02T03:04:00"]),
    "times of a zone": (
        [dt.datetime(2026, 1, 2, 3, tzinfo=UTC)] * 3,
        ["2026-01-02T03:00:00Z"],
    ),
}
BY_LABEL = MetricSpec(type="grouped", kwargs={"metric": "mean", "by": "x"})


def groups(source: Any) -> list[str]:
    (group,) = harbor_metrics.compute(source, metrics=[BY_LABEL], only_asked=True).groups
    (outcome,) = group.metrics
    assert not outcome.error, outcome.error
    return [name for name in outcome.values if name != "all"]


def table(labels: list[Any]) -> Any:
    import pyarrow as pa

    return pa.table(
        {"task": list("abc")[: len(labels)], "reward": [1.0] * len(labels), "label.x": labels}
    )


@pytest.mark.parametrize("kind", KINDS)
def test_groups_have_one_name_on_every_engine(kind: str, tmp_path: Path) -> None:
    import polars as pl
    import pyarrow.parquet

    labels, names = KINDS[kind]
    frame = table(labels)
    path = tmp_path / "trials.parquet"
    pyarrow.parquet.write_table(frame, path)
    pandas = frame.to_pandas()
    for source in (path, frame, pandas, pandas.convert_dtypes(), pl.from_arrow(frame)):
        assert groups(source) == names, type(source)


@pytest.mark.parametrize("kind", ["booleans", "integers", "floats", "zeros", "texts"])
def test_groups_are_named_as_those_of_rows(kind: str, tmp_path: Path) -> None:
    import json

    labels, names = KINDS[kind]
    rows = [
        {"task": str(i), "rewards": {"reward": 1}, "labels": {"x": label}}
        for i, label in enumerate(labels)
    ]
    path = tmp_path / "trials.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert groups(path) == names


@pytest.mark.parametrize("labels", [[True, None], [1, None], [0.5, None], ["a", None]])
def test_label_that_is_lacking_is_so_with_every_type_of_pandas(labels: list[Any]) -> None:
    frame = table(labels).to_pandas()
    for source in (frame, frame.convert_dtypes()):
        with pytest.raises(AssertionError, match="1 of 2 trials have no label `x`"):
            groups(source)


@pytest.mark.parametrize("labels", [[[1], [2]], [{"a": 1}, {"a": 2}], [b"a", b"b"]])
def test_what_is_no_single_value_is_refused_in_a_frame_of_objects(labels: list[Any]) -> None:
    import pandas as pd

    rows = {"task": ["a", "b"], "reward": [1.0, 0.0], "label.x": labels}
    with pytest.raises(InputError, match="and a label is a single text"):
        groups(pd.DataFrame(rows))


@pytest.mark.parametrize(
    ("labels", "name"),
    [
        # One in Python alone.
        ("make_timestamp_ns(1000 + i)", "1970"),
        ("case when i = 0 then 1::variant else '1'::variant end", "1 here"),
    ],
)
def test_labels_that_are_written_alike_are_refused(labels: str, name: str, tmp_path: Path) -> None:
    import duckdb

    path = tmp_path / "trials.parquet"
    duckdb.sql(
        "select i::varchar as task, 1.0::double as reward, "
        f'{labels} as "label.x" from range(2) t(i)'
    ).write_parquet(str(path))
    with pytest.raises(InputError, match=f"labels that differ and are both {name}"):
        groups(path)


@pytest.mark.parametrize("labels", [[1, "1"], [True, "true"], [True, 1], [1.5, "1.5"]])
def test_labels_of_mixed_types_are_refused_in_a_frame_of_objects(labels: list[Any]) -> None:
    """Python makes one group of some, and their names are those of others."""
    import pandas as pd

    rows = {"task": ["a", "b"], "reward": [1.0, 0.0], "label.x": pd.Series(labels, dtype=object)}
    with pytest.raises(InputError, match="holds values of mixed types, and a label is a single"):
        groups(pd.DataFrame(rows))


@pytest.mark.parametrize("field", ["reward.f1", "cost_usd"])
def test_numbers_of_an_unusual_type_are_refused_unless_none_is_there(field: str) -> None:
    import pandas as pd
    import pyarrow as pa

    rows = {"task": ["a", "b"], "reward.acc": [1.0, None]}
    sparse = pd.DataFrame({**rows, field: pd.arrays.SparseArray([0.5, 0.0])})
    decimals = pa.table({**rows, field: pa.array([D("0.5"), D(0)], type=pa.decimal256(50, 3))})
    for frame in (sparse, decimals):
        with pytest.raises(InputError, match=f"`{field}` of .* holds values of an unusual type"):
            harbor_metrics.compute(frame, metrics=["mean"])
    empty = pa.table({**rows, field: pa.nulls(2)})
    assert harbor_metrics.compute(empty, metrics=["mean"]).groups[0].metrics[0].status == "ok"


def test_rewards_are_the_same_numbers_on_every_engine(tmp_path: Path) -> None:
    """Decimals as those of a text, and of 32 bits as they are where they meet a threshold."""
    import numpy as np
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet

    tenths = [D(n) / 10 for n in range(21)]
    types = {
        pa.decimal128(38, 30): [float(one) for one in tenths],
        pa.decimal128(4, 2): [float(one) for one in tenths],
        pa.float32(): [float(np.float32(one)) for one in tenths],
    }
    wanted = [MetricSpec(type="pass-rate", kwargs={"threshold": float(one)}) for one in tenths]
    tasks = [f"t{n:02}" for n in range(21)]

    def answers(source: Any) -> Any:
        (group,) = harbor_metrics.compute(source, metrics=wanted, only_asked=True).groups
        return [one.values for one in group.metrics]

    for kind, plain in types.items():
        column = pa.array([float(one) for one in tenths] if kind == pa.float32() else tenths)
        frame = pa.table({"task": tasks, "reward": column.cast(kind)})
        path = tmp_path / "trials.parquet"
        pyarrow.parquet.write_table(frame, path)
        whole = answers(pa.table({"task": tasks, "reward": plain}))
        for source in (path, frame, pl.from_arrow(frame), frame.to_pandas()):
            if kind == pa.float32() or not hasattr(source, "iloc"):
                assert answers(source) == whole, (kind, type(source))


def test_decimals_and_booleans_stand_beside_rewards_as_those_of_rows(tmp_path: Path) -> None:
    import pyarrow.parquet

    path = tmp_path / "trials.parquet"
    metric = MetricSpec(type="cohen-kappa", kwargs={"key": "reward", "reference": "x"})
    pyarrow.parquet.write_table(table([D("1.50"), D("1.00"), D("1.00")]), path)
    (group,) = harbor_metrics.compute(path, metrics=[metric], only_asked=True).groups
    assert group.metrics[0].status == "ok"
    pyarrow.parquet.write_table(table([True, False, True]), path)
    (group,) = harbor_metrics.compute(path, metrics=[metric], only_asked=True).groups
    assert "is no number" in group.metrics[0].error.message  # type: ignore[union-attr]


def test_another_reward_and_a_label_that_parts_groups_are_answered_on_every_engine(
    tmp_path: Path,
) -> None:
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet

    columns = {"reward.x": [1.0, 0.0, 1.0, 0.0], "reward.y": [1.0, 1.0, 0.0, 0.0]}
    frame = pa.table({"task": list("abcd"), **columns, "label.x": list("ppqq")})
    path = tmp_path / "trials.parquet"
    pyarrow.parquet.write_table(frame, path)
    pairs = MetricSpec(type="balanced-accuracy", kwargs={"key": "x", "reference": "y"})
    clustered = MetricSpec(type="stderr", kwargs={"key": "x", "cluster": "x"})
    for source in (path, frame, frame.to_pandas(), pl.from_arrow(frame)):
        (group,) = harbor_metrics.compute(source, metrics=[pairs], only_asked=True).groups
        assert group.metrics[0].values == {"balanced-accuracy": 0.5}
        found = harbor_metrics.compute(
            source, metrics=[clustered, "mean"], only_asked=True, group_by="x"
        )
        assert {tuple(one.status for one in group.metrics) for group in found.groups} == {
            ("failed", "ok")
        }
