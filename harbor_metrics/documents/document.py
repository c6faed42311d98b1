"""JSON text that knows where everything stands: strict reading, pointer -> span."""

from __future__ import annotations

import codecs
import contextlib
import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from .diagnostics import Diagnostic, Severity, Span
from .limits import has_long_number, is_too_deep

if TYPE_CHECKING:
    from .places import Extent, Path, Steps
    from .slips import Slip
    from .syntax import Explanation

# Why a decoder of ours refuses a text that `repeats_a_key`.
KEY_TWICE = "a key stands twice"
# A quote that msgspec writes otherwise; all others it writes as they are written.
_QUOTE = b"\\u0022"


class _Irregular(ValueError):
    """Strict JSON forbids what json.loads has just met."""


def _explain(text: str, first_line: int = 1) -> Explanation:
    # Inside, for weight: only a text that was refused needs the patient reader.
    from .syntax import explain

    return explain(text, first_line)


class Finding(msgspec.Struct, frozen=True):
    """A diagnostic whose place is a path: that of a value, or with `key` of the key that names it.

    A rule leaves its own name out; what runs the rules knows it.
    """

    at: Steps
    message: str
    severity: Severity = Severity.ERROR
    subject: str = ""
    label: str = ""
    notes: tuple[str, ...] = ()
    help: str = ""
    key: bool = False
    rule: str = ""
    # Of two that are alike, where the first stands.
    first: Steps | None = None

    def diagnostic(
        self,
        path: str | None,
        span: Span | None = None,
        pointer: str | None = None,
        first: Span | None = None,
    ) -> Diagnostic:
        """The finding with its place, and with that of the first, as far as they are known."""
        line = f"; the first is on line {first.line}" if first else ""
        return Diagnostic(
            rule=self.rule,
            severity=self.severity,
            message=f"{self.message}{line}",
            path=path,
            span=span,
            pointer=pointer,
            subject=self.subject,
            label=self.label,
            notes=self.notes,
            help=self.help,
        )


class Document(msgspec.Struct, frozen=True, dict=True):
    """A text, what it says, and which line of which file it begins on.

    Where the text has slips, `mended` is the text without them, every offset as it was; None where
    it cannot be read to its end.
    """

    path: str
    data: bytes
    value: Any
    first_line: int = 1
    mended: str | None = ""

    @cached_property
    def text(self) -> str:
        """The bytes as text; a document without mistakes never needs it."""
        return self.data.decode("utf-8")

    @property
    def is_whole(self) -> bool:
        """Whether the text was read to its end, past its slips: it says what `value` is."""
        return self.mended is not None

    def places(self, paths: Iterable[Steps]) -> dict[Steps, Extent]:
        """The offsets of the values at the paths.

        Raises:
            KeyError: nothing stands at one of them.
        """
        # Inside, for weight: only what is wrong or edited has a place.
        from .places import find_places

        return find_places(self.mended or self.text, paths)

    def place(self, start: int, end: int) -> Span:
        """The lines and columns of two offsets."""
        points = self._points([start, end])
        return Span(*points[start], *points[end])

    def _points(self, offsets: Iterable[int]) -> dict[int, tuple[int, int]]:
        """Line and column of each offset, in one pass."""
        points = {}
        line, begins, last = self.first_line, 0, 0
        for offset in sorted(set(offsets)):
            # Only what lies between two offsets is looked at: a line may be all of the text.
            line += self.text.count("\n", last, offset)
            begins = self.text.rfind("\n", last, offset) + 1 or begins
            last = offset
            points[offset] = line, offset - begins + 1
        return points

    def span(self, path: Path, *, key: bool = False) -> Span:
        """Where a value stands, or with `key` the key that names it.

        Raises:
            KeyError: nothing stands there.
        """
        return self.spans([(tuple(path), key)])[tuple(path), key]

    def spans(self, targets: Iterable[tuple[Steps, bool]]) -> dict[tuple[Steps, bool], Span]:
        """Where many values stand, or with true beside a path its key, in one walk.

        Raises:
            KeyError: nothing stands at one of the paths.
        """
        targets = list(targets)
        places = self.places(path for path, _ in targets)
        offsets = {(path, key): _offsets(places[path], key) for path, key in targets}
        points = self._points({offset for pair in offsets.values() for offset in pair})
        return {target: Span(*points[a], *points[b]) for target, (a, b) in offsets.items()}

    def offsets(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """The offsets into the text of a value, or with `key` of the key that names it.

        Raises:
            KeyError: nothing stands there.
        """
        return _offsets(self.places([tuple(path)])[tuple(path)], key)

    def slips(self) -> list[Diagnostic]:
        """The slips of syntax in the text; also nesting that the strict reader still takes."""
        return self._of_slips(_explain(self.text, self.first_line).slips)

    def _of_slips(self, slips: Sequence[Slip]) -> list[Diagnostic]:
        """The slips with their lines and columns, all of them in one pass."""
        points = self._points(offset for slip in slips for offset in (slip.start, slip.end))
        return [
            Diagnostic(
                rule=slip.rule,
                message=slip.message,
                path=self.path,
                span=Span(*points[slip.start], *points[slip.end]),
                label=slip.label,
                notes=(slip.note,) if slip.note else (),
                help=slip.help,
            )
            for slip in slips
        ]

    def find(
        self,
        path: Path,
        *,
        rule: str,
        message: str,
        subject: str = "",
        label: str = "",
        notes: tuple[str, ...] = (),
        help: str = "",  # noqa: A002
        key: bool = False,
    ) -> Diagnostic:
        """A diagnostic about the value at `path`, or with `key` about the key that names it."""
        # Inside, for weight: as above.
        from .places import pointer

        return Diagnostic(
            rule=rule,
            message=message,
            path=self.path,
            span=self.span(path, key=key),
            pointer=pointer(path),
            subject=subject,
            label=label,
            notes=notes,
            help=help,
        )

    def resolve(self, findings: Sequence[Finding]) -> list[Diagnostic]:
        """The findings as diagnostics with places, in file order."""
        if not findings:
            return []
        # Inside, for weight: as above.
        from .places import pointer

        targets = [(finding.at, finding.key) for finding in findings]
        firsts = [(finding.first, False) for finding in findings if finding.first is not None]
        spans = self.spans([*targets, *firsts])
        diagnostics = [
            finding.diagnostic(
                self.path,
                spans[finding.at, finding.key],
                pointer(finding.at),
                spans[finding.first, False] if finding.first is not None else None,
            )
            for finding in findings
        ]
        return sorted(diagnostics, key=lambda d: (d.span or Span(0, 0, 0, 0), d.rule))


def _offsets(place: Extent, key: bool) -> tuple[int, int]:
    return place.key if key and place.key else (place.start, place.end)


def parse(
    data: bytes, path: str, *, first_line: int = 1
) -> tuple[Document | None, list[Diagnostic]]:
    """Read bytes as strict JSON: the document if it has a meaning at all, and every slip.

    A document with slips has the meaning that a lenient reader would give it.
    """
    diagnostics = []
    if data.startswith(codecs.BOM_UTF8):
        data = data[len(codecs.BOM_UTF8) :]
        diagnostics.append(
            Diagnostic(
                rule="byte-order-mark",
                message="the file begins with a byte order mark",
                path=path,
                span=Span(first_line, 1, first_line, 1),
                help="save the file as UTF-8 without BOM",
            )
        )
    try:
        return Document(path, data, _load(data), first_line), diagnostics
    except (ValueError, RecursionError):
        # A decoder may have stopped before it met a byte that is not UTF-8.
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            return None, [_not_utf8(data, error, path, first_line)]
    explanation = _explain(text, first_line)
    document = Document(path, data, explanation.value, first_line, explanation.mended)
    return document, diagnostics + document._of_slips(explanation.slips)


def repeats_a_key(data: bytes) -> bool:
    """Whether a key stands twice in an object of a JSON text, of which most readers keep the last.

    False also where the text is not JSON.
    """
    if _QUOTE not in data:
        with contextlib.suppress(ValueError, RecursionError):
            return not _has_every_quote(msgspec.json.decode(data), data)
    # Inside, for weight: few texts have what msgspec does not read.
    import json

    try:
        json.loads(data, object_pairs_hook=_unique)
    except _Irregular:
        return True
    except (ValueError, RecursionError):
        return False
    return False


def repeated_keys(data: bytes, file: str) -> list[Diagnostic]:
    """What is said of each key that stands twice in an object: another reader takes another one."""
    if not repeats_a_key(data):
        return []
    _, slips = parse(data, file)
    return [slip for slip in slips if slip.rule == "duplicate-key"]


def _has_every_quote(value: Any, data: bytes) -> bool:
    """Whether the value of a text without `_QUOTE` is written with as many quotes as the text has.

    Writing it again drops the quotes of a repeated key, and of nothing else.
    """
    # One entry of an array at a time, so that a large text is not held twice.
    parts = value if isinstance(value, list) else [value]
    return sum(msgspec.json.encode(part).count(b'"') for part in parts) == data.count(b'"')


def _load(data: bytes) -> Any:
    """The value of a strict JSON text.

    Raises:
        ValueError: it is not strict JSON, or not UTF-8.
    """
    if is_too_deep(data):
        raise _Irregular
    # A number of so many digits may be beyond binary64, and the fast decoder would take it.
    if b"\\" not in data and not has_long_number(data):
        with contextlib.suppress(ValueError, OverflowError):
            value = msgspec.json.decode(data)
            if _has_every_quote(value, data):
                return value
    text = data.decode("utf-8")
    if "\\ud" in text or "\\uD" in text:
        # A pair is fine and a half is not: only the slow reader tells them apart.
        explanation = _explain(text)
        if explanation.slips:
            raise _Irregular
        return explanation.value
    # Inside, for weight: the fast decoder takes most texts.
    import json

    return json.loads(
        text,
        object_pairs_hook=_unique,
        parse_constant=_refuse,
        parse_float=_finite,
        parse_int=_whole,
    )


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Irregular
    return members


def _refuse(constant: str) -> None:
    raise _Irregular(constant)


def _finite(literal: str) -> float:
    value = float(literal)
    if not math.isfinite(value):
        raise _Irregular
    return value


def _whole(literal: str) -> int:
    if len(literal) > 300:
        _finite(literal)
    return int(literal)


def _not_utf8(data: bytes, error: UnicodeDecodeError, path: str, first_line: int) -> Diagnostic:
    before = data[: error.start]
    line = before.count(b"\n")
    column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
    utf16 = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    return Diagnostic(
        rule="not-utf-8",
        message=f"the text is UTF-16, not UTF-8: byte 0x{data[0]:02x} at byte offset 0"
        if utf16
        else f"not UTF-8: byte 0x{data[error.start]:02x} at byte offset {error.start}",
        path=path,
        span=Span(first_line + line, column, first_line + line, column + 1),
        label="not UTF-8",
        help="save the file as UTF-8",
    )
