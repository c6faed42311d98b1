"""Markdown as GitHub renders it, as far as tables, links and HTML go."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

from markdown_it import MarkdownIt

# Tables, strikethrough, and addresses that become links by themselves.
_GFM = MarkdownIt("gfm-like", {"html": True})


def html(markdown: str) -> str:
    """The HTML that the Markdown becomes."""
    rendered: str = _GFM.render(markdown)
    return rendered


class _Tree(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.cells: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # Alignment is all that our own tables need.
        style = [f"{name}={value}" for name, value in attrs]
        self.tags.append(f"{tag} {' '.join(style)}".strip())
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self.cells:
            self.cells[-1] += data


def _parsed(markdown: str) -> _Tree:
    tree = _Tree()
    tree.feed(html(markdown))
    return tree


def tags(markdown: str) -> list[str]:
    """Every element with its attributes, in order."""
    return _parsed(markdown).tags


def text(markdown: str) -> str:
    """What can be read, without the spaces that nobody sees."""
    return "".join(_parsed(markdown).texts).replace("\u200b", "")


def cells(markdown: str) -> Iterator[str]:
    """The texts of the cells of all tables."""
    for cell in _parsed(markdown).cells:
        yield cell.replace("\u200b", "").strip()


# What GitHub links in the texts that it has rendered, by its own documentation.
_LINKED = re.compile(
    r"(?<![A-Za-z0-9])@[A-Za-z0-9]|(?:^|\W)#\d|\w#\d|\b[Gg][Hh]-\d|:[\w+-]+:|\$\S"
    r"|(?<![A-Za-z0-9])(?=[0-9]*[A-Fa-f])[0-9A-Fa-f]{7,40}(?![A-Za-z0-9])"
    # It goes back over letters from `://`, and asks what stands before `www.`.
    r"|(?<![A-Za-z])(?:https?|ftp)://\S|(?:^|[\s*_~(])www\.\S"
    # An address of mail, also of a host that begins with a dot.
    r"|[\w.+-]@[\w-]*\.[\w.-]*\w",
    # Names of emoji and numbers of issues are of ASCII.
    re.ASCII,
)


def linked(html_: str) -> list[str]:
    """What GitHub would make a mention, an issue, an emoji, a formula, a commit or a link of."""
    tree = _Tree()
    tree.feed(html_)
    return [found[0] for each in tree.texts for found in _LINKED.finditer(each)]
