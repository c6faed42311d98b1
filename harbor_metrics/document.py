"""JSON text that knows where everything stands: strict reading, pointer -> span."""

from __future__ import annotations

import codecs
import contextlib
import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from json.decoder import scanstring  # type: ignore[attr-defined]  # real, but not in the stubs
from json.scanner import c_make_scanner  # type: ignore[import-untyped,attr-defined,unused-ignore]
from typing import Any, NamedTuple

import msgspec

from .diagnostics import Diagnostic, Severity, Span
from .errors import InputError
from .syntax import Slip, explain

Path = Sequence[str | int]

_DIGITS = bytes.maketrans(b"123456789", b"000000000")
_SPACE = re.compile(r"[ \t\n\r]*")
_scan_once: Callable[[str, int], tuple[Any, int]] = c_make_scanner(json.JSONDecoder())
_Tree = dict[str | int, "_Tree"]
_Walked = dict[tuple[str | int, ...], tuple[int, int, tuple[int, int] | None]]


class _Irregular(ValueError):
    """Strict JSON forbids what json.loads has just met; `syntax` says what and where."""


class Finding(NamedTuple):
    """What a rule has found: the path of the value, or with `key` of the key, and what to say."""

    at: tuple[str | int, ...]
    what: dict[str, Any]
    key: bool = False


@dataclass(frozen=True)
class Document:
    """A text, what it says, and which line of which file it begins on."""

    path: str
    data: bytes
    value: Any
    first_line: int = 1

    @cached_property
    def text(self) -> str:
        """The bytes as text; a document without mistakes never needs it."""
        return self.data.decode("utf-8")

    def place(self, start: int, end: int) -> Span:
        """The lines and columns of two offsets."""
        places = self._places([start, end])
        return Span(*places[start], *places[end])

    def _places(self, offsets: Iterable[int]) -> dict[int, tuple[int, int]]:
        """Line and column of each offset, in one pass."""
        places = {}
        line, last = self.first_line, 0
        for offset in sorted(offsets):
            line += self.text.count("\n", last, offset)
            last = offset
            places[offset] = line, offset - self.text.rfind("\n", 0, offset)
        return places

    def span(self, path: Path, *, key: bool = False) -> Span:
        """Where a value stands, or with `key` the key that names it.

        Raises:
            KeyError: nothing stands there.
        """
        return self.spans([(tuple(path), key)])[tuple(path), key]

    def spans(self, wanted: Iterable[tuple[tuple[str | int, ...], bool]]) -> dict[Any, Span]:
        """As `span` for many paths, in one walk through the text."""
        wanted = list(wanted)
        places = self._walked(path for path, _ in wanted)
        offsets = {}
        for path, key in wanted:
            start, end, named = places[path]
            offsets[path, key] = named if key and named else (start, end)
        at = self._places({offset for pair in offsets.values() for offset in pair})
        return {which: Span(*at[start], *at[end]) for which, (start, end) in offsets.items()}

    def _walked(self, paths: Iterable[tuple[str | int, ...]]) -> _Walked:
        """Offsets of each value and of its key, in one walk through the text."""
        tree: _Tree = {}
        for path in paths:
            node = tree
            for step in path:
                node = node.setdefault(step, {})
        places: _Walked = {}
        _walk(self.text, _past_space(self.text, 0), tree, (), None, places)
        return places

    def offsets(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        """As `span`, in offsets into the text.

        Raises:
            KeyError: nothing stands there.
        """
        start, end, named = self._walked([tuple(path)])[tuple(path)]
        return named if key and named else (start, end)

    def slips(self) -> list[Diagnostic]:
        """What the patient reader finds in the text; it is stricter about depth."""
        return [_diagnostic(self, slip) for slip in explain(self.text, self.first_line)[1]]

    def find(self, path: Path, *, key: bool = False, **what: Any) -> Diagnostic:
        """A diagnostic about the value at `path`."""
        return Diagnostic(
            path=self.path, span=self.span(path, key=key), pointer=pointer(path), **what
        )

    def resolve(self, findings: Sequence[Finding]) -> list[Diagnostic]:
        """The findings as diagnostics with places, in file order."""
        spans = self.spans((finding.at, finding.key) for finding in findings)
        found = [
            Diagnostic(
                path=self.path,
                span=spans[finding.at, finding.key],
                pointer=pointer(finding.at),
                **finding.what,
            )
            for finding in findings
        ]
        return sorted(found, key=lambda d: (d.span or Span(0, 0, 0, 0), d.rule))


def pointer(path: Path) -> str:
    """The JSON pointer (RFC 6901) of a path."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)


def parse(
    data: bytes, path: str, *, first_line: int = 1
) -> tuple[Document | None, list[Diagnostic]]:
    """Read bytes as strict JSON: the document if it has a meaning at all, and every slip.

    A document with slips has the meaning that a lenient reader would give it.
    """
    found = []
    if data.startswith(codecs.BOM_UTF8):
        data = data[len(codecs.BOM_UTF8) :]
        found.append(
            Diagnostic(
                rule="byte-order-mark",
                message="the file begins with a byte order mark",
                path=path,
                span=Span(first_line, 1, first_line, 1),
                notes=("Harbor cannot read a file with it",),
                help="save the file as UTF-8 without BOM",
            )
        )
    try:
        return Document(path, data, _load(data), first_line), found
    except UnicodeDecodeError as error:
        return None, [_not_utf8(data, error, path, first_line)]
    except (ValueError, RecursionError):
        value, slips = explain(data.decode("utf-8"), first_line)
    document = Document(path, data, value, first_line)
    found += [_diagnostic(document, slip) for slip in slips]
    return document, found


def _load(data: bytes) -> Any:
    """The value of a strict JSON text.

    Raises:
        UnicodeDecodeError: it is not UTF-8.
        ValueError: it is not strict JSON.
    """
    # A number of so many digits may be beyond binary64, and the fast decoder would take it.
    if b"\\" not in data and b"0" * 300 not in data.translate(_DIGITS):
        with contextlib.suppress(ValueError, OverflowError):
            value = msgspec.json.decode(data)
            # Writing it again drops the quotes of a repeated key, and of nothing else.
            if msgspec.json.encode(value).count(b'"') == data.count(b'"'):
                return value
    text = data.decode("utf-8")
    if "\\ud" in text or "\\uD" in text:
        # A pair is fine and a half is not: only the slow reader tells them apart.
        value, slips = explain(text)
        if slips:
            raise _Irregular
        return value
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


def _diagnostic(document: Document, slip: Slip) -> Diagnostic:
    return Diagnostic(
        rule=slip.rule,
        severity=Severity.ERROR,
        message=slip.message,
        path=document.path,
        span=document.place(slip.start, slip.end),
        label=slip.label,
        notes=(slip.note,) if slip.note else (),
        help=slip.help,
    )


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


def read_bytes(path: str) -> bytes:
    """The whole of a file.

    Raises:
        InputError: it cannot be read; the reason is in the message.
    """
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise InputError(f"{path}: {reason(error)}") from error
    except ValueError as error:
        raise InputError(f"{path!r} is no path: {error}") from error


def reason(error: OSError) -> str:
    """What the system says, without the number and the path."""
    return error.strerror or str(error)


def _past_space(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]  # matches always


def _walk(
    text: str,
    at: int,
    node: _Tree,
    path: tuple[str | int, ...],
    named: tuple[int, int] | None,
    places: _Walked,
) -> int:
    """Note the places of the nodes below the value at `at`; the offset just behind that value.

    What no node is asked for is skipped by the scanner of `json`, which runs in C.
    """
    if not node:
        end = _scan_once(text, at)[1]
        places[path] = at, end, named
        return end
    start, is_object = at, text[at] == "{"
    left = len(node)
    at = _past_space(text, at + 1)
    index = 0
    while text[at] not in "]}":
        key: tuple[int, int] | None = None
        step: str | int = index
        if is_object:
            key_at = at
            step, at = scanstring(text, at + 1)
            key = (key_at, at)
            at = _past_space(text, _past_space(text, at) + 1)
        if step in node:
            left -= 1
            at = _walk(text, at, node[step], (*path, step), key, places)
        else:
            at = _scan_once(text, at)[1]
        at = _past_space(text, at)
        if text[at] == ",":
            at = _past_space(text, at + 1)
        index += 1
    if left:
        raise KeyError(path)
    places[path] = start, at + 1, named
    return at + 1
