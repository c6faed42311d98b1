"""Gates: how they are written, what decides them, and that what is undecided fails."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from comparison.runs_by_hand import Rewards, write_run
from comparison.test_laws import compared as compared_files
from comparison.test_laws import runs
from conftest import JOBS, Run
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor_metrics import Comparison, compare
from harbor_metrics.comparison.document import Decision
from harbor_metrics.comparison.gates import Expression, gates
from harbor_metrics.comparison.naming import name_of
from harbor_metrics.errors import UsageError

N = 40
ALL = {f"t{i:02}": [1] for i in range(N)}
NONE = {task: [0] for task in ALL}
HALF = {task: [i % 2] for i, task in enumerate(ALL)}
# Ten tasks more, or less, than half of them.
MORE = {task: [int(i % 2 or i < 20)] for i, task in enumerate(ALL)}
LESS = {task: [int(i % 2 and i < 20)] for i, task in enumerate(ALL)}
# Five more and five less.
OTHER = {task: [i % 2 if i < 30 else 1 - i % 2] for i, task in enumerate(ALL)}


def of_files(folder: Path, base: Rewards, candidate: Rewards, **asked: Any) -> Comparison:
    ours = write_run(folder / "base.jsonl", base, agent="base")
    theirs = write_run(folder / "new.jsonl", candidate, agent="new")
    return compare(f"base={ours}", f"new={theirs}", **asked)


def decided(folder: Path, base: Rewards, candidate: Rewards, **asked: Any) -> Decision:
    (decision,) = of_files(folder, base, candidate, **asked).gates
    return decision


OUTCOMES = [
    ("no_worse", "mean", MORE, "passed", "it is not shown to be worse: +0.250"),
    ("no_worse", "mean", OTHER, "passed", "it is not shown to be worse: 0.000, from -0.166"),
    ("no_worse", "mean", LESS, "failed", "it is worse: -0.250, from"),
    ("no_worse", "mean:0.2", LESS, "passed", "it is not shown to be worse by more than 0.2: -0.25"),
    ("no_worse", "mean:0.05", LESS, "failed", "it is worse by more than 0.05: -0.250"),
    ("non_inferior", "mean:0.2", OTHER, "passed", "it is shown not to lose 0.2: 0.000, from"),
    ("non_inferior", "mean:0.02", OTHER, "undecided", "it may lose 0.02 or more, and it may not"),
    ("non_inferior", "mean:0.02", LESS, "failed", "it loses 0.02 or more: -0.250"),
    ("better", "mean", MORE, "passed", "it is better: +0.250"),
    ("better", "mean:0.2", MORE, "undecided", "it may be better by more than 0.2, and it may not"),
    ("better", "mean:0.05", MORE, "passed", "it is better by more than 0.05: +0.250"),
    ("better", "mean", OTHER, "undecided", "it may be better, and it may not: 0.000"),
    ("better", "mean", LESS, "failed", "it is not better: -0.250"),
    ("better", "mean", HALF, "undecided", "it may be better, and it may not: 0.000"),
    ("fail_if", "mean < 0", LESS, "failed", "mean.difference is -0.25"),
    ("fail_if", "mean.low < -0.2", OTHER, "passed", "mean.low is -0.16"),
    ("fail_if", "mean.high <= 0", MORE, "passed", "mean.high is 0.4"),
    ("fail_if", "`mean`.p < 0.05", LESS, "failed", "mean.p is 0.00"),
    ("fail_if", "mean.candidate < 0.5", LESS, "failed", "mean.candidate is 0.25"),
    ("fail_if", "mean.base >= 0.5", LESS, "failed", "mean.base is 0.5"),
    ("fail_if", "mean < -10%", LESS, "undecided", "mean.relative is not known"),
    ("fail_if", "tasks.worse > 9", LESS, "failed", "tasks.worse is 10"),
    ("fail_if", "tasks.better > 9", LESS, "passed", "tasks.better is 0"),
    ("fail_if", "tasks.better >= 10", MORE, "failed", "tasks.better is 10"),
    ("fail_if", "tasks.unpaired > 0", LESS, "passed", "tasks.unpaired is 0"),
    ("fail_if", "missing > 0", LESS, "passed", "missing is 0 in new"),
    ("fail_if", "errored > 0", LESS, "passed", "errored is 0 in new"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "gate", "candidate", "outcome", "why"), OUTCOMES)
def test_the_interval_decides(
    kind: str, gate: str, candidate: Rewards, outcome: str, why: str, tmp_path: Path
) -> None:
    decision = decided(tmp_path, HALF, candidate, **{kind: gate})
    assert decision.gate == f"{kind.replace('_', '-')} {gate}"
    assert (decision.outcome, decision.base, decision.candidate) == (outcome, "base", "new")
    assert decision.why.startswith(why)


@pytest.mark.parametrize(
    "share", ["0.7", "7e-1", "+.7", "33", "1.1E1", "0e0", "1e-9999999999999999"]
)
def test_a_percentage_is_rounded_once(share: str) -> None:
    (gate,) = gates(fail_if=[f"mean < {share}%"])
    assert gate.expression is not None
    few = "e-9" in share
    assert gate.expression.limit == (0.0 if few else float(Fraction(share) / 100))


@pytest.mark.parametrize(("base", "candidate", "share"), [(10, 12, 20), (10, 11, 10), (20, 21, 5)])
def test_a_share_is_rounded_once(base: int, candidate: int, share: int, tmp_path: Path) -> None:
    """0.19999999999999996 is not the share that 2 of 10 is: a gate passed by it."""
    sources = []
    for name, mean in (("main", base - 0.5), ("new", candidate - 0.5)):
        rewards = {f"t{i}": [mean + i % 2] for i in range(40)}
        sources.append(f"{name}={write_run(tmp_path / f'{name}.jsonl', rewards)}")
    for sign, outcome in ((">=", "failed"), (">", "passed")):
        (decision,) = compare(*sources, metrics="mean", fail_if=f"mean {sign} {share}%").gates
        assert decision.outcome == outcome


def test_less_can_be_better(tmp_path: Path) -> None:
    asked = {"lower_is_better": "mean", "no_worse": "mean"}
    worse = decided(tmp_path, HALF, MORE, **asked)
    assert worse.outcome == "failed"
    assert worse.why.startswith("it is worse: +0.250, from +0.")
    assert worse.why.endswith("; less is better")
    assert decided(tmp_path, HALF, LESS, lower_is_better="mean", better="mean").outcome == "passed"
    more = decided(tmp_path, HALF, MORE, lower_is_better="mean", fail_if="tasks.worse > 9")
    assert more.outcome == "failed"


def test_a_constant_difference_has_no_interval_and_p_decides(tmp_path: Path) -> None:
    three = [{task: own * 3 for task, own in side.items()} for side in (NONE, ALL)]
    assert decided(tmp_path, *three, better="mean").outcome == "passed"
    lost = decided(tmp_path, *reversed(three), no_worse="mean")
    assert lost.outcome == "failed"
    assert lost.why == "it is worse: -1, p 1.8e-12"
    by = decided(tmp_path, *three, better="mean:0.5")
    assert (by.outcome, by.why) == ("undecided", "no interval: all tasks differ by the same")


def test_amounts_that_are_the_same_are_not_worse(tmp_path: Path) -> None:
    amounts = {task: [2.5] for task in ALL}
    assert decided(tmp_path, amounts, amounts, no_worse="mean").outcome == "passed"


UNPAIRED = "1 task is unpaired (--unpaired drop compares the others)"


@pytest.mark.parametrize(
    ("kind", "gate"),
    [("no_worse", "mean"), ("non_inferior", "mean:0.5"), ("better", "mean"),
     ("fail_if", "mean < 0"), ("fail_if", "tasks.worse > 0")],
)  # fmt: skip
def test_an_unpaired_task_leaves_every_gate_undecided(kind: str, gate: str, tmp_path: Path) -> None:
    fewer = dict(list(MORE.items())[1:])
    decision = decided(tmp_path, HALF, fewer, **{kind: gate})
    assert (decision.outcome, decision.why) == ("undecided", UNPAIRED)
    same = decided(tmp_path, HALF, fewer, unpaired="error", **{kind: gate})
    assert same == decision
    assert decided(tmp_path, HALF, fewer, unpaired="drop", **{kind: gate}).outcome != "undecided"


@pytest.mark.parametrize("order", [1, -1])
def test_a_dataset_of_one_run_alone_leaves_every_gate_undecided(order: int, tmp_path: Path) -> None:
    def dataset(task: str, _: int) -> str:
        return "tides" if task in HALF else "buoys"

    paths = [
        write_run(tmp_path / "full.jsonl", {**HALF, "u1": [1], "u2": [0]}, dataset=dataset),
        write_run(tmp_path / "half.jsonl", MORE, dataset=dataset),
    ][::order]
    sources = [f"{name}={path}" for name, path in zip(("old", "new"), paths, strict=True)]
    gates = {
        "no_worse": "mean",
        "fail_if": ["tasks.unpaired > 1", "errored > 5", "tasks.worse > 9"],
    }
    found = compare(*sources, **gates)
    assert [each.outcome for each in found.gates] == ["undecided", "failed"] + 2 * ["undecided"]
    whose = "old" if order > 0 else "new"
    assert found.gates[0].why.startswith(
        f"dataset buoys of {whose} is in one run alone (--unpaired"
    )
    (said,) = [each for each in found.found if each.rule == "tasks-unpaired"]
    assert (
        said.message == f"dataset buoys of {whose} is in one run alone, and not compared: 2 tasks"
    )
    dropped = compare(*sources, **gates, unpaired="drop").gates
    assert [each.outcome for each in dropped][2:] == ["passed", "passed" if order > 0 else "failed"]


LACKING = [
    # Of which rewards, of which the candidate has the last, a gate that is undecided.
    ("reward speed", "fail_if", "tasks.worse > 3"),
    ("reward speed", "fail_if", "tasks.better > 3"),
    ("reward speed", "fail_if", "missing > 0"),
    ("reward speed", "no_worse", "mean"),
    ("reward speed", "fail_if", "mean < -0.5"),
    ("reward speed", "no_worse", "pass-rate (threshold=1)"),
]
COMMON = [
    ("style speed", "fail_if", "tasks.unpaired > 0"),
    ("style speed", "fail_if", "errored > 0"),
    ("style speed", "no_worse", "mean (key=speed)"),
    # The first reward of the base is the one that tasks turn by.
    ("speed style", "fail_if", "tasks.worse > 3"),
]
HIGHER = ("another", "speed", "style", "reward")


def of_rewards(folder: Path, base: str, candidate: str, **asked: Any) -> Comparison:
    def run(name: str, keys: str) -> str:
        def rewards(*_: object) -> dict[str, int]:
            return dict.fromkeys(keys.split(), 1)

        return f"{name}={write_run(folder / f'{name}.jsonl', ALL, rewards=rewards)}"

    metrics = ["mean key=speed", "pass-rate threshold=1"]
    sources = run("main", base), run("new", candidate)
    return compare(*sources, metrics=metrics, higher_is_better=HIGHER, **asked)


@pytest.mark.parametrize(("base", "kind", "gate"), LACKING)
def test_a_reward_that_the_candidate_lacks_leaves_what_is_asked_of_it_undecided(
    base: str, kind: str, gate: str, tmp_path: Path
) -> None:
    (decision,) = of_rewards(tmp_path, base, base.split()[-1], **{kind: gate}).gates
    assert decision.outcome == "undecided"
    why = "1 reward of main (reward) is not in new (--unpaired drop compares the others)"
    assert decision.why == why
    dropped = of_rewards(tmp_path, base, base.split()[-1], unpaired="drop", **{kind: gate}).gates
    assert [each.outcome for each in dropped] == ["passed"]


@pytest.mark.parametrize("more", ["", "another"])
@pytest.mark.parametrize(("base", "kind", "gate"), COMMON)
def test_what_is_asked_of_rewards_that_both_have_is_decided(
    base: str, more: str, kind: str, gate: str, tmp_path: Path
) -> None:
    (decision,) = of_rewards(tmp_path, base, f"speed {more}", **{kind: gate}).gates
    assert decision.outcome == "passed", decision.why


@pytest.mark.parametrize("gate", [{"fail_if": "tasks.worse > 3"}, {"no_worse": "mean"}])
def test_a_reward_that_only_the_candidate_has_changes_nothing(
    gate: dict[str, str], tmp_path: Path
) -> None:
    (decision,) = of_rewards(tmp_path, "speed", "another speed", **gate).gates
    assert decision.outcome == "passed"


def test_where_no_trial_of_the_candidate_has_a_reward_no_task_is_said_to_be_as_good(
    tmp_path: Path,
) -> None:
    nothing = {task: [None] for task in ALL}
    for unpaired in ("drop", "error"):
        decision = decided(tmp_path, ALL, nothing, fail_if="tasks.worse > 3", unpaired=unpaired)
        assert decision.outcome == "undecided"
        assert decision.why == "1 reward of base (reward) is not in new"
    assert decided(tmp_path, ALL, nothing, no_worse="mean").outcome == "undecided"
    assert decided(tmp_path, ALL, nothing, fail_if="missing > 0").outcome == "failed"


def test_values_of_rewards_that_both_have_are_decided_where_others_are_lacking(
    tmp_path: Path,
) -> None:
    found = of_rewards(tmp_path, "another speed style", "another speed", no_worse="mean: another")
    assert [each.outcome for each in found.gates] == ["passed"]
    assert found.comparisons[0].lacking == ["style"]
    assert not any(row.lacking for row in found.comparisons[0].rows)


def test_what_is_unpaired_can_itself_be_a_gate(tmp_path: Path) -> None:
    fewer = dict(list(MORE.items())[1:])
    assert decided(tmp_path, HALF, fewer, fail_if="tasks.unpaired > 1").outcome == "passed"
    assert decided(tmp_path, HALF, fewer, fail_if="tasks.unpaired > 0").outcome == "failed"


def test_a_task_without_any_reward_on_a_side_is_not_dropped_silently(tmp_path: Path) -> None:
    crashed = {**MORE, "t00": [None]}
    skipped = {"no_worse": "mean", "missing": "skip"}
    decision = decided(tmp_path, HALF, crashed, **skipped)
    assert decision.outcome == "undecided"
    assert decision.why.startswith("1 task has no value on a side (--unpaired drop")
    assert decided(tmp_path, HALF, crashed, unpaired="drop", **skipped).outcome == "passed"
    assert decided(tmp_path, HALF, crashed, no_worse="mean").outcome == "passed"


def test_costs_that_a_side_does_not_know_leave_the_gate_undecided(tmp_path: Path) -> None:
    for name, unknown in (("base", ""), ("new", "t05")):
        write_run(
            tmp_path / f"{name}.jsonl",
            MORE,
            agent=name,
            usage=lambda task, _, unknown=unknown: (
                {} if task == unknown else {"cost_usd": 1 + int(task[1:])}
            ),
        )
    paths = [tmp_path / "base.jsonl", tmp_path / "new.jsonl"]
    asked = {"metrics": "cost-per-task", "no_worse": "cost-per-task"}
    (decision,) = compare(*paths, **asked).gates
    assert decision.why.startswith("1 task has no value on a side")
    (dropped,) = compare(*paths, unpaired="drop", **asked).gates
    assert dropped.outcome == "passed"


def test_a_metric_that_failed_leaves_its_gate_undecided(tmp_path: Path) -> None:
    missing = {**HALF, "t00": [None]}
    decision = decided(tmp_path, HALF, missing, missing="error", no_worse="mean")
    assert decision.outcome == "undecided"
    assert decision.why.startswith("new: ")


def test_labels_of_one_run_do_not_say_which_tasks_of_the_other_count(tmp_path: Path) -> None:
    """The tasks that a stranger's run labels otherwise were in no group of the user's either."""
    sources = []
    for name, rewards, moved in (("main", HALF, ()), ("new", NONE, ("t01", "t03"))):

        def labels(task: str, _: int, moved: Sequence[str] = moved) -> dict[str, str]:
            return {"suite": "db" if task in moved or task > "t20" else "web"}

        path = write_run(tmp_path / f"{name}.jsonl", rewards, labels=labels)
        sources.append(f"{name}={path}")
    gate = {"no_worse": "`mean grouped by suite: web`", "unpaired": "drop"}
    done = compare(*sources, metrics="grouped metric=mean by=suite", **gate)
    (decision,) = done.gates
    assert decision.outcome == "undecided"
    assert decision.why == (
        "task t01 is in web by main and in db by new (--labels says which one is right)"
    )


def test_relative_amounts(tmp_path: Path) -> None:
    costs = {f"t{i:02}": 1 + i % 3 for i in range(N)}
    for name, factor in (("base", 1.0), ("new", 1.3)):
        write_run(
            tmp_path / name,
            HALF,
            agent=name,
            usage=lambda task, _, factor=factor: {"cost_usd": costs[task] * factor},
        )
    paths = [tmp_path / "base", tmp_path / "new"]
    asked = {"metrics": "cost-per-task"}
    whole = compare(*paths, fail_if=["cost-per-task > 20%", "cost-per-task > 40%"], **asked)
    assert [each.outcome for each in whole.gates] == ["failed", "passed"]
    assert whole.gates[0].why == "cost-per-task.relative is 30%"


def test_values_of_a_metric_are_named_as_the_table_names_them() -> None:
    asked = {"metrics": '{"type": "pass-at-k", "kwargs": {"k": [2, 5]}}'}
    whole = compare(JOBS / "two-models", no_worse=["pass@2", "`pass@5`:0.02"], **asked)
    assert [each.gate for each in whole.gates] == ["no-worse pass@2", "no-worse `pass@5`:0.02"]
    assert whole.outcome == "passed"
    with pytest.raises(UsageError, match="`pass-at-k` has several values"):
        compare(JOBS / "two-models", no_worse="pass-at-k", **asked)
    with pytest.raises(UsageError, match="there is no `pass@3`; did you mean"):
        compare(JOBS / "two-models", no_worse="pass@3", **asked)


@pytest.mark.parametrize(
    ("name", "kwargs", "whole"),
    [
        ("mean", {"reducer": "max"}, "mean (reducer=max)"),
        ("mean", {"missing": "skip"}, "mean (missing=skip)"),
        ("pass@2", {"k": 1}, "pass@1"),
        ("pass@2", {"k": [1]}, "pass@1"),
        ("evsys/pass@2", {"k": 1}, "evsys/pass@2 (k=1)"),
    ],
)
def test_a_metric_with_other_arguments_does_not_take_a_name(
    name: str, kwargs: dict[str, Any], whole: str, tmp_path: Path
) -> None:
    """A registry may be a stranger's, and its `mean` the best of all attempts."""
    extra = {"type": name, "kwargs": kwargs}
    dataset = {"name": "d", "version": "1", "description": "", "tasks": []}
    registry = tmp_path / "registry.json"
    entry = {**dataset, "metrics": [{"type": "max"}], "extra_metrics": [extra]}
    registry.write_text(json.dumps([entry]))
    runs = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for reward, run in enumerate(runs):
        rows = [{"task": f"t{i}", "dataset": "d", "rewards": {"r": reward}} for i in range(9)]
        run.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(UsageError, match=f"there is no `{name}`"):
        compare(*runs, fail_if=f"{name} < -1", registry=registry)
    assert compare(*runs, fail_if=f"{whole} < -1", registry=registry).outcome == "passed"


def test_a_reward_that_is_called_as_its_metric_does_not_take_its_name(tmp_path: Path) -> None:
    for run, reward in (("a", 1), ("b", 0)):
        rows = [{"task": f"t{i}", "rewards": {"reward": reward}} for i in range(9)]
        rows.append({"task": "t9", "rewards": {"reward": 1, "mean": 1}})
        (tmp_path / f"{run}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    runs = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    with pytest.raises(UsageError, match="`mean` has several values"):
        compare(*runs, fail_if="mean < -0.5", metrics="mean")
    assert compare(*runs, fail_if="`mean: reward` < -0.5", metrics="mean").outcome == "failed"


def test_a_reward_that_is_called_as_its_metric_has_another_name_than_it(tmp_path: Path) -> None:
    """The row, and the places, of fifteen tasks of a stranger's were those of the metric."""

    def run(name: str, rewards: Rewards) -> str:
        def more(task: str, _: int) -> dict[str, float]:
            few = {"pass-rate": 0.25} if task < "t15" else {}
            return {"reward": rewards[task][0] or 0, **few}

        return f"{name}={write_run(tmp_path / f'{name}.jsonl', rewards, rewards=more)}"

    runs = [run("a", ALL), run("b", HALF), run("c", NONE)]
    done = compare(*runs, pairs="all", metrics="pass-rate threshold=0.5")
    names = [name_of(row) for row in done.comparisons[0].rows if row.type == "pass-rate"]
    label = "pass-rate (threshold=0.5)"
    assert names == [f"{label}: reward", f"{label}: pass-rate"]
    assert {rank.metric for rank in done.ranks} == set(names)


def test_a_gate_that_can_be_read_in_two_ways_is_refused(tmp_path: Path) -> None:
    for name, side in (("a", HALF), ("b", MORE)):
        lines = [
            {"task": task, "agent": name, "rewards": {"a": own[0], "a:1": 1 - own[0]}}
            for task, own in side.items()
        ]
        (tmp_path / name).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    paths, asked = [tmp_path / name for name in "ab"], {"higher_is_better": ["a", "a:1"]}
    with pytest.raises(UsageError, match="can be `mean: a` with a margin, and the value") as found:
        compare(*paths, no_worse="mean: a:1", **asked)
    assert found.value.help == "write `mean: a`:1 or `mean: a:1`, with backquotes"
    for text, outcome in (("`mean: a`:1", "passed"), ("`mean: a:1`", "failed")):
        assert compare(*paths, no_worse=text, **asked).outcome == outcome


def test_a_direction_that_fits_nothing_is_said(tmp_path: Path) -> None:
    asked = {"lower_is_better": ["maen", "mean"]}
    whole = of_files(tmp_path, HALF, MORE, metrics="mean", **asked)
    said = [d["message"] for d in whole.diagnostics if d["rule"] == "direction-unused"]
    assert said == [
        "--lower-is-better: no metric or value has the name `maen`; did you mean `mean`?"
    ]


def test_a_direction_of_a_value_is_its_own(tmp_path: Path) -> None:
    def rewards_of(more: int) -> Any:
        return lambda *_: {"reward": 1, "cost": more}

    files = [
        write_run(tmp_path / f"{more}.jsonl", HALF, rewards=rewards_of(more)) for more in (1, 2)
    ]
    (pair,) = compare(
        *map(str, files), metrics="mean", higher_is_better="mean", lower_is_better="cost"
    ).comparisons
    assert {row.value: row.higher_is_better for row in pair.rows} == {"reward": True, "cost": False}


def test_an_unknown_direction_is_refused(tmp_path: Path, cli: Run) -> None:
    for name, side in (("a", HALF), ("b", MORE)):
        lines = [
            {"task": task, "agent": name, "rewards": {"x": own[0], "y": 1}}
            for task, own in side.items()
        ]
        (tmp_path / name).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    done = cli("compare", "a", "b", "--no-worse", "mean: x")
    assert (done.returncode, done.stdout) == (2, "")
    assert "nobody says whether more of `mean: x` is better" in done.stderr
    assert "--higher-is-better 'mean: x', or --lower-is-better 'mean: x'" in done.stderr
    assert (
        cli("compare", "a", "b", "--no-worse", "mean: x", "--higher-is-better", "x").returncode == 0
    )
    done = cli("compare", "a", "b", "--fail-if", "tasks.worse > 0")
    assert done.returncode == 2
    done = cli("compare", "a", "b", "--fail-if", "`mean: x` > 0.2")
    assert (done.returncode, done.stderr) == (1, "")
    assert "gate  fail-if `mean: x` > 0.2: failed: mean: x.difference is 0.25" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ("--no-worse mean", 0, "gate  no-worse mean: passed: it is not shown to be worse: +0.250"),
        ("--better mean --no-worse mean", 0, "gate  better mean: passed"),
        ("--better mean:0.2", 1, "gate  better mean:0.2: undecided"),
        ("--fail-if mean>0", 1, "gate  fail-if mean>0: failed: mean.difference is 0.25"),
    ],
)
def test_the_command_tells_every_gate_and_exits(
    arguments: str, code: int, words: str, cli: Run, tmp_path: Path
) -> None:
    write_run(tmp_path / "a", HALF, agent="a")
    write_run(tmp_path / "b", MORE, agent="b")
    done = cli("compare", "a", "b", *arguments.split(), "-o", "c.json")
    assert done.returncode == code, done.stderr
    assert words in done.stdout
    written = Comparison.read(str(tmp_path / "c.json"))
    assert written.ok == (code == 0)
    assert cli("validate", "c.json").returncode == 0


REFUSED = {
    "--no-worse ": "names no metric",
    "--no-worse :0.02": "names no metric",
    "--no-worse mean:-1": "what may be lost or gained is 0 or more",
    "--no-worse mean:nan": "there is no `mean:nan`",
    "--no-worse maen": "there is no `maen`; did you mean `mean`?",
    "--no-worse `mean`:x": "behind `mean` stands ':x'",
    "--non-inferior mean": "does not say how much may be lost|--non-inferior mean:0.02",
    "--non-inferior mean:0": "does not say how much may be lost",
    "--better mean:1e999": "what may be lost or gained is 0 or more",
    "--fail-if mean": "is not NAME, one of < <= > >=, and a number|such as 'mean < -0.02'",
    "--fail-if mean<": "'' is not a number or a percentage",
    "--fail-if mean<x": "'x' is not a number or a percentage",
    "--fail-if mean<1<2": "is not NAME, one of",
    "--fail-if <1": "is not NAME, one of",
    "--fail-if mean.low<5%": "only `relative` is a percentage",
    "--fail-if tasks.worse<5%": "tasks.worse is a count, not a share",
    "--fail-if `mean`.width<5": "there is no '.width' of a metric|the parts are difference",
    "--fail-if tasks.lost>1": "there is no `tasks.lost`",
    "--unpaired drop": "says what unpaired tasks do to gates, and none is set",
}


@pytest.mark.parametrize("arguments", REFUSED)
def test_is_refused_with_a_sentence(arguments: str, cli: Run, tmp_path: Path) -> None:
    write_run(tmp_path / "a", HALF, agent="a")
    write_run(tmp_path / "b", MORE, agent="b")
    option, _, value = arguments.partition(" ")
    done = cli("compare", "a", "b", option, value)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    for words in REFUSED[arguments].split("|"):
        assert words in done.stderr


def test_several_gates_err_more_often_and_that_is_said(tmp_path: Path) -> None:
    whole = of_files(tmp_path, HALF, MORE, no_worse=["mean", "median"], metrics="median")
    (said,) = (d for d in whole.found if d.rule == "several-gates")
    assert "one of them fails in up to 5 of 100 comparisons" in said.message
    assert not of_files(tmp_path, HALF, MORE, no_worse="mean").found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mean < 1", ("mean", "difference", "<", 1)),
        ("mean.low>=-1e-3", ("mean", "low", ">=", -0.001)),
        ("mean <= 5%", ("mean", "relative", "<=", 0.05)),
        ("spread.py > .5", ("spread.py", "difference", ">", 0.5)),
        ("`a < b`.p > 0.5", ("a < b", "p", ">", 0.5)),
        ("`missing` > 0", ("missing", "difference", ">", 0)),
        ("missing > 0", (None, "missing", ">", 0)),
        ("tasks.changed > 0", (None, "tasks.changed", ">", 0)),
    ],
)
def test_expressions(text: str, expected: tuple[Any, ...]) -> None:
    (gate,) = gates(fail_if=[text])
    assert gate.expression == Expression(*expected)


@pytest.mark.parametrize(
    ("text", "metric", "by"),
    [
        ("mean", "mean", 0),
        ("mean:0.02", "mean", 0.02),
        ("mean: x", "mean: x", 0),
        ("mean: x:1", "mean: x", 1),
        ("`by: 2`", "by: 2", 0),
        ("`by: 2`:3", "by: 2", 3),
        ("pass@5 : 1e-2", "pass@5", 0.01),
    ],
)
def test_names_are_split_at_the_last_colon_before_a_number(
    text: str, metric: str, by: float
) -> None:
    (gate,) = gates(no_worse=[text])
    assert (gate.metric.strip() if gate.metric else None, gate.by) == (metric, by)


MARGINS = st.sampled_from([0, 0.01, 0.1, 0.5])


@given(runs(), MARGINS)
@settings(max_examples=60)
def test_worse_is_what_is_better_with_the_runs_exchanged(
    sides: tuple[Rewards, Rewards], by: float
) -> None:
    gate = f"mean:{by}"
    (there,) = compared_files(*sides, no_worse=gate).gates
    (back,) = compared_files(*reversed(sides), better=gate).gates
    assert (there.outcome == "failed") == (back.outcome == "passed")


@given(runs(), MARGINS.filter(bool))
@settings(max_examples=60)
def test_what_is_shown_not_to_lose_is_not_shown_to_be_worse(
    sides: tuple[Rewards, Rewards], by: float
) -> None:
    gate = f"mean:{by}"
    whole = compared_files(*sides, no_worse=gate, non_inferior=gate)
    worse, inferior = (decision.outcome for decision in whole.gates)
    assert inferior != "passed" or worse != "failed"
    assert worse != "failed" or inferior == "failed"
    assert whole.ok == (worse == inferior == "passed")


@given(runs(), MARGINS)
@settings(max_examples=60)
def test_every_gate_has_one_outcome_and_a_sentence(
    sides: tuple[Rewards, Rewards], by: float
) -> None:
    asked: dict[str, Sequence[str]] = {
        "no_worse": [f"mean:{by}"], "better": [f"mean:{by}"], "fail_if": [f"mean < {by}"],
    }  # fmt: skip
    for decision in compared_files(*sides, **asked).gates:
        assert decision.outcome in ("passed", "failed", "undecided")
        assert decision.why
        assert "\n" not in decision.why


def test_a_gate_is_asked_on_every_dataset(tmp_path: Path, cli: Run) -> None:
    for name, sides in (("a", (HALF, HALF)), ("b", (MORE, LESS))):
        whole = ""
        for dataset, rewards in zip(("x", "y"), sides, strict=True):
            whole += write_run(tmp_path / "part", rewards, agent=name, dataset=dataset).read_text()
        (tmp_path / name).write_text(whole)
    by = json.dumps({"type": "grouped", "kwargs": {"metric": "mean", "by": "task"}})
    asked = {"no_worse": "mean", "metrics": by}
    found = compare(tmp_path / "a", tmp_path / "b", **asked)
    assert [(each.dataset, each.outcome) for each in found.gates] == [
        ("x", "passed"), ("y", "failed"),
    ]  # fmt: skip
    assert (found.outcome, found.verdict) == ("failed", "worse")
    done = cli("compare", "a", "b", "--no-worse", "mean")
    assert done.returncode == 1
    assert done.stdout.index("no-worse mean: passed") < done.stdout.index("no-worse mean: failed")
    assert "in y: b against a" in cli("compare", "a", "b", *GATE, "--format", "github").stdout


GATE = ("--no-worse", "mean")


def test_a_value_of_one_dataset_alone_is_undecided_on_the_other(tmp_path: Path) -> None:
    for name, rewards in (("a", HALF), ("b", MORE)):
        lines = [
            {"task": task, "agent": name, "dataset": dataset, "labels": {"size": dataset},
             "rewards": {"reward": own[0]}}
            for dataset in ("x", "y") for task, own in rewards.items()
        ]  # fmt: skip
        (tmp_path / name).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    by = json.dumps({"type": "grouped", "kwargs": {"metric": "mean", "by": "size"}})
    gate = "`mean grouped by size: x`"
    found = compare(tmp_path / "a", tmp_path / "b", metrics=by, no_worse=gate)
    assert [(each.dataset, each.outcome) for each in found.gates] == [
        ("x", "passed"), ("y", "undecided"),
    ]  # fmt: skip
    assert found.gates[1].why == "there is no `mean grouped by size: x` on this dataset"


@pytest.mark.parametrize("gate", ["mean", "mean:0.5"])
def test_runs_that_count_missing_rewards_by_two_rules_decide_no_gate(
    gate: str, tmp_path: Path, cli: Run
) -> None:
    """The same trials, of a job of Harbor before 0.26 and since."""
    for name, more in (("old", {}), ("new", {"left_out": True})):
        trials = [
            {"task": f"t{i}", "attempt": j, "rewards": {"reward": 1} if j else None}
            | ({} if j else more)
            for i in range(20)
            for j in range(3)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(t)}\n" for t in trials))
    given = (
        "compare",
        "old.jsonl",
        "new.jsonl",
        "--no-worse",
        gate,
        "--fail-if",
        "tasks.worse > 0",
    )
    done = cli(*given)
    assert done.returncode == 1
    assert "missing-by-two-rules" in done.stderr
    assert "undecided" in done.stdout
    assert "passed" not in done.stdout
    done = cli(*given, "--missing", "skip")
    assert (done.returncode, "missing-by-two-rules" in done.stderr) == (0, False)


def test_a_reward_that_harbor_would_leave_out_counts_by_the_other_rule(
    tmp_path: Path, cli: Run
) -> None:
    for name, more in (("old", {}), ("new", {"left_out": True})):
        trials = [
            {"task": f"t{i}", "attempt": j, "rewards": {"reward": int(j > 0)}}
            | ({} if j else {"error": "VerifierTimeoutError", **more})
            for i in range(20)
            for j in range(3)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(t)}\n" for t in trials))
    for missing in ((), ("--missing", "skip")):
        done = cli("compare", "old.jsonl", "new.jsonl", "--no-worse", "mean", *missing)
        assert (done.returncode, "undecided" in done.stdout) == (1, True)
        assert "missing-by-two-rules" in done.stderr


@pytest.mark.parametrize("reward", [None, {}])
def test_tasks_without_a_value_on_a_side_are_neither_better_nor_worse(
    reward: Any, tmp_path: Path, cli: Run
) -> None:
    for name, last in (("base", {"reward": 1}), ("half", reward)):
        rewards = [{"reward": 1}] * 15 + [last] * 15
        lines = [json.dumps({"task": f"t{i}", "rewards": r}) for i, r in enumerate(rewards)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    given = ("compare", "base.jsonl", "half.jsonl", "--missing", "skip", "--fail-if")
    done = cli(*given, "tasks.worse > 3")
    assert (done.returncode, "15 tasks have no value on a side" in done.stdout) == (1, True)
    assert cli(*given, "tasks.worse > 3", "--unpaired", "drop").returncode == 0


@pytest.mark.parametrize("other", ["a", "zz"])
def test_the_verifier_of_one_task_does_not_say_what_a_comparison_is_of(
    other: str, tmp_path: Path
) -> None:
    """Its reward stood before that of all others, by the alphabet, and no task was worse by it."""

    def run(name: str, rewards: Rewards) -> str:
        def more(task: str, _: int) -> dict[str, float]:
            return {"reward": rewards[task][0] or 0} | ({other: 1} if task == "t00" else {})

        return f"{name}={write_run(tmp_path / f'{name}.jsonl', rewards, rewards=more)}"

    sources = run("main", ALL), run("new", NONE)
    done = compare(*sources, higher_is_better=HIGHER, fail_if="tasks.worse > 3")
    (decision,) = done.gates
    assert (decision.outcome, decision.why) == ("failed", "tasks.worse is 40")
    (compared,) = done.comparisons
    assert compared.key == "reward"
    assert [row.value for row in compared.rows] == ["reward", other]
    assert len(compared.by_task) == N


def test_tasks_turn_by_no_rarer_reward_where_the_candidate_lacks_the_common_one(
    tmp_path: Path,
) -> None:
    def run(name: str, keys: str) -> str:
        def rewards(task: str, _: int) -> dict[str, int]:
            return dict.fromkeys(keys.split() if task == "t00" else keys.split()[:1], 1)

        return f"{name}={write_run(tmp_path / f'{name}.jsonl', ALL, rewards=rewards)}"

    sources, gate = (run("main", "z a"), run("new", "a")), "tasks.worse > 3"
    done = compare(*sources, higher_is_better=["a", "z"], fail_if=gate)
    assert [decision.outcome for decision in done.gates] == ["undecided"]
    (compared,) = done.comparisons
    assert (compared.key, compared.first, compared.lacking) == ("a", "z", ["z"])


@pytest.mark.parametrize("type_", ["perplexity", "flipped", "brier-score"])
def test_a_metric_of_which_less_is_better_does_not_say_which_tasks_are_worse(
    type_: str, tmp_path: Path
) -> None:
    """Where there are several rewards its values are called as these are."""
    dataset = {"name": "d", "version": "1", "description": "", "tasks": []}
    entry = {**dataset, "metrics": [{"type": "max"}], "extra_metrics": [{"type": type_}]}
    (tmp_path / "registry.json").write_text(json.dumps([entry]))

    def run(name: str, rewards: Rewards) -> str:
        def both(task: str, number: int) -> dict[str, float]:
            return {"reward": rewards[task][number] or 0, "style": 1}

        path = write_run(tmp_path / f"{name}.jsonl", rewards, rewards=both, dataset="d")
        return f"{name}={path}"

    done = compare(
        run("main", ALL),
        run("new", NONE),
        metrics="pass@1",
        registry=tmp_path / "registry.json",
        fail_if="tasks.worse > 3",
    )
    assert [decision.why for decision in done.gates] == ["tasks.worse is 40"]


def of_two_rewards(folder: Path, **asked: Any) -> Comparison:
    """All tasks fall by `reward`, and by `seconds` none does; each is of the group `seconds`."""

    def run(name: str, rewards: Rewards) -> str:
        def both(task: str, number: int) -> dict[str, float]:
            return {"reward": rewards[task][number] or 0, "seconds": 1}

        labels = {"aspect": "seconds"}
        path = write_run(folder / f"{name}.jsonl", rewards, rewards=both, labels=labels)
        return f"{name}={path}"

    return compare(run("main", ALL), run("new", NONE), **asked)


@pytest.mark.parametrize("metrics", ["mean", "grouped metric=mean by=aspect all=false"])
def test_what_is_said_of_another_reward_or_group_says_nothing_of_this_one(
    metrics: str, tmp_path: Path
) -> None:
    gate = {"fail_if": "tasks.worse > 3", "lower_is_better": "seconds"}
    with pytest.raises(UsageError, match="nobody says whether more of `reward` is better"):
        of_two_rewards(tmp_path, metrics=metrics, **gate)
    other = "grouped metric=pass-rate by=aspect key=seconds"
    with pytest.raises(UsageError, match="nobody says whether more of `reward` is better"):
        of_two_rewards(tmp_path, metrics=[metrics, other], fail_if="tasks.worse > 3")
    done = of_two_rewards(tmp_path, metrics=[metrics, "pass-rate threshold=1"], **gate)
    assert [decision.why for decision in done.gates] == ["tasks.worse is 40"]


def test_a_value_of_a_script_that_failed_is_not_that_of_another_of_its_name(
    tmp_path: Path,
) -> None:
    """Its row has no value, and a stranger's script of the same name decided alone."""
    script = tmp_path / "own" / "score.py"
    script.parent.mkdir()
    script.write_text("# /// script\n# dependencies = []\n# ///\nraise SystemExit('no')\n")
    other = tmp_path / "score.py"
    other.write_text(
        "# /// script\n# dependencies = []\n# ///\nimport json, sys\n"
        "json.dump({'score': 0.9}, open(sys.argv[sys.argv.index('-o') + 1], 'w'))\n"
    )
    sources = [
        f"{name}={write_run(tmp_path / f'{name}.jsonl', rewards)}"
        for name, rewards in (("main", ALL), ("new", NONE))
    ]
    metrics = [f"uv-script script_path={path}" for path in (script, other)]
    with pytest.raises(UsageError, match="has several values"):
        compare(*sources, metrics=metrics, fail_if="`score.py: score` < -0.1")


@pytest.mark.parametrize("way", ["higher_is_better", "lower_is_better"])
def test_what_is_said_of_a_reward_says_which_tasks_are_worse(way: str, tmp_path: Path) -> None:
    done = of_two_rewards(tmp_path, fail_if="tasks.worse > 3", **{way: "reward"})
    worse = 40 if way == "higher_is_better" else 0
    assert [decision.why for decision in done.gates] == [f"tasks.worse is {worse}"]
    alone = of_files(tmp_path, ALL, NONE, fail_if="tasks.worse > 3", **{way: "reward"})
    assert [decision.why for decision in alone.gates] == [f"tasks.worse is {worse}"]
    assert "direction-unused" not in {each.rule for each in (*done.found, *alone.found)}


def test_what_is_said_of_a_mean_holds_where_a_registry_has_none(tmp_path: Path) -> None:
    """It was of a mean of another reward alone, and a stranger's `max` said the opposite."""
    dataset = {"name": "d", "version": "1", "description": "", "tasks": []}
    extra = [{"type": "mean", "kwargs": {"key": "z"}}]
    entry = {**dataset, "metrics": [{"type": "max"}], "extra_metrics": extra}
    (tmp_path / "registry.json").write_text(json.dumps([entry]))

    sources = [
        f"{name}={write_run(tmp_path / f'{name}.jsonl', rewards, dataset='d')}"
        for name, rewards in (("main", ALL), ("new", NONE))
    ]
    done = compare(
        *sources,
        registry=tmp_path / "registry.json",
        lower_is_better="mean",
        fail_if="tasks.worse > 3",
    )
    assert [decision.why for decision in done.gates] == ["tasks.worse is 0"]


def test_what_is_said_of_a_mean_of_another_reward_says_nothing_of_this_one(
    tmp_path: Path,
) -> None:
    asked: dict[str, Any] = {"metrics": "mean key=seconds", "lower_is_better": "mean"}
    with pytest.raises(UsageError, match="nobody says whether more of `reward` is better"):
        of_two_rewards(tmp_path, only_asked=True, fail_if="tasks.worse > 3", **asked)


def test_a_standard_error_is_not_better_the_larger_it_is(tmp_path: Path) -> None:
    """It had the direction of the metric whose error it is, which `compute` does not say."""
    metric = "bootstrap-stderr metric=pass-rate"
    sources = [
        f"{name}={write_run(tmp_path / f'{name}.jsonl', rewards)}"
        for name, rewards in (("main", ALL), ("new", HALF))
    ]
    (pair,) = compare(*sources, metrics=metric, only_asked=True).comparisons
    assert [row.higher_is_better for row in pair.rows] == [None]
    assert pair.higher_is_better is None


def test_what_is_said_of_groups_says_nothing_of_other_groups(tmp_path: Path) -> None:
    done = of_two_rewards(
        tmp_path,
        metrics=["grouped metric=mean by=aspect key=seconds", "grouped metric=pass-rate by=aspect"],
        lower_is_better="grouped",
        fail_if="tasks.worse > 3",
    )
    assert [decision.why for decision in done.gates] == ["tasks.worse is 40"]


@pytest.mark.parametrize("name", ["mean", "mean_reward", "pass@1"])
def test_where_a_reward_is_called_as_what_is_said_of_a_mean_nobody_knows_which_is_meant(
    name: str, tmp_path: Path
) -> None:
    """A stranger's metrics decided alone, where a verifier of theirs gave such a reward."""

    def run(run: str, rewards: Rewards) -> str:
        def given(task: str, number: int) -> dict[str, float]:
            few = {name: 1} if task == "t00" else {}
            return {"reward": rewards[task][number] or 0, **few}

        return f"{run}={write_run(tmp_path / f'{run}.jsonl', rewards, rewards=given)}"

    asked: dict[str, Any] = {"metrics": "pass-rate", "lower_is_better": name}
    with pytest.raises(UsageError, match="nobody says whether more of `reward` is better"):
        compare(run("a", ALL), run("b", NONE), fail_if="tasks.worse > 3", **asked)


def test_metrics_that_contradict_each_other_do_not_say_which_tasks_are_worse(
    tmp_path: Path,
) -> None:
    with pytest.raises(UsageError, match="nobody says whether more of `reward` is better"):
        of_two_rewards(
            tmp_path,
            metrics="pass-rate threshold=1",
            fail_if="tasks.worse > 3",
            lower_is_better="mean",
        )


# What a registry may name beside: metrics of the same names, and of which less is better.
REGISTRIES: dict[str, list[dict[str, Any]]] = {
    "inner arguments": [
        {"type": "mean", "kwargs": {"reducer": "max"}},
        {"type": "pass@2", "kwargs": {"k": 4}},
    ],
    "labels": [{"type": "grouped", "kwargs": {"metric": "mean", "by": "aspect"}}],
    "less is better": [{"type": "perplexity"}, {"type": "std"}],
    "the same": [{"type": "mean", "kwargs": {}}, {"type": "pass@2"}, {"type": "pass@3"}],
    "threshold": [{"type": "pass-rate", "kwargs": {"threshold": 0.5}}],
}


@pytest.mark.parametrize("of_registry", REGISTRIES)
@pytest.mark.parametrize("asked", ["mean", "pass-rate", "pass@2", "pass-at-k k=2"])
def test_what_a_registry_names_beside_changes_no_gate_on_what_was_asked_for(
    asked: str, of_registry: str, tmp_path: Path
) -> None:
    def result(entries: list[dict[str, Any]]) -> tuple[Any, ...]:
        dataset = {"name": "d", "version": "1", "description": "", "tasks": []}
        registry = tmp_path / "registry.json"
        registry.write_text(json.dumps([{**dataset, "metrics": entries}]))

        def run(name: str, rewards: Rewards) -> str:
            twice = {task: own * 2 for task, own in rewards.items()}
            labels = {"aspect": "mean"}
            path = write_run(tmp_path / f"{name}.jsonl", twice, dataset="d", labels=labels)
            return f"{name}={path}"

        name = asked.split()[0]
        done = compare(
            *(run("main", ALL), run("new", LESS)),
            metrics=asked,
            registry=registry,
            no_worse=name,
            fail_if=["tasks.worse > 3", f"`{name}` < -0.1"],
        )
        (pair,) = done.comparisons
        decisions = [(each.gate, each.outcome, each.why) for each in done.gates]
        return decisions, pair.higher_is_better

    assert result(REGISTRIES[of_registry]) == result([{"type": "count"}])


def test_verdict_is_of_what_the_user_asks_for_where_nothing_else_runs(
    tmp_path: Path, cli: Run
) -> None:
    dataset = {"name": "d", "version": "1", "description": "", "tasks": []}
    entry = {**dataset, "metrics": [{"type": "pass-rate", "kwargs": {"threshold": 0}}]}
    (tmp_path / "registry.json").write_text(json.dumps([entry]))
    for name, rewards in (("a", ALL), ("b", NONE)):
        write_run(tmp_path / name, rewards, dataset="d")
    asked = ("compare", "a", "b", "--metric", "mean", "--registry", "registry.json")
    document = tmp_path / "c.json"
    for more, verdict, values in (([], "~", 2), (["--only-asked"], "worse", 1)):
        assert cli(*asked, *more, "-o", document).returncode == 0
        whole = Comparison.read(str(document))
        assert (whole.verdict, len(whole.comparisons[0].rows)) == (verdict, values)
    done = cli("compare", "a", "b", "--only-asked")
    assert (done.returncode, done.stdout) == (2, "")
