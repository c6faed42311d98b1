"""Several groups as one table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from conftest import Run
from results_by_hand import group, outcome, result

from harbor_metrics.errors import UsageError
from harbor_metrics.evaluation.result import (
    Basis,
    DatasetRef,
    Failure,
    Group,
    Reading,
    Result,
    Uncertainty,
)
from harbor_metrics.render.markdown import markdown
from harbor_metrics.render.overview import sheets
from harbor_metrics.render.table import table

SURE = Uncertainty(stderr=0.123456, low=0.1, high=0.98765, level=0.95, method="t")


def scored(agent: str, value: float | None, name: str = "mean", **more: Any) -> Group:
    fields: dict[str, Any] = {"values": {name: value}, **more.pop("fields", {})}
    if value is None:
        fields["reasons"] = {name: "why"}
    return group(outcome(name, **fields), agent=agent, **more)


def column(made: Result, head: str, **options: Any) -> dict[str, str]:
    """What the first column names -> the cell under that heading."""
    sheet = sheets(made, **options)[0]
    index = [heading.split("\nin ")[0] for heading in sheet.headings].index(head)
    return {line.cells[0]: line.cells[index] for line in sheet.lines}


def test_a_row_is_a_group_with_value_and_error_beside_each_other() -> None:
    sure = {"fields": {"uncertainty": {"mean": SURE}}}
    (sheet,) = sheets(result(scored("a", 0.25, **sure), scored("b", 0.5)))
    assert sheet.title == "sail-1 on demo@1.0"
    assert sheet.headings == ("agent", "trials /\ntasks", "mean")
    assert [line.cells for line in sheet.lines] == [
        ("a", "3 / 2", "0.25 (0.12)  "), ("b", "3 / 2", "0.5 *"),
    ]  # fmt: skip


def test_a_single_group_and_blocks_are_tables_of_their_own() -> None:
    one, two = scored("a", 0.25), scored("b", 0.5)
    assert [sheet.headings[0] for sheet in sheets(result(one))] == ["metric"]
    assert [sheet.title[0] for sheet in sheets(result(one, two), blocks=True)] == ["a", "b"]


def test_a_group_that_has_no_column_in_common_stands_by_itself() -> None:
    made = result(scored("a", 0.25), scored("b", 0.5), scored("c", 1, "max"))
    table, block = sheets(made)
    assert [line.cells[0] for line in table.lines] == ["a", "b"]
    assert block.title.startswith("c")


@pytest.mark.parametrize(
    ("name", "fields", "best"),
    [
        ("accuracy", {"higher_is_better": True}, "b"),
        ("cost-per-task", {"higher_is_better": False}, "a"),
        ("mean", {}, "b"),
        ("median", {}, "b"),
        ("std", {}, None),
    ],
)
def test_the_best_is_marked_where_it_is_known_which_one_is(
    name: str, fields: dict[str, Any], best: str | None
) -> None:
    made = result(scored("a", 0.25, name, fields=fields), scored("b", 0.5, name, fields=fields))
    marked = [agent for agent, cell in column(made, name).items() if cell.endswith("*")]
    assert marked == ([best] if best else [])
    assert any(heading == "*" for heading, _ in sheets(made)[0].below) == bool(best)


def test_the_best_is_the_best_of_its_dataset() -> None:
    other = DatasetRef(name="other")
    made = result(
        scored("a", 0.25), scored("b", 0.5), scored("c", 0.5), scored("d", 0.9, dataset=other)
    )
    marked = {agent for agent, cell in column(made, "mean").items() if cell.endswith("*")}
    assert marked == {"b", "c"}
    alike = result(scored("a", 0.5), scored("b", 0.5))
    assert not any(cell.endswith("*") for cell in column(alike, "mean").values())


def test_of_rewards_with_names_of_their_own_nobody_knows_the_better() -> None:
    values = [{"seconds": 1, "reward": 2}, {"seconds": 2, "reward": 1}]
    made = result(*(group(outcome(values=v), agent=a) for a, v in zip("ab", values, strict=True)))
    assert column(made, "mean\nseconds") == {"a": "1", "b": "2"}
    assert column(made, "mean\nreward") == {"a": "2 *", "b": "1  "}


@pytest.mark.parametrize(
    ("sort", "order"),
    [("mean", "bcad"), ("max", "acbd"), ("cost-per-task", "abcd")],
)
def test_sorted_by_a_metric_the_best_stands_first(sort: str, order: str) -> None:
    lower = {"higher_is_better": False}

    def of(agent: str, mean: float, most: float, cost: float | None) -> Group:
        return group(
            outcome(values={"mean": mean}),
            outcome("max", values={"max": most}),
            outcome("cost-per-task", values={"cost-per-task": cost}, **lower),
            agent=agent,
        )

    groups = (of("a", 0.2, 4, 1), of("b", 0.9, 2, 2), of("c", 0.5, 3, 3), of("d", 0.1, 1, None))
    made = result(*groups)
    assert list(column(made, sort, sort=sort)) == list(order)
    blocks = sheets(made, sort=sort, blocks=True)
    assert [sheet.title[0] for sheet in blocks] == list(order)


@pytest.mark.parametrize(
    ("sort", "words", "help_"),
    [
        ("mean: c", "did you mean `mean: ", "mean: a"),
        ("mean", "several values", "mean: a, mean: b"),
        ("nonesuch", "no such metric", "mean: a"),
    ],
)
def test_what_cannot_be_sorted_by_is_refused(sort: str, words: str, help_: str) -> None:
    made = result(*(group(outcome(values={"a": 1, "b": 2}), agent=agent) for agent in "ab"))
    with pytest.raises(UsageError) as refused:
        sheets(made, sort=sort)
    assert words in str(refused.value)
    assert help_ in refused.value.help
    assert len(sheets(made, sort="a")) == 1


def test_what_is_lacking_and_why_is_said_once() -> None:
    broken = outcome(values={}, status="failed", error=Failure(rule="r", message="no\nno"))
    failed = group(broken, agent="c", counts={"missing": 2, "errored": 1, "expected": 9})
    made = result(scored("a", None), scored("b", None), failed, scored("d", 0.5))
    (sheet,) = sheets(made)
    assert sheet.headings[1:] == ("trials /\ntasks", "planned", "missing", "errored", "mean")
    cells = {line.cells[0]: line.cells for line in sheet.lines}
    assert cells["c"] == ("c", "3 / 2", "9", "2", "1", "failed")
    assert cells["a"][-1] == "—"
    assert sheet.below[1:] == [("mean", "why (a, b)"), ("mean", "no no (c)")]


def test_pass_at_k_of_harbor_is_a_column_each() -> None:
    chances = [{"2": 0.5, "4": 0.75}, {"2": 0.25, "4": 1.0}]
    made = result(*(group(pass_at_k=c, agent=a) for a, c in zip("ab", chances, strict=True)))
    assert column(made, "Harbor's\npass@2") == {"a": "0.5 *", "b": "0.25  "}
    assert column(made, "Harbor's\npass@4") == {"a": "0.75  ", "b": "1 *"}


def test_headings_are_folded_between_words_alone() -> None:
    kwargs = {"metric": "mean", "by": "a_label_with_a_long_name"}
    values = {"first": 1, "all": 2}
    grouped = outcome("grouped", kwargs=kwargs, values=values)
    (sheet,) = sheets(result(group(grouped, agent="a"), group(grouped, agent="b")))
    assert sheet.headings[2:] == (
        "mean grouped by\na_label_with_a_long_name\nfirst",
        "mean grouped by\na_label_with_a_long_name\nall",
    )


def lacking(agent: str, policy: str, **more: Any) -> Group:
    """A group of ten trials of five tasks, of which two lack the reward."""
    trials, other = (10, "skip") if policy == "zero" else (8, "zero")
    reading = Reading(missing=other, value=0.75, n=18 - trials)  # type: ignore[arg-type]
    basis = {"mean": Basis(trials=trials, tasks=5, otherwise=reading)}
    mean = outcome(basis=basis, kwargs={"missing": policy})
    counts = {"expected": 10, "found": 10, "scored": 8, "missing": 2, "tasks": 5}
    return group(mean, *more.pop("beside", ()), agent=agent, counts=counts, **more)


def test_trials_that_are_left_out_are_in_no_denominator_and_said_to_be() -> None:
    made = result(lacking("a", "skip"), lacking("b", "skip"))
    (sheet,) = sheets(made)
    assert sheet.headings == ("agent", "trials /\ntasks", "missing", "mean")
    assert [line.cells[:3] for line in sheet.lines] == [("a", "8 / 5", "2"), ("b", "8 / 5", "2")]
    assert sheet.below[1:] == [
        ("missing", "a trial without the reward is left out"),
        ("missing", "mean: 0.5 over the 8 that have rewards; 0.75 over 10 (a)"),
        ("missing", "mean: 0.5 over the 8 that have rewards; 0.75 over 10 (b)"),
    ]


def test_pass_at_k_of_harbor_is_said_to_be_over_trials_that_are_left_out_elsewhere() -> None:
    said = ("Harbor's pass@k", "over all trials: a missing reward counts as 0")
    for policy, there in (("skip", True), ("zero", False)):
        groups = [lacking(agent, policy, pass_at_k={"2": 0.5}) for agent in "ab"]
        assert (said in sheets(result(*groups))[0].below) == there


def test_pass_at_k_of_harbor_is_over_what_it_counts_in_each_group() -> None:
    groups = [lacking(agent, "skip", pass_at_k={"2": 0.5}) for agent in "ab"]
    counts = msgspec.structs.replace(groups[1].counts, left_out=1)
    groups[1] = msgspec.structs.replace(groups[1], counts=counts)
    below = sheets(result(*groups))[0].below
    assert [text for name, text in below if name == "Harbor's pass@k"] == [
        "over all trials: a missing reward counts as 0 (a)",
        "over all trials that count: a missing reward counts as 0 (b)",
    ]


def test_a_column_over_other_trials_than_the_others_says_so() -> None:
    cost = outcome("cost-per-task", basis={"cost-per-task": Basis(trials=7, tasks=4)})
    groups = [lacking(agent, "zero", beside=[cost]) for agent in "ab"]
    (sheet,) = sheets(result(*groups))
    assert [line.cells[1] for line in sheet.lines] == ["10 / 5", "10 / 5"]
    assert sheet.headings[-1] == "cost-per-task\nin USD"
    assert ("cost-per-task", "over 7 trials of 4 tasks (a, b)") in sheet.below


def test_the_highest_of_each_part_is_marked_where_that_of_the_whole_is() -> None:
    kwargs = {"metric": "mean", "by": "side"}
    parts = ({"lee": 0.25, "all": 0.5}, {"lee": 0.5, "all": 0.25})
    grouped = [outcome("grouped", kwargs=kwargs, values=values) for values in parts]
    made = result(*(group(each, agent=a) for each, a in zip(grouped, "ab", strict=True)))
    assert column(made, "mean grouped\nby side\nlee") == {"a": "0.25  ", "b": "0.5 *"}
    assert column(made, "mean grouped\nby side\nall") == {"a": "0.5 *", "b": "0.25  "}


def test_a_reason_is_said_once_of_all_columns_and_groups() -> None:
    def failing(name: str) -> Any:
        return outcome(name, values={}, status="failed", error=Failure(rule="r", message="no"))

    groups = [group(failing("mean"), agent="a"), group(failing("mean"), failing("max"), agent="b")]
    assert sheets(result(*groups))[0].below[1:] == [("mean, max", "no")]
    groups[0] = group(failing("mean"), outcome("max"), agent="a")
    assert sheets(result(*groups))[0].below[1:] == [("mean", "no"), ("max", "no (b)")]


def test_only_a_terminal_is_told_of_options_and_commands() -> None:
    made = result(scored("a", 0.25), scored("b", 0.5))
    plain, hinting = (dict(sheets(made, hints=hints)[0].below) for hints in (False, True))
    assert plain == {"parentheses": "standard errors", "*": "the highest on its dataset"}
    assert "--format blocks" in hinting["parentheses"]
    assert hinting["*"] == f"{plain['*']}; whether it differs: harbor-metrics compare"


def test_groups_that_have_nothing_in_common_have_no_title() -> None:
    other = DatasetRef(name="other")
    groups = [scored("a", 0.25), scored("b", 0.5, model="sail-2", dataset=other)]
    (sheet,) = sheets(result(*groups))
    assert sheet.title == ""
    assert markdown([sheet]).startswith("2 groups, ")
    assert table([sheet]).startswith("2 groups, ")


def test_groups_whose_names_meet_are_told_apart_below_the_table() -> None:
    groups = [
        msgspec.structs.replace(lacking(agent, "zero"), model=model)
        for agent, model in (("a", "b"), ("a b", None), ("a", "c"))
    ]
    below = sheets(result(*groups))[0].below
    said = [text.rpartition(" (")[2] for name, text in below if name == "missing"][1:]
    assert said == ["a b)", "a b —)", "a c)"]


def test_an_agent_of_an_empty_name_is_not_one_without(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(
        '{"task": "t", "agent": "", "rewards": {"reward": 1}}\n'
        '{"task": "t", "rewards": {"reward": 0}}\n'
    )
    table = cli("compute", "t.jsonl").stdout
    assert [line.split()[0] for line in table.splitlines() if "1 / 1" in line] == ["1", '""']


def test_blocks_whose_titles_meet_are_told_apart() -> None:
    groups = [
        group(outcome(), agent=agent, model=model) for agent, model in (("a", "b"), ("a · b", None))
    ]
    titles = [sheet.title for sheet in sheets(result(*groups), blocks=True)]
    assert len(set(titles)) == 2
    assert titles[1].startswith(
        titles[0][: titles[0].index(" on")] if " on" in titles[0] else titles[0]
    )
