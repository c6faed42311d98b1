"""Samples of lm-eval: documents, filters, repeats, and lines that cannot be read."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from lm_eval_logs import NEW, OLD, line, source, write
from lm_eval_logs import write as write_samples

from harbor_metrics import compare, readers


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


def test_repeats_share_the_labels_of_their_document(tmp_path: Path) -> None:
    """Labels for each repeat were the product of both: 435 MB of 70 kB."""
    repeats = {"a": [1, 0, 1], "b": [0.5], "c": [1, 0]}
    row = {**line(0, metrics=["a", "b", "c"], a=1, b=0.5, c=0.5), "scores_per_repeat": repeats}
    (found,) = readers.read(str(write(tmp_path, [{**row, "doc": {"kind": "x"}}])))
    assert [t.rewards for t in found.trials] == [
        {"a": 1, "b": 0.5, "c": 1}, {"a": 0, "c": 0}, {"a": 1},
    ]  # fmt: skip
    first, second, third = (trial.labels for trial in found.trials)
    assert first == {"kind": "x", "lm-eval/filter": "none"}
    assert first is second is third


def test_documents_with_other_hashes_are_not_one_task(tmp_path: Path) -> None:
    runs = {}
    for run, hashes in (("base", "aab"), ("new", "abb")):
        rows = [line(i, doc_hash=h, acc=1.0) for i, h in enumerate(hashes)]
        runs[run] = write(tmp_path, [*rows, line(3, acc=1.0)], f"{run}.jsonl")
    (pair,) = compare(*map(str, runs.values())).comparisons
    assert (pair.tasks.paired, pair.tasks.changed) == (3, ["1"])


def test_version_of_a_document_with_an_image_is_the_same_wherever_the_image_lay(
    tmp_path: Path,
) -> None:
    def versions(name: str, question: str, address: str) -> list[str | None]:
        image = f"<PIL.Image.Image image mode=RGB size=9x9 at {address}>"
        doc = {"q": question, "images": [image]}
        hashes = {"doc_hash": address}
        rows = [line(0, doc=doc, **hashes), line(1, doc=doc), line(2, doc_hash="b")]
        (found,) = readers.read(str(write(tmp_path, rows, f"{name}.jsonl")))
        return [trial.task_version for trial in found.trials]

    of_image, *others = versions("base", "what", "0x7F01C0")
    assert others == [None, "b"]
    assert versions("again", "what", "0x7fE2aa10") == [of_image, None, "b"]
    assert versions("other", "who", "0x7F01C0")[0] not in (of_image, None)


def test_a_document_may_lack_a_metric_and_another_have_more(tmp_path: Path) -> None:
    rows = [
        line(0, metrics=["a"], a=1),
        line(1, metrics=["a", "b"], a=0, b=0.5),
        line(2, metrics=["c"], c=1),
    ]
    (found,) = readers.read(str(write(tmp_path, rows)))
    assert [t.rewards for t in found.trials] == [{"a": 1}, {"a": 0, "b": 0.5}, {"c": 1}]


def test_older_lines_without_a_list_of_metrics_are_read(tmp_path: Path) -> None:
    rows = [{**line(i), "acc": i % 2, "acc_norm": 0.5} for i in range(3)]
    for row in rows:
        del row["filter"]
    (tmp_path / "x").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (found,) = readers.read(str(tmp_path / "x"))
    assert [t.rewards for t in found.trials] == [{"acc": i % 2, "acc_norm": 0.5} for i in range(3)]


def test_nan_is_missing_and_infinity_is_an_error(cli: Run, tmp_path: Path) -> None:
    rows = [line(i, acc=value) for i, value in enumerate([1, float("nan"), float("inf"), "nan"])]
    write(tmp_path, rows)
    done = cli("compute", "samples.jsonl", "--format", "json")
    assert done.returncode == 1
    assert "`acc` is NaN 2 times, and counts as missing" in done.stderr
    assert "document 2: `acc` is infinite" in done.stderr
    counts = json.loads(done.stdout)["groups"][0]["counts"]
    assert counts["found"] == 3


def test_samples_are_found_in_folders_of_folders(cli: Run, tmp_path: Path) -> None:
    shutil.copytree(OLD, tmp_path / "out" / "model")
    done = cli("compute", "out", "--format", "json")
    assert len(json.loads(done.stdout)["sources"]) == 5


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
def test_line_that_cannot_be_read_is_named_and_counted(
    change: Any, words: list[str], cli: Run, tmp_path: Path
) -> None:
    path = write(tmp_path, [line(i, acc=1) for i in range(3)])
    path.write_text(change(path.read_text()))
    done = cli("compute", "samples.jsonl", "--format", "json")
    assert done.returncode == 1, done.stderr
    for word in words:
        assert word in done.stderr
    assert json.loads(done.stdout)["groups"][0]["counts"]["unread"] == 1


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


@pytest.mark.parametrize("odd", ["x", {"a": 1}, None, "absent"])
def test_line_on_which_a_metric_is_not_a_number_is_named(
    odd: Any, cli: Run, tmp_path: Path
) -> None:
    rows = [line(i, acc=1.0) for i in range(4)]
    rows[2]["acc"] = odd
    if odd == "absent":
        del rows[2]["acc"]
    write_samples(tmp_path, rows)
    done = cli("compute", "samples.jsonl")
    assert "samples.jsonl: `acc` has no number in 1 of 4 samples, first on line 3" in done.stderr


def test_metric_that_no_line_has_is_named(cli: Run, tmp_path: Path) -> None:
    write_samples(tmp_path, [line(i, metrics=["Acc"], acc=1.0) for i in range(3)])
    done = cli("compute", "samples.jsonl", "--metric", "accuracy")
    assert "samples.jsonl: no sample has a number of `Acc`, which" in done.stderr
    write_samples(tmp_path, [line(i, metrics=["bleu"], bleu=["a", "b"]) for i in range(3)])
    assert "no sample has" not in cli("compute", "samples.jsonl").stderr


def test_first_sample_without_an_id_is_reported(cli: Run, tmp_path: Path) -> None:
    rows = [line(i, acc=1.0) for i in range(3)]
    del rows[0]["doc_id"]
    (tmp_path / "f").mkdir()
    write_samples(tmp_path / "f", rows)
    done = cli("compute", "f")
    assert "samples.jsonl: line 1 has no `doc_id`" in done.stderr
    assert done.returncode == 1


def test_what_lm_eval_writes_in_place_of_a_score_is_no_reward(cli: Run, tmp_path: Path) -> None:
    # lm-eval 0.5 with --predict_only; 0.4 has no metric on the line.
    write_samples(tmp_path, [line(i, metrics=["bypass"], bypass=-1) for i in range(3)])
    (found,) = readers.read(str(tmp_path / "samples.jsonl"))
    assert [trial.rewards for trial in found.trials] == [None, None, None]
    done = cli("compute", "samples.jsonl")
    assert done.returncode == 1
    assert "error[nothing-scored]" in done.stderr
    assert "--predict_only" in done.stderr
    assert "-1" not in done.stdout


@pytest.mark.parametrize(
    ("value", "repeats", "is_read"),
    [
        (1.0, [0.0, 0.0, 0.0], False), (0.5, [1, 0], True), (1, [1, 0], True), (0, [1, 0], True),
        (0.1, [0.1, 0.1, 0.1], True), (0.30000000000000004, [0.3], True),
        (-1, [0, 1], False), (True, [True, False], True), ("1", [0], False), (None, [0], True),
        (0.75, [0.25, 0.5], False), (1.0, ["0", "0"], False), ("1", ["0", "1"], True),
        ("True", ["False"], False), (1, ["x", "y"], True), (float("nan"), [0, 1], True),
        (2**70, [2**70], True),
    ],
)  # fmt: skip
def test_value_of_a_line_is_one_that_its_repeats_can_give(
    value: Any, repeats: list[Any], is_read: bool, tmp_path: Path
) -> None:
    """An audit took the one and every other command the others, without a word."""
    write(tmp_path, [{**line(0, acc=value), "scores_per_repeat": {"acc": repeats}}])
    (found,) = readers.read(str(tmp_path / "samples.jsonl"))
    assert len(found.trials) == (len(repeats) if is_read else 0)
    assert bool(found.unread) is not is_read
    words = "`acc` is none that its repeats give"
    assert any(words in said.message for said in found.diagnostics) is not is_read


@pytest.mark.parametrize(
    ("name", "value", "is_read"),
    [
        ("mean(acc)", 0.25, True), ("mean(acc)", 0.5, False), ("mean(acc)", 1, False),
        ("take_first(acc)", 0, True), ("take_first(acc)", 0.25, False),
        ("take_first(acc)", "1", False), ("mean(other)", 1, True), ("max(acc)", 1, True),
    ],
)  # fmt: skip
def test_mean_or_first_of_repeats_is_what_these_give(
    name: str, value: Any, is_read: bool, tmp_path: Path
) -> None:
    repeats = {"acc": [0, 1, 0, 0]}
    written = {**line(0, **{name: value}), "scores_per_repeat": repeats, "metrics": [name]}
    write(tmp_path, [written])
    (found,) = readers.read(str(tmp_path / "samples.jsonl"))
    assert bool(found.unread) is not is_read


@pytest.mark.parametrize("repeats", [{}, {"acc": []}])
def test_line_whose_repeats_have_no_scores_is_one_attempt(repeats: Any, tmp_path: Path) -> None:
    rows = [{**line(i, acc=float(i == 0)), "scores_per_repeat": repeats} for i in range(3)]
    write(tmp_path, rows)
    (found,) = readers.read(str(tmp_path))
    assert [t.rewards and t.rewards["acc"] for t in found.trials] == [1, 0, 0]
