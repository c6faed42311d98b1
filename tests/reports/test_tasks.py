"""The attempts at each task."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harbor_metrics.reports.tasks import Attempts, Tasks, easiest, tasks_of
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import LineTrials, Trial

TRIALS = st.lists(
    st.builds(
        Trial,
        task=st.sampled_from("abcd"),
        rewards=st.none() | st.dictionaries(st.sampled_from("pq"), st.integers(-3, 3), max_size=2),
        error=st.none() | st.just("Boom"),
    ),
    min_size=1,
)


def of(*rewards: tuple[str, float | None]) -> Tasks:
    trials = [Trial(task=t, rewards=None if r is None else {"reward": r}) for t, r in rewards]
    found = tasks_of(Table(trials))
    assert found is not None
    return found


@given(TRIALS)
def test_every_trial_is_an_attempt_of_its_task(trials: list[Trial]) -> None:
    table = Table(trials)
    tasks = tasks_of(table)
    if tasks is None:
        assert not any(trial.rewards for trial in trials)
        return
    found = tasks.attempts(tasks.means)
    assert len(found) == len(tasks) == table.n_tasks
    for task, own in found.items():
        of_task = [trial for trial in table if trial.task == task]
        assert own.rewards == tuple((t.rewards or {}).get(tasks.key) for t in of_task)
        assert own.errors == tuple(t.error is not None for t in of_task)
        mean = Fraction(sum(reward or 0 for reward in own.rewards), len(of_task))
        assert tasks.means[task] == float(mean)


def test_the_first_reward_is_shown_where_nothing_is_asked_for() -> None:
    table = Table([Trial(task="a", rewards={"z": 1, "reward": 0, "b": 1})])
    assert tasks_of(table).key == "reward"  # type: ignore[union-attr]
    assert tasks_of(table, "z").key == "z"  # type: ignore[union-attr]
    table = Table([Trial(task="a", rewards={"z": 1, "b": 1})])
    assert tasks_of(table, "gone").key == "b"  # type: ignore[union-attr]


def test_without_rewards_there_are_no_tasks_to_show() -> None:
    assert tasks_of(Table([Trial(task="a", rewards=None)])) is None
    assert tasks_of(Table([])) is None


def test_lines_are_tasks() -> None:
    tasks = tasks_of(Table(LineTrials(3, {"reward": [1, None, 0]})))
    assert tasks is not None
    assert tasks.attempts(["line:2", "line:9"]) == {"line:2": Attempts((None,), (False,))}


def test_easiest_first_over_all_runs() -> None:
    one, other = of(("a", 1), ("b", 0), ("c", None)), of(("a", 0), ("b", 1), ("c", 1), ("d", 1))
    assert easiest([one]) == ["a", "b", "c"]
    assert easiest([one, other]) == ["d", "a", "b", "c"]
    assert easiest([one, other], 2) == ["d", "a"]


def test_sums_beyond_binary64_do_no_harm() -> None:
    tasks = of(("a", 1.7e308), ("a", 1.7e308), ("b", 1))
    assert easiest([tasks]) == ["a", "b"]


@pytest.mark.parametrize("other", ["a", "reward"])
def test_the_verifier_of_one_task_does_not_say_what_a_page_is_of(other: str) -> None:
    trials = [Trial(task=f"t{i}", rewards={"score": 1}) for i in range(9)]
    trials.append(Trial(task="t9", rewards={"score": 1, other: 0}))
    tasks = tasks_of(Table(trials))
    assert tasks is not None
    assert tasks.key == "score"
