"""Strict JSON: the standard's verdict on each kind of trap, and a place for every mistake."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harbor_metrics.documents.document import Document, parse, repeats_a_key
from harbor_metrics.documents.places import pointer

ACCEPTED = [
    *("null", "true", "0", "-0", "1e1", "1E-2", "0.5", "-1.5e+3", '""', "[]", "{}", " [ ] "),
    *('"\\u0041\\n\\/\\\\"', '"\\ud83d\\ude00"', '"\u007f"', '"\u2028"', '{"":0}', '{"a":[{}]}'),
    *(
        "[1,\t2\r\n,3]",
        '"é😀"',
        "123456789012345678901234567890",
        "1.7976931348623157e308",
        "1e-999",
    ),
    *('{"a":1,"A":2}', '"\\u0000"', "[" * 150 + "]" * 150, '{"__proto__":1}'),
]
REFUSED = [
    *("", " ", "[", "]", "{", "}", "[1", "[1,", "[,1]", "[1,]", "[1,,2]", '{"a"}', '{"a":}'),
    *('{"a":1,}', "{,}", "{a:1}", "{1:1}", "{'a':1}", '{"a":1 "b":2}', "[1 2]", "1 2", "[]]"),
    *("[1]x", "nul", "True", "None", "undefined", "NaN", "Infinity", "-Infinity", "+1", "01"),
    *("-01", ".5", "5.", "1e", "1e+", "0x1", "1_000", "--1", "-", "1.e1", "2.e", "0.e1", "\uff11"),
    *('"', '"\\"', '"\\x41"', '"\\u12"', '"\\u123g"', '"\n"', '"\t"', '"\x00"', '"\x1f"', "'a'"),
    *('"\\ud800"', '"\\udc00\\ud800"', '{"\\ud800":1}', "[1]//x", "/**/[]", "#x\n[]", "\ufeff[]"),
    *('{"a":1,"a":1}', '{"a":1,"\\u0061":2}', "1e400", "-1e400", "9" * 400, "[" * 100_000),
    *('{"a":' * 100_000, "\u00a0[]", "[\u2003]", "[\f]", "<a/>", "<<<<<<< a\n[]", "*", "\x00"),
    *('["a",\n4\n,1,', '{"a":"b"]', "[}", '["x": 1]', '{"a",1}', '["\\', "[1:2]", "&", "@"),
]
BYTES = [
    *(b"\xff", b"\xff\xfe[\x00]\x00", b"\xfe\xff\x00[\x00]", b'"\x80"', b'"\xc3"', b'"\xc0\xaf"'),
    b"[" * 201 + b'"\xff"' + b"]" * 201,
    *(b'"\xed\xa0\x80"', b'"\xf4\x90\x80\x80"', b"\xef\xbb\xbf", b'"\xe9"'),
]


@pytest.mark.parametrize("text", ACCEPTED, ids=lambda t: repr(t[:30]))
def test_accepted_with_the_value_of_json(text: str) -> None:
    document, found = parse(text.encode(), "x")
    assert found == []
    assert document.value == json.loads(text)


@pytest.mark.parametrize("text", REFUSED, ids=lambda t: repr(t[:30]))
def test_refused_with_a_place(text: str) -> None:
    _, found = parse(text.encode(), "x")
    assert found
    for diagnostic in found:
        assert diagnostic.message
        assert diagnostic.span.line >= 1
        assert diagnostic.span <= diagnostic.span.__class__(10**9, 1, 1, 1)


@pytest.mark.parametrize("data", BYTES, ids=repr)
def test_bytes_that_are_not_utf8_are_refused(data: bytes) -> None:
    _, found = parse(data, "x")
    assert found
    assert all(d.message for d in found)


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ('{"a": 1\n "b": 2}', 2, 2, "missing comma between `a` and `b`"),
        ("[1,\n 2,\n]", 2, 3, "comma after the last element"),
        ('{\n"k": "x\n"}', 2, 8, "line break inside a string that began on line 2"),
        ('["\\q"]', 1, 3, "`\\q` is not an escape"),
        ('[{"k": 1,\n  "k": 2}]', 2, 3, "duplicate key `k` in an object: first 1, then 2"),
        ("[tru]", 1, 2, "`tru` is not a JSON value"),
        ("[1", 1, 3, "ends inside an array that began on line 1"),
        ('{"é": nope}', 1, 7, "`nope`"),
        ("[1,\n/* a\nb */ 2]", 2, 1, "no comments"),
    ],
)
def test_mistake_is_explained_at_its_place(text: str, line: int, column: int, words: str) -> None:
    _, found = parse(text.encode(), "x")
    assert (found[0].span.line, found[0].span.column) == (line, column)
    assert words in found[0].message


def test_all_slips_are_found_in_one_reading() -> None:
    text = '[// a\n {"a": NaN, "a": 1,},\n 1e999,\n]'
    _, found = parse(text.encode(), "x")
    assert [(d.rule, d.span.line) for d in found] == [
        ("json-comment", 1),
        ("non-finite-number", 2),
        ("duplicate-key", 2),
        ("trailing-comma", 2),
        ("number-out-of-range", 3),
        ("trailing-comma", 3),
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=12,
)


@given(JSON, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_every_value_is_found_where_it_stands(value: object, indent: object, plain: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=plain)
    document, found = parse(text.encode(), "x")
    assert found == []
    lines = text.split("\n")
    for path, inner in walk(value, ()):
        span = document.span(path)
        rows = lines[span.line - 1 : span.end_line]
        rows[-1] = rows[-1][: span.end_column - 1]
        rows[0] = rows[0][span.column - 1 :]
        assert json.loads("\n".join(rows)) == inner


def walk(value: object, path: tuple[object, ...]):
    yield path, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from walk(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from walk(inner, (*path, index))


@given(st.binary(max_size=60))
def test_any_bytes_are_a_value_or_explained(data: bytes) -> None:
    document, found = parse(data, "x")
    assert found or document is not None


def test_pointer_escapes() -> None:
    assert pointer(["a/b", 0, "c~d"]) == "/a~1b/0/c~0d"


@given(st.text("a\n[", max_size=40), st.sets(st.integers(0, 40)), st.integers(1, 3))
def test_places_of_many_offsets_are_those_of_each(
    text: str, offsets: set[int], first_line: int
) -> None:
    document = Document("", text.encode(), None, first_line)
    within = {offset for offset in offsets if offset <= len(text)}
    before = {offset: text[:offset].split("\n") for offset in within}
    assert document._points(within) == {
        offset: (first_line + len(lines) - 1, len(lines[-1]) + 1)
        for offset, lines in before.items()
    }


def test_every_comment_of_a_line_has_its_place() -> None:
    _, slips = parse(b"[/*a*/ 1, /*b\nc*/\n2 //d\n]", "")
    places = [
        (s.span.line, s.span.column, s.span.end_line, s.span.end_column) for s in slips if s.span
    ]
    assert places == [(1, 2, 1, 7), (1, 11, 1, 14), (3, 3, 3, 6)]


def test_of_many_repeated_keys_the_first_are_named_and_the_others_counted() -> None:
    text = "{" + ",".join(f'"k{i % 1_000}": {i}' for i in range(2_000)) + "}"
    _, (slip,) = parse(text.encode(), "")
    assert "duplicate key `k0` in an object: first 0, then 1000;" in slip.message
    assert "is on line 1; also `k1`; also `k2`" in slip.message
    assert slip.message.endswith("also `k20`; and 979 more")


_texts = st.text('"\\u02/ab\n\x1fé😀', max_size=4)


def _written(text: str, how: int) -> str:
    """A text as JSON: as most write it, with escapes alone, or with what can be escaped only."""
    if how == 0:
        return json.dumps(text, ensure_ascii=False)
    if how == 1:
        return json.dumps(text)
    return '"' + "".join(f"\\u{ord(c):04x}" if c < "\x80" else c for c in text) + '"'


_strings = st.builds(_written, _texts, st.integers(0, 2))


def _joined(brackets: str, parts: list[str]) -> str:
    return f"{brackets[0]}{', '.join(parts)}{brackets[1]}"


_json_texts = st.recursive(
    _strings | st.sampled_from(["1", "null", "NaN"]),
    lambda inner: (
        st.builds(_joined, st.just("[]"), st.lists(inner, max_size=3))
        | st.builds(_joined, st.just("{}"), st.lists(st.builds("{}:{}".format, _strings, inner)))
    ),
    max_leaves=8,
)


@given(text=_json_texts)
def test_key_stands_twice_where_an_object_has_fewer_members_than_are_written(text: str) -> None:
    def shrinks(pairs: list[tuple[str, object]]) -> bool:
        return len(dict(pairs)) < len(pairs) or any(value is True for _, value in pairs)

    def lists_shrink(value: object) -> bool:
        return any(map(lists_shrink, value)) if isinstance(value, list) else value is True

    def shrunk(pairs: list[tuple[str, object]]) -> bool:
        return shrinks(pairs) or any(lists_shrink(value) for _, value in pairs)

    assert repeats_a_key(text.encode()) == lists_shrink(json.loads(text, object_pairs_hook=shrunk))
