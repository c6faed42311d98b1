"""The order of trials, and lines of a rewards file kept as columns."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from harbor_metrics.trials.trial import (
    GroupKey,
    LineTrials,
    Picked,
    Trial,
    group_key,
    in_canonical_order,
    part_of,
)


def trial(task: str, **more: object) -> Trial:
    return Trial(task=task, rewards=None, **more)


def test_order_is_task_attempt_start_name_and_id() -> None:
    ordered = [
        trial("a", attempt=1, id="9"),
        trial("a", attempt=2, started_at="2026-01-01", trial="z"),
        trial("a", attempt=2, started_at="2026-01-02", trial="x"),
        trial("a", attempt=2, started_at="2026-01-02", trial="y", id="1"),
        trial("a", attempt=2, started_at="2026-01-02", trial="y", id="2"),
        trial("a", trial="x"),
        trial("b", attempt=1),
    ]
    shuffled = random.Random(1).sample(ordered, len(ordered))
    assert in_canonical_order(shuffled) == ordered
    # As a metric of somebody else gives them to a table: they can be gone through but once.
    assert in_canonical_order(t for t in shuffled) == ordered


def _written(ticks: int, minutes: int, digits: int, form: str) -> str:
    """A moment, in nanoseconds, in a zone, with at least so many digits of a second."""
    whole, fraction = divmod(ticks, 10**9)
    local = datetime.fromtimestamp(whole, UTC).astimezone(timezone(timedelta(minutes=minutes)))
    zone = form if form in ("Z", "z") and not minutes else local.isoformat()[19:]
    shown = f"{fraction:09}".rstrip("0").ljust(digits, "0")
    return f"{local.isoformat()[:19]}{'.' * bool(shown)}{shown}{zone}"


@given(
    st.lists(
        st.tuples(
            st.integers(1_000_000_000 * 10**9, 1_000_000_003 * 10**9)
            | st.integers(1_000_000_000, 1_000_020_000).map(lambda second: second * 10**9),
            st.sampled_from([0, 60, 120, -330, 345]),
            st.sampled_from([0, 3, 6, 9]),
            st.sampled_from(["Z", "z", "+00:00"]),
        ),
        min_size=2,
        max_size=6,
    )
)
def test_attempts_are_in_the_order_of_time_however_it_is_written(
    starts: list[tuple[int, int, int, str]],
) -> None:
    trials = [
        trial("a", started_at=_written(*start), labels={"ticks": start[0]}) for start in starts
    ]
    ticks = [each.labels["ticks"] for each in in_canonical_order(trials)]
    assert ticks == sorted(ticks)


def test_two_forms_of_one_length_are_in_the_order_of_time() -> None:
    starts = ["2026-01-01T08:00:00.50Z", "20260101T080000.750000Z", "2026-01-01T08:00:00.90Z"]
    assert len({*map(len, starts)}) == 1
    trials = [trial("a", started_at=start) for start in starts]
    assert in_canonical_order(trials[::-1]) == trials


def test_what_is_no_time_sorts_as_a_text() -> None:
    starts = ["", "2026-01-01T00:00:00Z", "9999-12-31T23:59:59-01:00", "later"]
    trials = [trial("a", started_at=start) for start in starts]
    assert in_canonical_order(trials[::-1]) == trials


def test_trials_that_cannot_be_told_apart_stay_as_they_came() -> None:
    first, second = trial("a", error="1"), trial("a", error="2")
    assert in_canonical_order([second, first]) == [second, first]


def test_group_is_agent_model_and_dataset() -> None:
    assert group_key(trial("a", agent="x", dataset="d")) == GroupKey("x", None, "d")


def test_part_of_a_dataset_is_named_before_its_last_colon() -> None:
    assert [part_of(name) for name in ("d:words", "a:b:words", "d", None)] == [
        "d",
        "a:b",
        "d",
        None,
    ]


# Four lines: two rewards, `{}`, `null`, and one reward.
LINES = LineTrials(4, {"a": [1, None, None, 0.5], "b": [0, None, None, None]}, frozenset({1}))


def test_lines_are_tasks_of_their_own() -> None:
    assert [(t.task, t.rewards) for t in LINES] == [
        ("line:1", {"a": 1, "b": 0}), ("line:2", {}), ("line:3", None), ("line:4", {"a": 0.5}),
    ]  # fmt: skip
    assert LINES[-1] == LINES[3]
    assert list(LINES.tasks) == [t.task for t in LINES]


def test_empty_object_is_scored_and_null_is_not() -> None:
    assert LINES.n_scored == 3
    assert LineTrials(3, {"a": [1, None, None]}, frozenset({2})).n_scored == 2


def test_lines_are_named_by_their_place_in_the_file() -> None:
    lines = LineTrials(2, {"a": [1, 2]}, numbers=[3, 7])
    assert list(lines.tasks) == ["line:3", "line:7"]


def test_joined_lines_are_numbered_on() -> None:
    other = LineTrials(2, {"b": [None, 9], "c": [3, None]}, frozenset({0}))
    joined = LINES.join(other)
    assert [t.rewards for t in joined] == [*(t.rewards for t in LINES), {"c": 3}, {"b": 9}]
    assert joined.tasks[-1] == "line:6"
    assert joined.empty == {1, 4}


def test_picked_trials_are_those_at_the_indices() -> None:
    assert list(Picked(LINES, [3, 0, 0])) == [LINES[3], LINES[0], LINES[0]]


def test_group_is_named_in_words() -> None:
    assert GroupKey("x", "m", "d").in_words == "x · m on d"
    assert GroupKey(None, None, "d").in_words == "d"
    assert GroupKey("x", None, None).in_words == "x"
