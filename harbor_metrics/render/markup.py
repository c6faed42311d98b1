"""Elements of HTML and SVG: what is not markup already is escaped, so that nobody can forget to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from ..documents.wording import printable

# HTML elements that have no end; and SVG shapes, which are closed where they begin.
_VOID = frozenset({"meta"})
_LONG_WORD = re.compile(r"(\S{300})\S+?(?=[:;,.)]{0,3}(?!\S))")
_SHAPES = frozenset({"circle", "line", "path", "rect"})
# Words of letters that are written from right to left.
_LEFTWARD = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
_LEFTWARDS = re.compile(f"[{_LEFTWARD}](?:[{_LEFTWARD} ]*[{_LEFTWARD}])?")


class Markup(str):
    """Text that is markup; any other text is a stranger's."""

    __slots__ = ()


def escaped(text: str) -> Markup:
    """The text as it reads, with control and bidirectional characters as `printable` has them.

    Of a word that no page has room for the beginning is kept.
    """
    if isinstance(text, Markup):
        return text
    return Markup(isolated(verbatim(_LONG_WORD.sub(r"\1…", text))))


def isolated(text: str) -> str:
    """Markup in which words from right to left stand for themselves: numbers beside stay there."""
    return _LEFTWARDS.sub(r"&#8296;\g<0>&#8297;", text)


def verbatim(text: str) -> Markup:
    """The whole text, words of any length as they are; none begins a command of a CI system."""
    return Markup(escape(printable(text)).replace("##", "#&#35;"))


def indented(text: str, depth: int) -> Markup:
    """The text, so many steps from the margin."""
    return Markup("&emsp;" * depth + escaped(text))


def joined(parts: Iterable[str]) -> Markup:
    """The parts one after the other."""
    return Markup("".join(map(escaped, parts)))


def element(tag: str, *children: str, **attributes: str | float | None) -> Markup:
    """An element; `stroke_width` is its attribute `stroke-width`, None one that it lacks."""
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    if tag in _VOID:
        return Markup(f"<{tag}{given}>")
    if tag in _SHAPES and not children:
        return Markup(f"<{tag}{given}/>")
    return Markup(f"<{tag}{given}>{joined(children)}</{tag}>")


def _value(value: str | float) -> str:
    if isinstance(value, Markup):
        return value
    return verbatim(value) if isinstance(value, str) else decimal(value)


def decimal(value: float) -> str:
    """The number to two places, the shortest way: pictures need no more."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def folded(summary: str) -> tuple[str, str]:
    """What stands before and behind lines of Markdown that are folded away."""
    return f"<details>{element('summary', summary)}", "</details>"


# A dollar in Markdown that begins no formula.
DOLLAR = element("span", "$")
