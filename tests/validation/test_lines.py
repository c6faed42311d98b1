"""Rewards or trials, JSON lines: which text is that, and what is wrong on each line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from validation.validated import rules_of

from harbor_metrics.documents.diagnostics import Span
from harbor_metrics.validation import validation
from harbor_metrics.validation.lines import are_clean, check, is_lines
from harbor_metrics.validation.validation import validate

REWARDS = b'{"reward": 1}\n{"reward": 0}\n'


@pytest.mark.parametrize(
    ("path", "data", "lines"),
    [
        ("x.jsonl", b"[1]", True),
        ("x.ndjson", b"", True),
        ("x", REWARDS, True),
        ("x.json", REWARDS, True),
        ("registry.json", REWARDS, False),
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
        (b'{"r": \xff}\n\n{"r": "\xc0\x80"}\n', [("not-utf-8", 1), ("not-utf-8", 3)]),
        (b'{"r":\n 1}\n{"r\xff": 1}\n', [("not-json-lines", 1), ("not-utf-8", 3)]),
        (b'\xef\xbb\xbf{"r": "x"}\n', [("byte-order-mark", 1), ("invalid-reward", 1)]),
    ],
)
def test_every_line_is_checked_and_named(data: bytes, expected: list[tuple[str, int]]) -> None:
    assert [(d.rule, d.span.line) for d in check("x", data) if d.span] == expected


def test_line_is_named_in_the_subject() -> None:
    (diagnostic,) = check("x", b'{"r": 1}\n{"r": true}\n')
    assert (diagnostic.subject, diagnostic.path) == ("line 2", "x")


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ('{\n  "reward": 1\n}\n{\n  "reward": 0\n}\n', ["not-json-lines"]),
        ('{"reward": 1,\n "b": true}\n', ["not-json-lines", "invalid-reward"]),
        ('\n{\n  "task": "a",\n  "rewards": null\n}\n', ["not-json-lines"]),
        ('[\n  {"reward": 1}\n]\n', ["not-json-lines"]),
        ('{"reward": 1}\n{\n  "rewa', ["json-syntax", "json-syntax"]),
        ('{"reward": 1} {"reward": 0}\n', ["json-syntax"]),
    ],
)
def test_pretty_printed_json_is_told_from_a_text_that_ends(
    text: str, rules: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(text)
    assert rules_of(path) == rules
    said = " ".join(d.message for d in validate(path).found)
    assert ("truncated" in said) == text.endswith('"rewa')


def test_pretty_printed_json_says_that_a_line_is_one_object(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('{"reward": 1,\n "b": true}\n')
    spread, wrong = validate(path).found
    assert "a line is one object" in spread.message
    assert spread.span == Span(1, 1, 1, 2)
    assert wrong.span == Span(2, 7, 2, 11)


def test_a_line_break_inside_a_string_is_said_and_nothing_that_follows_from_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "trials.jsonl"
    broken_text = '{"task": "a", "rewards": {"rewar<<<<<<< a\nd": "1"}}'
    path.write_text(f'{broken_text}\n{{"task": "b", "reward": 1}}\n')
    spread, broken = validate(path).found
    assert spread.rule == "not-json-lines"
    assert broken.message == "a line break inside a string that began on line 1"


PIECES = [
    b'{"reward": 1}',
    b'{"reward": 0.5, "cost": 3}',
    b"null",
    b"{}",
    b"",
    b" \t",
    b'{"reward": 1} ',
    b'{"task": "a", "rewards": {"r": 1}}',
    b'{"task": "a", "rewards": null, "labels": {"k": [1]}}',
    b'{"task": "", "reward": 1, "attempt": 0}',
    b'{"task": "a", "rewards": null, "task": "b"}',
    b'{"reward": 1, "reward": 2}',
    b'{"reward": 1}{"reward": 2}',
    b'{"reward": "x"}',
    b'{"reward": null}',
    b'{"reward": 1e999}',
    b'{"reward": ' + b"9" * 400 + b"}",
    b'{"a\\u0062": 1, "ab": 2}',
    b'{"\\ud800": 1}',
    b'{"\xff": 1}',
    b"\xef\xbb\xbfnull",
    b"[1]",
    b"1",
    b'{"reward"',
    b": 1}",
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces=st.lists(st.sampled_from(PIECES), max_size=5), end=st.sampled_from([b"", b"\n"]))
def test_lines_that_are_clean_are_those_of_which_nothing_is_said(
    pieces: list[bytes], end: bytes, tmp_path: Path
) -> None:
    data = b"\n".join(pieces) + end
    (tmp_path / "x.jsonl").write_bytes(data)
    if are_clean(str(tmp_path / "x.jsonl")):
        assert check("x.jsonl", data) == []
    else:
        assert check("x.jsonl", data) or b"\\" in data


def test_large_file_without_mistakes_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kept(path: str) -> Any:
        raise AssertionError(path)

    path = tmp_path / "x.jsonl"
    path.write_bytes(REWARDS * 50_000)
    monkeypatch.setattr(validation, "read_bytes", kept)
    assert validate(str(path)).ok
    path.write_bytes(REWARDS * 50_000 + b"{}}")
    with pytest.raises(AssertionError):
        validate(str(path))
