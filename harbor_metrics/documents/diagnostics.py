"""A diagnostic says one thing that is wrong, where it stands, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec

from ..errors import InputError
from .rules import RULES
from .rules import Severity as Severity
from .wording import without_passwords

# It is printed as it stands.
RuleName = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9-]+\Z")]
# No text has more lines or columns.
_MOST = 1 << 53


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

    rule: RuleName
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

    @property
    def shown_pointer(self) -> str | None:
        """The pointer, a key in it that is an address without its password."""
        if self.pointer is None or "~1~1" not in self.pointer:
            return self.pointer
        keys = (part.replace("~1", "/") for part in self.pointer.split("/"))
        return "/".join(without_passwords(key).replace("/", "~1") for key in keys)

    def as_json(self) -> dict[str, Any]:
        """The flat object of schemas/diagnostics.schema.json, without passwords of addresses."""
        span = self.span
        return {
            "rule": self.rule,
            "severity": str(self.severity),
            "message": without_passwords(self.message),
            "path": self.path,
            "line": span and span.line,
            "column": span and span.column,
            "end_line": span and span.end_line,
            "end_column": span and span.end_column,
            "pointer": self.shown_pointer,
            "subject": without_passwords(self.subject),
            "notes": [without_passwords(note) for note in self.notes],
            "help": without_passwords(self.help),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Diagnostic:
        """The inverse of `as_json`.

        Raises:
            InputError: a field is missing, is too many or has another type.
        """
        fields = dict(data)
        place = {name: fields.pop(name, None) for name in Span.__struct_fields__}
        known = {*cls.__struct_fields__} - {"span", "label"}
        if wrong := known ^ fields.keys():
            verb = "is missing" if wrong <= known else "is no field of one"
            raise InputError(f"not a diagnostic: `{min(wrong, key=str)}` {verb}")
        try:
            is_placed = any(number is not None for number in place.values())
            span = msgspec.convert(place, Span) if is_placed else None
            if span is not None and not all(0 <= each < _MOST for each in place.values()):
                raise InputError("not a diagnostic: its place is in no text")
            return msgspec.convert({**fields, "span": span}, cls)
        except msgspec.ValidationError as error:
            raise InputError(f"not a diagnostic: {error}") from error


def found_in(diagnostics: Sequence[dict[str, Any]]) -> list[Diagnostic]:
    """The diagnostics of a document as objects.

    Raises:
        InputError: one is none.
    """
    found = []
    for i, data in enumerate(diagnostics):
        try:
            found.append(Diagnostic.from_json(data))
        except InputError as error:
            raise InputError(f"{error} - at `$.diagnostics[{i}]`") from error
    return found


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
