"""A comparison as a comment on a pull request, or the summary of a step: Markdown of GitHub."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ..comparison.document import OUTCOMES, Compared, Comparison, Decision
from ..comparison.verdicts import VERDICTS
from ..documents.diagnostics import Diagnostic
from ..documents.wording import plural, printable
from . import comparison as beside
from . import sentences
from .markdown import heading, inert, row
from .markup import folded
from .sentences import Turned

# By which the comment can be found again, to be replaced.
MARKER = "<!-- harbor-metrics compare -->"
# A comment takes 65,536 characters.
MOST = 60_000
# What is said at the end where not all of it fits.
_SPARE = 200
_MOST_TASKS, _MOST_VERDICTS = 20, 5
_LONGEST = 200


class _Page:
    """Lines, as many whole ones as there is room for."""

    def __init__(self, most: int) -> None:
        self.lines: list[str] = []
        self.full = False
        self._left = most - _SPARE

    def add(self, head: Sequence[str], rows: Sequence[str] = (), tail: Sequence[str] = ()) -> None:
        """A part of the page: its rows are cut where there is no room; and nothing follows then."""
        need = _size(head) + _size(tail) + _size(rows[:1])
        if self.full or need > self._left:
            self.full = True
            return
        left = self._left - _size(head) - _size(tail)
        kept: list[str] = []
        for each in rows:
            left -= _size([each])
            if left < 0:
                self.full = True
                break
            kept.append(each)
        self.lines += [*head, *kept, *tail]
        self._left = max(left, 0)

    def text(self) -> str:
        """All that had room, and whether it is all."""
        said = ["", "_There is no room for the rest: the comparison document has all._"]
        return "".join(f"{line}\n" for line in [*self.lines, *(said if self.full else [])])


def _size(lines: Sequence[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def comment(comparison: Comparison, *, most: int = MOST) -> str:
    """The verdict, the gates, each table, the tasks that turned, and notes; cut at whole rows."""
    page = _Page(most)
    page.add([MARKER, *_callout(comparison)])
    if comparison.gates:
        several = len(comparison.beside_base) > 1
        rows = [_gate(each, several=several) for each in _worst_first(comparison.gates)]
        page.add(["", row(["outcome", "gate", "why"]), row([":---"] * 3)], rows)
    for compared in comparison.comparisons:
        _add(page, comparison, compared)
    below = [f"- {name}: {_text(text)}" for name, text in sentences.together(comparison)]
    below += [f"- {_said(diagnostic)}" for diagnostic in comparison.found]
    if below:
        page.add([""], below)
    return page.text()


def _callout(comparison: Comparison) -> list[str]:
    """What GitHub shows in colour: the gates and the verdicts, in sentences."""
    outcome = comparison.outcome
    kind = {"failed": "CAUTION", "undecided": "WARNING"}.get(outcome or "")
    if kind is None:
        kind = "TIP" if comparison.verdict == "better" else "NOTE"
    said = []
    if outcome is not None:
        counts = {each: sum(d.outcome == each for d in comparison.gates) for each in OUTCOMES}
        known = [f"{n} {each}" for each, n in counts.items() if n]
        said.append(f"**Gates: {', '.join(known)}.**")
    # Of many the worst are told.
    pairs = sorted(comparison.beside_base, key=_place)
    pairs = comparison.beside_base if len(pairs) <= _MOST_VERDICTS else pairs
    # Our own word is first: what a stranger wrote could begin a list there.
    said += [
        f"**{_text(sentences.first(comparison, pair))}** {_text(sentences.title(pair))}"
        for pair in pairs[:_MOST_VERDICTS]
    ]
    if len(pairs) > _MOST_VERDICTS:
        said.append(f"And {len(pairs) - _MOST_VERDICTS} more.")
    lines = [line for text in said for line in ("", text)][1:]
    return [f"> [!{kind}]", *(f"> {line}".rstrip() for line in lines)]


def _place(compared: Compared) -> int:
    verdict = next((row.verdict for row in compared.rows), "~")
    return VERDICTS.index(verdict)


def _worst_first(decisions: Sequence[Decision]) -> list[Decision]:
    return sorted(decisions, key=lambda decision: OUTCOMES.index(decision.outcome))


def _gate(decision: Decision, *, several: bool) -> str:
    who = f"{_text(sentences.who(decision))}: " if several else ""
    help_ = f". _{_text(decision.help)}_" if decision.help is not None else ""
    return row([decision.outcome, f"{who}{_text(decision.gate)}", f"{_text(decision.why)}{help_}"])


def _add(page: _Page, comparison: Comparison, compared: Compared) -> None:
    sheet = beside.sheet(comparison, compared)
    above = ["", f"### {_text(sheet.title)}", "", _text(sheet.counts), ""]
    lines = [row([_text(cell) for cell in line.cells]) for line in sheet.lines]
    named = msgspec.structs.replace(sheet, headings=(*sheet.headings[:-1], "verdict"))
    page.add([*above, *heading(named)], lines)
    for turned in reversed(sentences.turned(compared)):
        if turned.rows:
            _add_tasks(page, compared, turned)
    found = sentences.notes(comparison, compared)
    notes = [f"- {_text(name)}: {_text(text)}" for name, text in found]
    if notes:
        page.add([""], notes)


def _add_tasks(page: _Page, compared: Compared, turned: Turned) -> None:
    names = [_text(printable(side.run)) for side in (compared.base, compared.candidate)]
    more = f", the {_MOST_TASKS} largest changes" if turned.n > _MOST_TASKS else ""
    before, behind = folded(f"{plural(turned.n, 'task')} {turned.kind}{more}")
    page.add(
        [
            "",
            before,
            "",
            row(["task", *names, "difference"]),
            row([":---", "---:", "---:", "---:"]),
        ],
        [
            row([_text(printable(each.task)), *sentences.sides(each), f"{each.difference:+.3g}"])
            for each in turned.rows[:_MOST_TASKS]
        ],
        ["", behind],
    )


def _said(diagnostic: Diagnostic) -> str:
    said = "; ".join(filter(None, (diagnostic.message, *diagnostic.notes, diagnostic.help)))
    subject = f"{diagnostic.subject}: " if diagnostic.subject else ""
    return f"{diagnostic.severity}: {_text(printable(f'{subject}{said}'))}"


def _text(text: str) -> str:
    """What a stranger wrote, or we about him."""
    return inert(text if len(text) <= _LONGEST * 5 else f"{text[: _LONGEST * 5]}…")
