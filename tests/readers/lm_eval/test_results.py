"""The results file of lm-eval beside its samples: when it is theirs, and what it says."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest
from conftest import LOGS, Run
from lm_eval_logs import OLD, source

from harbor_metrics import InputError, readers
from harbor_metrics.readers.lm_eval import beside


def test_groups_take_their_model_and_size_from_the_results(cli: Run) -> None:
    done = cli("compute", OLD, "--format", "json")
    document = json.loads(done.stdout)
    assert {(g["model"], g["dataset"]["name"]) for g in document["groups"]} == {
        ("scripted", name)
        for name in (
            "answers:first", "answers:majority", "ends", "pages", "two_choices", "three_choices",
        )
    }  # fmt: skip
    assert all(g["complete"] and g["counts"]["expected"] for g in document["groups"])


def test_results_are_found_by_their_hash_too(tmp_path: Path) -> None:
    results = next(OLD.glob("results_*"))
    shutil.copy(results, tmp_path / "results.json")
    samples = next(OLD.glob("samples_ends_*"))
    (tmp_path / "s.jsonl.gz").write_bytes(gzip.compress(samples.read_bytes()))
    (found,) = readers.read(str(tmp_path / "s.jsonl.gz"))
    assert {(t.model, t.dataset) for t in found.trials} == {("scripted", "ends")}
    assert found.job is not None
    assert found.job.n_total_trials == 8


def test_results_of_other_samples_are_reported_and_not_used(cli: Run, tmp_path: Path) -> None:
    for path in OLD.glob("*ends*"):
        text = path.read_text().replace('"doc_hash": "', '"doc_hash": "0', 1)
        (tmp_path / path.name).write_text(text)
    results = next(OLD.glob("results_*"))
    shutil.copy(results, tmp_path / results.name)
    done = cli("compute", next(tmp_path.glob("samples*")).name, "--format", "json")
    assert done.returncode == 1
    assert "is of other samples than" in done.stderr
    assert json.loads(done.stdout)["groups"][0]["model"] is None


def test_results_of_fewer_samples_are_not_used(cli: Run, tmp_path: Path) -> None:
    shutil.copy(next(OLD.glob("results_*")), tmp_path)
    samples = next(OLD.glob("samples_ends_*"))
    lines = samples.read_text().splitlines()
    more = [json.dumps({**json.loads(lines[0]), "doc_id": i}) for i in range(50, 60)]
    (tmp_path / samples.name).write_text("\n".join([*lines, *more]))
    done = cli("compute", samples.name, "--format", "json")
    assert (done.returncode, "is of other samples than" in done.stderr) == (1, True)


@pytest.mark.parametrize("other", ["a", "z"])
@pytest.mark.parametrize("same", [True, False])
def test_of_two_results_of_one_run_neither_is_chosen(
    other: str, same: bool, cli: Run, tmp_path: Path
) -> None:
    for path in (*OLD.glob("*ends*"), results := next(OLD.glob("results_*"))):
        shutil.copy(path, tmp_path / path.name)
    text = results.read_text()
    (tmp_path / f"{other}_{results.name}").write_text(
        text if same else text.replace("scripted", "evil")
    )
    done = cli("compute", next(tmp_path.glob("samples*")).name, "--format", "json")
    assert done.returncode == (0 if same else 1)
    assert json.loads(done.stdout)["groups"][0]["model"] == ("scripted" if same else None)
    assert ("are results of one run, and differ" in " ".join(done.stderr.split())) != same


def test_broken_results_file_is_refused(tmp_path: Path) -> None:
    shutil.copy(next(OLD.glob("samples_ends_*")), tmp_path)
    name = next(OLD.glob("results_*")).name
    (tmp_path / name).write_text("{")
    with pytest.raises(InputError, match=f"{name} is no results file of lm-eval"):
        readers.read(str(next(tmp_path.glob("samples*"))))


def test_missing_stderr_is_null(tmp_path: Path) -> None:
    """Fault J27: `N/A`, or an empty list, where there is no standard error."""
    found = source("pages")
    reported = {each.place: each for each in reversed(list(found.reported()))}
    assert reported["word_perplexity_stderr,none"].value is None
    for path in [*OLD.glob("samples_ends*"), *OLD.glob("results*")]:
        text = path.read_text()
        changed = json.loads(text) if path.name.startswith("results") else None
        if changed is not None:
            changed["results"]["ends"]["acc_stderr,none"] = []
            text = json.dumps(changed)
        (tmp_path / path.name).write_text(text)
    found = source("ends", tmp_path)
    reported = {each.place: each for each in reversed(list(found.reported()))}
    assert reported["acc_stderr,none"].value is None
    assert reported["acc,none"].value == 0.25


def test_reported_numbers_have_a_metric_a_key_and_members() -> None:
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


def test_results_of_another_task_are_not_used(cli: Run, tmp_path: Path) -> None:
    samples = next(OLD.glob("samples_*"))
    (results,) = OLD.glob("results_*")
    shutil.copy(samples, tmp_path)
    document = json.loads(results.read_text())
    for name in ("results", "task_hashes", "n-samples", "configs"):
        document[name] = {"other": next(iter(document[name].values()))}
    (tmp_path / results.name).write_text(json.dumps(document))
    (source,) = readers.read(str(tmp_path))
    assert source.trials[0].model is None
    assert list(source.reported()) == []
    done = cli("compute", str(tmp_path))
    said = " ".join(done.stderr.split())
    assert "says nothing of task" in said
    assert "is not used" in said


def test_a_line_that_cannot_be_read_does_not_make_results_those_of_others(tmp_path: Path) -> None:
    samples = next(path for path in OLD.glob("samples_*"))
    (results,) = OLD.glob("results_*")
    shutil.copy(results, tmp_path)
    lines = samples.read_text().splitlines(keepends=True)
    (tmp_path / samples.name).write_text("".join([lines[0][:-9] + "\n", *lines[1:]]))
    (source,) = readers.read(str(tmp_path))
    assert [each.rule for each in source.diagnostics if "results" in each.rule] == []
    assert source.trials[0].model


@pytest.mark.parametrize("same", [True, False])
def test_of_two_results_of_other_runs_that_fit_neither_is_chosen(
    same: bool, cli: Run, tmp_path: Path
) -> None:
    shutil.copy(next(OLD.glob("samples_ends*")), tmp_path / "samples.jsonl")
    text = next(OLD.glob("results_*")).read_text()
    (tmp_path / "results.json").write_text(text)
    other = tmp_path / "results_2020-01-01T00-00-00.json"
    other.write_text(text if same else text.replace("scripted", "evil"))
    done = cli("compute", "samples.jsonl", "--format", "json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["groups"][0]["model"] == ("scripted" if same else None)
    assert ("other-results" in done.stdout) != same
    assert ("fit these samples, and differ" in " ".join(done.stderr.split())) != same


def without_hashes(text: str) -> str:
    document = json.loads(text)
    del document["task_hashes"]
    return json.dumps(document)


@pytest.mark.parametrize(
    ("name", "hashes", "used", "said"),
    [
        ("results_2020-01-01T00-00-00.json", True, False, True),
        ("results_2020-01-01T00-00-00.json", False, False, True),
        ("results.json", True, True, False),
        ("results.json", False, False, False),
    ],
)
def test_results_of_another_time_than_the_samples_are_of_another_run(
    name: str, hashes: bool, used: bool, said: bool, tmp_path: Path
) -> None:
    shutil.copy(next(OLD.glob("samples_ends*")), tmp_path)
    text = next(OLD.glob("results_*")).read_text()
    (tmp_path / name).write_text(text if hashes else without_hashes(text))
    (found,) = readers.read(str(tmp_path))
    assert {trial.model for trial in found.trials} == {"scripted" if used else None}
    assert [each.rule for each in found.diagnostics] == ["other-results"] * said
    assert all("is of another run than" in each.message for each in found.diagnostics)


@pytest.mark.parametrize("to", ["nowhere", "/nowhere/annex"])
def test_results_behind_a_link_to_nowhere_are_not_passed_over(to: str, tmp_path: Path) -> None:
    """Which metrics are the run's stands there alone."""
    shutil.copy(next(OLD.glob("samples_ends*")), tmp_path)
    (tmp_path / next(OLD.glob("results_*")).name).symlink_to(to)
    try:
        (found,) = readers.read(str(tmp_path))
        said = [each.message for each in found.diagnostics]
    except InputError as error:
        said = [str(error)]
    assert any("results_" in each for each in said)


@pytest.mark.parametrize("n", [None, "24", 8.0, 8])
def test_samples_of_another_hash_are_said_whatever_their_number_is(
    n: object, tmp_path: Path
) -> None:
    (results,) = OLD.glob("results_*")
    samples = next(OLD.glob("samples_ends*"))
    document = json.loads(results.read_text())
    document["n-samples"]["ends"] = {"original": n, "effective": n}
    (tmp_path / results.name).write_text(json.dumps(document))
    lines = samples.read_text().splitlines(keepends=True)
    (tmp_path / samples.name).write_text("".join(lines[:-1]))
    (found,) = readers.read(str(tmp_path))
    if isinstance(n, float | int):
        assert found.job is not None
        assert found.job.n_total_trials == 8
    else:
        assert "other-results" in [each.rule for each in found.diagnostics]


def test_beside_samples_of_standard_input_lies_nothing(cli: Run, tmp_path: Path) -> None:
    """The results file of a checkout took the place of what lm-eval aggregates."""
    samples = next(OLD.glob("samples_ends_*")).read_text()
    shutil.copy(next(OLD.glob("results_*")), tmp_path / "results.json")
    (tmp_path / "s.jsonl").write_text(samples)
    for path, model in (("s.jsonl", "scripted"), ("-", None)):
        done = cli("compute", path, "--format", "json", input=samples)
        assert [group["model"] for group in json.loads(done.stdout)["groups"]] == [model]


def test_runs_of_one_task_with_other_n_shot_are_told(cli: Run, tmp_path: Path) -> None:
    (results,) = OLD.glob("results_*")
    samples = next(OLD.glob("samples_ends*"))
    for n_shot in (0, 5):
        folder = tmp_path / f"run{n_shot}"
        folder.mkdir()
        shutil.copy(samples, folder / samples.name.replace("2026", f"203{n_shot}"))
        document = json.loads(results.read_text())
        document["n-shot"]["ends"] = n_shot
        name = results.name.replace("2026", f"203{n_shot}")
        (folder / name).write_text(json.dumps(document))
    said = " ".join(cli("compute", "run0", "run5").stderr.split())
    assert "dataset ends: runs of one group differ in n-shot" in said


def test_results_are_read_packed_as_samples_are(tmp_path: Path) -> None:
    """Without their model those of two would be one group."""
    (results,) = OLD.glob("results_*")
    samples = next(OLD.glob("samples_ends*"))
    for path in (results, samples):
        (tmp_path / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    (found,) = readers.read(str(tmp_path))
    assert {trial.model for trial in found.trials} == {"scripted"}
    assert found.job is not None
    assert found.job.n_total_trials == 8
    (tmp_path / f"{results.name}.gz").write_bytes(gzip.compress(results.read_bytes())[:-9])
    with pytest.raises(InputError, match=r"results_.*cut off"):
        readers.read(str(tmp_path))


def test_packed_results_have_a_limit_together(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (results,) = OLD.glob("results_*")
    shutil.copy(next(OLD.glob("samples_ends*")), tmp_path / "samples.jsonl")
    size = results.stat().st_size
    for i in range(3):
        packed = gzip.compress(results.read_bytes())
        (tmp_path / f"results_203{i}-01-01T00-00-00.json.gz").write_bytes(packed)
    for most in (3 * size, 3 * size - 1):
        monkeypatch.setattr(beside, "_MOST_UNPACKED", most)
        if most == 3 * size:
            readers.read(str(tmp_path / "samples.jsonl"))
            continue
        with pytest.raises(InputError, match="the packed results files beside samples have more"):
            readers.read(str(tmp_path / "samples.jsonl"))


@pytest.mark.parametrize("counted", [True, False])
def test_tasks_whose_samples_are_gone_are_said(counted: bool, cli: Run, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(LOGS / "lm_eval/0.4.13", folder)
    if not counted:
        (results,) = folder.glob("results_*")
        document = json.loads(results.read_text())
        del document["n-samples"]
        results.write_text(json.dumps(document))
    assert "task-without-samples" not in cli("compute", "run").stderr
    gone = min(folder.glob("samples_*.jsonl"))
    gone.unlink()
    said = " ".join(cli("compute", "run").stderr.split())
    assert "warning[task-without-samples]" in said
    assert gone.name.removeprefix("samples_").partition("_2026")[0] in said
    assert cli("compute", "run", "--require-complete").returncode == 1


def test_filter_with_fewer_samples_than_were_counted_is_not_complete(
    cli: Run, tmp_path: Path
) -> None:
    """Though another has more, and all filters together as many."""
    folder = tmp_path / "run"
    shutil.copytree(LOGS / "lm_eval/0.4.13", folder)
    (path,) = folder.glob("samples_answers_*")
    rows = [json.loads(row) for row in path.read_text().splitlines()]
    (results,) = folder.glob("results_*")
    value = json.loads(results.read_text())
    value.pop("task_hashes")
    results.write_text(json.dumps(value))
    assert cli("compute", "run", "--require-complete").returncode == 0
    filters = sorted({row["filter"] for row in rows})
    last = next(row for row in reversed(rows) if row["filter"] == filters[0])
    rows.remove(last)
    rows.append({**last, "filter": filters[1], "doc_id": 99})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert cli("compute", "run", "--require-complete").returncode == 1
