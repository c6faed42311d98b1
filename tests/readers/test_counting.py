"""Large sources are counted and not kept, and nothing in the document shows it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import trial, write_job
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import harbor_metrics
from harbor_metrics import readers
from harbor_metrics.readers import conversion, counting
from harbor_metrics.readers.files import fork, lines, spool
from harbor_metrics.readers.harbor import job
from harbor_metrics.readers.line_columns import LineColumns
from harbor_metrics.trials.counts import CountedTrials, Counts, NotCountableError
from harbor_metrics.trials.trial import Trial

METRICS = ("mean", "median", "pass@2", "ci", "frequency", "variance-components")


@pytest.fixture
def small_sources_count(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Sources of every size are counted, in two processes."""
    monkeypatch.setattr(counting, "COUNTS_PAY", 0)
    monkeypatch.setattr(lines, "_HALVES_PAY", 0)
    monkeypatch.setattr(job, "_COUNTS_PAY", 0)
    monkeypatch.setattr(job, "_HALF_PAYS", 1)
    monkeypatch.setattr(fork, "pays", lambda: True)
    return


def write_rewards(path: Path) -> Path:
    rows = ['{"reward": 1}', "null", '{"reward": 0.5, "cost": 3}', "{}", '{"reward": 1.0}'] * 9
    path.write_text("\n".join(rows) + "\n")
    return path


def write_distinct_rewards(path: Path) -> Path:
    path.write_text("".join(f'{{"reward": {i / 7}, "ok": {i % 2}}}\n' for i in range(40)))
    return path


def write_sparse_rewards(path: Path) -> Path:
    """Keys that few lines have: more come in the second half, with null and empty objects."""
    rows = [f'{{"k{i % 50}": {i % 7 / 7}, "all": {i % 2}}}' for i in range(120)]
    late = [f'{{"late{i % 40}": {i}}}' for i in range(80)]
    path.write_text("\n".join(["null", *rows, "{}", *late, "null"]) + "\n")
    return path


def rows_of_trials() -> list[dict[str, Any]]:
    return [
        {
            "task": f"t{i % 5}",
            "attempt": i // 5 + 1,
            "trial": f"t{i % 5}__{i}",
            "agent": "oracle" if i < 20 else "nop",
            "rewards": None if i % 7 == 0 else {"reward": float(i % 3 == 0)},
            "error": "Early" if i % 7 == 0 else "" if i % 11 == 3 else None,
            "labels": {"kind": "a" if i % 5 < 2 else "b"},
            "usage": {"cost_usd": i / 10},
        }
        for i in range(30)
    ]


def write_trials(path: Path) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows_of_trials()))
    return path


def write_large_usage(path: Path) -> Path:
    """Integers that have no float for their sum."""
    used = {"n_input_tokens": 10**308, "n_output_tokens": 1}
    rows = ({"task": f"t{i % 5}", "rewards": {"reward": 1}, "usage": used} for i in range(30))
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def write_whole_job(path: Path) -> Path:
    return write_job(path, [trial(f"t{i % 4}", {"reward": i % 2}, i) for i in range(16)])


WRITERS = [
    write_rewards,
    write_distinct_rewards,
    write_sparse_rewards,
    write_trials,
    write_large_usage,
    write_whole_job,
]


def document(path: Path, *metrics: str, **options: Any) -> str:
    return harbor_metrics.compute(path, metrics=metrics or METRICS, **options).to_json()


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("options", [{}, {"missing": "skip"}, {"over": "attempts"}])
def test_document_is_that_of_trials_that_were_kept(
    write: Any, options: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: Any
) -> None:
    source = write(tmp_path / "source")
    kept = document(source, **options)
    request.getfixturevalue("small_sources_count")
    (counted,) = readers.read(str(source), counts=True)
    assert counted.counted is not None
    assert document(source, **options) == kept


def test_keys_that_few_lines_have_get_no_columns(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write_sparse_rewards(tmp_path / "source")
    request.getfixturevalue("small_sources_count")
    monkeypatch.setattr(LineColumns, "add", None)
    (counted,) = readers.read(str(source), counts=True)
    assert counted.counted is not None


def test_second_process_leaves_counts_to_the_first_that_take_long_to_hand_over(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Tasks of their own, and some that stand in both halves.
    rows = [{"task": f"t{i % 50}", "trial": str(i), "rewards": {"r": i % 3}} for i in range(60)]
    path = tmp_path / "trials.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    kept = document(path)
    request.getfixturevalue("small_sources_count")
    assert document(path) == kept
    monkeypatch.setattr(counting, "_TELLING", 0)
    monkeypatch.setattr(CountedTrials, "__reduce__", None)
    assert document(path) == kept
    assert readers.read(str(path), counts=True)[0].counted is not None


def test_trials_that_mostly_differ_are_given_up_soon() -> None:
    counts = Counts()
    rows = [Trial(task=f"t{i}", rewards={"r": i / 7}) for i in range(5_000)]
    counts.add(rows[:2_000])
    with pytest.raises(NotCountableError, match="most tasks differ"):
        counts.add(rows[2_000:])


def test_task_with_another_reward_each_time_is_given_up_soon() -> None:
    """Its states took memory with the square of the file: 9 GB of 3 MB."""
    counts = Counts()
    rows = [
        Trial(task=task, rewards={"r": reward})
        for i in range(3_000)
        for task, reward in ((f"u{i}", 1), (f"v{i}", 1), ("t", i))
    ]
    with pytest.raises(NotCountableError, match="too many different"):
        counts.add(rows)
    assert sum(map(len, counts.states)) < 100_000


@pytest.mark.parametrize(
    "metric",
    [
        '{"type": "grouped", "kwargs": {"metric": "mean", "by": "kind"}}',
        '{"type": "mean", "kwargs": {"reducer": "first"}}',
        '{"type": "mean", "kwargs": {"missing": "error"}}',
        '{"type": "cost-per-task"}',
    ],
)
def test_metric_that_needs_the_trials_is_given_them(
    metric: str, tmp_path: Path, request: Any
) -> None:
    source = write_trials(tmp_path / "trials.jsonl")
    kept = document(source, metric)
    request.getfixturevalue("small_sources_count")
    assert document(source, metric) == kept
    assert "needs-rows" not in kept


@pytest.mark.parametrize(
    ("name", "extra"),
    [
        ("blank line", "\n"),
        ("bad line", '{"reward": "x"}\n'),
        ("key twice", '{"reward": 1, "reward": 0}\n'),
        ("two objects on a line", '{"reward": 1}{"reward": 0}\n'),
        ("cut off", '{"reward": 1'),
    ],
)
@pytest.mark.parametrize("write", [write_rewards, write_distinct_rewards])
def test_source_of_which_something_must_be_said_is_kept(
    name: str, extra: str, write: Any, tmp_path: Path, request: Any
) -> None:
    source = write(tmp_path / "source")
    lines = source.read_text().splitlines(keepends=True)
    source.write_text("".join([*lines[:-1], extra, *lines[-1:]]))
    kept = document(source)
    request.getfixturevalue("small_sources_count")
    (read,) = readers.read(str(source), counts=True)
    assert read.counted is None
    assert document(source) == kept


@pytest.mark.parametrize("where", ["in one file", "in two"])
def test_trial_that_comes_twice_is_found(where: str, tmp_path: Path, request: Any) -> None:
    first = write_trials(tmp_path / "a.jsonl")
    second = tmp_path / "b.jsonl"
    again = json.dumps(rows_of_trials()[3]) + "\n"
    if where == "in one file":
        first.write_text(first.read_text() + again)
        second.write_text(json.dumps({**rows_of_trials()[3], "trial": "other"}) + "\n")
    else:
        second.write_text(again)
    kept = harbor_metrics.compute(first, second).to_json()
    assert "found more than once" in kept
    request.getfixturevalue("small_sources_count")
    assert harbor_metrics.compute(first, second).to_json() == kept


@pytest.mark.parametrize("who", [{"trial": "t__1"}, {"id": "1"}])
def test_trial_that_comes_with_and_without_its_dataset_counts_once(
    who: dict[str, str], tmp_path: Path, request: Any
) -> None:
    rows = [{"task": f"t{i % 5}", "rewards": {"reward": i % 2}} for i in range(30)]
    rows = [
        {**row, **{key: f"{value}{i}" for key, value in who.items()}} for i, row in enumerate(rows)
    ]
    lines = [json.dumps({**row, **of}) + "\n" for of in ({}, {"dataset": "x"}) for row in rows]
    (tmp_path / "both.jsonl").write_text("".join(lines))
    kept = document(tmp_path / "both.jsonl", dataset="x")
    request.getfixturevalue("small_sources_count")
    counted = document(tmp_path / "both.jsonl", dataset="x")
    assert counted == kept
    assert json.loads(counted)["groups"][0]["counts"]["found"] == 30


def test_ids_are_those_of_a_group_counted_and_kept(tmp_path: Path, request: Any) -> None:
    sources = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for source, agent in zip(sources, "xy", strict=True):
        rows = [{**row, "id": str(i)} for i, row in enumerate(rows_of_trials())]
        lines = [json.dumps({**row, "agent": agent}) + "\n" for row in rows]
        source.write_text("".join(lines))
    kept = harbor_metrics.compute(*sources)
    n = len(rows_of_trials())
    assert sum(group.counts.found for group in kept.groups) == 2 * n
    request.getfixturevalue("small_sources_count")
    assert readers.read(str(sources[0]), counts=True)[0].counted is not None
    assert harbor_metrics.compute(*sources).to_json() == kept.to_json()


def test_lines_beside_named_tasks_are_kept(tmp_path: Path, request: Any) -> None:
    first, second = write_trials(tmp_path / "a.jsonl"), write_rewards(tmp_path / "b.jsonl")
    kept = harbor_metrics.compute(first, second).to_json()
    request.getfixturevalue("small_sources_count")
    assert harbor_metrics.compute(first, second).to_json() == kept


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.permutations(range(30)), cut=st.integers(1, 29))
def test_order_and_cuts_change_nothing(
    order: list[int], cut: int, tmp_path: Path, small_sources_count: None
) -> None:
    rows = [json.dumps(rows_of_trials()[i]) + "\n" for i in order]
    whole, a, b = (tmp_path / name for name in ("whole.jsonl", "a.jsonl", "b.jsonl"))
    whole.write_text("".join(rows))
    a.write_text("".join(rows[:cut]))
    b.write_text("".join(rows[cut:]))
    together = harbor_metrics.compute(whole, metrics=METRICS)
    apart = harbor_metrics.compute(a, b, metrics=METRICS)
    assert together.groups == apart.groups


def test_digest_of_a_job_outlives_a_move_and_any_order(
    tmp_path: Path, small_sources_count: None
) -> None:
    first, second = write_whole_job(tmp_path / "a"), write_whole_job(tmp_path / "b")
    (one,) = readers.read(str(first), counts=True)
    (other,) = readers.read(str(second))
    assert (one.sha256, one.digest_of) == (other.sha256, "trials")


def write_shuffled_trials(path: Path) -> Path:
    rows = [{**row, "id": str(i)} for i, row in enumerate(rows_of_trials())]
    del rows[4]["attempt"], rows[9]["trial"]
    lines = [json.dumps(row) for row in rows[::-2] + rows[::2]]
    path.write_text("\n".join([*lines[:9], "", '{"task": "bad"}', *lines[9:]]))
    return path


def write_bad_rewards(path: Path) -> Path:
    rows = ['{"a": 1}', "null", "", '{"b": "x"}', '{"b": 0.5, "a": 2}', "{}", '{"c": 1'] * 40
    path.write_text("\n".join(rows))
    return path


@pytest.mark.parametrize("write", [*WRITERS, write_shuffled_trials, write_bad_rewards])
def test_trials_that_lie_on_disk_are_converted_as_those_that_were_kept(
    write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: Any
) -> None:
    source = str(write(tmp_path / "source"))
    kept = conversion.convert(source)
    request.getfixturevalue("small_sources_count")
    monkeypatch.setattr(lines, "_BLOCK", 200)
    monkeypatch.setattr(spool, "_PART", 900)
    monkeypatch.setattr(spool, "_PIECE", 100)
    on_disk = conversion.convert(source)
    assert isinstance(on_disk.sources[0].trials, spool.Spool)
    assert on_disk.lines() == kept.lines()
    assert on_disk.lines() == kept.lines()
    assert (on_disk.n_trials, on_disk.unread, on_disk.ok) == (
        kept.n_trials,
        kept.unread,
        kept.ok,
    )
    assert on_disk.diagnostics == kept.diagnostics
    assert on_disk.sources[0].sha256 == kept.sources[0].sha256


def test_job_with_a_trial_that_cannot_be_read_is_kept(tmp_path: Path, request: Any) -> None:
    source = write_whole_job(tmp_path / "job")
    next(source.glob("*/result.json")).write_text("{")
    kept = conversion.convert(str(source))
    request.getfixturevalue("small_sources_count")
    again = conversion.convert(str(source))
    assert not isinstance(again.sources[0].trials, spool.Spool)
    assert (again.lines(), again.diagnostics) == (kept.lines(), kept.diagnostics)
