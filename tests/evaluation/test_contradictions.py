"""A document that contradicts itself is none, and it is said where."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from conftest import Run
from results_by_hand import outcome

from harbor_metrics import InputError
from harbor_metrics.documents.diagnostics import Diagnostic
from harbor_metrics.evaluation.result import Basis, Failure, Uncertainty

FAILURE = Failure(rule="r", message="no")
SURE = Uncertainty(stderr=0.1, low=0.1, high=0.9, level=0.95, method="hall")


@pytest.mark.parametrize(
    "fields",
    [
        {"status": "failed"},
        {"error": FAILURE},
        {"status": "failed", "error": FAILURE, "values": {"mean": 1}},
        {"status": "undefined"},
        {"n": {"other": 3}},
        {"reasons": {"other": "why"}},
        {"reasons": {"mean": "why"}},
        {"uncertainty": {"other": SURE}},
        {"uncertainty": {"mean": msgspec.structs.replace(SURE, low=2)}},
        {"uncertainty": {"mean": msgspec.structs.replace(SURE, stderr=-1)}},
        {"basis": {"other": Basis(trials=1, tasks=1)}},
        {"basis": {"mean": Basis(trials=1, tasks=2)}},
        {"basis": {"mean": Basis(trials=1, tasks=1, passed=2)}},
    ],
    ids=str,
)
def test_an_outcome_does_not_contradict_itself(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="`"):
        outcome(**fields)


def _of_group(**fields: Any) -> Callable[[Any], None]:
    return lambda document: document["groups"][0].update(fields)


def _of_counts(**fields: Any) -> Callable[[Any], None]:
    return lambda document: document["groups"][0]["counts"].update(fields)


def _of_metric(**fields: Any) -> Callable[[Any], None]:
    return lambda document: document["groups"][0]["metrics"][0].update(fields)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (_of_counts(found=-1), "$.groups[0].counts.found"),
        (_of_counts(found=10**30), "$.groups[0].counts.found"),
        (_of_counts(scored=7), "$.groups[0].counts"),
        (_of_counts(tasks=99), "$.groups[0].counts"),
        (_of_counts(left_out=1), "$.groups[0].counts"),
        (_of_group(pass_at_k={"2": 1.5}), "$.groups[0].pass_at_k"),
        (_of_group(complete="yes"), "$.groups[0].complete"),
        (_of_metric(reasons={"mean": "why"}), "$.groups[0].metrics[0]"),
        (_of_metric(n={"mean": -1}), "$.groups[0].metrics[0].n"),
        (lambda document: document.update(diagnostics=[{"rule": "x"}]), "$.diagnostics[0]"),
    ],
)
def test_a_result_is_checked_to_the_last_field(
    cli: Run, rewards: Path, tmp_path: Path, change: Callable[[Any], None], place: str
) -> None:
    cli("compute", rewards, "-o", "x.json")
    document = json.loads((tmp_path / "x.json").read_text())
    change(document)
    (tmp_path / "x.json").write_text(json.dumps(document))
    done = cli("report", "x.json", "-o", "x.html")
    assert done.returncode == 3
    assert done.stderr.startswith("error: x.json is not a result document: ")
    assert place in done.stderr


@pytest.mark.parametrize(
    ("part", "fields", "place"),
    [
        ("tasks", {"higher": 9}, "$.comparisons[0].tasks"),
        ("base", {"run": 1}, "$.comparisons[0].base.run"),
        ("rows", {"p": 2}, "$.comparisons[0].rows[0].p"),
        ("rows", {"low": None}, "$.comparisons[0].rows[0]"),
        ("rows", {"low": 9e9}, "$.comparisons[0].rows[0]"),
        ("rows", {"verdict": "better", "higher_is_better": None}, "$.comparisons[0].rows[0]"),
        ("rows", {"verdict": "best"}, "$.comparisons[0].rows[0].verdict"),
    ],
)
def test_a_comparison_is_checked_to_the_last_field(
    cli: Run, rewards: Path, tmp_path: Path, part: str, fields: dict[str, Any], place: str
) -> None:
    (tmp_path / "other.jsonl").write_text(rewards.read_text().replace("0.25", "0.5"))
    cli("compare", rewards, "other.jsonl", "-o", "x.json")
    document = json.loads((tmp_path / "x.json").read_text())
    found = document["comparisons"][0][part]
    (found[0] if isinstance(found, list) else found).update(fields)
    (tmp_path / "x.json").write_text(json.dumps(document))
    done = cli("report", "x.json", "-o", "x.html")
    assert done.returncode == 3
    assert done.stderr.startswith("error: x.json is not a comparison document: ")
    assert place in done.stderr


GOOD = Diagnostic(rule="r", message="m").as_json()


@pytest.mark.parametrize(
    "fields",
    [
        {"line": "x"}, {"line": 1}, {"line": -1, "column": 1, "end_line": 1, "end_column": 1},
        {"line": 1, "column": 1, "end_line": 1, "end_column": 10**400}, {"severity": "loud"},
        {"severity": None}, {"message": 1}, {"notes": "a"}, {"path": 3}, {"other": 1},
        {"column": 2},
    ],
    ids=str,
)  # fmt: skip
def test_a_diagnostic_is_checked_to_the_last_field(fields: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="not a diagnostic"):
        Diagnostic.from_json({**GOOD, **fields})


@pytest.mark.parametrize("field", GOOD)
def test_a_diagnostic_lacks_no_field(field: str) -> None:
    if field not in ("line", "column", "end_line", "end_column"):
        with pytest.raises(InputError, match=f"`{field}` is missing"):
            Diagnostic.from_json({name: value for name, value in GOOD.items() if name != field})
