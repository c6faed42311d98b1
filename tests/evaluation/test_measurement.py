"""What stands beside a number, and when there is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from printed import computed, group
from registries_by_hand import entry

import harbor_metrics
from harbor_metrics.errors import UsageError


def test_notes_stand_beside_the_numbers(cli: Run, tmp_path: Path) -> None:
    lines = "".join(
        f'{{"task": "t{i // 2}", "rewards": {{"reward": {i % 2}}}}}\n' for i in range(5)
    )
    found = computed(cli, lines, entry("pass-at-k", k=1), "stderr", cwd=tmp_path)
    assert any("1 to 2 attempts" in note for note in found["pass-at-k"]["notes"])
    assert any("3 independent units" in note for note in found["stderr"]["notes"])
    assert any("3 tasks: the interval is wide" in note for note in found["mean"]["notes"])
    shown = cli("compute", "in.jsonl", "--metric", "stderr").stdout
    assert "note  stderr: the standard error rests on 3 independent units" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_which_value_is_better_stands_in_the_result(cli: Run, tmp_path: Path) -> None:
    found = computed(cli, '{"reward": 1}\n', "accuracy", "perplexity", cwd=tmp_path)
    assert found["accuracy"]["higher_is_better"] is True
    assert found["perplexity"]["higher_is_better"] is False
    assert "higher_is_better" not in found["mean"]


def test_sum_beyond_binary64_is_undefined(cli: Run, tmp_path: Path) -> None:
    most = 2**1024 - 2**971
    metrics = ("sum", "max", "min", "mean", "median")
    found = computed(cli, f'{{"r": {most}}}\n{{"r": {most}}}\n', *metrics, cwd=tmp_path)
    assert (found["sum"]["status"], found["sum"]["values"]) == ("undefined", {"sum": None})
    assert found["sum"]["reasons"] == {"sum": "the value is beyond the largest binary64 number"}
    assert {found[name]["values"][name] for name in metrics[1:]} == {most}


def test_tokens_beyond_binary64_are_no_total(cli: Run, tmp_path: Path) -> None:
    usage = f'{{"n_input_tokens": {10**308}, "cost_usd": 1e308}}'
    line = f'{{"task": "a", "rewards": null, "usage": {usage}}}\n'
    (tmp_path / "t.jsonl").write_text(line * 3)
    done = cli("compute", "t.jsonl", "--format", "json", "--metric", "total-cost")
    assert set(group(done)["usage"].values()) == {None}


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ('{"r": 0}\n{"r": 0}\n{"r": 2.795314083581765e+103}\n', "mean"),
        (
            '{"r": 1, "s": 0}\n{"r": 2.2250738585e-313, "s": 2.2250738585e-313}\n',
            entry("correlation", key="r", reference="s"),
        ),
    ],
)
def test_rewards_far_apart_end_no_computation(
    text: str, metric: str, cli: Run, tmp_path: Path
) -> None:
    for outcome in computed(cli, text, metric, cwd=tmp_path).values():
        assert outcome["status"] == "ok"


@pytest.mark.parametrize(
    "metric",
    [
        entry("grouped", metric="max", by="task", all="groups"),
        entry("weighted-mean", weight="r"),
        entry("f1", reference="r"),
        entry("bootstrap-stderr", metric="max"),
    ],
)
@pytest.mark.parametrize(
    ("reward", "status"), [(10**400, "unread"), (10**308, "ok"), (2**1024 - 2**971, "ok")]
)
def test_integer_beyond_binary64_fails_no_computation(
    reward: int, status: str, metric: str, cli: Run, tmp_path: Path
) -> None:
    rows = [f'{{"task": "{task}", "rewards": {{"r": {reward}}}}}\n' for task in "abc"]
    rows += ['{"task": "d", "rewards": {"r": 1}}\n'] * 2
    (tmp_path / "t.jsonl").write_text("".join(rows))
    done = cli("compute", "t.jsonl", "--metric", metric, "--format", "json")
    assert group(done)["counts"]["unread"] == (3 if status == "unread" else 0)
    assert done.stderr.count("error[number-out-of-range]") == (3 if status == "unread" else 0)
    assert group(done)["metrics"][1]["status"] in ("ok", "undefined")


def test_nothing_scored_is_undefined_under_any_policy(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text("null\nnull\n")
    done = cli("compute", "r.jsonl", "--missing", "error", "--format", "json")
    assert group(done)["metrics"][0]["status"] == "undefined"


def test_few_amounts_are_said_to_cover_less(cli: Run, tmp_path: Path) -> None:
    (note,) = computed(cli, '{"r": 3}\n{"r": 8}\n{"r": 9}\n', cwd=tmp_path)["mean"]["notes"]
    assert note.startswith("3 tasks: of few tasks with skewed amounts")


def repeated(tmp_path: Path, *tasks: list[float | None]) -> Path:
    """A trials file of these attempts at tasks."""
    path = tmp_path / "trials.jsonl"
    rows = [
        {"task": f"t{i}", "rewards": None if reward is None else {"r": reward}}
        for i, task in enumerate(tasks)
        for reward in task
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def sure(path: Path, metric: str, **options: Any) -> Any:
    """What stands beside the value of the metric."""
    (one,) = harbor_metrics.compute(path, metrics=metric, **options).groups
    return one.metrics[-1].uncertainty[one.metrics[-1].type]


def test_intervals_are_over_tasks_unless_attempts_are_asked_for(tmp_path: Path) -> None:
    path = repeated(tmp_path, [1, 1, 0], [0, 0, 0], [1, 1, 1], [0, 1, 1])
    tasks, attempts = sure(path, "accuracy"), sure(path, "accuracy", over="attempts")
    assert (tasks.over, tasks.method) == ("tasks", "effective wilson")
    assert (attempts.over, attempts.method) == ("attempts", "smoothed wilson")
    assert tasks.low < attempts.low < attempts.high < tasks.high
    assert tasks.n_effective < 12 < attempts.n_effective


def test_over_attempts_one_attempt_a_task_says_nothing(tmp_path: Path) -> None:
    path = repeated(tmp_path, [1], [0], [1])
    found = sure(path, "accuracy", over="attempts")
    assert (found.stderr, found.low, found.high, found.n_effective) == (None,) * 4
    assert found.reason == "undefined over attempts: every task has a single one"


def test_over_attempts_a_value_that_is_no_mean_of_attempts_has_no_interval(tmp_path: Path) -> None:
    path = repeated(tmp_path, [1, 0], [0, 0])
    for metric in ('{"type": "pass-at-k", "kwargs": {"k": 1}}',
                   '{"type": "accuracy", "kwargs": {"reducer": "max"}}'):  # fmt: skip
        found = sure(path, metric, over="attempts")
        assert found.low is None
        assert "not a mean of attempts" in found.reason


def test_over_attempts_amounts_have_the_error_of_their_tasks_attempts(tmp_path: Path) -> None:
    path = repeated(tmp_path, [10, 14, 12], [30, 30, 36])
    found = sure(path, "accuracy", over="attempts")
    # The sample variances 4 and 12 over three attempts each, of two tasks of half the weight.
    assert found.stderr == pytest.approx(((4 / 3 + 12 / 3) / 4) ** 0.5)
    assert found.method == "hall"
    assert found.low < 22 < found.high


def test_over_attempts_graded_rewards_have_the_variance_within_their_tasks(tmp_path: Path) -> None:
    path = repeated(tmp_path, [0.5, 0.7], [0.1, 0.3])
    found = sure(path, "accuracy", over="attempts")
    assert found.stderr == pytest.approx(((0.02 / 2 + 0.02 / 2) / 4) ** 0.5)
    # Half a 1 and half a 0 more: tasks of means 1.7/3 and .9/3, of squares 1.24/3 and .6/3.
    means = [1.7 / 3, 0.9 / 3]
    variances = [1.24 / 3 - means[0] ** 2, 0.6 / 3 - means[1] ** 2]
    p = sum(means) / 2
    assert found.n_effective == pytest.approx(p * (1 - p) / (sum(variances) / 2 / 4))


def test_over_is_one_of_two(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="over must be one of tasks, attempts"):
        harbor_metrics.compute(repeated(tmp_path, [1]), over="trials")


def test_command_line_says_below_the_table_what_intervals_are_over(
    cli: Run, tmp_path: Path
) -> None:
    path = repeated(tmp_path, [1, 0], [0, 0])
    assert "intervals  over tasks, as a sample of such tasks" in cli("compute", path).stdout
    again = cli("compute", path, "--over", "attempts").stdout
    assert "intervals  over attempts: these tasks, tried again" in again
    assert "intervals" not in cli("compute", path, "--level", "off").stdout


def test_amounts_below_1_are_amounts_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "trials.jsonl"
    costs = [0.02, 0.05, 0.03, 0.9]
    path.write_text(
        "".join(
            json.dumps({"task": f"t{i}", "rewards": {"r": 1}, "usage": {"cost_usd": cost}}) + "\n"
            for i, cost in enumerate(costs)
        )
    )
    found = sure(path, "cost-per-task")
    assert (found.method, found.n_effective) == ("hall", None)
    assert 0 < found.low < sum(costs) / 4 < found.high


@pytest.mark.parametrize(
    ("tasks", "method"),
    [
        ([[1], [0], [1]], "wilson"),
        ([[1, 0], [0, 0]], "effective wilson"),
        ([[0.5], [0.7]], "effective wilson"),
        # The mean lies between 0 and 1, and so does every sum: the rewards do not.
        ([[3, -2], [-1, 1]], "hall"),
        ([[2], [0]], "hall"),
    ],
)
def test_method_follows_from_the_rewards(
    tasks: list[list[float | None]], method: str, tmp_path: Path
) -> None:
    assert sure(repeated(tmp_path, *tasks), "accuracy").method == method


def test_mean_of_tasks_of_one_size_has_the_interval_of_all_attempts(tmp_path: Path) -> None:
    path = repeated(tmp_path, [1, 0], [1, 0], [0, 1])
    assert sure(path, "mean-reward") == sure(path, "accuracy")


def test_micro_and_macro_mean_have_intervals_of_their_own(tmp_path: Path) -> None:
    path = repeated(tmp_path, [1, 1, 1, 1, 0], [0], [1, 0])
    micro, macro = sure(path, "accuracy"), sure(path, "mean-reward")
    assert micro.n_effective != macro.n_effective
    assert sure(path, "accuracy", over="attempts") != sure(path, "mean-reward", over="attempts")


def basis(found: dict[str, Any], name: str | None = None) -> Any:
    return found["basis"] if name is None else found["basis"][name]


def test_what_a_value_is_over_stands_beside_it(cli: Run, tmp_path: Path) -> None:
    rows = [("a", 1), ("a", 0), ("b", 1), ("b", None), ("c", 1)]
    lines = "".join(
        json.dumps({"task": t, "rewards": None if r is None else {"r": r}, "labels": {"by": t}})
        + "\n"
        for t, r in rows
    )
    asked = ("pass-rate threshold=0.5", "std", "pass-at-k k=1", "sum")
    asked += ("accuracy reducer=max", "grouped metric=mean by=by")
    found = computed(cli, lines, *asked, cwd=tmp_path)
    skipped = {"missing": "skip", "value": 0.75, "n": 4}
    assert basis(found["mean"], "mean") == {
        "trials": 5,
        "tasks": 3,
        "passed": 3,
        "otherwise": skipped,
    }
    assert basis(found["pass-rate"], "pass-rate") == basis(found["mean"], "mean")
    assert basis(found["std"], "std") == basis(found["sum"], "sum") == {"trials": 5, "tasks": 3}
    assert basis(found["pass-at-k"], "pass-at-k") == {"trials": 5, "tasks": 3}
    assert basis(found["accuracy"], "accuracy") == {"trials": 5, "tasks": 3}
    assert basis(found["grouped"]) == {
        "a": {"trials": 2, "tasks": 1},
        "b": {"trials": 2, "tasks": 1},
        "c": {"trials": 1, "tasks": 1},
        "all": {"trials": 5, "tasks": 3},
    }
    skip = computed(cli, lines, "accuracy missing=skip", cwd=tmp_path)["accuracy"]
    assert basis(skip, "accuracy") == {
        "trials": 4,
        "tasks": 3,
        "passed": 3,
        "otherwise": {"missing": "zero", "value": 0.6, "n": 5},
    }


def test_graded_and_whole_rewards_say_no_number_that_pass(cli: Run, tmp_path: Path) -> None:
    found = computed(cli, '{"r": 0.5}\n{"r": 0.5}\n', cwd=tmp_path)
    assert basis(found["mean"], "mean") == {"trials": 2, "tasks": 2}


def test_what_is_undefined_is_over_what_it_was_asked_of(cli: Run, tmp_path: Path) -> None:
    rows = [{"task": t, "rewards": {"r": 1}} for t in "aabb"]
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    found = computed(cli, lines, "pass-at-k k=5", "mean key=nonesuch missing=skip", cwd=tmp_path)
    assert basis(found["pass-at-k"], "pass-at-k") == {"trials": 4, "tasks": 2}
    assert basis(found["mean"], "mean") == {"trials": 4, "tasks": 2}


def test_usage_is_over_the_trials_that_say_theirs(cli: Run, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"task": t, "rewards": {"r": 1}} for t in "aabc"]
    rows[0]["usage"] = {"cost_usd": 1.0}
    rows[1]["usage"] = {"cost_usd": 3.0}
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    asked = ("cost-per-task", "usage-quantile of=cost", "cost-per-solved-task")
    found = computed(cli, lines, *asked, cwd=tmp_path)
    said = {"trials": 2, "tasks": 1}
    assert basis(found["cost-per-task"], "cost-per-task") == said
    assert basis(found["usage-quantile"], "usage-quantile") == said
