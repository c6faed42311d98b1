"""No number of an lm-eval run can be changed, left out, renamed or excused unseen."""

from __future__ import annotations

import copy
import json
import random
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from conftest import LOGS

from harbor_metrics import readers
from harbor_metrics.audits import audit
from harbor_metrics.audits.lm_eval_draws import Replay
from harbor_metrics.audits.lm_eval_numbers import Run
from harbor_metrics.audits.row import Row, Verdict
from harbor_metrics.readers.lm_eval.reported import Numbers
from harbor_metrics.readers.lm_eval.steps import member
from harbor_metrics.trials.source import Source

pytestmark = pytest.mark.one_python

RUNS = ("0.4.13", "0.5.0.dev1", "selfrun_0.4.13/unweighted_group")
HOLDS = (Verdict.EQUAL, Verdict.EXPLAINED)
SOME = 60


def forgeries(results: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for section in ("results", "groups"):
        for task, numbers in results.get(section, {}).items():
            for place, value in numbers.items():
                if type(value) not in (int, float):
                    continue
                for other in (value + 1, None, "N/A", "0.99", "NaN", []):
                    made = copy.deepcopy(results)
                    made[section][task][place] = other
                    yield f"{section}.{task}.{place} is {other!r}", made
                made = copy.deepcopy(results)
                del made[section][task][place]
                yield f"without {section}.{task}.{place}", made
                renamed = copy.deepcopy(made)
                renamed[section][task][f"x{place}"] = value
                yield f"{section}.{task}.{place} renamed", renamed
    for task, sizes in results["n-samples"].items():
        for place, value in results["results"][task].items():
            if type(value) is float:
                made = copy.deepcopy(results)
                made["results"][task][place] = value + 0.01
                made["n-samples"][task] = {**sizes, "effective": 900}
                yield f"{task}.{place} +0.01, of 900 documents", copy.deepcopy(made)
                made["results"][task]["sample_len"] = 900
                yield f"{task}.{place} +0.01, of 900 documents by both counts", made


def audited(sources: list[Source], results: dict[str, Any], replay: Replay) -> list[Row]:
    """The audit of a run with another results file."""
    tasks = {next(iter(source.scored())).dataset.partition(":")[0]: source for source in sources}
    numbers = Numbers(results, results["model_name"], "results.json")
    forged = []
    for task, source in tasks.items():
        n = member(results, "n-samples", task, "effective")
        job = msgspec.structs.replace(source.job, n_total_trials=n and n * source.job.n_groups)
        own = [*numbers.of(task), *numbers.but_of({*tasks})]
        forged.append(msgspec.structs.replace(source, job=job, reported=partial(list, own)))
    run = Run(forged, replay)
    return [row for source in forged for row in run.rows(source)]


@pytest.mark.parametrize("name", RUNS)
def test_nothing_of_a_run_can_be_changed_unseen(name: str) -> None:
    folder = LOGS / "lm_eval" / name
    sources = readers.read(str(folder), with_scores=True)
    results = json.loads(next(folder.glob("results_*")).read_text())
    replay = Replay(300)
    honest = audited(sources, results, replay)
    assert Verdict.DIFFERS not in {row.verdict for row in honest}

    def kept(rows: list[Row], *, holding: bool) -> set[Any]:
        return {
            (r.group, r.name.removeprefix("results: "), r.reported, r.reason if not holding else "")
            for r in rows
            if (r.verdict in HOLDS) is holding
        }

    made = list(forgeries(results))
    for what, forged in random.Random(1).sample(made, min(SOME, len(made))):
        after = audited(sources, forged, replay)
        assert kept(after, holding=True) <= kept(honest, holding=True), what
        assert kept(after, holding=False) != kept(honest, holding=False), what


def additions(results: dict[str, Any], value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The results with a number more, at any place where lm-eval writes some."""
    places: list[tuple[str, ...]] = [("groups",), ("n-samples",)]
    for section in ("results", "groups"):
        for name in (*results.get(section, {}), "invented"):
            places += [(section, name, key) for key in ("acc,none", "x", "sample_len")]
            places += [(section, name, "sample_count", "x"), (section, name, "x", "y")]
            # A text is what a table calls it.
            places += [(section, name, "alias")] if not isinstance(value, str) else []
        places += [(section, "invented")]
    for name in (*results["n-samples"], "invented"):
        places += [("n-samples", name, key) for key in ("effective", "original", "x")]
    for *above, last in [*places, ("n-samples", "invented")]:
        made = copy.deepcopy(results)
        found = made
        for step in above:
            found = found.setdefault(step, {})
        found[last] = value
        yield ".".join((*above, last)), made


def group_of_no_samples(results: dict[str, Any], *subtasks: str) -> dict[str, Any]:
    made = copy.deepcopy(results)
    for section in ("results", "groups"):
        made.setdefault(section, {})["invented"] = {"alias": "invented", "acc,none": 0.98765}
    made["group_subtasks"]["invented"] = [*subtasks]
    return made


@pytest.mark.parametrize("name", RUNS)
def test_number_at_any_place_where_lm_eval_writes_some_has_a_row(name: str) -> None:
    folder = LOGS / "lm_eval" / name
    sources = readers.read(str(folder), with_scores=True)
    results = json.loads(next(folder.glob("results_*")).read_text())
    made = [each for value in (0.98765, "0.98765", [0.98765]) for each in additions(results, value)]
    made += [("a group of nothing", group_of_no_samples(results))]
    made += [("a group of tasks without samples", group_of_no_samples(results, "x", "y"))]
    for what, forged in made:
        rows = audited(sources, forged, Replay(0))
        verdicts = [row.verdict for row in rows if "0.98765" in str(row.reported)]
        assert verdicts, what
        assert Verdict.EQUAL not in verdicts, what


def test_folder_that_is_called_like_samples_hides_no_number(tmp_path: Path) -> None:
    shutil.copytree(LOGS / "lm_eval" / RUNS[0], tmp_path, dirs_exist_ok=True)
    (path,) = tmp_path.rglob("results_*.json")
    results = json.loads(path.read_text())
    results["results"]["invented"] = {"acc,none": 0.98765}
    path.write_text(json.dumps(results))
    stamp = path.stem.removeprefix("results_")
    (path.parent / f"samples_invented_{stamp}.jsonl").mkdir()
    found = audit(str(tmp_path), most_draws=0)
    assert [row.verdict for row in found.rows if row.reported == 0.98765] == [Verdict.UNVERIFIED]


@pytest.mark.parametrize("name", ["results.json", "results_2030-01-01T00-00-00.000000.json"])
@pytest.mark.parametrize(("samples", "where"), [(".", "."), ("run", "other"), ("run", ".")])
def test_results_file_of_a_run_without_samples_is_not_verified(
    samples: str, where: str, name: str, tmp_path: Path
) -> None:
    run = tmp_path / samples
    shutil.copytree(LOGS / "lm_eval" / RUNS[0], run, dirs_exist_ok=True)
    assert audit(str(tmp_path), most_draws=0).unverified == []
    forged = tmp_path / where / name
    forged.parent.mkdir(exist_ok=True)
    forged.write_text('{"results": {"invented": {"acc,none": 0.98765}}}')
    assert audit(str(tmp_path), most_draws=0).unverified == [str(tmp_path / forged)]


def test_key_of_the_results_that_stands_twice_is_said(tmp_path: Path) -> None:
    shutil.copytree(LOGS / "lm_eval" / RUNS[0], tmp_path, dirs_exist_ok=True)
    before = {d.rule for source in readers.read(str(tmp_path)) for d in source.diagnostics}
    assert "duplicate-key" not in before
    (path,) = tmp_path.rglob("results_*.json")
    text = path.read_text()
    path.write_text(text.replace('"results": {', '"results": {"x": 0.99}, "results": {', 1))
    found = audit(str(tmp_path))
    assert "duplicate-key" in {d.rule for d in found.diagnostics}
    assert not found.ok
