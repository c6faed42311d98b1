"""Elements escape what is not markup."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harbor_metrics.render.markup import Markup, decimal, element, escaped, joined, verbatim

HOSTILE = [
    "</title></svg><svg/onload=alert(1)>",
    "]]>",
    "\u202egnp.exe",
    "\x00\x07\x1b[31m",
    '" onmouseover="alert(1)',
    "'><img src=x onerror=alert(1)>",
    "<!--",
    "&lt;script&gt;",
    "\ud800",
    "x" * 10_000,
    "",
]


class Tree(HTMLParser):
    """The elements and attributes of a text, and its characters."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(f"/{tag}")

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_name_from_right_to_left_takes_no_number_along() -> None:
    assert Tree(escaped("\u05d0 \u05d1 3 of 5")).text == "\u2068\u05d0 \u05d1\u2069 3 of 5"
    assert verbatim("\u05d0 3") == "\u05d0 3"


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_is_a_text_wherever_it_stands(text: str) -> None:
    tree = Tree(element("p", element("b", text), title=text))
    assert tree.tags == ["p", "b", "/b", "/p"]
    assert [name for name, _ in tree.attributes] == ["title"]
    assert str(tree.attributes[0][1]).startswith(tree.text.removesuffix("…"))


@example("\u0606")
@given(st.text())
def test_what_is_read_is_what_was_written_or_its_escapes(text: str) -> None:
    # Words that are read from right to left stand apart, which nobody sees.
    read = Tree(element("p", text)).text.translate(dict.fromkeys((0x2068, 0x2069)))
    assert read.isprintable()
    assert read == text or not text.isprintable()


def test_a_word_that_no_page_has_room_for_is_cut_but_in_a_command() -> None:
    assert element("p", "a " + "<" * 400) == f"<p>a {'&lt;' * 300}…</p>"
    assert escaped("n" * 400 + ": x.") == f"{'n' * 300}…: x."
    assert verbatim("n" * 400) == "n" * 400


def test_markup_is_escaped_once() -> None:
    assert escaped(escaped("<")) == "&lt;"
    assert joined(["<", Markup("<b>")]) == "&lt;<b>"


def test_attributes() -> None:
    assert element("line", x1="5%", stroke_width=2.0, id=None) == '<line x1="5%" stroke-width="2"/>'
    assert element("meta", charset="utf-8") == '<meta charset="utf-8">'
    assert element("td") == "<td></td>"


@pytest.mark.parametrize(
    ("number", "text"), [(1.0, "1"), (0.125, "0.12"), (-0.001, "0"), (20, "20")]
)
def test_numbers_of_pictures_have_two_places(number: float, text: str) -> None:
    assert decimal(number) == text
