"""Which way is better: what the user says of metrics, values and rewards, by their names."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lm_eval_logs import line, write

from harbor_metrics import compare, compute
from harbor_metrics.comparison.document import Compared
from harbor_metrics.errors import UsageError

# Verdicts of a candidate that has more of everything.
TURNED = {None: "higher", True: "better", False: "worse"}


def run(folder: Path, name: str, keys: Sequence[str], more: int) -> str:
    lines = [
        {"dataset": "d", "task": f"t{i:02}"}
        | {"rewards": dict.fromkeys(keys, i % 3 + more * (1 + i % 2))}
        | {"labels": {"side": ["a", "pass-rate"][i % 2], "most": 9, "least": 0}}
        for i in range(20)
    ]
    path = folder / f"{name}.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return f"{name}={path}"


def directions(
    folder: Path, *metrics: str, keys: Sequence[str] = ("seconds",),
    registry: Sequence[dict[str, Any]] = (), **said: str | Sequence[str],
) -> dict[tuple[str, str | None], bool | None]:  # fmt: skip
    """(who names the metric, value) -> whether more of it is better; verdicts agree."""
    entry = {"name": "d", "version": "1", "description": "", "tasks": [], "metrics": registry}
    (folder / "registry.json").write_text(json.dumps([entry]))
    (pair,) = compare(
        run(folder, "old", keys, 0),
        run(folder, "new", keys, 1),
        metrics=metrics,
        registry=folder / "registry.json",
        **said,  # type: ignore[arg-type]
    ).comparisons
    for row in pair.rows:
        assert row.verdict in ("~", TURNED[row.higher_is_better])
    assert pair.rows[0].verdict != "~"
    return {(row.origin, row.value): row.higher_is_better for row in pair.rows}


ASKED, REGISTRY = "command-line", "registry"


@pytest.mark.parametrize(
    "metric", ["mean", "median", "pass-rate threshold=2", "grouped metric=mean by=side"]
)
def test_less_of_the_only_reward_is_worse_in_all_that_follows_it(
    metric: str, tmp_path: Path
) -> None:
    """`mean` was better and all tasks were worse: the reward is called otherwise than the mean."""
    found = directions(tmp_path, metric, lower_is_better="seconds", only_asked=True)  # type: ignore[arg-type]
    assert set(found.values()) == {False}


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        ("mean key=seconds", "mean (key=seconds)"),
        ("quantile q=0.5", "quantile (q=0.5)"),
        ("grouped metric=mean by=side", "mean grouped by side"),
        ("grouped metric=mean by=side", "mean"),
    ],
)
def test_what_is_said_of_a_metric_says_which_tasks_are_better(
    metric: str, name: str, tmp_path: Path
) -> None:
    """By the very name that the table has, its row was turned and the tasks were not."""
    sources = [run(tmp_path, name, ["seconds"], more) for name, more in (("old", 0), ("new", 1))]
    asked: dict[str, Any] = {"metrics": metric, "only_asked": True, "lower_is_better": name}
    (pair,) = compare(*sources, **asked).comparisons
    assert {row.higher_is_better for row in pair.rows} == {False}
    assert pair.higher_is_better is False


def test_what_does_not_follow_a_reward_keeps_its_own_direction(tmp_path: Path) -> None:
    found = directions(tmp_path, "mean", "std", lower_is_better="seconds")
    assert found == {(ASKED, "mean"): False, (ASKED, "std"): None}


def test_a_value_said_by_its_own_name_is_not_as_its_reward(tmp_path: Path) -> None:
    said = {"lower_is_better": "seconds", "higher_is_better": "pass-rate (threshold=2)"}
    found = directions(tmp_path, "mean", "pass-rate threshold=2", **said)
    assert found == {(ASKED, "mean"): False, (ASKED, "pass-rate"): True}


@pytest.mark.parametrize("metric", ["mean", "pass-rate key=seconds", "median", "std"])
def test_another_reward_changes_no_direction_that_is_said(metric: str, tmp_path: Path) -> None:
    """A second reward, of the verifier's author, turned the user's word off."""
    for said in ("seconds", metric.split()[0], f"{metric.split()[0]} (key=seconds)"):
        alone = directions(tmp_path, metric, lower_is_better=said)
        both = directions(tmp_path, metric, keys=["seconds", "words"], lower_is_better=said)
        (way,) = {way for (origin, _), way in alone.items() if origin == ASKED}
        ways = [way for (origin, name), way in both.items() if origin == ASKED and name != "words"]
        assert ways == [way] or way is True  # that more of a mean is better is assumed of one alone


def test_all_that_gates_call_a_value_names_it(tmp_path: Path) -> None:
    keys = ["seconds", "tokens"]
    for name in ("mean: seconds", "seconds"):
        found = directions(tmp_path, "mean", keys=keys, lower_is_better=name)
        assert found == {(ASKED, "seconds"): False, (ASKED, "tokens"): None}
    found = directions(tmp_path, "quantile q=0.9", lower_is_better="quantile (q=0.9)")
    assert found[ASKED, "quantile"] is False


def test_a_name_that_is_asked_for_is_not_that_of_what_a_registry_names(tmp_path: Path) -> None:
    registry = [{"type": "pass-rate", "kwargs": {"threshold": 2}}]
    found = directions(tmp_path, registry=registry, lower_is_better="pass-rate")
    assert found == {(REGISTRY, "pass-rate"): False}
    found = directions(tmp_path, "pass-rate", registry=registry, lower_is_better="pass-rate")
    assert found == {(REGISTRY, "pass-rate"): True, (ASKED, "pass-rate"): False}


def test_what_a_registry_names_says_nothing_of_a_reward_beside_what_is_asked_for(
    tmp_path: Path,
) -> None:
    """More errors were better tasks, since the pass rate of a dataset's author was higher."""
    registry = [{"type": "pass-rate", "kwargs": {}}]
    keys = ["errors", "seconds"]
    with pytest.raises(UsageError, match="whether more of `errors` is better"):
        directions(
            tmp_path, "mean key=errors", keys=keys, registry=registry, fail_if=["tasks.worse > 3"]
        )
    said = {"higher_is_better": "pass-rate", "fail_if": ["tasks.worse > 3"]}
    directions(tmp_path, "mean key=errors", keys=keys, registry=registry, **said)
    directions(tmp_path, keys=keys, registry=registry, fail_if=["tasks.worse > 3"])


def test_a_metric_takes_no_name_from_a_reward(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"keys": ["max"], "lower_is_better": "max"}
    for registry in ([], [{"type": "mean", "kwargs": {}}]):
        found = directions(tmp_path, "max", registry=registry, **asked)
        assert set(found.values()) == {False}


@pytest.mark.parametrize("asked", ["mean reducer=max", "grouped metric=mean by=side"])
def test_the_name_is_of_the_metric_of_a_registry_that_gates_call_by_it(
    asked: str, tmp_path: Path
) -> None:
    registry = [{"type": "mean", "kwargs": {}}]
    found = directions(tmp_path, asked, registry=registry, lower_is_better="mean")
    assert found[REGISTRY, "mean"] is False
    registry = [{"type": "mean", "kwargs": {"reducer": "max"}}]
    found = directions(tmp_path, "mean", registry=registry, lower_is_better="mean")
    assert found == {(ASKED, "mean"): False, (REGISTRY, "mean"): True}


@pytest.mark.parametrize("asked", ["grouped metric=mean by=side", "median", "frequency label=side"])
def test_a_label_and_a_reward_take_no_name_from_a_metric(asked: str, tmp_path: Path) -> None:
    """A stranger's task with such a label turned the verdict of both."""
    registry = [{"type": "pass-rate", "kwargs": {"threshold": 2}}]
    keys = ["seconds", "pass-rate"] if asked == "median" else ["seconds"]
    found = directions(tmp_path, asked, registry=registry, keys=keys, lower_is_better="pass-rate")
    of_asked = {value: way for (origin, value), way in found.items() if origin == ASKED}
    of_registry = {way for (origin, _), way in found.items() if origin == REGISTRY}
    assert of_registry == {False}
    if asked == "median":
        assert of_asked == {"seconds": None, "pass-rate": False}
    else:
        assert set(of_asked.values()) == {None if asked.startswith("frequency") else True}
        assert "pass-rate" in of_asked


def test_a_reward_called_as_a_group_does_not_move_it(tmp_path: Path) -> None:
    """The first value is what the sentence and the verdict are about."""
    metric = "grouped metric=mean by=side key=A"
    for other in ("words", "a"):
        found = directions(tmp_path, metric, keys=["A", other], only_asked=True)  # type: ignore[arg-type]
        assert [value for _, value in found] == ["a", "pass-rate", "all"]


def test_the_name_of_a_reward_is_that_of_whoever_names_the_metric(tmp_path: Path) -> None:
    found = directions(
        tmp_path, "mean", registry=[{"type": "median"}], keys=["seconds", "tokens"],
        lower_is_better="seconds",
    )  # fmt: skip
    assert {key: way for key, way in found.items() if key[1] == "seconds"} == {
        (ASKED, "seconds"): False,
        (REGISTRY, "seconds"): False,
    }


@pytest.mark.parametrize("more", [(["style"], []), ([], ["style"])])
def test_more_of_what_is_called_reward_is_better_whatever_one_run_has_beside(
    more: tuple[list[str], list[str]], tmp_path: Path
) -> None:
    """A candidate that measures one thing more than its base ended every gate."""
    runs = [
        run(tmp_path, name, ["reward", *keys], i)
        for i, (name, keys) in enumerate(zip(("old", "new"), more, strict=True))
    ]
    (pair,) = compare(*runs, no_worse="mean", unpaired="drop").comparisons
    assert pair.higher_is_better is True


def lm_eval(folder: Path, metrics: Sequence[str], more: float, said: bool | None) -> str:
    """A run of lm-eval, whose results file says of its metrics which values are better."""
    folder.mkdir(parents=True)
    stamp = f"2026-01-0{1 + int(more)}T00-00-00.0"
    rows = [
        line(i, metrics=list(metrics), doc={"subject": "ab"[i % 2]})
        | dict.fromkeys(metrics, more + i % 2)
        for i in range(20)
    ]
    write(folder, rows, f"samples_t_{stamp}.jsonl")
    results = {
        "results": {"t": {f"{metric},none": 0.5 for metric in metrics}},
        "n-samples": {"t": {"original": 20, "effective": 20}},
        "higher_is_better": {"t": {} if said is None else dict.fromkeys(metrics, said)},
        "model_name": folder.name,
    }
    (folder / f"results_{stamp}.json").write_text(json.dumps(results))
    return str(folder)


def of_lm_eval(
    folder: Path, rewards: Sequence[str], said: Sequence[bool | None], **asked: Any
) -> Compared:
    runs = [lm_eval(folder / f"run{i}", rewards, i, word) for i, word in enumerate(said)]
    return compare(*runs, **asked).comparisons[0]


@pytest.mark.parametrize(("metric", "higher"), [("bpb", False), ("acc", True)])
def test_names_of_lm_eval_say_which_values_are_better(
    metric: str, higher: bool, tmp_path: Path
) -> None:
    """More bits per byte were better, as more of what is accurate is."""
    by_runs = of_lm_eval(tmp_path, [metric, "other"], [None, None]).rows
    assert [row.higher_is_better for row in by_runs] == [higher, None]
    for grouped in ((), "subject"):
        result = compute(tmp_path / "run0", group_by=grouped)
        said = [outcome.higher_is_better for outcome in result.groups[0].metrics]
        assert said == [higher, msgspec.UNSET]


@pytest.mark.parametrize("word", [False, True])
@pytest.mark.parametrize(
    "asked", [(), "lm-eval/mean key=odd", "lm-eval/median key=odd", "mean key=odd"]
)
def test_what_both_runs_say_of_a_reward_is_of_all_that_follows_it(
    asked: str, word: bool, tmp_path: Path
) -> None:
    found = of_lm_eval(tmp_path, ["odd"], [word, word], metrics=asked, only_asked=bool(asked))
    assert [(row.higher_is_better, row.assumed_direction) for row in found.rows] == [(word, False)]
    assert found.higher_is_better is word


@pytest.mark.parametrize("said", [(False, True), (False, None), (None, False)])
def test_what_one_run_alone_says_of_a_reward_leaves_open_which_is_better(
    said: Sequence[bool | None], tmp_path: Path
) -> None:
    """Nor is more of it taken to be better then: the silence of a stranger's run decided it."""
    found = of_lm_eval(tmp_path, ["odd"], said)
    assert [row.higher_is_better for row in found.rows] == [None]
    assert found.higher_is_better is None
    by_word = of_lm_eval(tmp_path / "again", ["odd"], said, lower_is_better="odd")
    assert [row.higher_is_better for row in by_word.rows] == [False]


@pytest.mark.parametrize("said", [(None, None), (True, None), (None, True)])
def test_of_what_no_run_says_that_less_is_better_more_is_taken_to_be(
    said: Sequence[bool | None], tmp_path: Path
) -> None:
    (row,) = of_lm_eval(tmp_path, ["odd"], said).rows
    assert (row.higher_is_better, row.assumed_direction) == (True, True)


@pytest.mark.parametrize(
    "asked",
    [
        "mean",
        "lm-eval/mean",
        "median key=bpb",
        "inspect/mean key=bpb",
        "grouped metric=mean by=subject",
    ],
)
def test_whatever_follows_what_lm_eval_knows_is_better_as_that_is(
    asked: str, tmp_path: Path
) -> None:
    """More bits were worse by their name, and better by a mean of them."""
    found = of_lm_eval(tmp_path, ["bpb"], [None, None], metrics=asked)
    assert {row.higher_is_better for row in found.rows} == {False}
    assert found.higher_is_better is False


@pytest.mark.parametrize(
    ("low", "high", "follows"), [(0, 10, True), (10, 0, False), ("most", "least", False)]
)
def test_a_share_of_the_way_follows_its_reward_where_it_is_known_to_grow(
    low: Any, high: Any, follows: bool, tmp_path: Path
) -> None:
    """More errors were better tasks, since the share of the way to none is higher where better."""
    entry = {"type": "normalized-mean", "kwargs": {"low": low, "high": high}}
    (pair,) = compare(
        run(tmp_path, "old", ["errors"], 0),
        run(tmp_path, "new", ["errors"], 1),
        metrics=json.dumps(entry),
        only_asked=True,
    ).comparisons
    assert pair.higher_is_better is (True if follows else None)


def test_what_a_run_aggregates_says_nothing_of_a_reward_beside_what_is_asked_for(
    tmp_path: Path,
) -> None:
    with pytest.raises(UsageError, match="whether more of `odd` is better"):
        of_lm_eval(
            tmp_path, ["odd", "other"], [False, None],
            metrics="mean key=odd", fail_if="tasks.worse > 3",
        )  # fmt: skip


BOTH = ["errors", "seconds"]


@pytest.mark.parametrize(("base", "new"), [(BOTH, BOTH), (BOTH, BOTH[:1]), (BOTH[:1], BOTH)])
def test_that_a_run_leaves_out_a_reward_says_nothing_of_another(
    base: list[str], new: list[str], tmp_path: Path
) -> None:
    """More errors were better, as of the only reward."""
    runs = run(tmp_path, "old", base, 0), run(tmp_path, "new", new, 1)
    (pair,) = compare(*runs, metrics="mean key=errors").comparisons
    assert {row.higher_is_better for row in pair.rows if row.origin == ASKED} == {None}
    assert pair.higher_is_better is None
