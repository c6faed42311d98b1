"""An audit as a table: reported beside recomputed, and whether they agree."""

from __future__ import annotations

from collections import Counter
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
    """The rows by source and group; of many that are equal only their number, unless `every`.

    A reason has a number, and stands in full where it is first given.
    """
    lines: list[str] = []
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.path, row.group), []).append(row)
    last = ""
    said: dict[str, int] = {}
    for (path, group), members in groups.items():
        lines += [printable(path)] if path != last else []
        lines += [printable(group)] if group else []
        last = path
        lines += _table(members, said, every=every)
        lines.append("")
    return "\n".join(lines)


def counts(rows: Sequence[Row]) -> str:
    """How many numbers there are, and how many of them have each verdict."""
    words = {verdict: str(verdict) for verdict in Verdict}
    times = Counter(row.verdict for row in rows)
    differ = "differs" if times[Verdict.DIFFERS] == 1 else "differ"
    words[Verdict.DIFFERS] = f"{differ} without an explanation"
    listed = ", ".join(f"{times[verdict]} {word}" for verdict, word in words.items())
    return f"{len(rows)} number{'' if len(rows) == 1 else 's'}: {listed}"


def _table(rows: Sequence[Row], said: dict[str, int], *, every: bool) -> list[str]:
    equal = [row for row in rows if row.verdict == Verdict.EQUAL]
    shown = list(rows)
    hidden = 0
    if not every and len(equal) > _MOST_EQUAL:
        shown = [row for row in rows if row.verdict != Verdict.EQUAL]
        hidden = len(equal)
    first_said = [_numbered(row, said) for row in shown]
    cells = [("number", "reported", "recomputed", "")]
    cells += [
        (
            _short(printable(row.name)),
            number(row.reported),
            number(row.recomputed),
            _verdict(row, said),
        )
        for row in shown
    ]
    lines = []
    if shown:
        widths = measure(cells)
        first, *others = [f"  {align(row, widths, right=(1, 2))}" for row in cells]
        lines.append(first)
        for row, line, new in zip(shown, others, first_said, strict=True):
            lines.append(line)
            if new:
                mark = f"{_INDENT}[{said[row.reason]}] "
                indent = " " * len(mark)
                lines += wrap(
                    printable(row.reason), _WIDTH, initial_indent=mark, subsequent_indent=indent
                )
    if hidden:
        more = " more" if shown else ""
        lines.append(f"  {hidden}{more} numbers are equal (--all shows them)")
    return lines


def _verdict(row: Row, said: dict[str, int]) -> str:
    away = row.monte_carlo_errors
    distance = "" if away is None else f", {away:.2g} Monte Carlo errors away"
    note = f" [{said[row.reason]}]" if row.reason in said else ""
    return f"{row.verdict}{distance}{note}"


def _numbered(row: Row, said: dict[str, int]) -> bool:
    """Give the reason of a row a number; whether it is new. Of an equal number none is said."""
    if row.verdict == Verdict.EQUAL or not row.reason or row.reason in said:
        return False
    said[row.reason] = len(said) + 1
    return True


def _short(name: str) -> str:
    """The name, without its middle where it would push the numbers off the page."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST // 2]}…{name[-_LONGEST // 2 :]}"


def number(value: Number | str | None) -> str:
    """Six significant digits, integers and texts whole; a dash for None."""
    if value is None:
        return "—"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
