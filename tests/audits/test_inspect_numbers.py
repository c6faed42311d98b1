"""`audit` does not believe what an Inspect log says of itself: changed and odd logs are seen."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import LOGS, Run
from inspect_logs import Members, archived, log, members, metric, sample, write

import harbor_metrics
from harbor_metrics.audits import audit
from harbor_metrics.audits.row import Row, Verdict
from harbor_metrics.readers import conversion


def test_a_changed_sample_is_seen(cli: Run, tmp_path: Path) -> None:
    content = members("parts")
    first = content["summaries.json"][0]
    member = content[f"samples/{first['id']}_epoch_{first['epoch']}.json"]
    for score in (first, member):
        score["scores"]["parts"]["value"]["a1"] += 0.5
    write(tmp_path / "x.eval", content)
    done = cli("audit", "x.eval")
    assert done.returncode == 1
    assert "differs" in done.stdout
    assert "differ without an explanation" in done.stdout


def test_log_as_one_document_audits_equal(tmp_path: Path) -> None:
    packed = LOGS / "inspect" / "log1_reducers_error.json.gz"
    (tmp_path / "log.json").write_bytes(gzip.decompress(packed.read_bytes()))
    done = audit(str(tmp_path / "log.json"))
    assert (done.count(Verdict.EQUAL), len(done.rows)) == (119, 119)


def of_document(path: Path, document: dict[str, Any]) -> list[Row]:
    path.write_text(json.dumps(document))
    return [row for row in audit(str(path)).rows if row.name.startswith("num: ")]


@pytest.mark.parametrize(
    ("long", "short"),
    [("A" * 1500, "..."), ({"p": "A" * 1500}, "Key removed from summary (> 1k)")],
    ids=["text", "nested"],
)
def test_metadata_that_summaries_shorten_is_read_from_the_samples(
    long: Any, short: str, tmp_path: Path
) -> None:
    def other(value: Any) -> Any:
        return value.replace("A", "B") if isinstance(value, str) else {"p": "B" * 1500}

    samples = [
        sample(f"s{i}", float(i % 2), metadata={"cat": other(long) if i % 2 else long})
        for i in range(4)
    ]
    name = "cat" if isinstance(long, str) else "cat.p"
    parts = [(str(long), 0.0), (str(other(long)), 1.0)]
    grouped = [
        metric(label, value, group="grouped", params={
            "group_key": "cat", "metric": {"name": "mean", "params": {}}, "all": False,
        })
        for label, value in parts
    ]  # fmt: skip
    document = log(samples, *grouped)
    summaries = [{**each, "metadata": {"cat": short}} for each in samples]
    path = write(tmp_path / "x.eval", archived(document, summaries))
    assert [row.verdict for row in audit(str(path)).rows[2:4]] == [Verdict.EQUAL] * 2
    spec = {"type": "grouped", "kwargs": {"metric": {"type": "mean-reward"}, "by": name}}
    trials = tmp_path / "t.jsonl"
    trials.write_bytes(conversion.convert(str(path)).lines())
    values = [
        harbor_metrics.compute(str(each), metrics=[json.dumps(spec)]).groups[0].metrics[-1].values
        for each in (path, trials)
    ]
    assert values[0] == values[1]
    assert len(values[0]) >= 2


CHANGES: dict[str, Callable[[Members], None]] = {
    "no samples": lambda m: [m.pop(n) for n in list(m) if n.startswith("samples/")] and None,
    "fewer samples": lambda m: m.pop(next(n for n in m if n.startswith("samples/"))) and None,
    "other summaries": lambda m: m["summaries.json"][0]["scores"]["num"].update(value=0.25),
    "fewer summaries": lambda m: m["summaries.json"].pop() and None,
}


@pytest.mark.parametrize("name", CHANGES)
def test_archive_whose_samples_and_summaries_disagree_fails_the_audit(
    name: str, cli: Run, tmp_path: Path
) -> None:
    samples = [sample(f"s{i}", float(i % 2)) for i in range(4)]
    content = archived(log(samples, metric("mean", 0.5)), json.loads(json.dumps(samples)))
    write(tmp_path / "honest.eval", content)
    assert cli("audit", "honest.eval").returncode == 0
    CHANGES[name](content)
    write(tmp_path / "x.eval", content)
    done = cli("audit", "x.eval")
    assert done.returncode == 1
    assert "error[sam" in done.stderr or "error[summaries-differ]" in done.stderr


def test_forged_summaries_do_not_hide_the_samples(tmp_path: Path) -> None:
    samples = [sample(f"s{i}", float(i % 2)) for i in range(4)]
    content = archived(log(samples, metric("mean", 1.0)), [sample(f"s{i}", 1.0) for i in range(4)])
    done = audit(str(write(tmp_path / "x.eval", content)))
    assert [row.recomputed for row in done.rows if row.verdict == Verdict.DIFFERS] == [0.5]


def test_sample_that_cannot_be_read_fails_the_audit(cli: Run, tmp_path: Path) -> None:
    document = log([sample("a", 1.0), sample("b", 1.0)], metric("mean", 1.0))
    document["samples"][0]["id"] = None
    (tmp_path / "x.json").write_text(json.dumps(document))
    done = cli("audit", "x.json")
    assert done.returncode == 1
    assert "has no id" in done.stderr


def test_metadata_cannot_pose_as_the_readers_labels(tmp_path: Path) -> None:
    metadata = {"inspect/status": "missing", "inspect/value": "C", "inspect/scorer": "zz"}
    samples = [sample("a", 1.0, metadata=metadata), sample("b", 0.0, metadata=metadata)]
    row = metric("unscored_samples", 0)
    document = log(samples, metric("mean", 0.5), row)
    document["results"]["scores"][0] |= {"scored_samples": 2, "unscored_samples": 0}
    path = tmp_path / "x.json"
    path.write_text(json.dumps(document))
    done = audit(str(path))
    assert [each for each in done.rows if each.verdict == Verdict.DIFFERS] == []


def test_a_second_row_of_a_scorer_is_audited(tmp_path: Path) -> None:
    document = log([sample("a", 1.0), sample("b", 0.0)], metric("mean", 0.5))
    scores = document["results"]["scores"]
    scores.append({**scores[0], "metrics": {"mean": metric("mean", 0.75)}})
    found = of_document(tmp_path / "x.json", document)
    assert [row.verdict for row in found] == [Verdict.EQUAL, Verdict.DIFFERS]


@pytest.mark.parametrize("params", [{"method": "bootstrap"}, {"foo": 1}])
@pytest.mark.parametrize(("value", "verdict"), [(0.5, Verdict.EQUAL), (0.75, Verdict.DIFFERS)])
def test_a_parameter_does_not_excuse_a_number(
    params: Any, value: float, verdict: Verdict, tmp_path: Path
) -> None:
    given = {**metric("accuracy", value), "params": params}
    found = of_document(tmp_path / "x.json", log([sample("a", 1.0), sample("b", 0.0)], given))
    assert [row.verdict for row in found] == [verdict]


@pytest.mark.parametrize("value", [0.5, 0.75])
def test_scores_that_a_function_of_the_eval_maps_are_unverified(
    value: float, tmp_path: Path
) -> None:
    given = {**metric("accuracy", value), "params": {"to_float": "custom"}}
    (row,) = of_document(tmp_path / "x.json", log([sample("a", 1.0), sample("b", 0.0)], given))
    assert row.verdict == Verdict.UNVERIFIED
    assert "the log has only its name" in row.reason


def test_ends_of_a_drawn_interval_are_among_the_scores(tmp_path: Path) -> None:
    params = {"method": "bootstrap"}
    ends = [metric("lower", 0.0, group="ci"), metric("upper", 1.5, group="ci")]
    document = log([sample("a", 1.0), sample("b", 0.0)], *[{**e, "params": params} for e in ends])
    found = of_document(tmp_path / "x.json", document)
    assert [row.verdict for row in found] == [Verdict.UNVERIFIED, Verdict.DIFFERS]


@pytest.mark.parametrize(
    ("value", "verdict"),
    [(0.5, Verdict.EQUAL), (0.6, Verdict.UNVERIFIED), (0.61, Verdict.DIFFERS)],
)
def test_missing_sample_excuses_only_what_it_can_have_changed(
    value: float, verdict: Verdict, tmp_path: Path
) -> None:
    samples = [sample(f"s{i}", float(i % 2)) for i in range(10)]
    document = log(samples, metric("mean", value))
    document["results"] |= {"total_samples": 11, "completed_samples": 11}
    document["eval"]["dataset"]["samples"] = 11
    (row,) = of_document(tmp_path / "x.json", document)
    assert row.verdict == verdict
    assert verdict != Verdict.DIFFERS or "between 0.4 and 0.6" in row.reason


def test_samples_that_the_log_does_not_count_excuse_nothing(tmp_path: Path) -> None:
    document = log([sample(f"s{i}", float(i % 2)) for i in range(10)], metric("mean", 0.6))
    document["results"]["total_samples"] = document["eval"]["dataset"]["samples"] = 11
    (tmp_path / "x.json").write_text(json.dumps(document))
    verdicts = {row.name: row.verdict for row in audit(str(tmp_path / "x.json")).rows}
    assert verdicts == {
        "total_samples": Verdict.UNVERIFIED,
        "completed_samples": Verdict.EQUAL,
        "num: mean": Verdict.DIFFERS,
    }


@pytest.mark.parametrize("value", ["Infinity", "-Infinity", '"0.99"', "NaN", "null"])
def test_only_nan_and_null_equal_an_undefined_value(value: str, tmp_path: Path) -> None:
    document = log([sample("a", 1.0)], metric("stderr", "@"))
    path = tmp_path / "x.json"
    path.write_text(json.dumps(document).replace('"@"', value))
    (row,) = (each for each in audit(str(path)).rows if each.name == "num: stderr")
    undefined = value in ("NaN", "null")
    assert row.verdict == (Verdict.EQUAL if undefined else Verdict.DIFFERS)
    if not undefined:
        assert row.reported == value.strip('"')


def test_number_of_a_scorer_without_scores_differs(tmp_path: Path) -> None:
    document = log([sample("a", 1.0), sample("b", 0.0)], metric("accuracy", 0.5))
    document["results"]["scores"][0]["name"] = "ghost"
    path = tmp_path / "x.json"
    path.write_text(json.dumps(document))
    (row,) = (each for each in audit(str(path)).rows if each.name == "ghost: accuracy")
    assert row.verdict == Verdict.DIFFERS
    assert "object" not in row.reason
    assert row.reason


def test_labels_that_are_equal_and_named_apart_audit_equal(tmp_path: Path) -> None:
    samples = [
        sample(f"s{i}", float(i), metadata={"g": g}) for i, g in enumerate([True, 1, "x", 1])
    ]
    params = {"group_key": "g", "metric": {"name": "mean", "params": {}}}
    parts = [("True", 0.0), ("1", 2.0), ("x", 2.0)]
    rows = [metric(n, v, group="grouped") | {"params": params} for n, v in parts]
    found = of_document(tmp_path / "x.json", log(samples, *rows))
    assert [row.verdict for row in found] == [Verdict.EQUAL] * 3


def test_spread_that_overflowed_in_inspect_is_explained(tmp_path: Path) -> None:
    samples = [sample("a", 1e300), sample("b", -1e300)]
    document = log(samples, metric("std", "@"))
    path = tmp_path / "x.json"
    path.write_text(json.dumps(document).replace('"@"', "Infinity"))
    (row,) = (each for each in audit(str(path)).rows if each.name == "num: std")
    assert (row.verdict, row.reported) == (Verdict.EXPLAINED, "Infinity")
    assert row.recomputed == pytest.approx(2**0.5 * 1e300)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (metric("bootstrap_stderr", 1) | {"params": {"num_samples": "abc"}}, "its 1000 draws"),
        (metric("c", 1, group="ci"), "gives no `c`"),
        (metric("x", 1, group="grouped"), "does not say which metric"),
        (metric("x", 1, group="grouped") | {"params": {"group_key": 5, "metric": "mean"}}, "which"),
        (metric("stderr", 1) | {"params": {"cluster": ["a"]}}, "cluster"),
    ],
)
def test_odd_parameters_are_explained(given: Any, words: str, tmp_path: Path) -> None:
    samples = [sample("a", 1.0), sample("b", 0.0), sample("c", 0.0)]
    (row,) = of_document(tmp_path / "x.json", log(samples, given))
    assert words in row.reason


def test_frequency_of_a_score_that_never_occurs_is_0(tmp_path: Path) -> None:
    given = metric("x", 1, group="frequency") | {"params": {"normalize": "z"}}
    (row,) = of_document(tmp_path / "x.json", log([sample("a", 1.0), sample("b", 0.0)], given))
    assert (row.recomputed, row.verdict) == (0.0, Verdict.DIFFERS)


def test_row_without_a_reducer_beside_rows_with_one_is_over_attempts(tmp_path: Path) -> None:
    samples = [sample("a", float(epoch % 2), epoch=epoch) for epoch in (1, 2, 3)]
    document = log(samples, metric("mean", 2 / 3))
    document["eval"]["dataset"]["samples"] = 1
    document["eval"]["config"] = {"epochs": 3, "epochs_reducer": ["mean"]}
    (row,) = document["results"]["scores"]
    row |= {"reducer": "mean", "scored_samples": 1}
    document["results"]["scores"].append(
        {"name": "num", "scorer": "num", "scored_samples": 3, "unscored_samples": 0, "metrics": {}}
    )
    path = tmp_path / "x.json"
    path.write_text(json.dumps(document))
    assert {row.verdict for row in audit(str(path)).rows} == {Verdict.EQUAL}


def test_numbers_of_a_key_without_any_score_are_those_of_no_sample(tmp_path: Path) -> None:
    document = log([sample("a", 1.0)], metric("mean", 1.0))
    ends = {name: metric(name, 0.0, group="ci") for name in ("lower", "upper")}
    document["results"]["scores"].append(
        {"name": "acc", "scorer": "other", "scored_samples": 0, "metrics": ends}
    )
    path = tmp_path / "x.json"
    path.write_text(json.dumps(document))
    rows = [row for row in audit(str(path)).rows if row.name.startswith("acc")]
    assert [row.verdict for row in rows] == [Verdict.EXPLAINED, Verdict.EXPLAINED, Verdict.EQUAL]


def test_ratings_without_a_majority_are_told_apart_as_python_does(tmp_path: Path) -> None:
    ratings = {"q0": [[4, 1, 4], [4, 2, 4]], "q1": [[4, 1, 1], [4, 2, 1]]}
    samples = [
        sample(name, value, epoch=epoch)
        for name, values in ratings.items()
        for epoch, value in enumerate(values, start=1)
    ]
    # By Inspect 0.3.285 itself.
    number = metric("krippendorff_alpha", -0.04166666666666674, params={"level": "nominal"})
    document = log(samples, number)
    document["results"]["scores"][0]["reducer"] = "majority"
    document["eval"]["dataset"]["samples"] = 2
    document["eval"]["config"] = {"epochs": 2, "epochs_reducer": ["majority"]}
    (tmp_path / "x.json").write_text(json.dumps(document))
    rows = {row.name: row.verdict for row in audit(str(tmp_path / "x.json")).rows}
    assert rows["num, majority: krippendorff_alpha"] == Verdict.EQUAL


def test_a_number_that_another_scorer_has_under_the_same_name_is_not_hidden(tmp_path: Path) -> None:
    scores = [{"num": {"value": v}, "other": {"value": 0.0}} for v in (1.0, 0.0)]
    samples = [sample(f"s{i}", 0, scores=score) for i, score in enumerate(scores)]
    document = log(samples, metric("mean", 0.5))
    (row,) = document["results"]["scores"]
    document["results"]["scores"] = [row, {**row, "scorer": "other"}]
    found = of_document(tmp_path / "x.json", document)
    assert [each.verdict for each in found] == [Verdict.EQUAL, Verdict.DIFFERS]
