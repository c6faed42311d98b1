"""HTML: a page that stands alone, and what a notebook shows; no script, no request, no link out.

Every element is made by `markup.element`, which escapes whatever is not markup. The page can be
read where a policy drops its styles, for pictures need none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .figures.figure import Figure, Numbers
from .markup import Markup, element, joined, verbatim

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
# Ink and ground, of white and of black pages, and what links and what is aimed at look like.
INK, GROUND, LINK = "#1b1f24", "#ffffff", "#0b57a4"
DARK_INK, DARK_GROUND, DARK_LINK = "#e6e8eb", "#16191d", "#85bdff"
_STYLE = f"""
:root{{color-scheme:light dark}}
body{{font:16px/1.5 system-ui,sans-serif;color:{INK};background:{GROUND};max-width:52rem;
margin:0 auto;padding:1rem;overflow-wrap:anywhere}}
a{{color:{LINK}}}
h1{{font-size:1.6rem;line-height:1.25;margin:.5rem 0}}
h2{{font-size:1.2rem;margin:0}}
p{{margin:.3rem 0 .8rem}}
nav ul{{display:flex;flex-wrap:wrap;gap:.2rem 1rem;list-style:none;padding:0}}
figure,section{{margin:2.5rem 0}}
svg{{display:block}}
summary{{cursor:pointer;padding:.3rem 0}}
table{{border-collapse:collapse;width:100%;font-size:.85rem;margin:.5rem 0}}
th,td{{overflow-wrap:anywhere;padding:.2rem .4rem;border-bottom:1px solid #8888;
vertical-align:top;text-align:right;font-variant-numeric:tabular-nums}}
thead th{{vertical-align:bottom;min-width:3rem}}
.text,tbody th{{text-align:left;font-weight:400}}
@media(min-width:40rem){{td:not(.text){{white-space:nowrap}}}}
@media(max-width:30rem){{th,td{{font-size:.75rem;padding:.2rem}}thead th{{min-width:0}}
.wide,.wide :is(tbody,tr,th,td){{display:block;text-align:left}}.wide thead{{display:none}}
.wide tr{{padding:.3rem 0;border-bottom:1px solid #8888}}
.wide :is(th,td){{border:0;padding:0 .2rem}}.wide tbody th{{font-weight:600}}
.wide td:empty{{display:none}}.wide td::before{{content:attr(data-of) ": "}}}}
pre{{white-space:pre-wrap;font-size:.85rem}}
:target{{outline:3px solid #c65d07;outline-offset:3px}}
@media(prefers-color-scheme:dark){{body{{color:{DARK_INK};background:{DARK_GROUND}}}
a{{color:{DARK_LINK}}}}}
@media print{{:root{{color-scheme:light}}body{{color:#000;background:#fff;max-width:none;padding:0}}
a{{color:#000}}nav,summary{{display:none}}
details::details-content{{content-visibility:visible;block-size:auto}}
svg,tr,figcaption,li{{break-inside:avoid}}figcaption,h2,thead{{break-after:avoid}}}}
"""
_NOT_IN_AN_ID = re.compile(r"[^a-z0-9.]+")
_LONGEST_ID, LONGEST_TEXT = 60, 300
_MOST_COLUMNS = 4


class Ids:
    """What rows and pictures can be linked to by: their names, each once."""

    def __init__(self, taken: Sequence[str] = ()) -> None:
        self._taken = set(taken)

    def of(self, name: str) -> str:
        """An id of letters, digits, `-` and `.`; a number is added to one that is taken."""
        plain = _NOT_IN_AN_ID.sub("-", name.lower()).strip("-")[:_LONGEST_ID] or "row"
        own, number = plain, 1
        while own in self._taken:
            number += 1
            own = f"{plain}-{number}"
        self._taken.add(own)
        return own


def document(title: str, *body: str) -> Markup:
    """A whole page."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", shortened(title)),
        element("style", Markup(_STYLE.strip())),
    )
    page = element("html", head, Markup("\n"), element("body", *body), lang="en")
    return Markup(f"<!doctype html>\n{page}\n")


def shortened(text: str) -> str:
    """The text, or the beginning of a very long one."""
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"


def paragraph(text: str) -> Markup:
    """A paragraph of text, its lines below each other."""
    lines = text.split("\n")
    parts: list[str] = [lines[0]]
    for line in lines[1:]:
        parts += [Markup("<br>"), line]
    return element("p", *parts)


def figure(shown: Figure, ids: Ids) -> Markup:
    """A picture with its heading, its sentence and its numbers."""
    caption = element("figcaption", element("h2", shown.heading), element("p", shown.sentence))
    numbers = element(
        "details",
        element("summary", f"{shown.link}: the numbers"),
        table(shown.numbers, ids),
    )
    return element("figure", caption, shown.drawn, numbers, id=shown.id)


def table(numbers: Numbers, ids: Ids | None = None) -> Markup:
    """Numbers as a table; without `ids` nothing in it can be linked to."""
    columns = zip(*numbers.lines, strict=True)
    left = [i < numbers.names or any(map(_is_text, cells)) for i, cells in enumerate(columns)]
    left = left or [False] * len(numbers.headings)
    head = element(
        "tr",
        *(
            element("th", heading, scope="col", class_="text" if left[i] else None)
            for i, heading in enumerate(numbers.headings)
        ),
    )
    wanted = numbers.ids if ids is not None else ()
    # On a telephone each cell of many columns stands on a line of its own, behind its heading.
    wide = ids is not None and len(numbers.headings) > _MOST_COLUMNS
    rows = []
    for index, line in enumerate(numbers.lines):
        cells = [
            element("th", shortened(cell))
            if i < numbers.names
            else element(
                "td",
                shortened(cell),
                class_="text" if left[i] else None,
                data_of=shortened(numbers.headings[i]) if wide else None,
            )
            for i, cell in enumerate(line)
        ]
        own = ids.of(wanted[index]) if ids is not None and index < len(wanted) else None
        rows.append(element("tr", *cells, id=own))
    parts = element("thead", head), element("tbody", *rows)
    whole = element("table", *parts, class_="wide" if wide else None)
    return joined([whole, paragraph(numbers.more)]) if numbers.more else whole


def _is_text(cell: str) -> bool:
    """Whether a cell is a sentence, which stands on the left."""
    return len(cell) > 40


def answer(title: str, texts: Sequence[str], warnings: Sequence[str]) -> Markup:
    """What is said first; the warnings are in bold."""
    said = [paragraph(text) for text in texts]
    warned = [element("p", element("strong", text)) for text in warnings]
    return joined([element("h1", shortened(title)), *warned, *said])


def links(figures: Sequence[Figure]) -> Markup:
    """What is on the page."""
    entries = [element("li", element("a", each.link, href=f"#{each.id}")) for each in figures]
    return element("nav", element("ul", *entries), aria_label="Pictures")


def main(header: Sequence[str], *parts: str) -> Markup:
    """All that a page says, line by line."""
    top = element("header", *header)
    return element("main", *(Markup(f"{part}\n") for part in (top, *parts)))


def section(id_: str, heading: str, *content: str) -> Markup:
    """A part of the page without a picture."""
    return element("section", element("h2", heading), *content, id=id_)


def code(text: str) -> Markup:
    """A command to copy."""
    return element("pre", element("code", verbatim(text)))


def listing(texts: Sequence[str]) -> Markup:
    """A list."""
    return element("ul", *(element("li", shortened(text)) for text in texts))


def figure_in_cell(shown: Figure) -> Markup:
    """A picture in a notebook."""
    return element("div", paragraph(shown.sentence), shown.drawn)


def titled_table(title: str, counts: str, numbers: Numbers, below: Sequence[str]) -> Markup:
    """A table in a notebook, with what stands above and below it."""
    strong = [element("strong", shortened(title)), " "] if title else []
    above = element("p", *strong, counts)
    return element("div", above, table(numbers), *map(paragraph, below))


def cell(*parts: str) -> Markup:
    """What a notebook shows below a cell; nothing in it has an id, for cells share one page.

    Nor is a dollar in a name the beginning of a formula, which could be set over other numbers.
    """
    return element("div", *parts, class_="tex2jax_ignore mathjax_ignore")
