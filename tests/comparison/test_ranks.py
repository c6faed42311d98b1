"""The places of runs, every two of them compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec
import pytest
from comparison.runs_by_hand import write_run
from conftest import JOBS, trial, write_job
from hypothesis import given
from hypothesis import strategies as st

from harbor_metrics import Column, compare
from harbor_metrics.comparison.document import Rank, Row
from harbor_metrics.comparison.together import Pair, ranks
from harbor_metrics.documents.diagnostics import Diagnostic

# Any comparison; of it what ranks reads is replaced.
(ANY,) = compare(JOBS / "two-models").comparisons
Runs = tuple[str, str]


def row(difference: float, p: float | None, *, higher: bool | None = True) -> Row:
    return Row(
        metric="mean", type="mean", kwargs={}, value="mean",
        difference=difference, p=p, higher_is_better=higher,
    )  # fmt: skip


def compared(pairs: Mapping[Runs, Row]) -> list[Pair]:
    replace = msgspec.structs.replace
    return [
        Pair(
            replace(
                ANY,
                base=replace(ANY.base, run=base),
                candidate=replace(ANY.candidate, run=candidate),
                rows=[own],
            ),
            ["mean"],
        )
        for (base, candidate), own in pairs.items()
    ]


def places(pairs: Mapping[Runs, Row]) -> list[tuple[str, int, int]]:
    return [(rank.run, rank.low, rank.high) for rank in ranks(compared(pairs), 0.95, [])]


def test_who_is_surely_better_stands_above() -> None:
    pairs = {("a", "b"): row(0.5, 0.001), ("a", "c"): row(0.1, 0.5), ("b", "c"): row(-0.4, 0.001)}
    assert places(pairs) == [("a", 2, 3), ("b", 1, 1), ("c", 2, 3)]


def test_what_a_registry_names_takes_no_name_from_what_is_asked_for() -> None:
    own, other = row(0.5, 0.001), row(-0.5, 0.001)
    other = msgspec.structs.replace(other, origin="extra")
    pairs = [
        pair._replace(
            compared=msgspec.structs.replace(pair.compared, rows=[other, own]),
            metrics=["theirs", "mine"],
        )
        for pair in compared(dict.fromkeys(combinations("abc", 2), own))
    ]
    found = [(each.metric, each.run) for each in ranks(pairs, 0.95, []) if each.high == 1]
    assert sorted((name.partition("#")[0], run) for name, run in found) == [
        ("mean", "a"), ("mean", "c"),
    ]  # fmt: skip
    assert ("mean", "c") in found


def test_of_two_of_a_registry_neither_has_the_name_of_the_other() -> None:
    """Whoever stood first in it had the name."""
    mine, theirs = (
        msgspec.structs.replace(
            row(difference, 0.001), type="uv-script", origin="registry", value="v",
            kwargs={"script_path": f"{where}/m.py"},
        )
        for where, difference in (("a", 0.5), ("b", -0.5))
    )  # fmt: skip

    def best(*rows: Row) -> set[tuple[str, str]]:
        pairs = [
            pair._replace(
                compared=msgspec.structs.replace(pair.compared, rows=list(rows)),
                metrics=[str(each.kwargs) for each in rows],
            )
            for pair in compared(dict.fromkeys(combinations("abc", 2), mine))
        ]
        return {(each.metric, each.run) for each in ranks(pairs, 0.95, []) if each.high == 1}

    assert best(mine) == {("m.py: v", "c")}
    assert best(mine, theirs) == best(theirs, mine)
    assert all(name.startswith("m.py: v#") for name, _ in best(theirs, mine))


def test_less_can_be_better() -> None:
    pairs = {pair: row(0.5, 0.001, higher=False) for pair in combinations("abc", 2)}
    assert places(pairs) == [("a", 1, 1), ("b", 2, 2), ("c", 3, 3)]


def test_metrics_of_one_name_have_places_of_their_own() -> None:
    pairs = {("a", "b"): row(0.5, 0.001), ("a", "c"): row(0.1, 0.5), ("b", "c"): row(-0.4, 0.001)}
    scripts = [
        Pair(
            msgspec.structs.replace(
                each,
                rows=[
                    msgspec.structs.replace(
                        own, type="uv-script", kwargs={"script_path": f"{where}/m.py"}, value="v"
                    )
                    for where in ("x", "y")
                    for own in each.rows
                ],
            ),
            ["x", "y"],
        )
        for each, _ in compared(pairs)
    ]
    # Where the first one failed on the first two runs, its name is as before.
    failed = msgspec.structs.replace(scripts[0].compared.rows[0], value=None, p=None)
    rows = [failed, scripts[0].compared.rows[1]]
    first = scripts[0]._replace(compared=msgspec.structs.replace(scripts[0].compared, rows=rows))
    assert {rank.metric for rank in ranks([first, *scripts[1:]], 0.95, [])} == {"m.py: v#2"}
    found = [(rank.metric, rank.run, rank.low) for rank in ranks(scripts, 0.95, [])]
    names = ("m.py: v", "m.py: v#2")
    assert found == [(name, *one) for name in names for one in (("a", 2), ("b", 1), ("c", 2))]


def test_pairs_are_counted_together() -> None:
    pairs = {pair: row(0.5, 0.02) for pair in combinations("abc", 2)}
    assert places(pairs) == [("a", 1, 3), ("b", 1, 3), ("c", 1, 3)]


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        ({pair: row(0.5, 0.001, higher=None) for pair in combinations("abc", 2)}, None),
        ({pair: row(0.5, None) for pair in combinations("abc", 2)}, None),
        (
            {("a", "b"): row(0.5, 0.001), ("a", "c"): row(0.5, 0.001)},
            "no places by mean on local-single: it has no value of c against b",
        ),
        ({("a", "b"): row(0.5, 0.001)}, None),
        (
            {pair: row(0.5, 0.001, higher=None if "c" in pair else True)
             for pair in combinations("abc", 2)},
            (
                "no places by mean on local-single: nobody says whether more is better of "
                "c against a, c against b"
            ),
        ),
        (
            {pair: row(0.5, 0.001, higher="c" in pair) for pair in combinations("abc", 2)},
            "no places by mean on local-single: of some runs more is better, of others less",
        ),
    ],
    ids=["no direction", "no p", "not every two", "two runs", "of some", "not the same"],
)  # fmt: skip
def test_there_are_no_places_of(pairs: dict[Runs, Row], reason: str | None) -> None:
    diagnostics: list[Diagnostic] = []
    assert ranks(compared(pairs), 0.95, diagnostics) == []
    assert [said.message for said in diagnostics] == ([reason] if reason else [])


@given(st.lists(st.tuples(st.sampled_from([-1, 0, 1]), st.floats(0, 1)), min_size=6, max_size=6))
def test_every_place_is_one_of_those_there_are(found: list[tuple[int, float]]) -> None:
    pairs = dict(zip(combinations("abcd", 2), (row(*each) for each in found), strict=True))
    for _, low, high in places(pairs):
        assert 1 <= low <= high <= 4


@pytest.fixture
def three(tmp_path: Path) -> list[Path]:
    """Runs of which the third is surely better than the first two, which are alike."""
    passing = {"one": range(0, 20, 2), "two": range(1, 20, 2), "three": range(19)}
    return [
        write_run(
            tmp_path / f"{name}.jsonl", {f"t{i}": [int(i in own)] for i in range(20)}, agent=name
        )
        for name, own in passing.items()
    ]


def test_every_two_of_three_runs_are_compared_and_ranked(three: list[Path]) -> None:
    names = [path.name for path in three]
    whole = compare(*three, pairs="all")
    pairs = [(each.base.run, each.candidate.run) for each in whole.comparisons]
    assert pairs == list(combinations(names, 2))
    assert whole.beside_base == whole.comparisons[:2]
    assert [(rank.run, rank.low, rank.high) for rank in whole.ranks] == [
        (names[0], 2, 3), (names[1], 2, 3), (names[2], 1, 1),
    ]  # fmt: skip
    assert whole.ranks[0] == Rank(dataset=None, metric="mean", run=names[0], low=2, high=3)


def test_p_is_adjusted_for_every_two(three: list[Path]) -> None:
    for how, times in (("holm", 3), ("none", 1)):
        rows = [each.rows[0] for each in compare(*three, pairs="all", adjust=how).comparisons]  # type: ignore[arg-type]
        least = min(rows, key=lambda one: float(one.p or 1))
        assert least.p_adjusted == pytest.approx(times * float(least.p or 1))


def test_gates_are_asked_of_the_candidates_beside_the_base_alone(three: list[Path]) -> None:
    decided = compare(*three, pairs="all", no_worse="mean").gates
    assert [(each.base, each.candidate) for each in decided] == [
        ("one.jsonl", "two.jsonl"), ("one.jsonl", "three.jsonl"),
    ]  # fmt: skip


def test_the_metrics_of_the_base_run_on_every_pair(tmp_path: Path, three: list[Path]) -> None:
    whole = compare(*three, pairs="all", metrics="median")
    assert {tuple(row.metric for row in each.rows) for each in whole.comparisons} == {
        ("mean", "median")
    }


@pytest.mark.parametrize("array", ["metrics", "extra_metrics"])
def test_a_metric_that_is_named_twice_is_compared_once(tmp_path: Path, array: str) -> None:
    """It counted twice among all that is compared, and nobody had a place."""
    passed = {"a": 1, "b": 4, "c": 8}
    runs = [
        write_run(tmp_path / f"{name}.jsonl", {f"t{i}": [float(i < n)] for i in range(8)})
        for name, n in passed.items()
    ]

    def of(**arrays: list[dict[str, str]]) -> tuple[list[list[Row]], list[Rank]]:
        registry = tmp_path / "registry.json"
        dataset: dict[str, Any] = {"name": "d", "version": "1", "metrics": [{"type": "mean"}]}
        for name, metrics in arrays.items():
            dataset[name] = [*dataset.get(name, []), *metrics]
        registry.write_bytes(msgspec.json.encode([dataset]))
        done = compare(*runs, registry=registry, dataset="d", pairs="all")
        return [pair.rows for pair in done.comparisons], done.ranks

    once = of()
    assert once[1]
    assert of(**{array: [{"type": "mean"}, {"type": "mean"}]}) == once


def test_a_function_of_the_callers_own_is_another_comparison(tmp_path: Path) -> None:
    def mean(rewards: Column) -> float:
        return 2.0 * sum(rewards.values)

    runs = [
        write_run(tmp_path / f"{name}.jsonl", {f"t{i}": [float(i < n)] for i in range(8)})
        for name, n in {"a": 1, "b": 4, "c": 8}.items()
    ]
    alone, beside = (compare(*runs, metrics=of, pairs="all") for of in ((), (mean,)))
    own = [[row.p_adjusted for row in pair.rows if row.base < 2] for pair in beside.comparisons]
    assert [each[:1] for each in own] == [
        [row.p_adjusted for row in pair.rows] for pair in alone.comparisons
    ]
    assert {rank.metric for rank in alone.ranks} <= {rank.metric for rank in beside.ranks}


def test_of_two_functions_of_one_name_one_that_fails_leaves_the_other_as_it_is(
    tmp_path: Path,
) -> None:
    def function(*, fails: bool) -> Callable[[Column], float]:
        def solved(rewards: Column) -> float:
            if fails and max(rewards.values) > 1:
                raise ValueError
            return sum(rewards.values) * (1 if fails else -1)

        return solved

    runs = [
        write_run(tmp_path / f"{name}.jsonl", {f"t{i}": [float(i < n)] for i in range(8)})
        for name, n in {"a": 1, "b": 4}.items()
    ]
    runs.append(write_run(tmp_path / "c.jsonl", {f"t{i}": [2.0 - (i > 5)] for i in range(8)}))
    failing, whole = function(fails=True), function(fails=False)

    def of(*metrics: Callable[[Column], float]) -> list[Row]:
        done = compare(*runs, metrics=metrics, pairs="all")
        return [row for pair in done.comparisons for row in pair.rows if (row.base or 0) < 0]

    assert len(of(whole)) == 3
    assert of(failing, whole) == of(whole)


def test_versions_of_every_two_runs_are_their_own(tmp_path: Path) -> None:
    """Those of the base stood for them, which may say none."""
    jobs = [
        write_job(
            tmp_path / name,
            [trial(f"t{i}", {"reward": 1.0}, i, trial_name=f"{name}{i}", id=f"{name}{i}")
             for i in range(4)],
            datasets=[{"name": "demo"} | ({"version": version} if version else {})],
        )
        for name, version in (("a", None), ("b", "1"), ("c", "2"))
    ]  # fmt: skip
    whole = compare(*jobs, pairs="all")
    said = [each.message for each in whole.found if each.rule == "versions-differ"]
    assert said == ["b ran version 1 of the dataset, and c 2"]
    datasets = [pair.dataset for pair in whole.comparisons]
    assert [each and each.version for each in datasets] == [None, None, "1"]
