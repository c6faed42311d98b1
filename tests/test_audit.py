"""`audit`: every number of every log and job is that of its trials, and a changed one is seen."""

from __future__ import annotations

import dataclasses
import gzip
import importlib.util
import json
import random
import shutil
from pathlib import Path

import pytest
from conftest import HERE, JOBS, Run
from test_inspect_log import members, write

from harbor_metrics import readers
from harbor_metrics.audits import Audit, audit, harbor_numbers, inspect_numbers, lm_eval_numbers
from harbor_metrics.audits.row import Row, Verdict
from harbor_metrics.audits.tables import named
from harbor_metrics.plan import Registries
from harbor_metrics.readers.source import Reported, Source

LOGS = HERE / "logs"
INSPECT = sorted(path for path in (LOGS / "inspect").iterdir() if path.suffix in (".eval", ".gz"))
LM_EVAL = sorted({path.parent for path in (LOGS / "lm_eval").rglob("results_*.json")})
NAMES = [path.name for path in sorted(JOBS.iterdir()) if path.name != "datasets"]
REGISTRIES = {
    "single": "ds", "interrupted": "ds", "two-models": "ds", "multi": "ds-multi",
    "graded": "ds-graded", "script": "ds-script",
}  # fmt: skip
SEEDLESS = "drawn without a seed: its digits cannot be repeated; 100 draws may well give it"
SACREBLEU = "sacrebleu is not installed"


def registry(name: str) -> str:
    return str(JOBS / "datasets" / f"{REGISTRIES[name]}.registry.json")


def of(done: Audit, verdict: Verdict) -> list[Row]:
    return [row for row in done.rows if row.verdict == verdict]


@pytest.mark.parametrize("with_registry", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_every_job_audits_equal(name: str, with_registry: bool) -> None:
    done = audit(str(JOBS / name), registry=[registry(name)] if with_registry else [])
    assert of(done, Verdict.DIFFERS) == []
    explained = {row.name: row.reason for row in of(done, Verdict.EXPLAINED)}
    expected = {}
    if name == "interrupted":
        expected["n_total_trials"] = (
            "the run is not finished: 139 of 200 trials are missing on disk"
        )
    if name == "script" and not with_registry:
        unknown = "metric unknown: the registry was not found; give it with --registry"
        expected |= {"metrics[1].passing": unknown, "metrics[1].spread": unknown}
    assert explained == expected
    assert done.count(Verdict.EQUAL) >= 11


@pytest.mark.parametrize("path", INSPECT, ids=lambda path: path.name)
def test_every_inspect_log_audits_equal(path: Path) -> None:
    done = audit(str(path))
    assert of(done, Verdict.DIFFERS) == []
    for row in of(done, Verdict.EXPLAINED):
        too_little = row.reason.startswith(("undefined for a single", "0 of 32 trials"))
        assert row.reason.startswith(SEEDLESS) or (too_little and "Inspect says" in row.reason)
    assert bool(done.rows) != (done.silent == [str(path)])
    assert done.count(Verdict.EQUAL) >= 9 or path.name == "failed.eval"


@pytest.mark.parametrize("path", LM_EVAL, ids=lambda path: path.name)
def test_every_lm_eval_run_audits_equal(path: Path) -> None:
    done = audit(str(path))
    assert of(done, Verdict.DIFFERS) == []
    explained = of(done, Verdict.EXPLAINED)
    if importlib.util.find_spec("sacrebleu"):
        assert explained == []
    assert all(row.reason.startswith(SACREBLEU) for row in explained)
    assert all(row.name.startswith(("bleu", "chrf", "ter")) for row in explained)
    assert done.count(Verdict.EQUAL) >= 6


def rows(source: Source, name: str = "") -> list[Row]:
    if source.kind == "inspect":
        return list(inspect_numbers.rows(source))
    if source.kind == "lm-eval":
        return list(lm_eval_numbers.rows(source, [source]))
    return list(harbor_numbers.rows(source, Registries([registry(name)]), []))


def changed(source: Source, which: int, by: float) -> tuple[Source, Reported]:
    """The source with one of its numbers changed."""
    numbers = list(source.reported())
    old = numbers[which]
    assert old.value is not None
    numbers[which] = dataclasses.replace(old, value=old.value + by)
    return dataclasses.replace(source, reported=lambda: numbers), old


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
    (source,) = readers.read(str(path))
    before = {(row.group, row.name): row.verdict for row in rows(source, path.name)}
    numbers = [i for i, each in enumerate(source.reported()) if each.value is not None]
    for which in sorted(random.Random(1).sample(numbers, min(most, len(numbers)))):
        other, old = changed(source, which, 1e-6)
        after = {(row.group, row.name): row.verdict for row in rows(other, path.name)}
        key = (old.params.get("evals_key", named(old.group)), old.place)
        if before[key] != Verdict.EXPLAINED:
            assert [k for k in after if after[k] != before[k]] == [key]
            assert after[key] == Verdict.DIFFERS


def test_a_bootstrap_that_no_draws_give_is_seen() -> None:
    (source,) = readers.read(str(LOGS / "inspect" / "reducers.eval"))
    which = next(i for i, e in enumerate(source.reported()) if e.metric == "bootstrap_stderr")
    other, _ = changed(source, which, 0.1)
    (row,) = (r for r in rows(other) if r.verdict == Verdict.DIFFERS)
    assert "100 draws do not give that" in row.reason


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


def test_a_changed_job_is_seen(cli: Run, tmp_path: Path) -> None:
    shutil.copytree(JOBS / "single", tmp_path / "job")
    result = tmp_path / "job" / "result.json"
    document = json.loads(result.read_text())
    document["stats"]["evals"]["oracle__local-single"]["metrics"][0]["mean"] = 0.5
    result.write_text(json.dumps(document))
    done = cli("audit", "job", "--registry", registry("single"), "--format", "json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert found["counts"] == {"equal": 13, "explained": 0, "differs": 1}
    (row,) = (row for row in found["rows"] if row["verdict"] == "differs")
    assert (row["name"], row["reported"], row["recomputed"]) == ("metrics[0].mean", 0.5, 0.45)


def test_trials_that_are_as_many_but_others(cli: Run, tmp_path: Path) -> None:
    shutil.copytree(JOBS / "single", tmp_path / "job")
    result = tmp_path / "job" / "result.json"
    document = json.loads(result.read_text())
    stats = document["stats"]["evals"]["oracle__local-single"]["reward_stats"]["reward"]
    stats["0.0"][0], stats["1.0"][0] = stats["1.0"][0], stats["0.0"][0]
    result.write_text(json.dumps(document))
    done = cli("audit", "job")
    assert done.returncode == 1
    assert "it is as many, but other trials" in done.stdout


def test_missing_trials_explain_a_difference(cli: Run, tmp_path: Path) -> None:
    shutil.copytree(JOBS / "single", tmp_path / "job")
    shutil.rmtree(next((tmp_path / "job").glob("task-004__*")))
    done = cli("audit", "job")
    assert done.returncode == 0
    assert "1 of 40 trials are missing on disk" in done.stdout


def test_shortened_lm_eval_samples_explain_a_difference(cli: Run, tmp_path: Path) -> None:
    for path in (LOGS / "lm_eval" / "0.4.13").iterdir():
        text = path.read_text()
        if "two_choices" in path.name:
            text = "".join(text.splitlines(keepends=True)[:5])
        (tmp_path / path.name).write_text(text)
    done = cli("audit", ".")
    assert done.returncode == 0
    assert "9 of 14 trials are missing on disk" in done.stdout


def test_a_group_of_which_a_task_is_absent(cli: Run, tmp_path: Path) -> None:
    for path in (LOGS / "lm_eval" / "0.4.13").iterdir():
        if "two_choices" not in path.name:
            shutil.copy(path, tmp_path)
    done = cli("audit", ".")
    assert done.returncode == 0
    assert "the samples of two_choices are not among the sources" in done.stdout


def test_the_group_of_a_run_is_told_once() -> None:
    done = audit(str(LOGS / "lm_eval" / "0.4.13"))
    names = [(row.group, row.name) for row in done.rows]
    assert len(names) == len(set(names))
    weighed = {row.name: row.reason for row in done.rows if row.group == "scripted on both"}
    assert weighed["acc,none"] == "tasks weigh as they have samples"
    assert weighed["acc_norm,none"] == "every task weighs the same"


def test_several_sources_and_those_that_report_nothing(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"reward": 1}\n')
    done = cli("audit", JOBS / "single", LOGS / "inspect" / "parts.eval", "r.jsonl")
    assert done.returncode == 0
    assert "r.jsonl reports no numbers of its own" in done.stderr
    assert done.stdout.rstrip().endswith("56 equal, 0 explained, 0 differ without an explanation")
    assert "numbers are equal (--all shows them)" in done.stdout
    everything = cli("audit", LOGS / "inspect" / "parts.eval", "--all").stdout
    assert "a1, mean: ci_lower" in everything
    assert max(map(len, done.stdout.splitlines())) <= 120


def test_a_log_as_one_document(tmp_path: Path) -> None:
    packed = LOGS / "inspect" / "log1_reducers_error.json.gz"
    (tmp_path / "log.json").write_bytes(gzip.decompress(packed.read_bytes()))
    done = audit(str(tmp_path / "log.json"))
    assert (done.count(Verdict.EQUAL), len(done.rows)) == (119, 119)


def test_a_script_that_fails_is_an_explanation(cli: Run, tmp_path: Path) -> None:
    shutil.copytree(JOBS / "script", tmp_path / "job")
    shutil.copy(registry("script"), tmp_path / "registry.json")
    done = cli("audit", "job", "--registry", "registry.json")
    assert done.returncode == 0
    assert "failed here" in done.stdout
