"""No number can be put into the results of an Inspect log unseen, in any layout that it reads."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from inspect_logs import LOGS, members, write

from harbor_metrics import readers
from harbor_metrics.api import compute
from harbor_metrics.audits import audit
from harbor_metrics.audits.row import Row, Verdict
from harbor_metrics.errors import InputError

pytestmark = pytest.mark.one_python

NAMES = ("log1_reducers_error", "of-0.3.25", "log3_noreduce")
PLAIN = "log3_noreduce"
FORGED = 0.98765
Log = dict[str, Any]


def log_of(name: str) -> Log:
    """A log as one document."""
    packed = LOGS / f"{name}.json.gz"
    if packed.exists():
        found: Log = json.loads(gzip.decompress(packed.read_bytes()))
        return found
    parts = members(name)
    samples = [value for each, value in parts.items() if each.startswith("samples/")]
    return {**parts["header.json"], "samples": samples, "reductions": parts.get("reductions.json")}


def older(log: Log, *, beside: bool = True) -> Log:
    """The log as the first versions of Inspect wrote one, with its first scorer alone."""
    made = copy.deepcopy(log)
    results = made["results"]
    scorer = results.pop("scores")[0]
    name = scorer.pop("scorer")
    if beside:
        results["metrics"] = scorer.pop("metrics")
    results["scorer"] = {**scorer, "name": name}
    for sample in made["samples"]:
        if scores := sample.pop("scores", None):
            sample["score"] = scores[name]
    made.pop("reductions", None)
    return made


def metrics_of(log: Log) -> Iterator[dict[str, Any]]:
    results = log["results"]
    for holder in (*results.get("scores", []), results.get("scorer", {}), results):
        if isinstance(holder.get("metrics"), dict):
            yield holder["metrics"]


def additions(log: Log) -> Iterator[tuple[str, Log]]:
    """The log with a number more, or with another one, at any place where Inspect has some."""
    metric = {"name": "accuracy", "value": FORGED}
    for i, metrics in enumerate(metrics_of(log)):
        # Of many scorers with the same metrics each has others of them.
        for name in metrics if i < 2 else [*metrics][i::5]:
            made = copy.deepcopy(log)
            [*metrics_of(made)][i][name]["value"] = FORGED
            yield f"metrics {i}: {name}", made
        made = copy.deepcopy(log)
        [*metrics_of(made)][i]["invented"] = {**metric, "name": "invented"}
        yield f"metrics {i}: invented", made
    made = copy.deepcopy(log)
    if "scorer" in made["results"]:
        made["results"]["scorer"]["metrics"] = {"accuracy": metric}
        yield "metrics of the scorer", made
        return
    made["results"]["metrics"] = {"accuracy": metric}
    yield "metrics beside scores", made
    made = copy.deepcopy(log)
    made["results"]["metrics"] = [{"accuracy": FORGED}]
    yield "metrics that are none", made
    made = copy.deepcopy(log)
    scores = {"name": "invented", "scorer": "invented", "metrics": {"accuracy": metric}}
    made["results"]["scores"].append(scores)
    yield "a scorer", made


@pytest.mark.parametrize("layout", ["today's", "beside the scorer", "in the scorer"])
@pytest.mark.parametrize("name", NAMES)
def test_number_at_any_place_of_the_results_has_a_row(
    name: str, layout: str, tmp_path: Path
) -> None:
    log = log_of(name)
    if layout != "today's":
        log = older(log, beside=layout == "beside the scorer")
    made = [*additions(log)]
    assert len(made) > 2
    for what, forged in made:
        (tmp_path / "log.json").write_text(json.dumps(forged))
        found = audit(str(tmp_path / "log.json"))
        verdicts = [row.verdict for row in found.rows if row.reported == FORGED]
        assert verdicts, what
        assert Verdict.EQUAL not in verdicts, what


@pytest.mark.parametrize(
    "place",
    ["accuracy", "headline.value", "scores.0.value", "scores.0.metrics.accuracy.other", "x.y.z"],
)
@pytest.mark.parametrize("value", [FORGED, str(FORGED), [FORGED]])
def test_number_where_inspect_reads_none_is_unverified(
    place: str, value: Any, tmp_path: Path
) -> None:
    log = log_of(PLAIN)
    *above, last = place.split(".")
    found = log["results"]
    for step in above:
        found = found[int(step)] if isinstance(found, list) else found.setdefault(step, {})
    found[last] = value
    (tmp_path / "log.json").write_text(json.dumps(log))
    parts = {**members(PLAIN), "header.json": {k: v for k, v in log.items() if k != "samples"}}
    write(tmp_path / "log.eval", parts)
    for path in ("log.json", "log.eval"):
        rows = audit(str(tmp_path / path)).rows
        verdicts = [row.verdict for row in rows if str(FORGED) in str(row.reported)]
        assert verdicts == [Verdict.UNVERIFIED]


SHARE = {"name": "I", "group": "frequency", "params": {}}


@pytest.mark.parametrize(
    ("key", "metric", "is_its"),
    [
        ("accuracy", SHARE, False),
        ("overall accuracy", SHARE, False),
        ("pass_rate", {"name": "std"}, False),
        ("accuracy", {"name": "std"}, False),
        ("std ", {"name": "std"}, False),
        ("std\n", {"name": "std"}, False),
        ("std²", {"name": "std"}, False),
        ("accuracy", {"name": "", "group": "accuracy"}, False),
        ("frequency", SHARE, False),
        ("frequencyI", SHARE, False),
        ("std2", {"name": "inspect_ai/std"}, True),
        ("inspect_ai/std", {"name": "inspect_ai/std"}, True),
        ("I", SHARE, True),
        ("I3", SHARE, True),
        ("std", {**SHARE, "name": "std"}, True),
        ("std22", {**SHARE, "name": "std2"}, True),
        ("frequency_I", SHARE, True),
        ("acme/frequency_I", SHARE, True),
        ("frequency2-1", {"name": "1", "group": "frequency"}, True),
    ],
)
def test_metric_under_another_name_is_unverified(
    key: str, metric: Log, is_its: bool, tmp_path: Path
) -> None:
    """What stands at `accuracy` is read as the accuracy, whatever it is the value of."""
    log = log_of(PLAIN)

    def row(value: Any) -> Row:
        log["results"]["scores"][0]["metrics"] = {key: {**metric, "value": value}}
        (tmp_path / "log.json").write_text(json.dumps(log))
        rows = audit(str(tmp_path / "log.json")).rows
        return next(row for row in rows if row.name.endswith(f": {key}"))

    forged = row(FORGED)
    assert forged.verdict in (Verdict.DIFFERS, Verdict.UNVERIFIED)
    right = row(forged.recomputed)
    assert right.verdict != Verdict.DIFFERS
    assert is_its or right.verdict == Verdict.UNVERIFIED
    assert ("under that name" in right.reason) is (forged.recomputed is not None and not is_its)


@pytest.mark.parametrize("count", ["total_samples", "completed_samples", "scored_samples"])
def test_count_of_the_older_layout_has_a_row(count: str, tmp_path: Path) -> None:
    log = older(log_of(PLAIN))
    results = log["results"]
    (results["scorer"] if count == "scored_samples" else results)[count] = 987
    (tmp_path / "log.json").write_text(json.dumps(log))
    rows = audit(str(tmp_path / "log.json")).rows
    assert [row.verdict for row in rows if row.reported == 987] == [Verdict.DIFFERS]


@pytest.mark.parametrize("beside", [True, False])
def test_log_of_the_first_versions_is_read_as_inspect_reads_it(
    beside: bool, tmp_path: Path
) -> None:
    log = log_of(PLAIN)
    # The only scorer that the first versions have.
    del log["results"]["scores"][1:]
    name = log["results"]["scores"][0]["scorer"]
    for sample in log["samples"]:
        sample["scores"] = {name: sample["scores"][name]}
    for file, content in (("today.json", log), ("older.json", older(log, beside=beside))):
        (tmp_path / file).write_text(json.dumps(content))
    today, first = (str(tmp_path / f"{file}.json") for file in ("today", "older"))

    def rows(path: str) -> list[tuple[Any, ...]]:
        return [(r.group, r.name, r.reported, r.recomputed, r.verdict) for r in audit(path).rows]

    assert rows(first) == rows(today)
    assert {row[-1] for row in rows(today)} == {Verdict.EQUAL}
    assert compute(first).groups == compute(today).groups
    assert readers.read(first)[0].trials[0].rewards == readers.read(today)[0].trials[0].rewards


def test_what_inspect_refuses_is_refused(tmp_path: Path) -> None:
    log, path = log_of(PLAIN), tmp_path / "log.json"
    both = copy.deepcopy(log)
    both["results"]["scorer"] = {"name": "letters"}
    path.write_text(json.dumps(both))
    with pytest.raises(InputError, match="`scorer` stands beside `scores`"):
        audit(str(path))
    both = copy.deepcopy(log)
    both["samples"][0]["score"] = {"value": 1}
    path.write_text(json.dumps(both))
    with pytest.raises(InputError, match="`score` and `scores`"):
        audit(str(path))
    wrong = older(log)
    wrong["results"]["sample_reductions"] = 5
    path.write_text(json.dumps(wrong))
    with pytest.raises(InputError, match="sample_reductions"):
        audit(str(path))


@pytest.mark.parametrize("where", ["log", "results", "header"])
def test_key_that_stands_twice_in_a_log_or_its_results_is_said(where: str, tmp_path: Path) -> None:
    if where == "header":
        path = tmp_path / "log.eval"
        parts = members(PLAIN)
        text = json.dumps(parts["header.json"])
        twice = text.replace('"results": {', '"results": {"scores": []}, "results": {', 1)
        write(path, {**parts, "header.json": twice.encode()})
    else:
        path = tmp_path / "log.json"
        log = log_of(PLAIN)
        log["samples"][0]["input"] = 'a "quoted" text, and a number: '
        log["samples"][0]["metadata"] = {"n": float("nan")}
        text = json.dumps(log)
        path.write_text(text)
        assert audit(str(path)).ok
        inside = '{"scores": []}, "results": {' if where == "log" else '{"scores": [], '
        twice = text.replace('"results": {', f'"results": {inside}', 1)
        path.write_text(twice)
    found = audit(str(path))
    assert twice != text
    assert "duplicate-key" in {d.rule for d in found.diagnostics}
    assert not found.ok
