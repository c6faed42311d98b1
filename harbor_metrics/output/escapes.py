"""Text that nobody's terminal and no CI system takes for a command to itself.

Names, titles and messages come from documents and programs of strangers. Everything that is
printed passes through `escaped`, and nothing else decides what may be printed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container

from ..render.styles import STYLES

# Runs of what may have to be escaped; whether it has to, `isprintable` knows.
_ODD = r"[^\n\t -~]+"
_STYLES = "|".join(map(re.escape, STYLES))
_ODD_BUT_STYLES = rf"(?:{_STYLES})|\x1b|[^\n\t -~\x1b]+"
# A command of GitHub Actions is first on its line, whatever space is before it.
_FIRST = rf"(?m)^(?:[ \t]|{_STYLES})*:(?:{_STYLES})*(:)"
# Those of Azure Pipelines, of TeamCity, and the older ones of GitHub, stand anywhere in a line.
_ANYWHERE = rf"#(?:{_STYLES})*#(?:\w|{_STYLES}){{0,20}}(\[)"
_PLAIN = b"\n\t" + bytes(range(0x20, 0x7F))
# A command is not longer than this before the character that is escaped.
_LONGEST = 32


def escaped(text: str, *, json: bool = False, styles: bool = False, commands: bool = False) -> str:
    """The text with every character escaped that is a command, or that makes one of others.

    Control characters but newline and tab, and what turns or hides text, as Python writes them;
    in `json` as JSON does, so that its value stays. `styles` are those of our tables, which are
    kept on a terminal; `commands` those that a rendering for GitHub Actions consists of.
    It escapes the last character of a command, so that a text can be printed in pieces.
    """
    escape = _in_json if json else _in_text
    odd = _ODD_BUT_STYLES if styles else _ODD
    text = re.sub(odd, lambda run: _run(run[0], escape, keep=STYLES if styles else ()), text)
    if "##" in text or (styles and "#" in text):
        text = re.sub(_ANYWHERE, lambda found: found[0][:-1] + escape(found[1]), text)
    if ("::" in text or (styles and ":" in text)) and not commands and not json:
        text = re.sub(_FIRST, lambda found: found[0][:-1] + escape(found[1]), text)
    return text


def escaped_json(document: bytes) -> bytes:
    """The JSON, or lines of it, with the same value."""
    # Mostly there is nothing to escape, and much to look through.
    if document.translate(None, _PLAIN) or b"##" in document:
        return escaped(document.decode(), json=True).encode()
    return document


class Line:
    """The line that is being printed, so that no command comes out of it piece by piece."""

    def __init__(self) -> None:
        self._begun = ""

    def escaped(self, text: str, *, styles: bool = False, commands: bool = False) -> str:
        """A further piece of text; see `escaped`."""
        whole = self._begun + text
        known = len(escaped(self._begun, styles=styles, commands=commands))
        begun = whole.rpartition("\n")[2].lstrip(" \t")
        self._begun = begun if len(begun) <= _LONGEST else f"…{begun[-_LONGEST:]}"
        return escaped(whole, styles=styles, commands=commands)[known:]


def _run(run: str, escape: Callable[[str], str], keep: Container[str]) -> str:
    if run in keep or run.isprintable():
        return run
    return "".join(c if c.isprintable() else escape(c) for c in run)


def _in_text(char: str) -> str:
    if char.isprintable():
        return f"\\x{ord(char):02x}"
    return char.encode("unicode_escape").decode("ascii")


def _in_json(char: str) -> str:
    return re.sub("(....)", r"\\u\1", char.encode("utf-16-be", "surrogatepass").hex())
