"""Groups under the dataset that a user names."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harbor_metrics.documents.diagnostics import Diagnostic, Severity
from harbor_metrics.errors import InputError
from harbor_metrics.trials.pool import Pool
from harbor_metrics.trials.regrouping import labelled, named, nameless, of_dataset
from harbor_metrics.trials.source import Job
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import GroupKey, Trial


def pool(*tasks: str, **more: object) -> Pool:
    return Pool(table=Table([Trial(task=task, rewards=None) for task in tasks]), **more)


def key(dataset: str | None) -> GroupKey:
    return GroupKey("x", None, dataset)


def tasks(pools: dict[GroupKey, Pool]) -> dict[str | None, list[str]]:
    return {key.dataset: list(pool.table.tasks) for key, pool in pools.items()}


def test_group_without_a_dataset_is_taken_to_be_of_the_named_one() -> None:
    pools = {key("d"): pool("a"), key(None): pool("b"), key("e"): pool("c")}
    assert tasks(of_dataset(pools, "d", [])) == {"d": ["a", "b"]}


@pytest.mark.parametrize("reward", [1, 0])
@pytest.mark.parametrize("nameless_first", [False, True])
@pytest.mark.parametrize("regroup", [of_dataset, named])
def test_trial_of_both_counts_as_that_of_the_dataset(
    regroup: Callable[[dict[GroupKey, Pool], str, list[Diagnostic]], dict[GroupKey, Pool]],
    nameless_first: bool,
    reward: int,
) -> None:
    first = [Trial(task=t, id=t, agent="x", dataset="d", rewards={"reward": 1}) for t in "ab"]
    other = [Trial(task=t, id=t, agent="x", rewards={"reward": reward}) for t in "bc"]
    pools = {key("d"): Pool(table=Table(first)), key(None): Pool(table=Table(other))}
    pools = dict(reversed(pools.items())) if nameless_first else pools
    diagnostics: list[Diagnostic] = []
    (group,) = regroup(pools, "d", diagnostics).values()
    assert [trial.rewards for trial in group.table] == [{"reward": 1}] * 2 + [{"reward": reward}]
    *others, said = diagnostics
    assert said.rule == "repeated-trial"
    assert said.severity == (Severity.NOTE if reward == 1 else Severity.ERROR)
    # `of_dataset` is asked for by that name.
    assert [each.rule for each in others] == (["dataset-taken"] if regroup is named else [])


@pytest.mark.parametrize(
    ("datasets", "message"),
    [
        (["d", None], "2 trials that name no dataset are pooled with those of d, the only one"),
        (["e", None], None),
        (["d"], None),
    ],
)
def test_what_is_pooled_with_a_dataset_unasked_is_said(
    datasets: list[str | None], message: str | None
) -> None:
    diagnostics: list[Diagnostic] = []
    named({key(dataset): pool("a", "b") for dataset in datasets}, "d", diagnostics)
    assert [message in said.message for said in diagnostics if message] == [True] * bool(message)
    assert bool(diagnostics) == bool(message)


def test_parts_of_a_dataset_stay_apart() -> None:
    pools = {key("d:words"): pool("a"), key("d:letters"): pool("a"), key("e"): pool("c")}
    assert tasks(of_dataset(pools, "d", [])) == {"d:words": ["a"], "d:letters": ["a"]}
    assert tasks(of_dataset(pools, "d:words", [])) == {"d:words": ["a"]}


@pytest.mark.parametrize("other", ["d", None])
def test_parts_of_a_dataset_stay_beside_trials_of_it(other: str | None) -> None:
    pools = {key("d:words"): pool("a"), key("d:letters"): pool("a"), key(other): pool("b")}
    assert tasks(of_dataset(pools, "d", [])) == {"d:words": ["a"], "d:letters": ["a"], "d": ["b"]}


def test_dataset_that_no_group_has_is_refused_with_those_there_are() -> None:
    with pytest.raises(InputError, match="no source has trials of dataset z; they are of d, e"):
        of_dataset({key("d"): pool("a"), key("e"): pool("b")}, "z", [])


def test_only_groups_of_no_job_are_nameless() -> None:
    of_a_job = pool("b", jobs=[("path", Job())])
    pools = {key(None): pool("a"), GroupKey("y", None, None): of_a_job, key("d"): pool("c")}
    assert nameless(pools) == [key(None)]
    assert tasks(named(pools, "d", [])) == {"d": ["a", "c"], None: ["b"]}


def test_labels_are_joined_to_every_group() -> None:
    pools = labelled({key("d"): pool("a"), key("e"): pool("b")}, {"b": {"side": "l"}}, "l.csv")
    assert pools[key("e")].table.label("side") == ["l"]
    assert pools[key("d")].table.trials[0].labels == {}


def test_labels_of_no_task_are_refused() -> None:
    with pytest.raises(InputError, match=r"l.csv labels no task.*it has z, the trials have a"):
        labelled({key("d"): pool("a")}, {"z": {"side": "l"}}, "l.csv")
