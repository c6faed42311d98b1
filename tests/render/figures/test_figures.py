"""What each picture shows, and when it is there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from render.pages import grid, write_trials
from results_by_hand import group, outcome

from harbor_metrics.computation.request import Request
from harbor_metrics.render.figures.costs import costs
from harbor_metrics.render.figures.figure import Figure
from harbor_metrics.render.page import figures
from harbor_metrics.reports.request import report
from harbor_metrics.reports.series import Series


@pytest.fixture
def drawn(tmp_path: Path):
    """The figures of trials, by their ids."""

    def draw(lines: list[dict[str, Any]], **options: Any) -> dict[str, Figure]:
        path = write_trials(tmp_path / "trials.jsonl", lines)
        found = figures(report(Request(sources=(path,), **options)))
        return {figure.id: figure for figure in found}

    return draw


def rows(*rewards: tuple[str, Any], **more: Any) -> list[dict[str, Any]]:
    return [
        {"task": t, "rewards": None if r is None else {"reward": r}, "dataset": "d", **more}
        for t, r in rewards
    ]


def test_each_picture_is_there_when_its_data_is(drawn) -> None:
    once = rows(("a", 1), ("b", 0))
    assert list(drawn(once)) == ["values", "attempts", "trials"]
    assert list(drawn(once + once)) == ["values", "attempts", "chances", "trials"]
    graded = rows(("a", 0.5), ("b", 0.7), usage={"cost_usd": 0.5})
    assert list(drawn(graded)) == ["values", "attempts", "rewards", "costs", "trials"]
    assert list(drawn(rows(("a", None)))) == ["values", "trials"]


def test_values_stand_with_their_intervals(drawn) -> None:
    values = drawn(rows(("a", 1), ("b", 0), ("c", 1), ("d", 1)))["values"]
    assert values.sentence == ("mean: 0.75 [0.30, 0.95]; in brackets the 95% interval (Wilson).")
    assert values.numbers.lines == [("mean", "0.75", "0.25", "[0.30, 0.95]", "3 of 4")]
    # The line of the interval, and its two ends.
    assert values.drawn.count('stroke-width="2"') == 3


def test_shares_stand_on_one_axis_and_amounts_on_their_own(drawn) -> None:
    lines = [
        {"task": t, "rewards": {"share": s, "steps": n}} for t, s, n in [("a", 0, 7), ("b", 1, 40)]
    ]
    axes = re.findall(r">(-?[\d.]+)</text>", drawn(lines)["values"].drawn)
    assert axes[:6] == ["0", "0.2", "0.4", "0.6", "0.8", "1"]
    assert len(axes) > 6


def test_what_has_a_unit_stands_on_its_own_axis(drawn) -> None:
    lines = rows(("a", 1), ("b", 0), ("c", 1), usage={"cost_usd": 0.5})
    lines[0]["usage"] = {"cost_usd": 0.25}
    shown = drawn(lines, metrics=("cost-per-task",))["values"].drawn
    assert ">cost-per-task in USD</text>" in shown
    assert shown.count(">0.4</text>") == 2


def test_a_long_name_and_its_value_stand_below_each_other(drawn) -> None:
    long = "of-the-verifier-that-looks-at-style"
    lines = [{"task": t, "rewards": {"r": i / 2, long: i / 2}} for i, t in enumerate("abc")]
    shown = drawn(lines)["values"].drawn
    places = re.findall(r' y="([\d.]+)"[^>]*>(?:mean: |[\d.]+ \[)', shown)
    assert len(places) == 4
    assert len(set(places)) == 3


def test_runs_differ_in_colour_and_in_shape(drawn) -> None:
    two = [*rows(("a", 1), ("b", 0), model="m1"), *rows(("a", 1), ("b", 1), model="m2")]
    values = drawn(two)["values"]
    assert values.sentence.startswith("mean: 0.50 [0.09, 0.91] (m1), 1 [0.342, 1] (m2)")
    assert ">m1</text>" in values.drawn
    assert ">m2</text>" in values.drawn
    paths = set(re.findall(r'<path d="(.*?)" fill="(.*?)"', values.drawn))
    assert len({shape for shape, _ in paths}) == len({colour for _, colour in paths}) == 2


def test_attempts_are_squares_crosses_and_hatched(drawn) -> None:
    lines = [
        *rows(("hard", 0), ("hard", None), ("easy", 1), ("easy", 1)),
        *rows(("hard", None), error="Boom"),
    ]
    shown = drawn(lines)["attempts"]
    assert shown.numbers.lines == [
        ("easy", "2 of 2"),
        ("hard", "0 of 3, 2 missing, 1 error"),
    ]
    assert shown.sentence.startswith("1 of 2 tasks passed in every attempt, 1 in none.")
    squares = re.findall(
        r'<path d="([^"]*)" stroke="#\w+" stroke-width="11" stroke-opacity="([\d.]+)"/>',
        shown.drawn,
    )
    assert {opacity: d.count("h11") for d, opacity in squares} == {"1": 2, "0.13": 1}
    assert shown.drawn.count("h11v11h-11zm0 11l11-11") == 1
    assert shown.drawn.count("l11 11m0-11l-11 11") == 1
    assert shown.drawn.index(">easy<") < shown.drawn.index(">hard<")


def test_many_tasks_become_bins(drawn) -> None:
    shown = drawn(grid(151, 2))["attempts"]
    assert shown.drawn.count("<rect") <= 60
    assert ">easiest</text>" in shown.drawn
    assert len(shown.numbers.lines) == 151
    assert drawn(grid(150, 2))["attempts"].drawn.count("<rect") == 0


@pytest.mark.parametrize("reward", [1.7e308, -1.7e308, 5e-324, 10**308])
def test_bins_are_as_high_as_any_rewards(drawn, reward) -> None:
    shown = drawn(rows(*((f"t{i}", reward) for i in range(151))))["attempts"]
    assert 1 < shown.drawn.count("<rect") <= 60


def test_chances_grow_and_fall_with_k(drawn) -> None:
    shown = drawn(rows(("a", 1), ("a", 0), ("b", 0), ("b", 0)))["chances"]
    assert [line[:2] for line in shown.numbers.lines] == [
        ("pass@1", "0.25"), ("pass@2", "0.50"), ("pass^1", "0.25"), ("pass^2", "0"),
    ]  # fmt: skip
    assert shown.sentence == (
        "Of 2 attempts at least one passes: 0.5; of 2 attempts all pass: 0. "
        "Full lines are pass@k, dashed ones pass^k."
    )
    assert 'stroke-dasharray="5 4"' in shown.drawn


def test_rewards_are_counted(drawn) -> None:
    shown = drawn(rows(*((f"t{i}", i / 2) for i in range(9))))["rewards"]
    assert shown.sentence == "9 rewards from 0 to 4, the middle one 2."
    assert [line[1] for line in shown.numbers.lines] == ["2", "2", "2", "3"]
    assert shown.drawn.count("<rect") == 4


def test_missing_rewards_are_told_from_zeros(drawn) -> None:
    shown = drawn(rows(("a", 0.5), ("b", 1), ("c", None)))["rewards"]
    assert shown.sentence == "3 rewards from 0 to 1, the middle one 0.5; 1 of them missing, as 0."


def test_no_curve_lies_below_a_band(drawn) -> None:
    two = [*grid(12, 3, model="m1"), *grid(12, 3, seed=40, model="m2")]
    shown = drawn(two)["chances"].drawn
    assert shown.rindex('fill-opacity="0.15"') < shown.index('stroke-width="2"')


def test_costs_stand_against_values(drawn) -> None:
    lines = [
        *rows(("a", 1), ("b", 0), model="cheap", usage={"cost_usd": 0.5}),
        *rows(("a", 1), ("b", 1), model="dear", usage={"cost_usd": 2}),
        *rows(("a", 0), ("b", 0), model="poor", usage={"cost_usd": 1}),
    ]
    shown = drawn(lines)["costs"]
    assert [line[:2] for line in shown.numbers.lines] == [
        ("cheap", "0.5"), ("dear", "2"), ("poor", "1"),
    ]  # fmt: skip
    assert shown.sentence.endswith("None is both cheaper and better than cheap, dear.")
    assert shown.drawn.count('stroke-dasharray="3 3"') == 2
    free = rows(("a", 1), ("b", 1), model="free")
    assert drawn([*lines[:4], *free])["costs"].sentence.endswith(
        "Each dearer one is better. What it costs is not known of free."
    )


def test_costs_of_runs_with_other_first_metrics_are_on_no_common_axis() -> None:
    cost = outcome("cost-per-task", values={"cost-per-task": 1})
    script = outcome("uv-script", kwargs={"script_path": "mean"}, values={"mean": 1})
    firsts = {"one": outcome(), "two": outcome(kwargs={"missing": "skip"}), "three": script}
    all_ = [
        Series(run, group(each, agent=run), cost=cost)
        for run, each in [*firsts.items(), ("four", outcome())]
    ]
    shown = costs([*all_, Series("five", group(outcome()))])
    assert shown is not None
    assert [line[0] for line in shown.numbers.lines] == ["one", "four"]
    assert shown.sentence.endswith(
        "What it costs is not known of five. mean is not the first value of two, three."
    )


def test_trials_are_told_by_what_became_of_them(drawn) -> None:
    lines = rows(("a", 1), ("b", None))
    for i, kind in enumerate("ABCDEFGH"):
        lines += rows((f"x{i}", None), error=kind)
    shown = drawn(lines)["trials"]
    assert shown.sentence == "10 trials, 10 tasks, 9 missing, 8 errored."
    assert shown.numbers.lines == [
        ("with rewards", "1"), ("without rewards", "9"),
        *((kind, "1") for kind in "ABCDEF"),
        ("other errors", "2"),
    ]  # fmt: skip


def test_pictures_of_many_runs_grow_with_them(drawn) -> None:
    """Each part of a picture said something of all runs: 1.5 GB for 4,000."""

    def sizes(n: int) -> dict[str, int]:
        values = ((f"g{i}", reward) for i in range(n) for reward in (0, 0.5))
        lines = [row for agent, value in values for row in rows(("a", value), agent=agent)]
        found = drawn(lines)
        if n > 12:
            assert found["trials"].sentence.endswith(f"; and {n - 12} more.")
        return {name: len(figure.drawn) for name, figure in found.items()}

    few, many = sizes(60), sizes(240)
    assert set(many) == {"values", "attempts", "rewards", "trials"}
    assert all(many[name] < 5 * few[name] for name in many)


@pytest.fixture
def sentences(drawn):
    """What the pictures of two agents say, the one named first and the other way round."""

    def say(picture: str, mine: list[dict[str, Any]], other: list[dict[str, Any]]) -> list[str]:
        return [
            drawn([{**line, "agent": who} for who, of in order for line in of])[picture].sentence
            for order in ((("a", other), ("mine", mine)), (("mine", mine), ("z", other)))
        ]

    return say


def test_what_one_of_several_runs_has_is_said_to_be_of_that(drawn, tmp_path: Path) -> None:
    registry = tmp_path / "registry.json"
    datasets = [
        {"name": name, "version": "1", "metrics": [{"type": metric}]}
        for name, metric in (("d", "mean"), ("e", "max"))
    ]
    registry.write_text(json.dumps(datasets))
    lines = rows(("a", 1), ("b", 0)) + rows(("a", 1), ("a", 1), ("b", 1), dataset="e")
    said = drawn(lines, registries=(str(registry),))["values"].sentence
    assert said.startswith("mean: 0.50 [0.09, 0.91] (d@1); in brackets")


def test_chances_are_of_the_attempts_of_each_run(sentences) -> None:
    twice, often = rows(("a", 1), ("b", 0)) * 2, rows(("a", 1), ("b", 0)) * 5
    for said in sentences("chances", twice, often):
        assert "f 2 attempts at least one passes: 0.5 (mine)" in said


def test_chances_are_by_the_reward_that_they_name(drawn, tmp_path: Path) -> None:
    """A registry chose which, and nobody was told."""
    mine = rows(("a", 1), ("b", 0)) * 2
    other = [{**line, "rewards": {"acc": 1, "b": 0}} for line in mine]
    registry = tmp_path / "registry.json"
    named = {
        "metrics": [{"type": "max"}],
        "extra_metrics": [{"type": "max", "kwargs": {"key": "b"}}],
    }
    dataset = {"name": "d", "version": "1", "description": "", "tasks": [], **named}
    registry.write_text(json.dumps([dataset]))
    for metrics, key, chance in (((), "b", 0), (("pass@1 key=acc",), "acc", 1)):
        said = drawn(other, registries=(str(registry),), metrics=metrics)["chances"].sentence
        assert said.startswith(f"Of 2 attempts at least one passes: {chance}; ")
        assert f", by the reward `{key}`." in said
    both = [{**line, "agent": who} for who, own in (("mine", mine), ("z", other)) for line in own]
    said = drawn(both, registries=(str(registry),))["chances"].sentence
    assert said.startswith("Of 2 attempts at least one passes: 0.5 (mine), 0 (z (`b`)); ")


def test_attempts_are_by_the_reward_of_each_run(sentences) -> None:
    mine = rows(("a", 0.5), ("b", 0))
    other = [{**line, "rewards": {"acc": 1, "b": 1}} for line in rows(("a", 1), ("b", 1))]
    for said in sentences("attempts", mine, other):
        (own,) = re.findall("mine: [^;]*", said)
        assert "acc" not in own
        assert "full where it passes (all rewards are 0 or 1), or the fuller the higher" in said


def test_intervals_are_called_as_those_of_each_run(sentences) -> None:
    mine, other = rows(("a", 1), ("b", 0), ("c", 1)), rows(("a", 0.25), ("b", 3), ("c", 0.5))
    for said in sentences("values", mine, other):
        (own,) = re.findall(r"0\.67 .*?\(mine\)", said)
        assert own.endswith("the 95% interval (Wilson) (mine)")


def test_rewards_that_other_trials_lack_are_missing(drawn) -> None:
    lines = [{"task": t, "rewards": {"reward": r, "x": 1}} for t, r in (("a", 0.5), ("b", 0.7))]
    lines += [{"task": "c", "rewards": {"x": 1}}, {"task": "d", "rewards": None}]
    said = drawn(lines)["rewards"].sentence
    assert said.endswith("reward from 0 to 0.7, the middle one 0.5; 2 of them missing, as 0.")


def test_an_error_that_is_called_as_a_count_takes_no_place(drawn) -> None:
    lines = rows(("a", 1), ("b", None), agent="mine")
    lines += rows(("a", None), agent="other", error="with rewards")
    table = drawn(lines)["trials"].numbers.lines
    assert ("with rewards", "1", "0") in table
    assert ("error with rewards", "0", "1") in table


def test_groups_of_one_name_are_told_apart(drawn) -> None:
    lines = rows(("a", 1), agent="x", model="y") + rows(("a", 0), agent="x · y")
    lines += rows(("a", 0), agent="z")
    names = {line[0] for line in drawn(lines)["values"].numbers.lines}
    assert names == {"x · y", "x · y · —", "z · —"}


def test_no_dearer_one_is_better_where_less_is(drawn) -> None:
    lines = [
        {**line, "agent": who, "usage": {"cost_usd": cost}}
        for who, cost, value in (("cheap", 0.1, -1), ("dear", 0.5, -3))
        for line in rows(("a", value), ("b", value))
    ]
    said = drawn(lines, metrics=("perplexity",), only_asked=True)["costs"].sentence
    assert said.endswith("None is both cheaper and better than cheap.")


def test_chances_are_by_the_policy_that_is_asked_for(drawn) -> None:
    lines = rows(("a", 1), ("a", 1), ("b", 0), ("b", 1), ("c", None), ("c", 1))
    lines += rows(("a", 1), ("b", 1), ("c", 1))
    found = drawn(lines, metrics=("pass@2",), missing="skip")
    (of_values,) = (line for line in found["values"].numbers.lines if line[0] == "pass@2")
    (of_chances,) = (line for line in found["chances"].numbers.lines if line[0] == "pass@2")
    assert of_values[1] == of_chances[1]


def test_of_what_nobody_says_which_is_better_none_is_the_better_buy() -> None:
    cost = outcome("cost-per-task", values={"cost-per-task": 1})
    script = {"script_path": "errors.py"}
    runs = [
        Series(
            run,
            group(outcome("uv-script", kwargs=script, values={"rate": value}), agent=run),
            cost=msgspec.structs.replace(cost, values={"cost-per-task": value}),
        )
        for run, value in (("good", 1), ("bad", 2))
    ]
    shown = costs(runs)
    assert shown is not None
    assert shown.sentence.endswith("2.")
    assert "3 3" not in shown.drawn


def test_a_chance_that_is_nearly_1_is_not_1(drawn) -> None:
    lines = rows(*((f"t{i}", int(i > 0)) for i in range(3000))) * 2
    said = drawn(lines)["chances"].sentence
    assert said.startswith(
        "Of 2 attempts at least one passes: 0.9997; of 2 attempts all pass: 0.99"
    )


def test_chances_have_no_interval_where_none_is_asked_for(drawn) -> None:
    lines = rows(("a", 1), ("b", 0), ("c", 1)) * 2
    for level in (0.95, None):
        table = str(drawn(lines, level=level)["chances"].numbers)
        assert ("[" in re.sub(r"Numbers\(|lines=\[", "", table)) or level is None
