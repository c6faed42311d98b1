"""TOML that knows where everything stands."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harbor_metrics.documents.diagnostics import Span
from harbor_metrics.documents.toml import loads, parse

TEXT = r'''# [not.here]
top = "a # b" # "top"
"dotted key".'b' . c = 1_000
[a.b]
x = """
y = 1
""" # behind
when = 1979-05-27 07:32:00
date = 1979-05-27
quotes = """""two""""" # five
other = \'\'\'a'b\'\'\'
[[t]]
list = [1, [2.5, "]"], # one
  { k = true, "l m".n = [ ] },
]
[t.sub]
z = -inf
[[t]]
list = []
[[t.u]]
q = ''
[[t.u]]
[ last ]
e = {}
'''.replace("\\'", "'")


def paths_in(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[Any, Any]]:
    """Every value in a value, with its path."""
    yield path, value
    parts = enumerate(value) if isinstance(value, list) else ()
    for step, part in value.items() if isinstance(value, dict) else parts:
        yield from paths_in(part, (*path, step))


def check_places(text: str) -> None:
    """Where a value is written out there it stands; a table stands at a header or at a key."""
    document, slips = parse(text.encode(), "x")
    assert document is not None
    assert not slips
    assert document.value == tomllib.loads(text)
    for path, value in paths_in(document.value):
        start, end = document.offsets(path)
        stretch = text[start:end]
        if isinstance(value, dict | list) and stretch[:1] not in ("{", "["):
            assert path == () or tomllib.loads(f"{stretch} = 0")
        elif isinstance(value, dict) and stretch[0] == "[":
            assert tomllib.loads(stretch)
        elif not (isinstance(value, list) and stretch[:2] == "[["):
            assert tomllib.loads(f"v = {stretch}") == {"v": value}
        if path and isinstance(path[-1], str):
            start, end = document.offsets(path, key=True)
            assert [*tomllib.loads(f"{text[start:end]} = 0")] == [path[-1]]


def test_every_value_stands_where_it_is_written() -> None:
    check_places(TEXT)


_SCALAR = st.sampled_from(['"a"', "'b#'", "1", "1.5", "true", "1979-05-27", '"""x\n"""', "'''y'''"])
_VALUE = st.recursive(
    _SCALAR,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda parts: f"[{', # c'.join(parts)}\n]")
        | st.lists(inner, max_size=3).map(
            lambda parts: "{" + ", ".join(f'"k{i}"={part}' for i, part in enumerate(parts)) + "}"
        )
    ),
    max_leaves=6,
)


@given(st.lists(st.tuples(st.sampled_from(["", "[a{}]", "[[b]]", "[b.c{}]"]), _VALUE), max_size=6))
def test_places_of_whatever_is_toml(parts: list[tuple[str, str]]) -> None:
    lines = [f"{header.format(i)}\nv{i} = {value} # {i}" for i, (header, value) in enumerate(parts)]
    text = "\n".join(lines)
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    check_places(text)


def test_place_of_nothing_is_a_key_error() -> None:
    document, _ = parse(TEXT.encode(), "x")
    assert document is not None
    assert document.span(["t", 1]) == Span(18, 1, 18, 6)
    for path in (["gone"], ["t", 2], ["a", "c"]):
        with pytest.raises(KeyError):
            document.span(path)


def test_text_that_is_not_toml_is_one_diagnostic() -> None:
    document, (slip,) = parse(b"[dataset]\nname = \n", "x")
    assert document is None
    assert (slip.rule, slip.span) == ("toml-syntax", Span(2, 8, 2, 9))
    document, (slip,) = parse(b"x = '\xff'", "x")
    assert document is None
    assert slip.rule == "not-utf-8"


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("", " = 1"),
        ('# it\'s """\n', ' = 1\n#"""'),
        ("t = ['''\n''', {", " = 1}, '''\n''']"),
        ('t = "\'"\n', " = 1 # '"),
    ],
)
def test_a_row_of_very_many_dotted_keys_is_refused(before: str, behind: str) -> None:
    tomllib.loads(f"{before}a.a{behind}")
    with pytest.raises(RecursionError, match="a line has more than 500 dots"):
        loads(f"{before}a{'.a' * 501}{behind}")


@pytest.mark.parametrize(
    "key",
    ["a" + ".a" * 51, "a" + " .\ta" * 51, "'a'" + '."a"' * 51, f"[a{'.a' * 51}]\nb"],
)
@pytest.mark.parametrize("before", ["", " ", "b = [1, { ", "b.c = 'x'\n"])
def test_a_key_of_very_many_parts_is_refused(key: str, before: str) -> None:
    """Each part is looked up from the first one on: lines of them take the square of theirs."""
    behind = " }]" if "{" in before else ""
    with pytest.raises(RecursionError, match="a key has more than 50 dots"):
        loads(f"{before}{key} = 1{behind}")
    document, (slip,) = parse(f"{key} = 1".encode(), "x")
    assert (document, slip.rule) == (None, "too-deep")


def test_a_key_of_some_parts_and_a_line_of_many_numbers_are_read() -> None:
    text = f"a{'.a' * 50} = [{', '.join(['1.5'] * 400)}]\n"
    assert loads(text) == tomllib.loads(text)


@pytest.mark.parametrize("row", ["a" * 500_000, " " * 500_000, ". " * 50 + "a. b " * 100_000])
def test_a_long_row_of_what_may_be_a_key_is_looked_through_once(row: str) -> None:
    started = time.monotonic()
    with pytest.raises((ValueError, RecursionError)):
        loads(f"{'.' * 51}\n{row}")
    assert time.monotonic() - started < 2


def test_dots_in_texts_and_comments_and_on_many_lines_are_read() -> None:
    dots = "." * 600
    text = f'# {dots}\na = "{dots}"\nb = """\n{dots}"""\nc = \'{dots}\'\n'
    text += "".join(f"n{i}.x = 1.5\n" for i in range(600))
    assert loads(text) == tomllib.loads(text)


@pytest.mark.parametrize(
    "number", [f"0x{'f' * 4_000}", f"0b{'1' * 1_025}", "9" * 310, f"-{'9' * 310}"]
)
def test_integers_beyond_any_float_are_refused_wherever_they_are(number: str) -> None:
    for text in ("k = {}", "[t.u]\nk = [1, {{ v = {} }}]"):
        with pytest.raises(ValueError, match="out of range"):
            loads(text.format(number))
    assert loads(f"k = 0x{'f' * 251}")["k"] > 2**1000


def test_tables_below_long_keys_are_as_deep_as_both() -> None:
    keys = ".".join(["a"] * 45)
    tables = f"{{ {keys} = {{ {keys} = {{ {keys} = 1 }} }} }}"
    assert loads(f"[{keys}]\nb = {{ {keys} = 1 }}")
    with pytest.raises(RecursionError):
        loads(f"[{keys}]\n{keys} = {tables}")


@pytest.mark.parametrize("quote", ['"', "'", '"""', "'''"])
def test_a_text_that_nobody_ends_is_looked_through_once(quote: str) -> None:
    with pytest.raises(ValueError, match=r"[Ee]xpected|Unterminated|Illegal|Unescaped"):
        loads("a = " + quote + "." * 600 + '\\"' * 500_000)
