"""Every number of every log and job is that of its trials, and a changed one is seen."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import shutil
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest
from conftest import JOBS, LOGS
from conftest import registry_of_job as registry

from harbor_metrics import readers
from harbor_metrics.audits import Audit, audit, harbor_numbers, inspect_numbers, lm_eval_numbers
from harbor_metrics.audits.row import Row, Verdict
from harbor_metrics.registries.registry import Registries
from harbor_metrics.trials.source import Reported, Source

INSPECT = sorted(path for path in (LOGS / "inspect").iterdir() if path.suffix in (".eval", ".gz"))
LM_EVAL = sorted(
    {
        path.parent
        for path in (LOGS / "lm_eval").rglob("results_*.json")
        if "found" not in path.parts
    }
)
NAMES = [path.name for path in sorted(JOBS.iterdir()) if path.name != "datasets"]
SEEDLESS = "drawn without a seed: its digits cannot be repeated"
SACREBLEU = "sacrebleu is not installed"


def of(done: Audit, verdict: Verdict) -> list[Row]:
    return [row for row in done.rows if row.verdict == verdict]


@pytest.mark.parametrize("with_registry", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_every_job_audits_equal(name: str, with_registry: bool) -> None:
    done = audit(str(JOBS / name), registry=[registry(name)] if with_registry else [])
    assert of(done, Verdict.DIFFERS) == []
    unverified = {row.name: row.reason for row in of(done, Verdict.UNVERIFIED)}
    expected = {}
    if name == "interrupted":
        missing = "the run is not finished: 139 of 200 trials are missing on disk"
        expected = {} if with_registry else {"n_total_trials": missing}
        expected |= {
            "n_running_trials": "what was running has no result",
            "n_pending_trials": "the other numbers of the job say so, which are not all verified",
        }
    if name == "script" and not with_registry:
        unknown = "metric unknown: the registry was not found; give it with --registry"
        expected |= {"metrics[1].passing": unknown, "metrics[1].spread": unknown}
    assert unverified == expected
    assert of(done, Verdict.EXPLAINED) == []
    assert done.count(Verdict.EQUAL) >= 11


@pytest.mark.parametrize("path", [JOBS / "single", LM_EVAL[0], INSPECT[0]], ids=lambda p: p.name)
def test_what_is_named_twice_is_audited_once(path: Path) -> None:
    """Each document of a run of lm-eval counted twice, and honest numbers differed."""
    (file, *_) = sorted(path.glob("samples_*")) or [path]
    once = audit(str(path))
    for again in (f"{path}/" if path.is_dir() else f"{path.parent}/./{path.name}", str(file)):
        twice = audit(str(path), again)
        assert twice.rows == once.rows
        if again != str(path):
            assert "repeated-source" in [said.rule for said in twice.diagnostics]


@pytest.mark.parametrize("path", INSPECT, ids=lambda path: path.name)
def test_every_inspect_log_audits_equal(path: Path) -> None:
    done = audit(str(path))
    assert of(done, Verdict.DIFFERS) == []
    assert all(row.reason.startswith(SEEDLESS) for row in of(done, Verdict.UNVERIFIED))
    assert all("and Inspect writes" in row.reason for row in of(done, Verdict.EXPLAINED))
    assert bool(done.rows) != (done.silent == [str(path)])
    assert done.count(Verdict.EQUAL) >= 9 or path.name == "failed.eval"


@pytest.mark.parametrize("path", LM_EVAL, ids=lambda path: path.name)
def test_every_lm_eval_run_audits_equal(path: Path) -> None:
    done = audit(str(path))
    assert of(done, Verdict.DIFFERS) == []
    unverified = of(done, Verdict.UNVERIFIED)
    if importlib.util.find_spec("sacrebleu"):
        assert unverified == []
    assert all(row.reason.startswith(SACREBLEU) for row in unverified)
    assert all(row.name.startswith(("bleu", "chrf", "ter")) for row in unverified)
    assert done.count(Verdict.EQUAL) >= 6


def rows(source: Source, name: str = "") -> list[Row]:
    if source.kind == "inspect":
        return list(inspect_numbers.rows(source))
    if source.kind == "lm-eval":
        return list(lm_eval_numbers.Run([source]).rows(source))
    return list(harbor_numbers.rows(source, Registries([registry(name)]), []))


def changed(source: Source, which: int, by: float) -> tuple[Source, Reported]:
    """The source with one of its numbers changed."""
    numbers = list(source.reported())
    old = numbers[which]
    assert old.value is not None
    numbers[which] = msgspec.structs.replace(old, value=old.value + by)
    return msgspec.structs.replace(source, reported=lambda: numbers), old


CHANGED = [
    (LOGS / "inspect" / "reducers.eval", 6),
    (LOGS / "inspect" / "parts.eval", 12),
    (LOGS / "inspect" / "scorers.eval", 12),
    (LOGS / "inspect" / "unreduced.eval", 15),
    *[(path, 5) for path in sorted((LOGS / "lm_eval" / "0.4.13").glob("samples_*"))],
    (next((LOGS / "lm_eval" / "0.5.0.dev1").glob("samples_*")), 7),
    *[(JOBS / name, 12) for name in ("single", "multi")],
]


@pytest.mark.parametrize(("path", "most"), CHANGED, ids=lambda x: getattr(x, "name", ""))
def test_no_number_can_be_changed_unseen(path: Path, most: int) -> None:
    (source,) = readers.read(str(path), with_scores=True)
    before = {(row.group, row.name): row.verdict for row in rows(source, path.name)}
    numbers = [i for i, each in enumerate(source.reported()) if each.value is not None]
    for which in sorted(random.Random(1).sample(numbers, min(most, len(numbers)))):
        other, old = changed(source, which, 1e-6)
        after = {(row.group, row.name): row.verdict for row in rows(other, path.name)}
        key = (old.params.get("evals_key", old.group.in_words), old.place)
        if before[key] != Verdict.UNVERIFIED:
            worse = [k for k in after if after[k] != before[k]]
            # How many trials wait follows from the others.
            assert [k for k in worse if k[1] != "n_pending_trials" or k == key] == [key]
            assert after[key] == Verdict.DIFFERS


def test_a_bootstrap_that_no_draws_give_is_seen() -> None:
    (source,) = readers.read(str(LOGS / "inspect" / "reducers.eval"), with_scores=True)
    which = next(i for i, e in enumerate(source.reported()) if e.metric == "bootstrap_stderr")
    other, _ = changed(source, which, 0.1)
    (row,) = (r for r in rows(other) if r.verdict == Verdict.DIFFERS)
    assert "further away than chance can be" in row.reason


def test_runs_whose_names_tell_no_time_are_those_of_their_results(tmp_path: Path) -> None:
    """Their samples were put together, and honest numbers differed."""
    for name, stamp in (("mine", "2026-01-01T00-00-00.1"), ("theirs", "2026-01-02T00-00-00.1")):
        lines = [
            {"doc_id": i, "doc": {}, "target": "t", "resps": [["a"]], "filtered_resps": ["a"],
             "filter": "none", "arguments": {}, "metrics": ["acc"], "acc": float(name == "mine"),
             "doc_hash": f"{name}{i}", "prompt_hash": "p", "target_hash": "q"}
            for i in range(3)
        ]  # fmt: skip
        hashes = "".join(f"{name}{i}pq" for i in range(3))
        results = {
            "results": {"arc": {"alias": "arc", "acc,none": float(name == "mine")}},
            "n-samples": {"arc": {"original": 3, "effective": 3}},
            "task_hashes": {"arc": sha256(hashes.encode()).hexdigest()},
            "configs": {"arc": {"task": "arc"}},
            "model_name": "m",
        }
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        (tmp_path / f"results_{stamp}.json").write_text(json.dumps(results))
    mine, theirs = str(tmp_path / "mine.jsonl"), str(tmp_path / "theirs.jsonl")
    rows = [row for row in audit(mine, theirs).rows if row.path == mine]
    assert rows == audit(mine).rows
    assert Verdict.EQUAL in {row.verdict for row in rows}


def test_a_name_that_is_not_utf_8_is_in_no_ones_way(tmp_path: Path) -> None:
    shutil.copytree(JOBS / "single", tmp_path / "jobs" / os.fsdecode(b"job\xff"))
    written = audit(str(tmp_path / "jobs")).to_json()
    assert "udcff" in json.loads(written)["rows"][0]["path"]
