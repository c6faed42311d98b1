"""One model under two names: Harbor 0.25 writes the provider where 0.24 wrote none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Run, trial, write_job
from printed import document

OLD, NEW = "sail-1", "acme/sail-1"


def job(folder: Path, *models: str, configured: tuple[str, ...] = (NEW,)) -> Path:
    """A job with a trial of each of these models, as written, of agents configured so."""
    trials = [
        trial(
            "t", {"reward": float(i)}, i, id=f"{folder.name}-{i}",
            trial_name=f"{folder.name}__{i:07d}",
            agent_info={"name": "oracle", "model_info": {"name": model}},
        )
        for i, model in enumerate(models)
    ]  # fmt: skip
    agents = [{"name": "oracle", "model_name": name} for name in configured]
    return write_job(folder, trials, agents=agents)


def groups(cli: Run, *jobs: Path) -> tuple[list[tuple[Any, ...]], list[str]]:
    done = cli("compute", *jobs, "--format", "json")
    printed = document(done)
    found = [
        (g["model"], g.get("provider"), g["evals_key"], g["counts"]["found"])
        for g in printed["groups"]
    ]
    rules = [d["rule"] for d in printed["diagnostics"] if d["rule"] != "registry-not-found"]
    return found, rules


def test_name_is_taken_apart_as_it_was_configured(cli: Run, tmp_path: Path) -> None:
    new = job(tmp_path / "new", NEW, NEW)
    assert groups(cli, new) == ([(OLD, "acme", f"oracle__{NEW}__demo", 2)], [])
    assert cli("compute", new).stdout.startswith("oracle · acme/sail-1 on demo")


def test_documents_of_older_jobs_do_not_change(cli: Run, tmp_path: Path) -> None:
    done = cli("compute", job(tmp_path / "old", OLD), "--format", "json")
    assert "provider" not in done.stdout
    assert json.loads(done.stdout)["groups"][0]["model"] == OLD


def test_jobs_of_both_are_one_group_with_a_note(cli: Run, tmp_path: Path) -> None:
    old, new = job(tmp_path / "old", OLD), job(tmp_path / "new", NEW, NEW)
    expected = ([(OLD, "acme", f"oracle__{OLD}__demo", 3)], ["model-names-joined"])
    assert groups(cli, old, new) == expected
    assert groups(cli, new, old) == expected


def test_trial_that_one_job_leaves_out_and_the_other_counts_is_one(
    cli: Run, tmp_path: Path
) -> None:
    old, new = job(tmp_path / "a" / "one", OLD), job(tmp_path / "b" / "one", NEW)
    result = json.loads((new / "result.json").read_text())
    (new / "result.json").write_text(json.dumps({**result, "schema_version": 1}))
    (own,) = new.glob("*/result.json")
    failed = {"exception_info": {"exception_type": "CancelledError"}, "verifier_result": None}
    own.write_text(json.dumps({**json.loads(own.read_text()), **failed}))
    found, rules = groups(cli, old, new)
    assert [group[3] for group in found] == [1]
    assert sorted(rules) == [
        "copies-differ", "model-names-joined", "repeated-trial", "trials-left-out",
    ]  # fmt: skip


def test_groups_of_one_job_stay_as_harbor_has_them(cli: Run, tmp_path: Path) -> None:
    found, rules = groups(cli, job(tmp_path / "both", OLD, NEW))
    assert [group[2] for group in found] == [f"oracle__{NEW}__demo", f"oracle__{OLD}__demo"]
    assert rules == []


def test_models_of_one_short_name_stay_apart_where_a_dataset_is_named(
    cli: Run, tmp_path: Path
) -> None:
    """One of them is of a folder of tasks, which names no dataset."""
    jobs = [
        job(tmp_path / "one", NEW),
        job(tmp_path / "two", "zeta/sail-1", configured=("zeta/sail-1",)),
    ]
    for path in jobs[1].glob("*/result.json"):
        path.write_text(json.dumps({**json.loads(path.read_text()), "source": None}))
    for order in (jobs, jobs[::-1]):
        printed = document(cli("compute", *order, "--dataset", "demo", "--format", "json"))
        found = [(group["model"], group["counts"]["found"]) for group in printed["groups"]]
        assert found == [(NEW, 1), ("zeta/sail-1", 1)]


def test_copy_under_the_short_name_plans_no_trial_twice(cli: Run, tmp_path: Path) -> None:
    new, copy = job(tmp_path / "a" / "new", NEW, NEW), job(tmp_path / "b" / "new", OLD, OLD)
    for order in ((new, copy), (copy, new)):
        (group,) = document(cli("compute", *order, "--format", "json"))["groups"]
        assert (group["counts"]["expected"], group["counts"]["found"]) == (2, 2)


@pytest.mark.parametrize("copied", [1, 2])
def test_copy_that_configured_another_name_parts_no_models_unsaid(
    copied: int, cli: Run, tmp_path: Path
) -> None:
    """None of its trials counts, and nobody knows whose are the copies."""
    old, new = job(tmp_path / "old", OLD), job(tmp_path / "new", NEW, NEW)
    copy = job(tmp_path / "theirs" / "new", *[NEW] * copied, configured=("zeta/sail-1",))
    found, rules = groups(cli, old, new, copy)
    assert [group[0] for group in found] == [NEW, OLD]
    assert sorted(rules) == ["copies-differ", "model-names-apart", "repeated-trial"]


@pytest.mark.parametrize(
    "configured", [("zeta/sail-1",), (NEW, "zeta/sail-1"), (OLD,), ()], ids=str
)
def test_models_that_are_not_surely_the_same_stay_apart(
    configured: tuple[str, ...], cli: Run, tmp_path: Path
) -> None:
    old = job(tmp_path / "old", OLD, configured=configured)
    found, rules = groups(cli, old, job(tmp_path / "new", NEW))
    assert sorted(group[0] for group in found) == [NEW, OLD]
    assert rules == ["model-names-apart"]


def test_compare_says_that_a_short_name_is_of_the_one_model_alone(cli: Run, tmp_path: Path) -> None:
    mine = job(tmp_path / "all" / "mine", NEW, "acme/b", configured=(NEW, "acme/b"))
    job(tmp_path / "all" / "theirs", OLD, "b", configured=(OLD, "b"))
    chosen = ("--by", "model", "--only", f"model={OLD}", "--only", "model=b", "--base", OLD)
    assert "apart" not in cli("compare", mine, *chosen).stderr
    said = cli("compare", mine.parent, *chosen).stderr
    for short in (OLD, "b"):
        assert f"warning[model-names-apart]: {short} and acme/{short} are shown apart" in said


def test_a_job_with_both_names_takes_the_short_one_from_another_job_with_a_word(
    cli: Run, tmp_path: Path
) -> None:
    mine = job(tmp_path / "mine", NEW)
    theirs = job(tmp_path / "theirs", OLD, NEW, configured=(OLD, NEW))
    found, rules = groups(cli, mine, theirs)
    assert [(group[0], group[3]) for group in found] == [(NEW, 2), (OLD, 1)]
    assert rules == ["model-names-apart"]


def test_two_models_of_one_short_name_keep_their_full_ones(cli: Run, tmp_path: Path) -> None:
    """Whose sorts first would be shown under a name that was the other's before."""
    other = f"aaa/{OLD}"
    jobs = job(tmp_path / "mine", NEW), job(tmp_path / "theirs", other, configured=(other,))
    for order in (jobs, jobs[::-1]):
        found, rules = groups(cli, *order)
        assert sorted(group[0] for group in found) == sorted([NEW, other])
        assert rules == ["model-names-apart"]
    said = " ".join(cli("compute", *jobs).stderr.split())
    assert f"{other}, {NEW} are shown by their full names, for {OLD} would be any" in said


def test_slash_of_a_name_that_was_configured_otherwise_is_the_models_own(
    cli: Run, tmp_path: Path
) -> None:
    routed = job(tmp_path / "routed", "zeta/glm", configured=("router/zeta/glm",))
    assert groups(cli, routed)[0] == [("zeta/glm", None, "oracle__zeta/glm__demo", 1)]


def test_audit_finds_the_group_by_harbors_key(cli: Run, tmp_path: Path) -> None:
    new = job(tmp_path / "new", NEW, NEW, OLD)
    result = json.loads((new / "result.json").read_text())
    evals = {f"oracle__{NEW}__demo": {"n_trials": 2}, f"oracle__{OLD}__demo": {"n_trials": 1}}
    (new / "result.json").write_text(json.dumps({**result, "stats": {"evals": evals}}))
    printed = cli("audit", new).stdout
    assert [line.split() for line in printed.splitlines() if " n_trials " in line] == [
        ["n_trials", "2", "2", "equal"],
        ["n_trials", "1", "1", "equal"],
    ]
