"""Which files of Parquet count: each once, and none that a link in a folder leads out to."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest
from conftest import Run, as_somebody_else
from printed import document

from harbor_metrics import compute
from harbor_metrics.engines.asked import first_line
from harbor_metrics.engines.files import found
from harbor_metrics.engines.parquet import written
from harbor_metrics.errors import InputError


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """A folder with Parquet of three trials, and beside it somebody else's of five."""
    (tmp_path / "lab" / "deep").mkdir(parents=True)
    (tmp_path / "private").mkdir()
    for path, n in (("lab/a.parquet", 3), ("private/p.parquet", 5)):
        query = f"select '{path}' || range as task, 1.0::double as reward from range({n})"
        duckdb.sql(query).write_parquet(str(tmp_path / path))
    return tmp_path / "lab"


def counted(done: Any) -> int:
    return sum(group["counts"]["found"] for group in json.loads(done.stdout)["groups"])


def rules(done: Any) -> list[str]:
    return [found["rule"] for found in json.loads(done.stdout)["diagnostics"]]


@pytest.mark.parametrize(
    "sources",
    [
        ("lab/a.parquet", "lab/a.parquet"),
        ("lab/a.parquet", "./lab/a.parquet"),
        ("lab/*.parquet", "lab/a*"),
        ("lab/a.parquet", "link.parquet"),
        ("lab", "lab/a.parquet"),
        ("lab/a.parquet", "linked/*.parquet"),
    ],
    ids=" ".join,
)
def test_parquet_that_is_named_twice_counts_once(
    sources: tuple[str, ...], cli: Run, lab: Path, tmp_path: Path
) -> None:
    (tmp_path / "link.parquet").symlink_to(lab / "a.parquet")
    (tmp_path / "linked").symlink_to(lab)
    done = cli("compute", *sources, "--engine", "duckdb", "--format", "json")
    assert counted(done) == 3
    assert rules(done) == ["repeated-source"]
    assert done.returncode == 0
    (source,) = json.loads(done.stdout)["sources"]
    assert source["path"] == sources[0]


def test_files_that_are_linked_within_a_folder_count_once(cli: Run, lab: Path) -> None:
    (lab / "latest.parquet").symlink_to("a.parquet")
    (lab / "deep" / "up").symlink_to("..")
    for source in ("lab", "lab/**/*.parquet"):
        done = cli("compute", source, "--engine", "duckdb", "--format", "json")
        assert counted(done) == 3
        assert set(rules(done)) == {"repeated-source"}
        assert done.returncode == 0


@pytest.mark.parametrize("source", ["lab", "lab/*.parquet", "lab/**/*.parquet"])
def test_what_a_link_in_a_folder_leads_out_to_does_not_count(
    source: str, cli: Run, lab: Path, tmp_path: Path
) -> None:
    (lab / "b.parquet").symlink_to(tmp_path / "private" / "p.parquet")
    (lab / "linked").symlink_to(tmp_path / "private")
    done = cli("compute", source, "--engine", "duckdb", "--format", "json")
    assert counted(done) == 3
    assert set(rules(done)) == {"unread-file"}
    assert "lab/b.parquet is not read: it is a link to what lies outside of lab" in done.stdout
    assert "linked/" not in done.stdout
    assert done.returncode == 1
    named = cli("compute", "lab/b.parquet", "--format", "json")
    assert counted(named) == 5
    assert named.returncode == 0


def test_folder_with_nothing_but_such_links_is_refused_with_them(
    cli: Run, lab: Path, tmp_path: Path
) -> None:
    (lab / "a.parquet").unlink()
    done = cli("compute", "lab", "--engine", "duckdb")
    assert done.returncode == 3
    assert "no file in lab is called *.parquet" in done.stderr
    (lab / "b.parquet").symlink_to(tmp_path / "private" / "p.parquet")
    for source in ("lab", "lab/*.parquet"):
        done = cli("compute", source, "--engine", "duckdb")
        assert done.returncode == 3
        assert "lab/b.parquet is not read: it is a link" in done.stderr


def test_files_of_a_folder_are_those_that_are_called_so_in_any_case(lab: Path) -> None:
    shutil.copy(lab / "a.parquet", lab / "B.PARQUET")
    assert len(found([str(lab)]).files) == 2


@pytest.mark.parametrize("content", ["parquet", "lines", "link"])
def test_a_file_that_is_called_as_a_pattern_hides_nothing(
    content: str, cli: Run, lab: Path, tmp_path: Path
) -> None:
    hiding = lab / "*.parquet" if content == "parquet" else lab / "*"
    if content == "link":
        hiding.symlink_to("nowhere")
    elif content == "lines":
        hiding.write_text('{"task": "t", "rewards": {"reward": 1}}\n')
    else:
        shutil.copy(tmp_path / "private" / "p.parquet", hiding)
    done = cli("compute", f"lab/{hiding.name}")
    assert done.returncode == 3
    assert "lab/a.parquet fits, too: neither is taken for what is meant" in done.stderr
    (lab / "a.parquet").unlink()
    assert cli("compute", f"lab/{hiding.name}").returncode == (3 if content == "link" else 0)


@pytest.mark.parametrize("mode", [0, 0o644])
def test_folder_below_that_is_shut_is_refused(mode: int, open_to_all: Path) -> None:
    """Of one that can be listed, and not searched, no file could be looked at."""
    deep = open_to_all / "lab" / "deep"
    deep.mkdir(parents=True)
    for name in (open_to_all / "lab" / "a.parquet", deep / "b.parquet"):
        name.write_bytes(written([{"reward": 1}], {"reward": "BIGINT"}))
    found([str(open_to_all / "lab")])
    deep.chmod(mode)
    try:
        with as_somebody_else(), pytest.raises(InputError, match="Permission denied"):
            found([str(open_to_all / "lab")])
    finally:
        deep.chmod(0o755)


def test_storage_that_is_named_twice_counts_once() -> None:
    storage = pytest.importorskip("fsspec").filesystem("memory")
    for name in ("a", "b"):
        with storage.open(f"/twice/{name}.parquet", "wb") as file:
            rows = [{"task": name, "reward": 1}]
            file.write(written(rows, {"task": "VARCHAR", "reward": "BIGINT"}))
    for sources in (
        ["memory://twice/a.parquet", "memory://twice/*.parquet"],
        ["memory://twice/*.parquet", "memory://twice/[ab].parquet"],
        ["memory://twice/*.parquet", "memory://twice/*.parquet"],
    ):
        result = compute(*sources, metrics=["mean"])
        assert result.groups[0].counts.found == 2
        assert "repeated-source" in {said["rule"] for said in result.diagnostics}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("select 'x' || range as task, 0.5::double as score from range(3)", "reward"),
        ("select 'x' || range as task_id, 1.0::double as reward from range(3)", "task"),
    ],
)
def test_files_that_have_a_field_in_other_columns_are_not_united(
    query: str, field: str, lab: Path, cli: Run
) -> None:
    duckdb.sql(query).write_parquet(str(lab / "other.parquet"))
    assert counted(cli("compute", lab / "other.parquet", "--format", "json")) == 3
    for named in ((lab / "a.parquet", lab / "other.parquet"), (f"{lab}/*.parquet",)):
        done = cli("compute", *named)
        assert done.returncode != 0
        assert f"has its {field} in column" in done.stderr


@pytest.mark.cluster
def test_nor_are_they_by_spark(lab: Path, cli: Run) -> None:
    # Each in a process of its own: in this one Spark keeps the master of a test before.
    pytest.importorskip("pyspark")
    others = {
        "b [1]+%20.parquet": "'b' || range as task, 0.5::double as score",
        "c.parquet": "'c' || range as task, 1.0::double as reward, 0.5::double as score",
    }
    for name, columns in others.items():
        duckdb.sql(f"select {columns} from range(3)").write_parquet(str(lab / name))
    mine, theirs, both = (str(lab / name) for name in ("a.parquet", *others))
    done = cli("compute", mine, both, "--engine=spark", "--metric", "mean", "--format", "json")
    assert document(done)["groups"][0]["metrics"][0]["values"] == {"mean": 1.0}
    for sources in ([mine, theirs], [str(lab)]):
        done = cli("compute", *sources, "--engine=spark")
        assert done.returncode == 3
        assert "has its reward in column `score`" in " ".join(done.stderr.split())


def test_files_of_which_one_has_more_columns_are_united(lab: Path, cli: Run) -> None:
    query = "select 'y' || range as task, 1.0::double as reward, 'hard' as kind from range(2)"
    duckdb.sql(query).write_parquet(str(lab / "b.parquet"))
    done = cli("compute", lab / "a.parquet", lab / "b.parquet", "--format", "json")
    assert counted(done) == 5


@pytest.mark.parametrize("source", ["*/*.parquet", "**/p.parquet", "~", "*.parquet", "~x.parquet"])
def test_a_name_with_a_tilde_is_not_the_home(
    source: str, cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As DuckDB takes it, also where it comes from a pattern."""
    home, repository = tmp_path / "home", tmp_path / "repository"
    home.mkdir()
    (repository / "~").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    own, other = "select 'a' as task, 1.0 as reward", "select 'b' as task, 0.0 as reward"
    for path in ("~/p.parquet", "~x.parquet"):
        duckdb.sql(own).write_parquet(str(repository / path))
    for path in (home / "p.parquet", tmp_path / "homex.parquet"):
        duckdb.sql(other).write_parquet(str(path))
    wanted = ("--engine", "duckdb", "--metric", "mean", "--format", "json")
    done = cli("compute", source, *wanted, cwd=repository)
    assert document(done)["groups"][0]["metrics"][0]["values"] == {"mean": 1.0}


def test_what_is_hidden_in_a_folder_or_not_written_yet_is_not_meant(lab: Path) -> None:
    for name in (
        ".a.parquet",
        "_a.parquet",
        ".ipynb_checkpoints/a.parquet",
        "_temporary/a.parquet",
    ):
        (lab / name).parent.mkdir(exist_ok=True)
        shutil.copy(lab / "a.parquet", lab / name)
    assert found([str(lab)]).files == [str(lab / "a.parquet")]
    assert len(found([str(lab / "_a.parquet")]).files) == 1


def test_what_is_parquet_and_not_called_so_is_named(lab: Path, cli: Run) -> None:
    shutil.copy(lab / "a.parquet", lab / "part-00001")
    (lab / "_SUCCESS").write_text("")
    said = " ".join(cli("compute", "lab", "--engine", "duckdb").stderr.split())
    assert "of lab Parquet is not read that is not called *.parquet: lab/part-00001" in said


def test_copies_of_files_are_said(lab: Path, cli: Run) -> None:
    shutil.copy(lab / "a.parquet", lab / "b.parquet")
    said = " ".join(cli("compute", "lab", "--engine", "duckdb").stderr.split())
    assert "lab/b.parquet is a copy of lab/a.parquet" in said


def test_parquet_deep_behind_a_link_is_said(lab: Path, tmp_path: Path, cli: Run) -> None:
    (tmp_path / "real/model=x").mkdir(parents=True)
    shutil.copy(lab / "a.parquet", tmp_path / "real/model=x/p.parquet")
    (lab / "more").symlink_to(tmp_path / "real")
    done = cli("compute", lab, "--engine", "duckdb")
    assert done.returncode == 1
    assert "more is not read: it is a link" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "An error occurred while calling o2.parquet.\n: org.x.Wrong: why\n\tat org",
            "org.x.Wrong: why",
        ),
        (
            "An error occurred while calling o2.parquet.",
            "An error occurred while calling o2.parquet.",
        ),
        ("IO Error: gone\nLINE 1", "IO Error: gone"),
        ("Traceback\n  in x\nKeyError: y", "KeyError: y"),
        ("", "ValueError"),
    ],
)
def test_an_error_is_told_by_what_it_says(text: str, said: str) -> None:
    assert first_line(ValueError(text)) == said


@pytest.mark.parametrize(
    ("log", "kind"),
    [
        ("_delta_log/00000000000000000000.json", "Delta Lake"),
        (".hoodie/hoodie.properties", "Hudi"),
        ("metadata/v1.metadata.json", "Iceberg"),
        ("metadata/notes.txt", None),
    ],
)
@pytest.mark.parametrize("source", ["lab", "lab/*.parquet", "lab/**/*.parquet", "lab/a.parquet"])
def test_table_whose_log_says_which_files_it_has_is_refused(
    source: str, log: str, kind: str | None, lab: Path, cli: Run
) -> None:
    """But a file of it that is named by itself."""
    (lab / log).parent.mkdir()
    (lab / log).write_text("{}")
    shutil.copy(lab / "a.parquet", lab / "deep" / "b.parquet")
    done = cli("compute", source, "--engine", "duckdb")
    if kind is None or source == "lab/a.parquet":
        assert done.returncode == 0, done.stderr
    else:
        assert done.returncode == 3
        assert f"lab is a table of {kind}: its log says which" in " ".join(done.stderr.split())


@pytest.mark.parametrize("lost", ["model=b", "deep/b"])
def test_link_to_nowhere_in_a_folder_of_parquet_is_said(lost: str, lab: Path, cli: Run) -> None:
    (lab / lost).symlink_to("gone")
    done = cli("compute", "lab", "--engine", "duckdb", "--format", "json")
    assert (done.returncode, counted(done)) == (0, 3)
    assert (
        f"links in lab lead nowhere, and what was there does not count: lab/{lost}" in done.stdout
    )


@pytest.mark.parametrize("source", ["lab/b.parquet", "lab/*.parquet"])
def test_link_to_nowhere_that_is_named_is_refused(source: str, lab: Path, cli: Run) -> None:
    (lab / "b.parquet").symlink_to("gone")
    done = cli("compute", source, "--engine", "duckdb")
    assert done.returncode == 3
    assert "lab/b.parquet is a link that leads nowhere" in done.stderr


@pytest.mark.parametrize("what", ["pipe", "link"])
def test_what_is_called_as_parquet_in_a_folder_and_is_no_file_is_said(
    what: str, lab: Path, cli: Run
) -> None:
    """To read a pipe would wait for whoever writes to it."""
    if what == "pipe":
        os.mkfifo(lab / "b.parquet")
    else:
        (lab / "b.parquet").symlink_to("gone")
    done = cli("compute", "lab", "--engine", "duckdb", "--format", "json")
    assert (done.returncode, counted(done)) == (1, 3)
    assert "unread-file" in rules(done)
