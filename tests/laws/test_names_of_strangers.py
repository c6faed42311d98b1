"""What strangers name changes nothing of what the user asks for by a name.

A registry names metrics, and trials name labels and rewards: as the user's own, or as what ours
would be called with a part behind it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from harbor_metrics import Comparison, compare, compute
from harbor_metrics.errors import UsageError
from harbor_metrics.render.hub_rows import hub_rows

N = 8
ASKED = ["mean", "pass@2", "pass-rate", "max", "pass-at-k k=2", "grouped metric=mean by=suite"]
NAMES = ["mean", "reward", "mean_low", "mean_mean", "pass@2", "web", "a/b", "a_b", "1"]
# Of several rewards a group is `KEY/GROUP`.
KEYS = [*NAMES, "reward/web", "other_reward"]
WORDS = st.lists(st.sampled_from(["mean", "reward", "max", "style", "web"]), max_size=2)
KWARGS: dict[str, list[Any]] = {
    "key": ["reward", "style", "z"], "reducer": ["max", "mean"], "missing": ["skip", "zero", None],
    "k": [1, 2, [1, 2]], "threshold": [0.5, 1],
}  # fmt: skip


def entries() -> st.SearchStrategy[list[dict[str, Any]]]:
    """Metrics of a registry, as it may have them: their kwargs may be nonsense."""
    plain = st.builds(
        lambda type_, kwargs: {"type": type_, "kwargs": kwargs},
        st.sampled_from(
            ["mean", "max", "pass-rate", "pass@2", "pass-at-k", "median", "perplexity"]
        ),
        st.fixed_dictionaries({}, optional={k: st.sampled_from(v) for k, v in KWARGS.items()}),
    )
    grouped = st.builds(
        lambda metric, by: {"type": "grouped", "kwargs": {"metric": metric, "by": by}},
        st.sampled_from(["mean", "max"]),
        st.sampled_from(["suite", "other", ["suite", "other"]]),
    )
    return st.lists(plain | grouped, max_size=3)


def written(path: Path, lines: Sequence[dict[str, Any]]) -> str:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return str(path)


def run(folder: Path, name: str, rewards: Sequence[int], keys: Sequence[str]) -> str:
    lines = [
        {"dataset": "d", "task": f"t{i // 2}", "trial": f"{name}{i}", "agent": name}
        | {"rewards": dict.fromkeys(keys, 1) | {"reward": reward}}
        | {"labels": {"suite": NAMES[i // 2 % len(NAMES)], "other": "web"}}
        for i, reward in enumerate(rewards)
    ]
    return f"{name}={written(folder / f'{name}.jsonl', lines)}"


def registry(folder: Path, metrics: Sequence[dict[str, Any]]) -> str:
    entry = {"name": "d", "version": "1", "description": "", "tasks": []}
    path = folder / "registry.json"
    path.write_text(json.dumps([{**entry, "metrics": [{"type": "count"}, *metrics]}]))
    return str(path)


def said_of_asked(comparison: Comparison) -> list[tuple[object, ...]]:
    """Which way is better, and what became of it, in what the user asks for."""
    return [
        (row.value, row.higher_is_better, row.assumed_direction, row.verdict)
        for row in comparison.comparisons[0].rows
        if row.origin == "command-line"
    ]


REWARDS = st.lists(st.integers(0, 1), min_size=2 * N, max_size=2 * N)


@settings(max_examples=60)
@given(REWARDS, REWARDS, st.sampled_from([[], ["style"]]), st.sampled_from(ASKED),
       WORDS, WORDS, entries())  # fmt: skip
def test_what_a_registry_names_changes_no_gate(
    tmp_path_factory: Any, base: list[int], new: list[int], keys: list[str], asked: str,
    higher: list[str], lower: list[str], named: list[dict[str, Any]],
) -> None:  # fmt: skip
    folder = tmp_path_factory.mktemp("runs")
    runs = run(folder, "base", base, keys), run(folder, "new", new, keys)

    def compared(*metrics: dict[str, Any], **gates: Sequence[str]) -> Comparison | None:
        try:
            return compare(
                *runs,
                metrics=asked,
                registry=registry(folder, metrics),
                higher_is_better=higher,
                lower_is_better=[name for name in lower if name not in higher],
                **gates,
            )
        except UsageError:
            return None

    name = asked.split()[0]
    expressions = [f"`{name}` < -0.1", "tasks.worse > 1", f"`{name}: reward`.p < 0.5"]
    for gates in ({}, *({"fail_if": [gate]} for gate in expressions), {"no_worse": [f"`{name}`"]}):
        before, after = compared(**gates), compared(*named, **gates)
        if before is not None and after is not None:
            assert after.gates == before.gates
            assert said_of_asked(after) == said_of_asked(before)
        if gates.get("fail_if") == ["tasks.worse > 1"] and not (higher or lower):
            assert (after is None) == (before is None)


@settings(max_examples=60)
@given(REWARDS, REWARDS, st.sampled_from(NAMES), st.sampled_from(KEYS), st.sampled_from(ASKED),
       entries())  # fmt: skip
def test_no_column_has_the_number_of_another(
    tmp_path_factory: Any, own: list[int], other: list[int], label: str, key: str, asked: str,
    named: list[dict[str, Any]],
) -> None:  # fmt: skip
    """Of groups of mine, which have no trial of theirs."""
    folder = tmp_path_factory.mktemp("rows")
    mine = run(folder, "mine", own, [])
    theirs = [
        {"dataset": "d", "task": f"x{i}", "trial": f"x{i}", "agent": "mine"}
        | {"rewards": {"reward": reward} | ({key: 0.25} if i == 0 else {})}
        | {"labels": {"suite": f"{label}_x" if i % 2 else f"{label}_low", "other": "web"}}
        for i, reward in enumerate(other)
    ]
    path = written(folder / "theirs.jsonl", theirs)

    def columns(*sources: str) -> dict[str, float]:
        result = compute(
            *(source.partition("=")[2] or source for source in sources),
            metrics=["grouped metric=mean by=suite", asked],
            registry=registry(folder, named),
            missing="skip",
        )
        (row,) = json.loads(hub_rows(result, [[None] for _ in result.groups]))["rows"]
        return dict(row["metrics"])

    try:
        before, after = columns(mine), columns(mine, path)
    except UsageError:
        return
    groups = {f"grouped_reward/{name}".replace("/", "_") for name in NAMES}
    groups |= {f"grouped_{name}".replace("/", "_") for name in NAMES}
    for column in groups & before.keys() & after.keys():
        assert after[column] == before[column], column
