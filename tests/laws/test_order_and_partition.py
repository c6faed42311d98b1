"""Law: no number depends on the order of the trials, nor on how they are split over files."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

from conftest import trial, write_job
from hypothesis import given, settings
from hypothesis import strategies as st

import harbor_metrics
from harbor_metrics.evaluation.parity import pass_at_k
from harbor_metrics.numbers import exact
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import Trial

FINITE = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = st.one_of(FINITE, st.integers(-(10**18), 10**18), st.sampled_from([0.0, 1.0, 0.1, 1e308]))
REWARDS = st.one_of(st.none(), st.dictionaries(st.sampled_from(["a", "b"]), NUMBERS))
METRICS = ("sum", "mean", "min", "max")


@given(st.lists(NUMBERS, min_size=1), st.randoms())
def test_sum_and_mean_ignore_order(values: list[float], rng: random.Random) -> None:
    shuffled = rng.sample(values, len(values))
    assert exact.total(values) == exact.total(shuffled)
    assert exact.mean(values) == exact.mean(shuffled)


@settings(max_examples=60, deadline=None)
@given(st.lists(REWARDS, min_size=1, max_size=12), st.integers(1, 4), st.randoms())
def test_shards_of_rewards_give_the_same_numbers(
    tmp_path_factory, rewards: list[dict[str, float] | None], n: int, rng: random.Random
) -> None:
    folder = tmp_path_factory.mktemp("shards")
    shuffled = rng.sample(rewards, len(rewards))
    paths = []
    for i in range(n):
        part = shuffled[i::n]
        if part:
            path = folder / f"{i}.jsonl"
            path.write_text("".join(json.dumps(row) + "\n" for row in part))
            paths.append(path)
    whole = folder / "whole.jsonl"
    whole.write_text("".join(json.dumps(row) + "\n" for row in rewards))
    assert numbers(paths) == numbers([whole])


LINES = (
    "null",
    "{}",
    '{"a": 1}',
    '{"a": 0.5, "b": 1}',
    '{"b": NaN}',
    '{"a": 1, "refused": true}',
    '{"a": 1, "twice": 1, "twice": 2}',
    '{"a": 1, "twice": 1} {"b": 2}',
    '{"a": 1, "half": ',
    "",
)


@settings(max_examples=40, deadline=None)
@given(lines=st.lists(st.sampled_from(LINES), max_size=8), data=st.data())
def test_no_number_depends_on_where_a_line_stands(
    tmp_path_factory, lines: list[str], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("lines")
    padded = data.draw(st.permutations(lines))
    # What is read at once ends in each of them.
    for place in data.draw(st.lists(st.integers(0, len(lines)), max_size=2)):
        padded.insert(place, " " * 70_000)
    paths = [folder / "lines.jsonl", folder / "padded.jsonl"]
    for path, rows in zip(paths, (lines, padded), strict=True):
        path.write_text("".join(f"{row}\n" for row in ['{"a": 1}', *rows]))
    assert numbers(paths[:1]) == numbers(paths[1:])


def numbers(paths: Sequence[Path]) -> list[object]:
    (group,) = harbor_metrics.compute(*paths, metrics=METRICS).groups
    return [group.counts, *((o.values, o.n, o.reasons) for o in group.metrics)]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.sampled_from([None, {"r": 1.0}, {"r": 0.0}, {"r": 0.1}, {"r": 0.7}]),
        min_size=2,
        max_size=12,
    ),
    st.randoms(),
)
def test_a_job_split_over_directories_gives_the_same_numbers(
    tmp_path_factory, rewards: list[dict[str, float] | None], rng: random.Random
) -> None:
    folder = tmp_path_factory.mktemp("jobs")
    trials = [trial(f"t{i % 3}", reward, i) for i, reward in enumerate(rewards)]
    whole = write_job(folder / "whole", trials)
    rng.shuffle(trials)
    cut = rng.randint(1, len(trials) - 1)
    parts = folder / "parts"
    write_job(parts / "one", trials[:cut])
    write_job(parts / "two", trials[cut:])
    one = harbor_metrics.compute(whole, metrics=METRICS)
    split = harbor_metrics.compute(parts, metrics=METRICS)
    assert [g.metrics for g in split.groups] == [g.metrics for g in one.groups]
    assert [g.pass_at_k for g in split.groups] == [g.pass_at_k for g in one.groups]
    assert [g.counts for g in split.groups] == [g.counts for g in one.groups]


@given(
    st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from([0, 1])), min_size=1), st.randoms()
)
def test_pass_at_k_ignores_order(rows: list[tuple[str, int]], rng: random.Random) -> None:
    trials = [Trial(task=task, rewards={"r": r}, trial=str(i)) for i, (task, r) in enumerate(rows)]
    shuffled = rng.sample(trials, len(trials))
    assert pass_at_k(Table(trials)) == pass_at_k(Table(shuffled))


@given(st.lists(st.lists(REWARDS, max_size=6), min_size=3, max_size=3))
def test_tables_add_associatively(parts: list[list[dict[str, float] | None]]) -> None:
    a, b, c = (
        Table([Trial(task=f"t{i}", trial=f"{n}.{i}", rewards=r) for i, r in enumerate(rewards)])
        for n, rewards in enumerate(parts)
    )
    assert list((a + b) + c) == list(a + (b + c)) == list(c + b + a)
