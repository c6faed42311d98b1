"""Several groups as one table."""

from __future__ import annotations

from typing import Any

import pytest
from results_by_hand import group, outcome, result

from harbor_metrics.errors import UsageError
from harbor_metrics.evaluation.result import DatasetRef, Failure, Group, Result, Uncertainty
from harbor_metrics.render.overview import sheets

SURE = Uncertainty(stderr=0.123456, low=0.1, high=0.98765, level=0.95, method="t")


def scored(agent: str, value: float | None, name: str = "mean", **more: Any) -> Group:
    fields: dict[str, Any] = {"values": {name: value}, **more.pop("fields", {})}
    if value is None:
        fields["reasons"] = {name: "why"}
    return group(outcome(name, **fields), agent=agent, **more)


def column(made: Result, head: str, **options: Any) -> dict[str, str]:
    """What the first column names -> the cell under that heading."""
    sheet = sheets(made, **options)[0]
    return {line.cells[0]: line.cells[sheet.headings.index(head)] for line in sheet.lines}


def test_a_row_is_a_group_with_value_and_error_beside_each_other() -> None:
    sure = {"fields": {"uncertainty": {"mean": SURE}}}
    (sheet,) = sheets(result(scored("a", 0.25, **sure), scored("b", 0.5)))
    assert sheet.title == "sail-1 on demo@1.0"
    assert sheet.headings == ("agent", "trials / tasks", "mean")
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
    assert sheet.headings[-2:] == ("missing", "errored")
    cells = {line.cells[0]: line.cells for line in sheet.lines}
    assert cells["c"] == ("c", "3 of 9 / 2", "failed", "2", "1")
    assert cells["a"][2] == "—"
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
