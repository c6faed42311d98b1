"""A diagnostic says one thing that is wrong, where it stands, and what to do about it."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec


class Severity(StrEnum):
    """`error`: it is wrong; `warning`: it will probably hurt; `note`: good to know."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Span(msgspec.Struct, frozen=True, order=True):
    """Half-open; lines and columns count characters from one, as editors do."""

    line: int
    column: int
    end_line: int
    end_column: int


class Diagnostic(msgspec.Struct, frozen=True, kw_only=True):
    """One finding; `message` suffices alone, `label` is what stands beside the carets."""

    rule: str
    severity: Severity = Severity.ERROR
    message: str
    path: str | None = None
    span: Span | None = None
    pointer: str | None = None
    subject: str = ""
    label: str = ""
    notes: tuple[str, ...] = ()
    help: str = ""

    def as_json(self) -> dict[str, Any]:
        """The flat object of schemas/diagnostics.schema.json."""
        span = self.span
        return {
            "rule": self.rule,
            "severity": str(self.severity),
            "message": self.message,
            "path": self.path,
            "line": span and span.line,
            "column": span and span.column,
            "end_line": span and span.end_line,
            "end_column": span and span.end_column,
            "pointer": self.pointer,
            "subject": self.subject,
            "notes": list(self.notes),
            "help": self.help,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Diagnostic:
        """The inverse of `as_json`."""
        fields = dict(data)
        place = [fields.pop(name) for name in ("line", "column", "end_line", "end_column")]
        span = None if place[0] is None else Span(*place)
        return msgspec.convert({**fields, "span": span}, cls)
