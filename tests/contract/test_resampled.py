"""Tables and columns of clusters drawn with replacement."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harbor_metrics.contract.resampled import as_lm_eval, resampled
from harbor_metrics.errors import MetricFailure
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import Label, Trial

ROWS = [("a", 1), ("a", 2), ("b", 3), ("c", 4)]
TABLE = Table([Trial(task=t, attempt=r, rewards={"r": r}, labels={"g": t}) for t, r in ROWS])
COLUMN = TABLE.column("r", "error")


def values(view: object) -> list[list[int]]:
    """The values of each task of a drawn table or column."""
    column = view.column("r", "error") if isinstance(view, Table) else view
    return [list(part) for part in column.by_task.values()]


@pytest.mark.parametrize("cluster", ["task", "g"])
@pytest.mark.parametrize("view", [TABLE, COLUMN], ids=["table", "column"])
def test_clusters_are_drawn_whole(view: object, cluster: str) -> None:
    for drawn in resampled(view, cluster, 20, 1):
        parts = values(drawn)
        assert len(parts) == 3
        assert all(part in ([1, 2], [3], [4]) for part in parts)


@pytest.mark.parametrize(
    ("labels", "same"),
    [
        ([1, 1.0, True, 2], [1, 1, 1, 2]),
        ([True, 1.0, 1, 2.0], [1, 1, 1, 2]),
        ([1, "1", "000000001", 1.5], ["a", "b", "c", "d"]),
        ([10, 9, 2, 2], [10.0, 9, 2.0, 2]),
    ],
)
def test_clusters_are_one_where_their_labels_are_equal(
    labels: list[Label], same: list[Label]
) -> None:
    def sizes(labels: list[Label]) -> list[int]:
        trials = [
            Trial(task=f"t{i}", rewards={"r": 1}, labels={"g": g}) for i, g in enumerate(labels)
        ]
        return [len(view) for view in resampled(Table(trials).column("r", "error"), "g", 30, 0)]

    assert sorted(sizes(labels)) == sorted(sizes(same))
    n = len(set(labels))
    assert (len(set(sizes(labels))) == 1) is (n == len(labels))


def test_label_that_is_null_names_no_cluster() -> None:
    trials = [Trial(task="t", rewards={"r": 1}, labels={"g": g}) for g in ("None", None)]
    with pytest.raises(MetricFailure, match="label `g` is null for some trials"):
        list(resampled(Table(trials).column("r", "error"), "g", 1, 0))


@pytest.mark.parametrize("of_table", [True, False])
@given(st.lists(st.sampled_from([0, 1, 0.5, 2**70, None]), min_size=1, max_size=6), st.randoms())
def test_rows_are_drawn_alike_in_any_order(
    of_table: bool, rewards: list[float | None], random: Random
) -> None:
    """Attempts of a file that says of none which it is stood in its order."""

    def drawn(rewards: list[float | None]) -> list[list[list[int]]]:
        trials = [Trial(task="t", rewards=None if r is None else {"r": r}) for r in rewards]
        table = Table(trials)
        view = table if of_table else table.column("r", "zero")
        return [sorted(map(repr, _contents(each))) for each in resampled(view, None, 5, 0)]

    assert drawn(rewards) == drawn(random.sample(rewards, len(rewards)))


def _contents(view: object) -> list[object]:
    return [*view.rewards()] if isinstance(view, Table) else [*view.values]


def test_every_row_is_drawn_alone_without_clusters() -> None:
    drawn = [sorted(view.values) for view in resampled(COLUMN, None, 50, 0)]
    assert all(len(rows) == 4 for rows in drawn)
    assert [1, 1] in [rows[:2] for rows in drawn]


def test_same_seed_draws_the_same() -> None:
    first, again, other = (
        [values(view) for view in resampled(TABLE, "task", 5, seed)] for seed in (1, 1, 2)
    )
    assert first == again != other


def test_table_and_column_are_drawn_alike() -> None:
    of_table = [values(view) for view in resampled(TABLE, "task", 5, 3)]
    assert of_table == [values(view) for view in resampled(COLUMN, "task", 5, 3)]


def test_draws_of_lm_eval_are_choices_from_the_number_of_the_chunk() -> None:
    names = [f"doc {i}" for i in (10, 9, 2)]
    column = Table([Trial(task=t, rewards={"r": i}) for i, t in enumerate(names)]).column(
        "r", "skip"
    )
    (drawn, *_) = as_lm_eval(column, 5)
    # Documents in the order of their numbers: 2, 9, 10.
    assert list(drawn.values) == Random(0).choices([2, 1, 0], k=3)


def test_draws_of_lm_eval_come_in_whole_chunks() -> None:
    assert sum(1 for _ in as_lm_eval(COLUMN, 1_500)) == 1_000
    assert sum(1 for _ in as_lm_eval(COLUMN, 7)) == 7
