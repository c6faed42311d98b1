"""Rewards or trials: JSON lines, a document a line."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any

import msgspec

from ..documents import mismatch
from ..documents.diagnostics import Diagnostic, Span
from ..documents.document import Document, parse
from ..documents.limits import has_long_number
from ..numbers.exact import Number
from ..readers.files.lines import blocks, each_line, split
from ..trials import rewards
from ..trials.check import check_trial
from ..trials.source import REFUSED
from .search import is_called_registry

ENDINGS = (".jsonl", ".ndjson")
# Slips that leave open which value is meant: nothing else is said of it.
_VALUELESS = {"non-finite-number", "number-out-of-range"}
# How many lines are looked at to tell trials from rewards.
_LOOKED_AT = 50
_SPACE = re.compile(r"\s*")
_decode_rewards = msgspec.json.Decoder(dict[str, Number] | None).decode
_encode_lines = msgspec.json.Encoder().encode_lines
_NOT_OF_A_REWARD = {"name", "version", "tasks", "datasets", "metrics", "groups", "schema_version"}


def is_lines(path: str, data: bytes) -> bool:
    """Whether a text is JSON lines: by its name, or because each of its first lines is whole."""
    if path.endswith(ENDINGS):
        return True
    if is_called_registry(path):
        return False
    first, second = [*islice(_stripped(data), 2), b"", b""][:2]
    if first[:1] == b"[":
        return False
    document, slips = parse(first, "")
    value = document.value if document else None
    in_braces = first[:1] == b"{" and first[-1:] == b"}"
    if slips and not in_braces:
        return False
    if second:
        return second[:1] in b"{n-0123456789"
    return (
        isinstance(value, dict)
        and bool(value)
        and not path.endswith(".json")
        and not value.keys() & _NOT_OF_A_REWARD
    )


def _stripped(data: bytes) -> Iterator[bytes]:
    """The lines that are not blank, without white space around them."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start) + 1 or len(data)
        line = data[start:end].strip()
        start = end
        if line:
            yield line


def are_clean(path: str) -> bool:
    """Whether nothing is wrong in a file of lines, of which no more than a block is kept.

    False also where only `check` can tell.

    Raises:
        OSError: the file cannot be read.
    """
    with open(path, "rb") as file:
        first = [*islice((line for line in file if line.strip()), _LOOKED_AT)]
    is_trials = _are_trials(document.value for line in first if (document := parse(line, "")[0]))
    decode = msgspec.json.decode if is_trials else _decode_rewards
    fits = partial(mismatch.fits, noun="trial")
    try:
        for block in blocks(path):
            if b"\\" in block or has_long_number(block):
                return False
            values = [decode(line) for line in split(block) if line.strip()]
            # Written again a repeated key has lost its quotes.
            if _encode_lines(values).count(b'"') != block.count(b'"'):
                return False
            if is_trials and not all(map(fits, values)):
                return False
    except REFUSED:
        return False
    return bool(first)


def check(path: str, data: bytes) -> list[Diagnostic]:
    """Every mistake in the lines; they are trials where one of the first names a task."""
    if not data.strip():
        message = "the file is empty"
        return [Diagnostic(rule="json-syntax", message=message, path=path, span=Span(1, 1, 1, 1))]
    not_utf8: list[Diagnostic] = []
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        not_utf8 = parse(data, path)[1]
        if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return not_utf8
    spread = _spread_over_lines(data)
    if spread is not None:
        return in_file_order(not_utf8, _of_values(path, spread))
    diagnostics: list[Diagnostic] = []
    first = (parse(line, path)[0] for line in islice(_stripped(data), _LOOKED_AT))
    check_line = _check_of(document.value for document in first if document)
    for number, line in each_line(data, 1):
        document, slips = parse(line, path, first_line=number)
        is_whole = document is not None and document.is_whole
        found = check_line(document, f"line {number}") if document and is_whole else []
        diagnostics += in_file_order(slips, found)
    return diagnostics


def _check_of(values: Iterable[Any]) -> Callable[[Document, str], list[Diagnostic]]:
    """What checks each of the values: they are trials where one of them names a task."""
    return _trial if _are_trials(values) else _rewards


def _are_trials(values: Iterable[Any]) -> bool:
    return any(isinstance(v, dict) and isinstance(v.get("task"), str) for v in values)


def _spread_over_lines(data: bytes) -> list[tuple[int, str]] | None:
    """Line and text of each value, where values take several lines; None where none does.

    None also where something is wrong with one of them, which its line tells best.
    """
    first = next(_stripped(data), b"")
    document, _ = parse(first, "")
    if document is not None and document.is_whole:
        return None
    values = []
    text = data.decode("utf-8-sig", "replace")
    decoder = json.JSONDecoder(strict=False)
    at, line = _SPACE.match(text).end(), 1  # type: ignore[union-attr]  # matches always
    last = 0
    while at < len(text):
        try:
            _, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return None
        line += text.count("\n", last, at)
        values.append((line, text[at:end]))
        last = at
        at = _SPACE.match(text, end).end()  # type: ignore[union-attr]  # matches always
    return values if any("\n" in value for _, value in values) else None


def _of_values(path: str, values: list[tuple[int, str]]) -> list[Diagnostic]:
    """What is wrong with values that take several lines: that they do, and what is in them."""
    parsed = [
        parse(text.encode("utf-8", "replace"), path, first_line=line) for line, text in values
    ]
    check_value = _check_of(document.value for document, _ in parsed if document)
    found = [
        diagnostic
        for document, slips in parsed
        if document is not None
        for diagnostic in in_file_order(
            slips,
            check_value(document, f"line {document.first_line}") if document.is_whole else [],
        )
    ]
    if any(isinstance(document.value, list) for document, _ in parsed if document):
        return found
    line = next(line for line, text in values if "\n" in text)
    spread = Diagnostic(
        rule="not-json-lines",
        message="an object is spread over several lines; a line is one object, or null",
        path=path,
        span=Span(line, 1, line, 2),
        label="begins here",
        help="write each object on a line of its own: `jq -c . FILE`",
    )
    return in_file_order([spread], found)


def in_file_order(slips: list[Diagnostic], found: list[Diagnostic]) -> list[Diagnostic]:
    """The slips of a text and what else is wrong with it, without what is wrong by a slip."""
    spoilt = {_start(slip) for slip in slips if slip.rule in _VALUELESS}
    both = [*slips, *(d for d in found if _start(d) not in spoilt)]
    return sorted(both, key=_start)


def _start(diagnostic: Diagnostic) -> tuple[int, int]:
    span = diagnostic.span
    return (span.line, span.column) if span else (0, 0)


def _rewards(document: Document, subject: str) -> list[Diagnostic]:
    if isinstance(document.value, list):
        return [
            document.find(
                [],
                rule="not-json-lines",
                message="rewards come as JSONL, an object or null a line, not as a JSON array",
                help="write each object on a line of its own, without the array",
            )
        ]
    return rewards.check(document, [], subject)


def _trial(document: Document, subject: str) -> list[Diagnostic]:
    return [] if mismatch.fits(document.value, "trial") else check_trial(document, subject)
