"""`audit` does not believe what a log says of itself: changed, shortened and odd logs are seen."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import HERE, JOBS, Run
from test_inspect_log import Members, write

import harbor_metrics
from harbor_metrics import conversion
from harbor_metrics.audits import audit
from harbor_metrics.audits.row import Row, Verdict

INSPECT = HERE / "logs" / "inspect"


def sample(name: str, value: Any, **more: Any) -> dict[str, Any]:
    return {
        "id": name, "epoch": 1, "input": "q", "target": "x", "metadata": {}, "model_usage": {},
        "scores": {"num": {"value": value}}, **more,
    }  # fmt: skip


def metric(name: str, value: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "value": value, "params": {}, **more}


def log(samples: list[dict[str, Any]], *metrics: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A log in one document, the numbers of its scorer `num` as they are given."""
    row = {"name": "num", "scorer": "num", "metrics": {f"m{i}": m for i, m in enumerate(metrics)}}
    results = {"total_samples": len(samples), "completed_samples": len(samples), "scores": [row]}
    return {
        "version": 2, "status": "success", "plan": {"steps": [{"solver": "s"}]},
        "eval": {"task": "t", "model": "m", "eval_id": "e", "dataset": {"samples": len(samples)}},
        "results": results, "samples": samples, **more,
    }  # fmt: skip


def archived(document: dict[str, Any], summaries: list[dict[str, Any]]) -> Members:
    header = {k: v for k, v in document.items() if k != "samples"}
    whole = {f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in document["samples"]}
    return {"header.json": header, **whole, "summaries.json": summaries}


def of_document(path: Path, document: dict[str, Any]) -> list[Row]:
    path.write_text(json.dumps(document))
    return [row for row in audit(str(path)).rows if row.name.startswith("num: m")]


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
    parts = [("A" * 1500, 0.0), ("B" * 1500, 1.0)]
    grouped = [
        metric(label, value, group="grouped", params={
            "group_key": name, "metric": {"name": "mean", "params": {}}, "all": False,
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
def test_an_archive_whose_samples_and_summaries_disagree(
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


def test_errors_of_reading_are_not_ok(cli: Run, tmp_path: Path) -> None:
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


def test_a_forged_second_run_in_a_folder_is_audited(tmp_path: Path) -> None:
    (old,) = sorted((HERE / "logs" / "lm_eval" / "0.5.0.dev1").glob("samples_*"))[:1]
    (results,) = (HERE / "logs" / "lm_eval" / "0.5.0.dev1").glob("results_*")
    stamp = results.stem.removeprefix("results_")
    document = json.loads(results.read_text())
    task = old.name.removeprefix("samples_").removesuffix(f"_{stamp}.jsonl")
    number = next(n for n, v in document["results"][task].items() if type(v) is float)
    for other, by in ((stamp, 0), ("2030" + stamp[4:], 0.125)):
        document["results"][task][number] += by
        (tmp_path / f"results_{other}.json").write_text(json.dumps(document))
        (tmp_path / f"samples_{task}_{other}.jsonl").write_bytes(old.read_bytes())
    done = audit(str(tmp_path))
    assert [row.name for row in done.rows if row.verdict == Verdict.DIFFERS] == [number]


def test_a_second_row_of_a_scorer_is_audited(tmp_path: Path) -> None:
    document = log([sample("a", 1.0), sample("b", 0.0)], metric("mean", 0.5))
    scores = document["results"]["scores"]
    scores.append({**scores[0], "metrics": {"m0": metric("mean", 0.75)}})
    found = of_document(tmp_path / "x.json", document)
    assert [row.verdict for row in found] == [Verdict.EQUAL, Verdict.DIFFERS]


@pytest.mark.parametrize("params", [{"method": "bootstrap"}, {"foo": 1}, {"to_float": "custom"}])
@pytest.mark.parametrize(("value", "verdict"), [(0.5, Verdict.EQUAL), (0.75, Verdict.DIFFERS)])
def test_a_parameter_does_not_excuse_a_number(
    params: Any, value: float, verdict: Verdict, tmp_path: Path
) -> None:
    given = {**metric("accuracy", value), "params": params}
    found = of_document(tmp_path / "x.json", log([sample("a", 1.0), sample("b", 0.0)], given))
    assert [row.verdict for row in found] == [verdict]


def test_ends_of_a_drawn_interval_are_among_the_scores(tmp_path: Path) -> None:
    params = {"method": "bootstrap"}
    ends = [metric("lower", 0.1, group="ci"), metric("upper", 1.5, group="ci")]
    document = log([sample("a", 1.0), sample("b", 0.0)], *[{**e, "params": params} for e in ends])
    found = of_document(tmp_path / "x.json", document)
    assert [row.verdict for row in found] == [Verdict.EXPLAINED, Verdict.DIFFERS]


@pytest.mark.parametrize(
    ("value", "verdict"),
    [(0.5, Verdict.EQUAL), (0.6, Verdict.EXPLAINED), (0.61, Verdict.DIFFERS)],
)
def test_a_missing_sample_excuses_what_it_can_have_changed(
    value: float, verdict: Verdict, tmp_path: Path
) -> None:
    samples = [sample(f"s{i}", float(i % 2)) for i in range(10)]
    document = log(samples, metric("mean", value))
    document["results"]["total_samples"] = 11
    (row,) = of_document(tmp_path / "x.json", document)
    assert row.verdict == verdict
    assert verdict != Verdict.DIFFERS or "between 0.4 and 0.6" in row.reason


def test_missing_trials_of_a_job_excuse_what_they_can_have_changed(tmp_path: Path) -> None:
    shutil.copytree(JOBS / "single", tmp_path / "job")
    result = tmp_path / "job" / "result.json"
    document = json.loads(result.read_text())
    document["stats"]["evals"]["oracle__local-single"]["metrics"][0]["mean"] = 0.99
    result.write_text(json.dumps(document))
    shutil.rmtree(next((tmp_path / "job").glob("task-000__*")))
    done = audit(str(tmp_path / "job"))
    assert [row.name for row in done.rows if row.verdict == Verdict.DIFFERS] == ["metrics[0].mean"]


@pytest.mark.parametrize("value", ["Infinity", "-Infinity", '"0.99"', "NaN", "null"])
def test_what_is_no_number_is_equal_to_undefined_only_where_it_says_so(
    value: str, tmp_path: Path
) -> None:
    document = log([sample("a", 1.0)], metric("stderr", "@"))
    path = tmp_path / "x.json"
    path.write_text(json.dumps(document).replace('"@"', value))
    (row,) = (each for each in audit(str(path)).rows if each.name == "num: m0")
    undefined = value in ("NaN", "null")
    assert row.verdict == (Verdict.EQUAL if undefined else Verdict.DIFFERS)
    if not undefined:
        assert row.reported == value.strip('"')


def test_a_name_that_no_score_has(tmp_path: Path) -> None:
    document = log([sample("a", 1.0), sample("b", 0.0)], metric("accuracy", 0.5))
    document["results"]["scores"][0]["name"] = "ghost"
    path = tmp_path / "x.json"
    path.write_text(json.dumps(document))
    (row,) = (each for each in audit(str(path)).rows if each.name == "ghost: m0")
    assert row.verdict == Verdict.DIFFERS
    assert "object" not in row.reason
    assert row.reason


def test_labels_that_are_equal_and_named_apart(tmp_path: Path) -> None:
    samples = [
        sample(f"s{i}", float(i), metadata={"g": g}) for i, g in enumerate([True, 1, "x", 1])
    ]
    params = {"group_key": "g", "metric": {"name": "mean", "params": {}}}
    parts = [("True", 0.0), ("1", 2.0), ("x", 2.0)]
    rows = [metric(n, v, group="grouped") | {"params": params} for n, v in parts]
    found = of_document(tmp_path / "x.json", log(samples, *rows))
    assert [row.verdict for row in found] == [Verdict.EQUAL] * 3


def test_a_spread_that_overflowed_in_inspect(tmp_path: Path) -> None:
    samples = [sample("a", 1e300), sample("b", -1e300)]
    document = log(samples, metric("std", "@"))
    path = tmp_path / "x.json"
    path.write_text(json.dumps(document).replace('"@"', "Infinity"))
    (row,) = (each for each in audit(str(path)).rows if each.name == "num: m0")
    assert (row.verdict, row.reported) == (Verdict.EXPLAINED, "Infinity")
    assert row.recomputed == pytest.approx(2**0.5 * 1e300)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (metric("bootstrap_stderr", 1) | {"params": {"num_samples": "abc"}}, "1000 draws"),
        (metric("c", 1, group="ci"), "gives no `c`"),
        (metric("x", 1, group="grouped"), "does not say which metric"),
        (metric("x", 1, group="grouped") | {"params": {"group_key": 5, "metric": "mean"}}, "which"),
        (metric("stderr", 1) | {"params": {"cluster": ["a"]}}, "cluster"),
        (metric("x", 1, group="frequency") | {"params": {"normalize": "z"}}, ""),
    ],
)
def test_odd_parameters_are_no_obstacle(given: Any, words: str, tmp_path: Path) -> None:
    samples = [sample("a", 1.0), sample("b", 0.0), sample("c", 0.0)]
    (row,) = of_document(tmp_path / "x.json", log(samples, given))
    assert words in row.reason
