"""Results: their documents, and how a notebook shows them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest
from conftest import HERE, Run
from msgspec import UNSET
from registries_by_hand import dataset

import harbor_metrics
from harbor_metrics import InputError, Result
from harbor_metrics.documents import schemas


def test_same_input_gives_the_same_bytes(cli: Run, job: Path, tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        assert cli("compute", job, "-o", name).returncode == 0
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert Result.read(str(tmp_path / "a.json")) == harbor_metrics.compute(job)


def test_another_document_is_refused_as_a_result(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"schema_version": "2"}')
    with pytest.raises(InputError, match="not a result document"):
        Result.read(str(tmp_path / "x.json"))


@pytest.mark.parametrize(("command", "name"), [("compute", "mean"), ("compare", "difference")])
def test_a_number_beyond_binary64_in_a_document_is_refused(
    command: str, name: str, cli: Run, rewards: Path, tmp_path: Path
) -> None:
    (tmp_path / "other.jsonl").write_text(rewards.read_text().replace("0.25", "0.5"))
    cli(command, rewards, *(["other.jsonl"] if command == "compare" else []), "-o", "x.json")
    text = (tmp_path / "x.json").read_text()
    beyond, n = re.subn(rf'("{name}": )-?[0-9.]+', rf"\g<1>1{'0' * 400}", text, count=1)
    assert n
    (tmp_path / "x.json").write_text(beyond)
    done = cli("report", "x.json", "-o", "x.html")
    assert done.returncode == 3
    assert "larger than any binary64 number" in done.stderr


def test_a_document_in_which_a_key_stands_twice_is_refused(
    cli: Run, rewards: Path, tmp_path: Path
) -> None:
    cli("compute", rewards, "-o", "x.json")
    text = (tmp_path / "x.json").read_text()
    (tmp_path / "x.json").write_text(text.replace('"values": ', '"values": {}, "values": ', 1))
    done = cli("report", "x.json", "-o", "x.html")
    assert done.returncode == 3
    assert "duplicate key `values`" in done.stderr


def test_notebook_shows_a_table(job: Path) -> None:
    html = harbor_metrics.compute(job)._repr_html_()
    assert "<table>" in html
    assert "<td>0.40</td>" in html


def test_hash_seed_changes_no_byte(cli: Run, job: Path, tmp_path: Path) -> None:
    metrics = [
        {"type": "mean", "foo": 1, "bar": 2, "baz": 3},
        {"type": "sum", "kwargs": {"aa": 1, "bb": 2, "cc": 3}},
    ]
    (tmp_path / "r.json").write_text(json.dumps([dataset("demo", metrics=metrics)]))
    args = ("compute", job, "--registry", "r.json", "--format", "json")
    printed = {cli(*args, env={"PYTHONHASHSEED": str(seed)}).stdout for seed in range(5)}
    assert len(printed) == 1


OLD = sorted((HERE / "evaluation" / "documents_of_0_1_0").glob("*.json"))


@pytest.mark.parametrize("path", OLD, ids=lambda path: path.stem)
def test_a_document_of_0_1_0_is_read_and_written_as_it_was(path: Path, tmp_path: Path) -> None:
    result = Result.read(str(path))
    sures = [s for g in result.groups for o in g.metrics for s in o.uncertainty.values()]
    assert any(sure.low is not None for sure in sures)
    assert {sure.over for sure in sures} == {UNSET}
    result.write(str(tmp_path / "again.json"))
    assert json.loads((tmp_path / "again.json").read_text()) == json.loads(path.read_text())
    jsonschema.Draft202012Validator(schemas.bundled("result")).validate(
        json.loads(path.read_text())
    )
    assert "<table>" in result._repr_html_()
