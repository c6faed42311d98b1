"""An audit as a table: reported beside recomputed, and whether they agree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap

from ..audits.row import Row, Verdict
from ..documents.wording import printable
from ..numbers.exact import Number
from .alignment import align, measure

_MOST_EQUAL = 12
_INDENT = " " * 6
_WIDTH = 80
_LONGEST = 48


def table(rows: Iterable[Row], *, every: bool) -> str:
    """The rows by source and group; of many that are equal only their number, unless `every`."""
    lines: list[str] = []
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.path, row.group), []).append(row)
    last = ""
    for (path, group), members in groups.items():
        lines += [printable(path)] if path != last else []
        lines += [printable(group)] if group else []
        last = path
        lines += _table(members, every=every)
        lines.append("")
    return "\n".join(lines)


def _table(rows: Sequence[Row], *, every: bool) -> list[str]:
    equal = [row for row in rows if row.verdict == Verdict.EQUAL]
    shown = list(rows)
    hidden = 0
    if not every and len(equal) > _MOST_EQUAL:
        shown = [row for row in rows if row.verdict != Verdict.EQUAL]
        hidden = len(equal)
    cells = [("number", "reported", "recomputed", "")]
    cells += [
        (_short(printable(row.name)), number(row.reported), number(row.recomputed), row.verdict)
        for row in shown
    ]
    lines = []
    if shown:
        widths = measure(cells)
        first, *others = [f"  {align(row, widths, right=(1, 2))}" for row in cells]
        lines.append(first)
        for row, line in zip(shown, others, strict=True):
            lines.append(line)
            if row.verdict != Verdict.EQUAL:
                reason = printable(row.reason)
                lines += wrap(reason, _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT)
    if hidden:
        more = " more" if shown else ""
        lines.append(f"  {hidden}{more} numbers are equal (--all shows them)")
    return lines


def _short(name: str) -> str:
    """The name, without its middle where it would push the numbers off the page."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST // 2]}…{name[-_LONGEST // 2 :]}"


def number(value: Number | str | None) -> str:
    """Six significant digits, integers and texts whole; a dash for None."""
    if value is None:
        return "—"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
