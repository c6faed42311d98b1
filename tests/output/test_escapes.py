"""What is printed is text to every terminal and CI system, and JSON keeps its value."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from printed import is_text

from harbor_metrics.output.escapes import Line, escaped, escaped_json
from harbor_metrics.render.styles import BOLD, PLAIN, STYLES

COMMANDS = ["::error::x", "  ::set-output name=a::b", "\t::add-mask::x", "##[error]", "##vso[a b]c"]
PARTS = st.one_of(
    st.sampled_from([*COMMANDS, *STYLES, ":", "::", "#", "##", "[", "\n", "\r", " ", "\t", "\\"]),
    st.text(st.characters(), max_size=4),
)
TEXTS = st.lists(PARTS, max_size=8).map("".join)


@given(TEXTS)
def test_what_is_printed_is_no_command(text: str) -> None:
    printed = escaped(text)
    assert is_text(printed)
    assert escaped(printed) == printed
    assert printed.encode().decode() == printed


@given(TEXTS)
@example(f"##{BOLD}[")
@example(f"#{BOLD}#{PLAIN}error{BOLD}[")
@example(f":{BOLD}:error::x")
def test_styles_are_kept_and_nothing_else(text: str) -> None:
    printed = escaped(text, styles=True)
    plain = printed
    for style in STYLES:
        plain = plain.replace(style, "")
    assert is_text(plain)


@given(st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"])))
def test_what_can_be_read_is_left_as_it_is(text: str) -> None:
    line = f"a {text.replace('##', '')}\n\tb"
    assert escaped(line) == line


@given(st.lists(TEXTS, max_size=4))
def test_text_in_pieces_is_the_same_text(pieces: list[str]) -> None:
    line = Line()
    assert "".join(map(line.escaped, pieces)) == escaped("".join(pieces))


JSON = st.recursive(
    st.one_of(TEXTS, st.integers(), st.none()),
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=6,
)


@pytest.mark.parametrize("indent", [None, 2])
@given(JSON)
def test_json_keeps_its_value_and_is_printable(indent: int | None, value: object) -> None:
    document = json.dumps(value, ensure_ascii=False, indent=indent)
    printed = escaped(document, json=True)
    assert json.loads(printed) == value
    assert is_text(printed)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_shown_with_its_last_character_escaped(command: str) -> None:
    assert is_text(escaped(command))
    assert escaped(f"a\n{command}").count("\\x") == 1


def test_our_own_commands_and_styles_stay() -> None:
    assert escaped("::error file=a::b\x1b\n", commands=True) == "::error file=a::b\\x1b\n"
    assert escaped(f"{BOLD}a{PLAIN}\x1b[5m", styles=True) == f"{BOLD}a{PLAIN}\\x1b[5m"
    assert escaped(f"{BOLD}a") == "\\x1b[1ma"


@given(st.text())
def test_bytes_of_json_are_escaped_as_its_text(text: str) -> None:
    document = json.dumps([text, "##["], ensure_ascii=False)
    assert escaped_json(document.encode()).decode() == escaped(document, json=True)
    plain = json.dumps(text.encode("ascii", "ignore").decode().replace("##", ""))
    assert escaped_json(plain.encode()).decode() == escaped(plain, json=True)
