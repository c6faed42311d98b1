"""What rewards may be, and what is said of anything else."""

from __future__ import annotations

from typing import Any

import pytest

from harbor_metrics.documents.document import parse
from harbor_metrics.trials.rewards import check


@pytest.mark.parametrize("rewards", ["null", "{}", '{"r": 0, "s": -1.5}'])
def test_null_and_an_object_of_numbers_are_rewards(rewards: str) -> None:
    document, _ = parse(b'{"rewards": %s}' % rewards.encode(), "x")
    assert check(document, ["rewards"], "line 1") == []


@pytest.mark.parametrize(
    ("rewards", "column", "message", "help_"),
    [
        ("0.5", 13, "must be an object of numbers or null, not a number", '`{"reward": 0.5}`'),
        ('{"r": true}', 19, "`r` must be a number, not a boolean true", 'write `"r": 1`'),
        ('{"r": "0.5"}', 19, 'a string "0.5"', 'write `"r": 0.5`, without quotes'),
        ('{"r": "good"}', 19, 'a string "good"', "text belongs in `texts`"),
        ('{"r": null}', 19, "`r` must be a number, not null", "or leave the key out"),
        ('{"r": [1]}', 19, "`r` must be a number, not an array", "a key of its own"),
    ],
)
def test_mistake_is_named_at_its_place_with_what_to_write(
    rewards: str, column: int, message: str, help_: str
) -> None:
    document, _ = parse(b'{"rewards": %s}' % rewards.encode(), "x")
    (found,) = check(document, ["rewards"], "line 1")
    assert (found.span.line, found.span.column, found.subject) == (1, column, "line 1")
    assert message in found.message
    assert help_ in found.help


@pytest.mark.parametrize(("value", "words"), [("false", "count it as 0.0"), ("null", "was NaN")])
def test_what_harbor_would_do_is_noted(value: str, words: str) -> None:
    document, _ = parse(b'{"r": %s}' % value.encode(), "x")
    found: list[Any] = check(document, [], "")
    assert words in found[0].notes[0]
