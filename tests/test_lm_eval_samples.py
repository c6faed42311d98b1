"""lm-eval samples: what each kind of value becomes, the results beside them, what is refused."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import HERE, Run

from harbor_metrics import InputError, readers
from harbor_metrics.readers.source import Source

LOGS = HERE / "logs" / "lm_eval"
NEW, OLD = LOGS / "0.5.0.dev1", LOGS / "0.4.13"


def source(task: str, folder: Path = OLD) -> Source:
    (found,) = readers.read(str(next(folder.glob(f"samples_{task}_*"))))
    return found


def line(doc_id: Any = 0, **more: Any) -> dict[str, Any]:
    """A line as lm-eval writes it, without what is never read."""
    row = {"doc_id": doc_id, "doc": {"q": "?"}, "target": "t", "resps": [["a"]]}
    return {**row, "filtered_resps": ["a"], "filter": "none", "arguments": {}, **more}


def write(folder: Path, rows: list[dict[str, Any]], name: str = "samples.jsonl") -> Path:
    text = "".join(
        json.dumps({**row, "metrics": row.get("metrics", ["acc"])}) + "\n" for row in rows
    )
    (folder / name).write_text(text)
    return folder / name


def test_filters_are_groups_and_labels() -> None:
    found = source("answers")
    assert {(t.dataset, t.labels["lm-eval/filter"]) for t in found.trials} == {
        ("answers:first", "first"),
        ("answers:majority", "majority"),
    }
    assert {t.model for t in found.trials} == {"scripted"}
    assert found.job is not None
    assert found.job.n_total_trials == len(found.trials) == 18
    first = found.trials[0]
    assert first.labels == {
        "question": "Q0", "answer": first.texts["reference"], "topic": "a",
        "lm-eval/filter": "first",
    }  # fmt: skip
    assert first.started_at is not None
    assert first.started_at[10:13].startswith("T")
    assert first.started_at.count(":") == 2


def test_repeats_are_attempts() -> None:
    found = source("repeated", NEW)
    assert len(found.trials) == 36
    assert {t.attempt for t in found.trials} == {1, 2, 3, 4}
    assert all(set(t.rewards or {}) == {"exact_match"} for t in found.trials)
    for trial in found.trials:
        right = trial.texts["prediction"] == trial.texts["reference"]
        assert trial.rewards == {"exact_match": int(right)}


def test_pairs_and_arrays() -> None:
    (found,) = readers.read(str(next(OLD.glob("samples_pages_*"))))
    first = found.trials[0]
    assert first.rewards is not None
    assert sorted(first.rewards) == [
        "bits_per_byte/0", "bits_per_byte/1", "byte_perplexity/0", "byte_perplexity/1",
        "word_perplexity/0", "word_perplexity/1",
    ]  # fmt: skip
    assert first.rewards["word_perplexity/1"] == 4
    assert first.texts == {}
    choices = source("three_choices").trials[0].rewards
    assert choices is not None
    assert sum(choices[f"brier_score/1/{i}"] for i in range(3)) == pytest.approx(1)
    assert choices["brier_score/0"] in (0, 1, 2)


def test_pairs_of_texts_are_reference_and_prediction() -> None:
    found = source("sr_gen", LOGS / "selfrun_0.4.13")
    first = found.trials[0]
    assert first.rewards == {"exact_match": 0.0}
    assert first.texts["reference"] == "small jumps sing quick brown in fox birds"
    assert set(first.texts) == {"reference", "prediction"}


@pytest.mark.parametrize(
    ("value", "rewards", "texts"),
    [
        (1, {"m": 1}, {}),
        (0.5, {"m": 0.5}, {}),
        (True, {"m": 1}, {}),
        ("True", {"m": 1}, {}),
        ("0.5", {"m": 0.5}, {}),
        ([0.1, 3], {"m/0": 0.1, "m/1": 3}, {}),
        ([1, "[0.25 0.75]"], {"m/0": 1, "m/1/0": 0.25, "m/1/1": 0.75}, {}),
        (["ref", "pred"], {}, {"reference": "ref", "prediction": "pred"}),
        ([["r1", "r2"], "pred"], {}, {"reference": ["r1", "r2"], "prediction": "pred"}),
        ({"a": 1, "b": [2]}, {"m/a": 1, "m/b/0": 2}, {}),
        (None, {}, {}),
        ("words", {}, {"m": "words"}),
    ],
)
def test_values(value: Any, rewards: Any, texts: Any, tmp_path: Path) -> None:
    path = write(tmp_path, [line(metrics=["m"], m=value, filtered_resps=[["x"]])])
    (found,) = readers.read(str(path))
    (trial,) = found.trials
    assert (trial.rewards, trial.texts) == (rewards, texts)
    assert (trial.model, trial.dataset) == (None, None)


def test_metrics_with_different_texts_keep_both(tmp_path: Path) -> None:
    row = line(metrics=["bleu", "chrf"], bleu=["r", "p"], chrf=["R", "P"])
    (found,) = readers.read(str(write(tmp_path, [row])))
    assert found.trials[0].texts == {
        "reference": "r", "prediction": "p", "chrf/reference": "R", "chrf/prediction": "P",
    }  # fmt: skip


def test_a_document_may_lack_a_metric_and_another_have_more(tmp_path: Path) -> None:
    rows = [
        line(0, metrics=["a"], a=1),
        line(1, metrics=["a", "b"], a=0, b=0.5),
        line(2, metrics=["c"], c=1),
    ]
    (found,) = readers.read(str(write(tmp_path, rows)))
    assert [t.rewards for t in found.trials] == [{"a": 1}, {"a": 0, "b": 0.5}, {"c": 1}]


def test_older_lines_list_no_metrics(tmp_path: Path) -> None:
    rows = [{**line(i), "acc": i % 2, "acc_norm": 0.5} for i in range(3)]
    for row in rows:
        del row["filter"]
    (tmp_path / "x").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (found,) = readers.read(str(tmp_path / "x"))
    assert [t.rewards for t in found.trials] == [{"acc": i % 2, "acc_norm": 0.5} for i in range(3)]


def test_nan_is_missing_and_said_and_infinity_is_an_error(cli: Run, tmp_path: Path) -> None:
    rows = [line(i, acc=value) for i, value in enumerate([1, float("nan"), float("inf"), "nan"])]
    write(tmp_path, rows)
    done = cli("compute", "samples.jsonl", "--format", "json")
    assert done.returncode == 1
    assert "`acc` is NaN 2 times, and counts as missing" in done.stderr
    assert "document 2: `acc` is infinite" in done.stderr
    counts = json.loads(done.stdout)["groups"][0]["counts"]
    assert counts["found"] == 3


def test_a_folder_and_its_results(cli: Run) -> None:
    done = cli("compute", OLD, "--format", "json")
    document = json.loads(done.stdout)
    assert {(g["model"], g["dataset"]["name"]) for g in document["groups"]} == {
        ("scripted", name)
        for name in (
            "answers:first", "answers:majority", "ends", "pages", "two_choices", "three_choices",
        )
    }  # fmt: skip
    assert all(g["complete"] and g["counts"]["expected"] for g in document["groups"])


def test_a_folder_of_folders(cli: Run, tmp_path: Path) -> None:
    shutil.copytree(OLD, tmp_path / "out" / "model")
    done = cli("compute", "out", "--format", "json")
    assert len(json.loads(done.stdout)["sources"]) == 5


def test_results_are_found_by_their_hash_too(tmp_path: Path) -> None:
    results = next(OLD.glob("results_*"))
    shutil.copy(results, tmp_path / "results.json")
    samples = next(OLD.glob("samples_ends_*"))
    (tmp_path / "s.jsonl.gz").write_bytes(gzip.compress(samples.read_bytes()))
    (found,) = readers.read(str(tmp_path / "s.jsonl.gz"))
    assert {(t.model, t.dataset) for t in found.trials} == {("scripted", "ends")}
    assert found.job is not None
    assert found.job.n_total_trials == 8


def test_results_of_other_samples_are_said_and_not_used(cli: Run, tmp_path: Path) -> None:
    for path in OLD.glob("*ends*"):
        text = path.read_text().replace('"doc_hash": "', '"doc_hash": "0', 1)
        (tmp_path / path.name).write_text(text)
    results = next(OLD.glob("results_*"))
    shutil.copy(results, tmp_path / results.name)
    done = cli("compute", next(tmp_path.glob("samples*")).name, "--format", "json")
    assert done.returncode == 1
    assert "is of other samples than" in done.stderr
    assert json.loads(done.stdout)["groups"][0]["model"] is None


def test_shortened_samples_are_incomplete(cli: Run, tmp_path: Path) -> None:
    for path in [*OLD.glob("*ends*"), *OLD.glob("results*")]:
        lines = path.read_text().splitlines(keepends=True)
        (tmp_path / path.name).write_text("".join(lines[:3] if "ends" in path.name else lines))
    done = cli("compute", ".", "--format", "json", "--require-complete")
    assert done.returncode == 1
    assert "planned 8 trials, only 3 are on disk" in done.stderr
    group = json.loads(done.stdout)["groups"][0]
    assert (group["model"], group["counts"]["expected"]) == ("scripted", 8)


def test_two_runs_in_one_file_are_refused(cli: Run, tmp_path: Path) -> None:
    write(tmp_path, [line(0, acc=1), line(1, acc=1), line(0, acc=0)])
    done = cli("compute", "samples.jsonl")
    assert (done.returncode, done.stdout) == (3, "")
    assert "holds two runs: document 0 with filter none stands on line 1 and again on line 3" in (
        done.stderr
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text[:-30], ["line 3"]),
        (lambda text: text.replace('"doc_id": 1, ', ""), ["line 2 has no `doc_id`"]),
        (lambda text: text.replace('"doc_id": 1', '"doc_id": [1]'), ["line 2"]),
        (lambda text: text.replace("\n", "\nnonsense\n", 1), [":2:", "nonsense"]),
        (lambda text: text.replace("\n", "\n[1]\n", 1), ["line 2"]),
    ],
)
def test_lines_that_cannot_be_read(change: Any, words: list[str], cli: Run, tmp_path: Path) -> None:
    path = write(tmp_path, [line(i, acc=1) for i in range(3)])
    path.write_text(change(path.read_text()))
    done = cli("compute", "samples.jsonl", "--format", "json")
    assert done.returncode == 1, done.stderr
    for word in words:
        assert word in done.stderr
    assert json.loads(done.stdout)["groups"][0]["counts"]["unread"] == 1


def test_a_results_file_that_is_broken(tmp_path: Path) -> None:
    shutil.copy(next(OLD.glob("samples_ends_*")), tmp_path)
    name = next(OLD.glob("results_*")).name
    (tmp_path / name).write_text("{")
    with pytest.raises(InputError, match=f"{name} is no results file of lm-eval"):
        readers.read(str(next(tmp_path.glob("samples*"))))


def test_missing_stderr_is_null(tmp_path: Path) -> None:
    """Fault J27: `N/A`, or an empty list, where there is no standard error."""
    found = source("pages")
    reported = {each.place: each for each in found.reported()}
    assert reported["word_perplexity_stderr,none"].value is None
    for path in [*OLD.glob("samples_ends*"), *OLD.glob("results*")]:
        text = path.read_text()
        changed = json.loads(text) if path.name.startswith("results") else None
        if changed is not None:
            changed["results"]["ends"]["acc_stderr,none"] = []
            text = json.dumps(changed)
        (tmp_path / path.name).write_text(text)
    found = source("ends", tmp_path)
    reported = {each.place: each for each in found.reported()}
    assert reported["acc_stderr,none"].value is None
    assert reported["acc,none"].value == 0.25


def test_numbers_of_results_are_data() -> None:
    reported = {(e.group[2], e.place): e for e in source("two_choices").reported()}
    accuracy = reported["two_choices", "acc,none"]
    assert (accuracy.metric, accuracy.key) == ("acc", "acc")
    assert accuracy.group == (None, "scripted", "two_choices")
    group = reported["both", "acc,none"]
    assert group.members == (
        (None, "scripted", "two_choices"),
        (None, "scripted", "three_choices"),
    )
    assert group.value == 0.5


def test_a_registry_knows_a_task_by_its_own_name(cli: Run, tmp_path: Path) -> None:
    dataset = {"name": "answers", "version": "1", "description": "", "tasks": []}
    dataset |= {"metrics": [{"type": "max"}]}
    (tmp_path / "r.json").write_text(json.dumps([dataset]))
    samples = next(OLD.glob("samples_answers_*"))
    for more in ([], ["--dataset", "answers"], ["--dataset", "answers@1"]):
        done = cli("compute", samples, "--registry", "r.json", "--format", "json", *more)
        groups = json.loads(done.stdout)["groups"]
        assert [g["dataset"]["name"] for g in groups] == ["answers:first", "answers:majority"]
        assert [m["name"] for g in groups for m in g["metrics"]] == ["max", "max"]
    one = cli("compute", samples, "--dataset", "answers:first", "--format", "json")
    assert len(json.loads(one.stdout)["groups"]) == 1
