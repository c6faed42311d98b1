"""A source is known by what it holds, never by its name; the unknown is refused with reasons."""

from __future__ import annotations

import gzip
import json
from itertools import product
from pathlib import Path

import pytest
from conftest import JOBS, LOGS, Run, trial, write_job
from inspect_logs import log, metric, sample
from printed import group
from readers.contents import FORMATS, refused

from harbor_metrics import readers


@pytest.mark.parametrize("name", ["x.json", "x.csv", "x.eval", "noname"])
@pytest.mark.parametrize(
    ("kind", "content"), FORMATS, ids=[f"{k}{i}" for i, (k, _) in enumerate(FORMATS)]
)
def test_format_is_known_by_content_and_not_by_name(
    kind: str, content: bytes, name: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    (source,) = readers.read(str(tmp_path / name))
    assert source.kind == kind
    assert len(source.trials) > 0


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            b'{"id": 3, "question": "q", "answer": "a"}\n',
            ["not a rewards JSONL: rewards are flat objects of numbers, and `question` is a"],
        ),
        (
            b'{"doc_id": 1, "doc": {}, "question": "?"}\n',
            ["not lm-eval samples: a line has no `target`", "not a "],
        ),
        (
            b'{"version": 2, "eval": "x", "status": "success"}',
            ["not an Inspect log: it is no object with `plan` and `samples`", "not a "],
        ),
        (
            b'{"eval": {"task": "t"},\n "other": [1,\n2]}',
            ["not an Inspect log", "not evsys rewards"],
        ),
        (b'[{"reward": 1}]', ["not evsys rewards: an item of the array is an object", "JSONL"]),
        (b"name,value\na,1\n", ["not a CSV", "`reward` or `score`", "name, value", "--columns"]),
        (b"problem_id,value\na,1\n", ["not a CSV", "--columns reward=COLUMN"]),
        (b"some prose\nand more\n", ["not JSON lines: line 1"]),
        (b"0.5\n0.25\n", ["bare values", '`{"reward": 0.5}`']),
        (
            b'{"results": {}, "configs": {}, "versions": {}}',
            ["results file of lm-eval", "--log_samples"],
        ),
        (b'{"rewards": {"r": 1}, "attempt": 1}\n', ["not a trials JSONL: a line has no `task`"]),
    ],
)
def test_unknown_content_is_refused_with_the_two_nearest_formats(
    content: bytes, words: list[str], cli: Run, tmp_path: Path
) -> None:
    (tmp_path / "x.txt").write_bytes(content)
    done = cli("compute", "x.txt")
    assert (done.returncode, done.stdout) == (3, "")
    for word in words:
        assert word in done.stderr
    if "results file" not in words[0]:
        assert done.stderr.count("; not ") == 2
    assert "a source is" in done.stderr


def test_as_decides_the_format(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "x").write_text('{"reward": [1]}\n')
    assert "must be a number" in cli("compute", "x").stderr
    done = cli("compute", "x", "--as", "evsys", "--format", "json")
    assert json.loads(done.stdout)["groups"][0]["metrics"][0]["values"] == {"mean": 1}
    done = cli("compute", "x", "--as", "evzys")
    assert done.returncode == 2
    assert "no format `evzys`; the formats are harbor-job, inspect" in done.stderr
    assert cli("compute", "x", "--as", "inspect").returncode == 3
    assert cli("compute", "x", "--as", "harbor-job").returncode == 3
    assert cli("compute", JOBS / "single", "--as", "harbor-job").returncode == 0
    done = cli("compute", JOBS / "single", "--as", "lm-eval")
    assert done.returncode == 3
    assert "no file in it is lm-eval samples" in done.stderr


def test_directory_without_a_source_is_refused(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "notes.txt").write_text("hello\n")
    done = cli("compute", "logs")
    assert done.returncode == 3
    assert "is not a Harbor job" in done.stderr
    assert "no file in it is an Inspect log nor lm-eval samples" in done.stderr


def test_format_depends_on_the_types_of_fields(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"tasks": 1, "version": 2}\n')
    assert cli("compute", "r.jsonl").returncode == 0
    (tmp_path / "t.jsonl").write_text('{"task": "a"}\n{"task": "b", "rewards": {"r": 1}}\n')
    done = cli("compute", "t.jsonl", "--format", "json")
    assert group(done)["counts"]["found"] == 1
    assert "rewards" in done.stderr
    nulls = f"null{100 * ' '}\n" * 11_000  # more than what is looked at
    (tmp_path / "n.jsonl").write_text(nulls + '{"task": "b", "rewards": {"r": 1}}\n')
    assert '"kind": "trials"' in cli("compute", "n.jsonl", "--format", "json").stdout


def test_job_is_known_after_many_empty_folders(cli: Run, tmp_path: Path) -> None:
    job = write_job(tmp_path / "job", [trial("zz", {"r": 1})])
    (job / "config.json").unlink()
    (job / "result.json").unlink()
    for i in range(60):
        (job / f"a{i:02d}").mkdir()
    assert group(cli("compute", "job", "--format", "json"))["counts"]["found"] == 1


@pytest.mark.parametrize("first", ["# Title", "[badge](x)", "<p>", "| a | b |", "\n\nProse."])
def test_prose_with_a_line_of_json_is_not_a_rewards_file(first: str, tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(f'{first}\n\n{{"reward": 1}}\nand so on\n')
    assert "README.md is not JSON lines" in refused(path)


def test_rewards_file_is_known_after_a_broken_object(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('null\n{"reward": \n{"reward": 1}\n')
    (source,) = readers.read(str(path))
    assert (source.kind, len(source.diagnostics)) == ("rewards", 1)


def test_one_object_over_several_lines_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps({"task": "a", "rewards": {"reward": 1}}, indent=1))
    assert "is one JSON object over several lines" in refused(path)


def test_a_readme_does_not_hide_the_logs_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Logs\n")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "x.json").write_text(json.dumps(log([sample("a", 1)], metric("mean", 1))))
    assert [source.kind for source in readers.read(str(tmp_path))] == ["inspect"]


def test_files_that_are_passed_over_are_named(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "a.csv").write_text("task,reward\na,1\n")
    (tmp_path / "f" / "b.csv").write_text("task,result\na,1\n")
    done = cli("compute", "f", "--as", "csv")
    assert "1 files of f are not a CSV and are not read: b.csv" in done.stderr


def test_folder_without_a_log_is_refused_as_inspect(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "a.txt").write_text("x\n")
    done = cli("compute", "f", "--as", "inspect")
    assert "error: f: no file in it is an Inspect log" in done.stderr


def test_every_job_of_a_directory_is_read(cli: Run) -> None:
    done = cli("compute", JOBS, "--format", "json")
    document = json.loads(done.stdout)
    assert {source["path"].rpartition("/")[2] for source in document["sources"]} == {
        "single",
        "multi",
        "graded",
        "script",
        "two-models",
        "interrupted",
        "left-out",
    }


def test_what_an_engine_takes_for_parquet_nobody_reads_as_something_else(
    cli: Run, tmp_path: Path
) -> None:
    """A file that is a CSV, too, was other trials for `convert` than for `compute`."""
    header = b'PAR1,task,reward\n"'
    (tmp_path / "s.csv").write_bytes(header + b'\0 binary",a,1\n')
    (tmp_path / "s.csv.gz").write_bytes(gzip.compress((tmp_path / "s.csv").read_bytes()))
    write_job(tmp_path / "run.parquet", [trial("a", {"reward": 1.0})])
    for name, more in product(("s.csv", "s.csv.gz"), ((), ("--as", "csv"))):
        done = cli("convert", name, *more)
        assert (done.returncode, done.stdout) == (3, "")
        assert "begins as Parquet does" in " ".join(done.stderr.split())
    for command in (["convert"], ["audit"], ["compute"], ["report", "-o", "p.html"]):
        for name in ("run.parquet", "run.parquet/"):
            done = cli(*command, name)
            assert done.returncode == 3
            assert "arquet" in done.stderr
    (tmp_path / "all").mkdir()
    (tmp_path / "all" / "s.csv").write_bytes((tmp_path / "s.csv").read_bytes())
    assert cli("convert", "all").returncode == 3


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("blank", ["", "\n"])
@pytest.mark.parametrize("length", [900_000, 3_000_000, 9_000_000])
def test_samples_are_known_by_a_first_line_of_any_length(
    length: int, blank: str, packed: bool, tmp_path: Path
) -> None:
    """Whatever a file of them is called, in a folder with another."""
    samples = LOGS / "lm_eval/0.4.13/samples_ends_2026-11-21T00-57-32.749507.jsonl"
    sample = json.loads(samples.read_text().splitlines()[0])
    for name, of, first in (("long", 0, length), ("short", 5, 1)):
        rows = [{**sample, "doc_id": of + i, "doc": {"q": "x" * first}} for i in range(5)]
        data = (blank + "".join(json.dumps(row) + "\n" for row in rows)).encode()
        (tmp_path / name).write_bytes(gzip.compress(data, 1) if packed else data)
    assert sum(len(source.trials) for source in readers.read(str(tmp_path))) == 10


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("packed", [False, True])
def test_log_is_known_however_much_its_eval_holds(
    packed: bool, indent: int | None, tmp_path: Path
) -> None:
    """Whatever it is called: the ids of all samples stand there."""
    for name, n in (("large", 100_000), ("small", 1)):
        written = log([sample(1, {"s": 1})])
        written["eval"]["dataset"]["sample_ids"] = [f"{i:012}" for i in range(n)]
        data = json.dumps(written, indent=indent).encode()
        (tmp_path / name).write_bytes(gzip.compress(data, 1) if packed else data)
    assert sum(len(source.trials) for source in readers.read(str(tmp_path))) == 2


@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize(
    ("begin", "n"),
    [
        ('{"doc_id": NaN, "doc": "', 65 << 20),
        ('null\n{"doc": "', 65 << 20),
        ('{"doc_id": 1, "doc": "', 9),
        ("\n" * (2 << 20), 9),
    ],
    ids=["long", "long second", "cut", "blank"],
)
def test_file_whose_first_line_tells_nothing_is_said(
    begin: str, n: int, end: str, tmp_path: Path
) -> None:
    """It is too long, cut, or comes late: what it is cannot be told."""
    (tmp_path / "long").write_text(begin + "x" * n + end)
    (tmp_path / "log").write_text(json.dumps(log([sample(1, {"s": 1})])))
    (source,) = readers.read(str(tmp_path))
    (said,) = (each for each in source.diagnostics if each.rule == "file-not-read")
    assert f"{tmp_path}/long is not read" in said.message
