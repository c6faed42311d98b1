"""JSON as Python harnesses write it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harbor_metrics.readers.files.lenient import NotJSONError, constant, decode, without_constants


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("[1, 0.5, null]", [1, 0.5, None]),
        ("[NaN, Infinity, -Infinity]", ["\0NaN", "\0Infinity", "\0-Infinity"]),
        ('["NaN", "a \\"Infinity\\" b", NaN]', ["NaN", 'a "Infinity" b', "\0NaN"]),
        ('["\\\\", NaN, "\\\\\\"NaN"]', ["\\", "\0NaN", '\\"NaN']),
        ("[1e999, -1e999]", ["\0Infinity", "\0-Infinity"]),
        ('["x\\ud83d", "and more"]', ["x\U0010003d", "and more"]),
        ('["\\ud83d\\ude00"]', ["\U0001f600"]),
    ],
)
def test_bare_constant_becomes_a_text_that_no_harness_writes(text: str, values: list[Any]) -> None:
    assert decode(text.encode(), list[Any]) == values


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity", "\\u004eaN", "Infinit\\u0079"])
@pytest.mark.parametrize(
    "text", ['["\\u0000{}"]', '{{"a": [NaN, {{"\\u0000{}": 1}}]}}', '["\\"", "\\u0000{}"]']
)
def test_text_that_would_be_taken_for_a_constant_is_refused(name: str, text: str) -> None:
    with pytest.raises(NotJSONError, match="which cannot be told from"):
        decode(text.format(name).encode(), Any)


@pytest.mark.parametrize(
    "text", ["\0", "\0x", "\0NaN1", "\0nan", "a\0NaN", '"\0NaN', "\0\1aa", "\\\0NaN"]
)
def test_other_texts_with_a_nul_are_texts(text: str) -> None:
    assert decode(json.dumps([text]).encode(), list[str]) == [text]
    assert constant(text) == ""


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
def test_other_encodings_are_looked_at_alike(encoding: str) -> None:
    assert decode('["é", NaN]'.encode(encoding), list[Any]) == ["é", "\0NaN"]
    with pytest.raises(NotJSONError, match="which cannot be told from"):
        decode('["\\u0000NaN"]'.encode(encoding), Any)
    with pytest.raises(NotJSONError):
        decode('["xy"]'.encode(encoding)[:-1], Any)


def test_half_a_surrogate_pair_at_the_very_end_is_read() -> None:
    assert decode(b'["x\\ud83d"]', list[str]) == ["x\U0010003d"]


def test_constant_is_recognised_and_its_name_in_a_text_is_not() -> None:
    values = decode(b'[NaN, -Infinity, "NaN", 0, null]', list[Any])
    assert [constant(value) for value in values] == ["NaN", "-Infinity", "", "", ""]


def test_text_without_constants_is_the_same_text() -> None:
    text = b'{"a": "NaN", "b": [1, "x"]}'
    assert without_constants(text) == text


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{"a": [1', "cut off: the JSON ends too early"),
        (b'{"a": 1,\n "b" 2}', "line 2, column 6: expecting ':' delimiter"),
        (b'["\xff"]', "not UTF-8: 0xff at byte 2"),
        (b"[" * 100_000 + b"]" * 100_000, "nested deeper than 200 levels"),
    ],
)
def test_anything_else_is_refused_with_its_place(data: bytes, words: str) -> None:
    with pytest.raises(NotJSONError) as refused:
        decode(data, Any)
    assert words in str(refused.value)


def test_other_shape_is_refused_in_our_words() -> None:
    with pytest.raises(NotJSONError) as refused:
        decode(b'{"a": "x"}', dict[str, int])
    assert "`int`" not in str(refused.value)
    assert "string" in str(refused.value)


def test_each_half_of_a_surrogate_pair_is_a_sign_of_its_own() -> None:
    """Else labels would be one, and of two keys one would be lost."""
    halves = [chr(half) for half in range(0xD800, 0xE000)]
    texts: list[str] = decode(json.dumps([f"{half}!" for half in halves]).encode(), list[str])
    assert len(set(texts)) == len(halves)
    assert {len(text.encode().decode()) for text in texts} == {2}
    assert len(decode(json.dumps(dict.fromkeys(halves, 1)).encode(), dict[str, int])) == len(halves)


@pytest.mark.parametrize("sign", ["\U00100000", r"\udbc0\udc00", r"\uDBC1\uDFFF"])
def test_half_a_pair_beside_a_sign_that_could_stand_for_it_is_refused(sign: str) -> None:
    assert len(decode(f'["{sign}", NaN]'.encode(), list[str])) == 2
    with pytest.raises(NotJSONError, match="half of a surrogate pair beside a sign"):
        decode(f'{{"{sign}": 1, "\\ud800": 0}}'.encode(), dict[str, int])
