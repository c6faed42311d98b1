"""Types in a Parquet of Spark that name code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
from conftest import Run
from printed import document

from harbor_metrics.engines.user_types import check_footers
from harbor_metrics.errors import InputError

# Of the system or of other programs: it is the same on every Python.
pytestmark = pytest.mark.one_python

KEY = "org.apache.spark.sql.parquet.row.metadata"
USERS = {"type": "udt", "sqlType": "double", "pyClass": "harbor_metrics_canary.X"}


def write(path: Path, kind: Any, *, text: str | None = None, key: str = KEY) -> Path:
    names = {"task": "string", "reward": "double", "udt": kind}
    fields = [
        {"name": name, "type": type_, "nullable": True, "metadata": {}}
        for name, type_ in names.items()
    ]
    schema = text or json.dumps({"type": "struct", "fields": fields})
    query = "select 'a' as task, 1.0::double as reward, 0.5::double as udt"
    escaped = schema.replace("'", "''")
    duckdb.execute(
        f"copy ({query}) to '{path}' (format parquet, kv_metadata {{'{key}': '{escaped}'}})"
    )
    return path


@pytest.mark.parametrize(
    "kind",
    [
        USERS,
        {"class": "org.example.X", "type": "udt", "pyClass": None},
        {"type": "array", "elementType": USERS, "containsNull": True},
        {"type": "struct", "fields": [{"name": "x", "type": USERS, "nullable": True}]},
    ],
)
def test_a_type_that_names_code_is_refused(kind: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds a type that names code"):
        check_footers([str(write(tmp_path / "t.parquet", kind))])


@pytest.mark.parametrize(
    "text",
    ['{"type": "udt", "type": "double"}', '{"type": "\\u0075dt"}', '{"type": "udt"', "x" * 300],
)
def test_what_cannot_be_told_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds a type that names code"):
        check_footers([str(write(tmp_path / "t.parquet", "double", text=text))])


def test_a_column_can_be_called_so_and_files_need_no_schema_of_spark(tmp_path: Path) -> None:
    files = [
        write(tmp_path / "a.parquet", "double"),
        write(tmp_path / "b.parquet", USERS, key="other"),
        tmp_path / "c.parquet",
    ]
    files[-1].write_bytes(b"PAR1")
    check_footers(list(map(str, files)))


@pytest.mark.cluster
def test_spark_runs_nothing_of_it(cli: Run, tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    (tmp_path / "harbor_metrics_canary.py").write_text(f"open({str(tmp_path / 'RAN')!r}, 'w')\n")
    write(tmp_path / "t.parquet", USERS)
    done = cli("compute", "t.parquet", "--engine", "spark", env={"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 3
    assert "holds a type that names code, which Spark would run" in " ".join(done.stderr.split())
    assert not (tmp_path / "RAN").exists()
    done = cli("compute", "t.parquet", "--format", "json")
    assert document(done)["groups"][0]["metrics"][0]["values"] == {"mean": 1.0}


@pytest.mark.cluster
def test_what_a_footer_says_of_columns_changes_no_other_file(cli: Run, tmp_path: Path) -> None:
    """Spark fills with a default of one file what the others lack."""
    pytest.importorskip("pyspark")

    def field(name: str, kind: str, **metadata: Any) -> dict[str, Any]:
        return {"name": name, "type": kind, "nullable": True, "metadata": metadata}

    default = {"CURRENT_DEFAULT": "'Boom'", "EXISTS_DEFAULT": "'Boom'"}
    fields = [
        field("task", "string"),
        field("reward", "double"),
        field("error", "string", **default),
    ]
    schema = json.dumps({"type": "struct", "fields": fields}).replace("'", "''")
    (tmp_path / "t").mkdir()
    rows = "select * from (values ('a', 1.0::double), ('A', 0.0)) t(task, reward)"
    duckdb.sql(rows).write_parquet(str(tmp_path / "t/mine.parquet"))
    query = "select 'z' as task, 0.0::double as reward, null::varchar as error"
    duckdb.execute(
        f"copy ({query}) to '{tmp_path}/t/theirs.parquet' "
        f"(format parquet, kv_metadata {{'{KEY}': '{schema}'}})"
    )
    (group,) = document(cli("compute", "t", "--engine", "spark", "--format", "json"))["groups"]
    counts = group["counts"]
    assert (counts["found"], counts["tasks"], counts["errored"]) == (3, 3, 0)
