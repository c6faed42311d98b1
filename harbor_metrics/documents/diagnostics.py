"""A diagnostic says one thing that is wrong, where it stands, and what to do about it."""

from __future__ import annotations

from typing import Any

import msgspec

from ..errors import InputError
from .rules import RULES
from .rules import Severity as Severity


class Span(msgspec.Struct, frozen=True, order=True):
    """A stretch of text, its end excluded; lines and columns count characters from 1."""

    line: int
    column: int
    end_line: int
    end_column: int


class Diagnostic(msgspec.Struct, frozen=True, kw_only=True):
    """One finding; `message` suffices alone, `label` is what stands beside the carets.

    Where no severity is given it is that of the rule.
    """

    rule: str
    severity: Severity = None  # type: ignore[assignment]  # until __post_init__
    message: str
    path: str | None = None
    span: Span | None = None
    pointer: str | None = None
    subject: str = ""
    label: str = ""
    notes: tuple[str, ...] = ()
    help: str = ""

    def __post_init__(self) -> None:
        if self.severity is None:
            rule = RULES.get(self.rule)
            severity = rule.severity if rule else Severity.ERROR
            msgspec.structs.force_setattr(self, "severity", severity)

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
        place = [fields.pop(name, None) for name in ("line", "column", "end_line", "end_column")]
        span = None if place[0] is None else Span(*place)
        return msgspec.convert({**fields, "span": span}, cls)


class InvalidDocumentError(InputError):
    """A document that cannot be used as it is; the diagnostics say why, with places in `text`.

    Where it was to be changed, the change is refused, and that exits 1.
    """

    def __init__(
        self,
        message: str,
        diagnostics: list[Diagnostic],
        text: str = "",
        *,
        exit_code: int = InputError.exit_code,
    ) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics
        self.text = text
        self.exit_code = exit_code
