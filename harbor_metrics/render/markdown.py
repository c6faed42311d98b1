"""Sheets as Markdown, for pull requests and step summaries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .markup import DOLLAR, isolated
from .sheet import Sheet

# Nothing can be seen of it, and no name, number or address goes on behind it.
_APART = "&#8203;"
# What is markup; and what GitHub makes more of than text, which no backslash stops: mentions and
# addresses of mail, numbers of issues, hashes of commits, addresses, emoji, formulas.
_MARKUP = re.compile(
    r"(?P<special>[\\`*_{}\[\]<>|~&])"
    r"|(?P<mention>(?<![A-Za-z0-9])@(?=\w)|@(?=[\w-]*\.))"
    r"|(?P<issue>#(?=\d))|(?P<hash>#)"
    r"|(?P<number>(?<![A-Za-z0-9])[Gg][Hh])(?=-\d)"
    # The hash of a commit, which a number is not.
    r"|(?P<commit>(?<![A-Za-z0-9])(?=[0-9]*[A-Fa-f])[0-9A-Fa-f]{7,40}(?![A-Za-z0-9]))"
    # A host goes back over letters alone to where an address begins.
    r"|(?P<address>(?<![A-Za-z])(?:[Ww]{3}(?=\.)"
    r"|(?:[Mm][Aa][Ii][Ll][Tt][Oo]|[Xx][Mm][Pp][Pp]|[A-Za-z]+(?=:/)):))"
    r"|(?P<emoji>:(?=[\w+-]+:))"
    r"|(?P<formula>\$)",
    # What stands before a name ends where ASCII's letters do, for a host.
    re.ASCII,
)
_AS_IT_READS = {"special": r"\{}", "hash": r"\{}", "formula": DOLLAR}
# At the beginning of a line, or of an item of a list: a list, a line across, a heading above.
_BEGINS = re.compile(r"\A( *(?:\d{1,9}(?=[.)]))?)(?=[-+](?:[ -]|\Z)|=+ *\Z|(?<=\d)[.)](?: |\Z))")
_SPACE = "&#32;"
# An indent that Markdown keeps.
_INDENT = "&emsp;"


def markdown(sheets: Iterable[Sheet]) -> str:
    """A section with a table for each sheet."""
    return "\n".join(map(_section, sheets))


def _section(sheet: Sheet) -> str:
    above = [f"### {inert(sheet.title)}", ""] if sheet.title else []
    lines = [*above, inert(sheet.counts), "", *heading(sheet)]
    below: list[tuple[str, str]] = []
    for line in sheet.lines:
        first, *others = (inert(cell.rstrip()) for cell in line.cells)
        lines.append(row([_INDENT * line.indent + first, *others]))
        if line.why:
            below.append((line.cells[0].strip(), " ".join(line.why.split("\n"))))
    # As a whole: what is harmless in parts can be markup across the colon.
    texts = [f"- {inert(f'{name}: {text}')}" for name, text in [*below, *sheet.below]]
    return "\n".join([*lines, "", *dict.fromkeys(texts), *([""] if texts else [])])


def heading(sheet: Sheet) -> list[str]:
    """The two lines that a table begins with; numbers stand on the right."""
    sides = [":---"] * sheet.names + ["---:"] * (len(sheet.headings) - sheet.names)
    return [row([inert(" ".join(head.split("\n"))) for head in sheet.headings]), row(sides)]


def row(cells: Sequence[str]) -> str:
    """A line of a table, of cells that are Markdown already."""
    return f"| {' | '.join(cells)} |"


def inert(text: str) -> str:
    """The text as it reads: no markup, and nothing that a host makes a link or a mention of."""
    text = _BEGINS.sub(r"\1\\", _MARKUP.sub(_as_it_reads, text))
    # Four of them, before anything else, would be code.
    return isolated(_SPACE + text[1:] if text[:1] == " " else text)


def _as_it_reads(found: re.Match[str]) -> str:
    if found.lastgroup == "commit":
        # Seven digits are the fewest that are linked.
        return _APART.join(re.findall(".{1,6}", found[0]))
    return _AS_IT_READS.get(found.lastgroup or "", f"{{}}{_APART}").format(found[0])
