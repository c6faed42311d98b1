"""What there is to say beside a result: a line for each rule, however many jobs break it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..documents.diagnostics import Diagnostic, Severity
from ..documents.wording import listed, printable
from .alignment import fold
from .text import text


def remarks(diagnostics: Iterable[Diagnostic], *, width: int = 80) -> str:
    """Errors, and what stands in the line of a file, in full; the others in one line a rule."""
    whole: list[Diagnostic] = []
    by_rule: dict[str, list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        if diagnostic.severity == Severity.ERROR or diagnostic.span is not None:
            whole.append(diagnostic)
        else:
            by_rule.setdefault(diagnostic.rule, []).append(diagnostic)
    lines = [line for alike in by_rule.values() for line in _folded(_line(alike), width)]
    paragraphs = [text(whole)] if whole else []
    return "\n".join([*paragraphs, "".join(f"{line}\n" for line in lines)] if lines else paragraphs)


def in_lines(diagnostics: Iterable[Diagnostic]) -> list[str]:
    """Errors and warnings, one line a rule; notes are left out."""
    by_rule: dict[str, list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        if diagnostic.severity != Severity.NOTE:
            by_rule.setdefault(diagnostic.rule, []).append(diagnostic)
    return list(map(_line, by_rule.values()))


def _line(alike: Sequence[Diagnostic]) -> str:
    """The first of them in a line, and where the others are."""
    first, *others = alike
    message = first.message
    if others:
        places = list(dict.fromkeys(d.path or d.message for d in others))
        message += f" (and {len(others)} more: {listed(places)})"
    elif first.path is not None and first.path not in message:
        message += f" ({first.path})"
    said = "; ".join(filter(None, (message, *first.notes, first.help)))
    return f"{first.severity}[{first.rule}]: {printable(said)}"


def _folded(line: str, width: int) -> list[str]:
    first, *more = fold(line, width)
    return [first, *(f"  {part}" for part in more)]
