"""No interval that is shown anywhere leaves what is possible."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT
from recorded.record import EXPECTED, documents

from harbor_metrics.evaluation.result import Outcome, Result

# A value, its error and its interval in a row of a table.
NUMBER = r"-?[0-9][0-9.]*(?:e[+-][0-9]+)?"
SHOWN = re.compile(
    rf"(?P<value>{NUMBER})[ |]+(?:{NUMBER}|—)[ |]+\[(?P<low>{NUMBER}), (?P<high>{NUMBER})\]"
)


def shown(path: Path) -> list[re.Match[str]]:
    """The intervals in the tables of a text; Markdown escapes their brackets."""
    return list(SHOWN.finditer(path.read_text(encoding="utf-8").replace("\\", "")))


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXTS = [*PAGES, *sorted(EXPECTED.rglob("std*.txt"))]
TEXTS = [path for path in TEXTS if shown(path)]
# Of what is spent nothing is below 0; a share of anything lies between 0 and 1.
AMOUNTS = re.compile(r"^(cost|seconds|tokens)-per-")
SHARES = ("wilson", "effective wilson")


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.parent.parent.name)
def test_interval_of_a_document_holds_its_value_and_stays_in_its_range(path: Path) -> None:
    result = Result.read(str(path))
    for outcome in (outcome for group in result.groups for outcome in group.metrics):
        assert not outside(outcome), outcome.name


def outside(outcome: Outcome) -> list[str]:
    """The values of an outcome whose interval leaves what is possible."""
    found = []
    for name, sure in outcome.uncertainty.items():
        value, low, high = outcome.values[name], sure.low, sure.high
        if value is None or low is None or high is None:
            continue
        possible = low <= value <= high
        if sure.method in SHARES:
            possible = possible and low >= 0 and high <= 1
        if AMOUNTS.match(outcome.type):
            possible = possible and low >= 0
        if not possible:
            found.append(name)
    return found


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_interval_of_a_table_holds_its_value(path: Path) -> None:
    for match in shown(path):
        low, value, high = (float(match[name]) for name in ("low", "value", "high"))
        assert low <= value <= high, match[0]


def test_every_interval_of_a_page_is_of_rewards_between_0_and_1() -> None:
    intervals = [match for page in PAGES for match in shown(page)]
    ends = [float(end) for match in intervals for end in (match["low"], match["high"])]
    assert len(ends) > 10
    assert all(0 <= end <= 1 for end in ends)
