"""Sources that are not quite what they should be: what they are is said, and nothing is silent."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from test_audit_hardened import log, metric, sample
from test_lm_eval_samples import OLD, line
from test_lm_eval_samples import write as write_samples

from harbor_metrics import InputError, readers


def refused(path: Path) -> str:
    with pytest.raises(InputError) as error:
        readers.read(str(path))
    return str(error.value)


@pytest.mark.parametrize("odd", ["x", {"a": 1}, None, "absent"])
def test_a_metric_that_is_no_number_on_a_line_is_said(odd: Any, cli: Run, tmp_path: Path) -> None:
    rows = [line(i, acc=1.0) for i in range(4)]
    rows[2]["acc"] = odd
    if odd == "absent":
        del rows[2]["acc"]
    write_samples(tmp_path, rows)
    done = cli("compute", "samples.jsonl")
    assert "samples.jsonl: `acc` has no number in 1 of 4 samples, first on line 3" in done.stderr


def test_results_of_another_task_are_not_used(cli: Run, tmp_path: Path) -> None:
    samples = next(OLD.glob("samples_*"))
    (results,) = OLD.glob("results_*")
    shutil.copy(samples, tmp_path)
    document = json.loads(results.read_text())
    for name in ("results", "task_hashes", "n-samples", "configs"):
        document[name] = {"other": next(iter(document[name].values()))}
    (tmp_path / results.name).write_text(json.dumps(document))
    (source,) = readers.read(str(tmp_path))
    assert source.trials[0].model is None
    assert list(source.reported()) == []
    done = cli("compute", str(tmp_path))
    assert "says nothing of task" in done.stderr
    assert "is not used" in done.stderr


def test_a_first_sample_without_id_in_a_folder(cli: Run, tmp_path: Path) -> None:
    rows = [line(i, acc=1.0) for i in range(3)]
    del rows[0]["doc_id"]
    (tmp_path / "f").mkdir()
    write_samples(tmp_path / "f", rows)
    done = cli("compute", "f")
    assert "samples.jsonl: line 1 has no `doc_id`" in done.stderr
    assert done.returncode == 1


@pytest.mark.parametrize("first", ["# Title", "[badge](x)", "<p>", "| a | b |", "\n\nProse."])
def test_prose_with_a_line_of_json_is_no_rewards_file(first: str, tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(f'{first}\n\n{{"reward": 1}}\nand so on\n')
    assert "README.md is not JSON lines" in refused(path)


def test_a_broken_object_first_is_still_a_rewards_file(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('null\n{"reward": \n{"reward": 1}\n')
    (source,) = readers.read(str(path))
    assert (source.kind, len(source.diagnostics)) == ("rewards", 1)


@pytest.mark.parametrize(
    ("content", "numbers"),
    [("\n\ntask,score\na,1\nb,x\n", 5), ("task,score\ra,1\rb,x\r", 3)],
    ids=["blank lines", "cr"],
)
def test_a_csv_below_blank_lines_or_with_old_ends(
    content: str, numbers: int, tmp_path: Path
) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(content.encode())
    (source,) = readers.read(str(path))
    assert [(t.task, t.rewards) for t in source.trials] == [("a", {"reward": 1})]
    assert [d.span and d.span.line for d in source.diagnostics] == [numbers]


def test_one_object_over_several_lines(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps({"task": "a", "rewards": {"reward": 1}}, indent=1))
    assert "is one JSON object over several lines" in refused(path)


def _zip() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("header.json", "{}")
    return data.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"PK\5\6" + bytes(18), "is a zip archive without any member"),
        (b"junk" + _zip(), "is a zip archive with 4 bytes of something else before it"),
        (gzip.compress(gzip.compress(b'{"reward": 1}\n')), "is packed twice"),
    ],
    ids=["empty", "before", "twice"],
)
def test_odd_packing_is_named(content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    assert words in refused(path)


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


def test_a_fault_of_a_sample_is_said_once_for_all_scorers(cli: Run, tmp_path: Path) -> None:
    samples = [sample(f"s{i}", 1.0) for i in range(3)]
    for each in samples:
        each["scores"]["other"] = {"value": 1.0}
    samples[0]["id"] = None
    (tmp_path / "x.json").write_text(json.dumps(log(samples, metric("mean", 1.0))))
    done = cli("audit", "x.json")
    assert done.stderr.count("has no id") == 1
    assert "1 samples could not be read" in done.stdout


def test_a_member_that_unpacks_to_absurdly_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harbor_metrics.readers.archive.MOST_PLAIN", 1 << 16)
    path = tmp_path / "x.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(log([], metric("mean", 1))))
        archive.writestr("summaries.json", b"[" + b" " * (1 << 22) + b"]")
    said = refused(path)
    assert "member summaries.json would unpack to 4,194,306 bytes" in said
    assert "times as many as it has packed" in said


def test_a_line_that_cannot_be_read_does_not_make_results_those_of_others(tmp_path: Path) -> None:
    samples = next(path for path in OLD.glob("samples_*"))
    (results,) = OLD.glob("results_*")
    shutil.copy(results, tmp_path)
    lines = samples.read_text().splitlines(keepends=True)
    (tmp_path / samples.name).write_text("".join([lines[0][:-9] + "\n", *lines[1:]]))
    (source,) = readers.read(str(tmp_path))
    assert [each.rule for each in source.diagnostics if "results" in each.rule] == []
    assert source.trials[0].model


def test_a_task_without_rewards_is_said(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"t1": [1, 0], "t2": []}')
    done = cli("compute", "x.json")
    assert "x.json: 1 tasks have no rewards and are left out: t2" in done.stderr


def test_no_log_in_a_folder_that_is_read_as_one(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "a.txt").write_text("x\n")
    done = cli("compute", "f", "--as", "inspect")
    assert "error: f: no file in it is an Inspect log" in done.stderr
