"""No number of a job can be changed, left out, renamed or excused by a greater plan unseen."""

from __future__ import annotations

import json
import random
import re
import shutil
from functools import partial
from pathlib import Path

import msgspec
import pytest
from conftest import JOBS
from conftest import registry_of_job as registry
from harbor_forger import Document, forgeries, inflations

from harbor_metrics import readers
from harbor_metrics.audits import audit, harbor_numbers
from harbor_metrics.audits.row import Row, Verdict
from harbor_metrics.readers.harbor.reported import reported
from harbor_metrics.registries.registry import Registries
from harbor_metrics.trials.source import Source

pytestmark = pytest.mark.one_python

NAMES = ("single", "graded", "multi", "script", "interrupted", "two-models", "left-out")
HOLDS = (Verdict.EQUAL, Verdict.EXPLAINED)
SOME = 40
DROPPED = re.compile(r"without .*\.metrics\.[0-9]+$")


def rows(source: Source, document: Document, name: str | None) -> list[Row]:
    """The audit of a job with another result.json; with the registry of `name` or without."""
    assert source.job is not None
    total = document.get("n_total_trials")
    planned = total if type(total) is int else None
    forged = msgspec.structs.replace(
        source,
        job=msgspec.structs.replace(source.job, n_total_trials=planned),
        reported=partial(reported, document),
    )
    registries = Registries([registry(name)] if name else [])
    return list(harbor_numbers.rows(forged, registries, []))


def holding(rows: list[Row]) -> set[tuple[object, ...]]:
    return {(r.group, r.name, r.reported, r.recomputed) for r in rows if r.verdict in HOLDS}


def others(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row.verdict not in HOLDS]


@pytest.mark.parametrize("with_registry", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_nothing_of_a_job_can_be_changed_unseen(name: str, with_registry: bool) -> None:
    path = JOBS / name
    (source,) = readers.read(str(path))
    document = json.loads((path / "result.json").read_text())
    known = name if with_registry else None
    honest = rows(source, document, known)
    assert Verdict.DIFFERS not in {row.verdict for row in honest}
    before = holding(honest)
    changed = [*forgeries(document), *inflations(document, 4), *inflations(document, 60)]
    # Without a registry nothing says how many metrics there were.
    seen = [each for each in changed if with_registry or not DROPPED.search(each[0])]
    for what, forged in random.Random(1).sample(seen, min(SOME, len(seen))):
        after = rows(source, forged, known)
        assert holding(after) <= before, what
        assert others(after) != others(honest), what


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "path",
    ["x", "scores", "Stats", "n_completed", "stats.x", "stats.Evals", "stats.evals.x",
     "stats.evals.*.extra", "stats.evals.*.Metrics", "stats.evals.*.exception_stats.Odd"],
)  # fmt: skip
def test_every_number_of_a_job_is_looked_at(name: str, path: str) -> None:
    (source,) = readers.read(str(JOBS / name))
    document = json.loads((JOBS / name / "result.json").read_text())
    found: Document = document
    *above, last = path.split(".")
    for step in above:
        found = next(iter(found.values())) if step == "*" else found[step]
    for value in (0.99, [0.99], {"mean": 0.99}, [{"mean": [1, 0.99]}], "0.99", {"mean": "99 %"}):
        found[last] = value
        more = {row.reported for row in others(rows(source, document, name))}
        assert {0.99, "0.99", "99 %"} & more, (value, more)


@pytest.mark.parametrize("section", ["metrics", "pass_at_k", "reward_stats", "exception_stats"])
def test_every_number_of_a_section_of_another_shape_is_looked_at(section: str) -> None:
    (source,) = readers.read(str(JOBS / "single"))
    for value in (0.99, "0.99", [0.99], {"mean": 0.99}, [[0.99]], {"a": {"b": [0.99]}}):
        document = json.loads((JOBS / "single" / "result.json").read_text())
        (group,) = document["stats"]["evals"].values()
        group[section] = value
        found = rows(source, document, "single")
        assert any("0.99" in str(row.reported) for row in others(found)), (section, value, found)


def test_count_beside_the_stats_is_no_count_of_the_job() -> None:
    (source,) = readers.read(str(JOBS / "single"))
    document = json.loads((JOBS / "single" / "result.json").read_text())
    document["n_completed_trials"] = document["stats"].pop("n_completed_trials")
    names = [row.name for row in others(rows(source, document, "single"))]
    assert names.count("n_completed_trials") == 2


@pytest.mark.parametrize("file", ["result.json", "config.json", "lock.json", "trial"])
def test_key_that_stands_twice_is_said(file: str, tmp_path: Path) -> None:
    job = tmp_path / "job"
    shutil.copytree(JOBS / "single", job)
    path = next(job.glob("*/result.json")) if file == "trial" else job / file
    text = path.read_text() if path.exists() else '{"trials": []}'
    assert audit(str(job), registry=[registry("single")]).ok
    key, value = next(iter(json.loads(text).items()))
    path.write_text(text.replace("{", f'{{"{key}": {json.dumps(value)}, ', 1))
    found = audit(str(job), registry=[registry("single")])
    assert [d.rule for d in found.diagnostics if d.rule != "job-document"] == ["duplicate-key"]
    assert not found.ok


def test_trial_with_a_cancelled_step_counts_as_cancelled(tmp_path: Path) -> None:
    job = tmp_path / "job"
    shutil.copytree(JOBS / "left-out", job)
    path = next(job.glob("foggy__*/result.json"))
    trial = json.loads(path.read_text())
    trial["step_results"] = [{"exception_info": {"exception_type": "CancelledError"}}]
    path.write_text(json.dumps(trial))
    found = audit(str(job), registry=[registry("left-out")])
    (row,) = [row for row in found.rows if row.name == "n_cancelled_trials"]
    assert (row.reported, row.recomputed) == (0, 1)
