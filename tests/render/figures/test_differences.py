"""The pictures of comparisons."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from render.pages import grid, page_of, write_trials
from render.test_markup import HOSTILE, Tree

from harbor_metrics.computation.request import Request
from harbor_metrics.render.figures.figure import Figure
from harbor_metrics.render.page import figures
from harbor_metrics.reports.request import report


@pytest.fixture
def drawn(tmp_path: Path):
    """The figures of two runs, by their ids."""

    def draw(base: list[dict[str, Any]], candidate: list[dict[str, Any]]) -> dict[str, Figure]:
        one = write_trials(tmp_path / "one.jsonl", base)
        other = write_trials(tmp_path / "other.jsonl", candidate)
        found = figures(report(Request(sources=(f"main={one}", f"new={other}"))))
        return {figure.id: figure for figure in found}

    return draw


def test_runs_are_compared_first(drawn) -> None:
    found = drawn(grid(12, 3), grid(12, 3, seed=40))
    assert list(found)[:3] == ["differences", "changes", "values"]
    shown = found["differences"]
    assert shown.numbers.headings[:4] == ("metric", "main", "new", "difference")
    assert len(shown.numbers.lines) == 1
    # The interval with its ends, the rules, and the line at 0.
    assert shown.drawn.count('stroke-width="2"') == 3
    assert shown.drawn.count('stroke-width="1.5"') == 1


def test_a_candidate_has_the_colour_that_it_has_elsewhere(drawn) -> None:
    found = drawn(grid(12, 3), grid(12, 3, seed=40))
    assert 'fill="#c65d07"' in found["differences"].drawn
    assert 'fill="#2a7fd4"' not in found["differences"].drawn


def test_tasks_stand_by_their_difference(drawn) -> None:
    def run(*rewards: float) -> list[dict[str, Any]]:
        return [{"task": t, "rewards": {"r": r}} for t, r in zip("abcd", rewards, strict=True)]

    shown = drawn(run(0, 1, 1, 0), run(1, 1, 0, 1))["changes"]
    assert shown.sentence == (
        "2 tasks with more of r in new than in main (▲), 1 with less (▼), 1 with the same (●)."
    )
    assert [line[0] for line in shown.numbers.lines] == ["a", "c", "d", "b"]
    heights = re.findall(r'<svg x="[\d.]+%" y="([\d.]+)"', shown.drawn)
    assert heights == sorted(heights, key=float)
    assert len(heights) == 4


def test_long_names_leave_room_in_the_tables(tmp_path: Path) -> None:
    names = ["of-a-branch-with-a-prompt-of-our-lab-1", "of-a-branch-with-a-prompt-of-our-lab-2"]
    sources = [
        f"{name}={write_trials(tmp_path / name, grid(20, 3, seed=seed))}"
        for seed, name in enumerate(names)
    ]
    found = {f.id: f for f in figures(report(Request(sources=tuple(sources))))}
    for id_ in ("changes", "attempts", "trials"):
        assert found[id_].numbers.headings[1:3] == ("…1", "…2"), id_


def test_small_differences_are_seen(tmp_path: Path) -> None:
    def run(name: str, factor: float) -> str:
        lines = [
            {**line, "usage": {"cost_usd": 1e-6 * factor * (1 + i % 5)}}
            for i, line in enumerate(grid(20, 2, seed=int(factor)))
        ]
        return f"{name}={write_trials(tmp_path / name, lines)}"

    sources = (run("a", 1), run("b", 2))
    found = {f.id: f for f in figures(report(Request(sources=sources, metrics=("cost-per-task",))))}
    own = found["differences"].drawn.partition("cost-per-task in USD")[2]
    ends = [float(x) for x in re.findall(r'<line x1="([\d.]+)%"[^>]*stroke-width="2"', own)]
    assert max(ends) - min(ends) > 10
    assert ">2e-6</text>" in found["costs"].drawn


def test_a_verdict_that_does_not_hold_among_all_is_said_so(tmp_path: Path) -> None:
    def run(name: str, passed: int) -> str:
        lines = [{"task": f"t{i:02}", "rewards": {"r": int(i < passed)}} for i in range(40)]
        return f"{name}={write_trials(tmp_path / name, lines)}"

    sources = (run("base", 20), run("one", 25), run("two", 22), run("three", 21))
    found = figures(report(Request(sources=sources)))
    assert ">+0.125 better by itself</text>" in found[0].drawn


def test_notes_say_whose_they_are_where_runs_differ_in_them(tmp_path: Path) -> None:
    sources = [
        f"{name}={write_trials(tmp_path / name, grid(30, 3, seed=seed))}"
        for name, seed in (("base", 0), ("one", 3), ("two", 40))
    ]
    shown = page_of(*sources)
    assert re.search(r"<li>power: [^<]* \(demo: one against base\)</li>", shown)
    assert "<li>intervals: over tasks, as a sample of such tasks</li>" in shown


def test_of_many_tasks_as_many_as_there_is_room_for(drawn) -> None:
    shown = drawn(grid(400, 1), grid(400, 1, seed=11))["changes"]
    assert shown.drawn.count("<path") == 150
    assert len(shown.numbers.lines) == 200
    assert shown.numbers.more == "and 200 tasks more"


def test_runs_that_have_nothing_in_common_are_shown_and_not_compared(tmp_path: Path) -> None:
    one = write_trials(tmp_path / "one.jsonl", grid(3, 2))
    other = write_trials(tmp_path / "other.jsonl", [{"task": "x", "rewards": {"r": 1}}])
    shown = page_of(one, other)
    assert "The runs are not compared: " in shown
    assert 'id="differences"' not in shown
    assert 'id="values"' in shown


@pytest.mark.parametrize("name", [n for n in HOSTILE if n not in ("\ud800", "")])
def test_hostile_runs_give_the_tree_of_harmless_ones(tmp_path: Path, name: str) -> None:
    def tree(name: str) -> list[str]:
        rows = [{"task": f"{name}{i}", "dataset": name, "rewards": {name: 1}} for i in range(3)]
        turned = [{**rows[0], "rewards": {name: 0}}, *rows[1:]]
        one = write_trials(tmp_path / "one.jsonl", rows)
        other = write_trials(tmp_path / "other.jsonl", turned)
        run = name.replace("/", "").replace("=", "")[:50] or "run"
        return Tree(page_of(f"{run}={one}", other)).tags

    assert tree(name) == tree("plain")


def test_three_runs_have_places(tmp_path: Path) -> None:
    sources = [
        f"{name}={write_trials(tmp_path / name, grid(30, 3, seed=seed))}"
        for seed, name in enumerate(("one", "two", "three"))
    ]
    found = {f.id: f for f in figures(report(Request(sources=tuple(sources))))}
    shown = found["places"]
    assert [line[0] for line in shown.numbers.lines] == ["one", "two", "three"]
    assert shown.sentence == (
        "By mean, every two of them compared (Holm): one 1 to 3, two 1 to 3, three 1 to 3."
    )
    assert ">1.5</text>" not in shown.drawn
