"""Rewards or trials, JSON lines: which text is that, and what is wrong on each line."""

from __future__ import annotations

import pytest

from harbor_metrics.validation.lines import check, is_lines

REWARDS = b'{"reward": 1}\n{"reward": 0}\n'


@pytest.mark.parametrize(
    ("path", "data", "lines"),
    [
        ("x.jsonl", b"[1]", True),
        ("x.ndjson", b"", True),
        ("x", REWARDS, True),
        ("x.json", REWARDS, True),
        ("x", b"null\n\n{}\n", True),
        ("x", b'{"reward": 1}', True),
        ("x.json", b'{"reward": 1}', False),
        ("x", b'{"name": "a"}', False),
        ("x", b'[{"name": "a"}]', False),
        ("x", b'[\n{"name": "a"}\n]', False),
        ("x", b"{}", False),
        ("x", b"some prose\nand more\n", False),
    ],
)
def test_lines_are_known_by_name_or_by_the_first_two(path: str, data: bytes, lines: bool) -> None:
    assert is_lines(path, data) is lines


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (REWARDS, []),
        (b"", [("json-syntax", 1)]),
        (b'{"r": 1}\n\n{"r": "x"}\n{"r": 1', [("invalid-reward", 3), ("json-syntax", 4)]),
        (b'[{"r": 1}]\n', [("not-json-lines", 1)]),
        # One line that names a task makes all of them trials.
        (b'{"rewards": null}\n{"task": "a", "rewards": null}\n', [("missing-field", 1)]),
        (b'{"task": "a"}\n{"task": "b", "reward": 1}\n', [("missing-field", 1)]),
        (b'{"r": 1}\n{"r": \xff}\n', [("not-utf-8", 2)]),
        (b'\xef\xbb\xbf{"r": "x"}\n', [("byte-order-mark", 1), ("invalid-reward", 1)]),
    ],
)
def test_every_line_is_checked_and_named(data: bytes, expected: list[tuple[str, int]]) -> None:
    assert [(d.rule, d.span.line) for d in check("x", data) if d.span] == expected


def test_line_is_named_in_the_subject() -> None:
    (diagnostic,) = check("x", b'{"r": 1}\n{"r": true}\n')
    assert (diagnostic.subject, diagnostic.path) == ("line 2", "x")
