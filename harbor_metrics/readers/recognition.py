"""What a file shows of itself at first sight, and how near that is to each format."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from ..documents.document import parse
from ..documents.parquet import MARK
from ..trials.source import REFUSED
from .files.file import File
from .files.lenient import without_constants
from .files.lines import LongLineError, blocks, each_line
from .files.packed import GZIP, ZIP, ZSTD

# So much is looked at.
HEAD = 1 << 20
# An object, or an array whose first item is JSON, which that of a link in prose is not.
_MAY_BE_JSON = re.compile(rb'[\s\xef\xbb\xbf]*(?:\{|\[\s*(?:[\[{"\]0-9-]|true|false|null|NaN))')
_BEGINS_AN_OBJECT = re.compile(rb'[\s\xef\xbb\xbf]*\{\s*"')
_BLANK = re.compile(rb"(?:[ \t]*[\r\n])*")
_ENDS = re.compile(rb"[\r\n]")
# An object or an array of arrays that goes on below its first line.
_SPANS_LINES = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*(?:\{[ \t\r]*\n\s*"[^"\n]*"\s*:|\[[ \t\r]*\n\s*\[)'
)
_decode_members = json.JSONDecoder(strict=False)
_EMPTY: dict[bytes, Any] = {b"{": {}, b"[": [], b'"': ""}


class Fit(msgspec.Struct, frozen=True):
    """`why` a file is not of a format, empty where it is.

    Of two formats that do not fit the nearer has more `points`, the share of its marks that were
    seen.
    """

    points: float
    why: str = ""


FITS = Fit(1.0)


class Head(msgspec.Struct):
    """The beginning of a file.

    `line` is the first JSON value that stands on a line of its own and is not null; `members` are
    those of one JSON object, also where it spans lines and the head does not hold all of it;
    `broken` says of the first line that is not JSON why it is not. A value that is too long to be
    looked at is an empty one of its kind; `is_unclear` where the first line is too long, or begins
    as an object and is none.
    """

    data: bytes
    line: Any = None
    members: dict[str, Any] = {}
    is_array: bool = False
    is_whole: bool = False
    broken: str = ""
    is_unclear: bool = False

    @property
    def is_zip(self) -> bool:
        """Whether it is an archive."""
        return self.data.startswith(ZIP)

    @property
    def first_text(self) -> str:
        """The first line that is not blank as text, without its end."""
        data = self.data.removeprefix(b"\xef\xbb\xbf")
        blank = _BLANK.match(data)
        line = _ENDS.split(data[blank.end() if blank else 0 :], maxsplit=1)[0]
        return line.decode("utf-8", "replace")

    @property
    def keys(self) -> set[str]:
        """The names in the first object, be it a line's or the document's."""
        return set(self.line if isinstance(self.line, dict) else self.members)

    def share(self, *marks: str) -> float:
        """Which part of these names is there."""
        return len(self.keys & set(marks)) / len(marks)


def head_of(file: File) -> Head:
    """Look at the beginning of a file, and further on while lines say nothing."""
    with open(file.local, "rb") as stream:
        data = stream.read(HEAD)
        is_whole = stream.tell() == os.fstat(stream.fileno()).st_size
    head = Head(data, is_whole=is_whole)
    if head.is_zip or not data.strip():
        head.is_unclear = not (head.is_zip or is_whole)
        return head
    start = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    head.is_array = start == b"["
    if start in (b"{", b"["):
        head.members = members_of(data) if start == b"{" else {}
        if _SPANS_LINES.match(data):
            # Its lines are not values, and a large log has very many.
            return head
    elif start.isalpha() and not data.lstrip().startswith(b"null"):
        # JSON does not begin so: the lines of a table are not looked at one by one.
        blank = data[: len(data) - len(data.lstrip())]
        line = _ENDS.split(data.lstrip(), maxsplit=1)[0]
        head.broken = _first_value(line, 1 + blank.count(b"\n"))[1]
        return head
    if b"\n" not in data and not is_whole:
        if start == b"{":
            head.line = _long_value(file)
            head.is_unclear = head.line is None
        return head
    try:
        for block in blocks(file.local):
            head.line, broken = _first_value(block)
            head.broken = head.broken or broken
            if head.line is not None or broken:
                break
    except LongLineError as error:
        head.broken = head.broken or str(error)
        head.is_unclear = True
    head.is_unclear |= head.line is None and _BEGINS_AN_OBJECT.match(data) is not None
    return head


def _long_value(file: File) -> Any:
    """The object on a first line that is longer than the head; None where that is not one.

    All of it would take fifty times the memory of the line.
    """
    try:
        line = next(blocks(file.local)).lstrip(b"\xef\xbb\xbf \t\r\n").split(b"\n", 1)[0]
    except LongLineError:
        return None
    value = _raw(line) or _raw(without_constants(line))
    left = HEAD
    for name, raw in value.items():
        text = bytes(raw)
        left -= len(text)
        value[name] = _value(text) if left >= 0 else _EMPTY.get(text[:1])
    return value or None


def _value(text: bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except REFUSED:
        return _EMPTY.get(text[:1])


def _raw(line: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    except REFUSED:
        return {}


def document_of(head: Head) -> Any:
    """The value where the head holds one whole JSON document, else None."""
    try:
        return msgspec.json.decode(head.data) if head.is_whole else None
    except REFUSED:
        return None


def members_of(data: bytes) -> dict[str, Any]:
    """The members of an object, as many as are whole; the one that is not is empty, or null."""
    text = data.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    members: dict[str, Any] = {}
    at = 1
    try:
        while True:
            at = _past(text, at, " \t\r\n,")
            if text[at] != '"':
                return members
            name, at = _decode_members.raw_decode(text, at)
            at = _past(text, at, " \t\r\n:")
            members[name] = _EMPTY.get(text[at : at + 1].encode())
            members[name], at = _decode_members.raw_decode(text, at)
    except (ValueError, IndexError, RecursionError):
        return members


def _past(text: str, at: int, skipped: str) -> int:
    while text[at] in skipped:
        at += 1
    return at


def _first_value(block: bytes, first_line: int = 1) -> tuple[Any, str]:
    """The first value on a line that is not null, or why the first line that is not JSON is not.

    A broken object or array decides nothing while another line can be read: the reader names it.
    A line that does not even begin like one shows that these are not JSON lines.
    """
    broken = ""
    for number, line in each_line(block, first_line):
        if line.strip() == b"null":
            continue
        try:
            value = msgspec.json.decode(line)
        except REFUSED:
            document, slips = parse(line, "", first_line=number)
            value = document.value if document else None
            if not isinstance(value, dict) or any(slip.rule == "json-syntax" for slip in slips):
                reason = slips[0].message if slips else ""
                broken = broken or f"line {number}: {reason}"
                if not _MAY_BE_JSON.match(line):
                    break
                continue
        if isinstance(value, dict) or not broken:
            return value, broken
    return None, broken


def mistaken(head: Head) -> str:
    """What a file is that people mistake for a source; empty for others."""
    if packing := _packing(head.data):
        return packing
    keys = head.keys
    if {"trial_name", "task_name"} <= keys:
        return "is the result of one trial; give the directory of its job"
    if {"stats", "n_total_trials"} <= keys:
        return "is a job's own result.json; give the directory it lies in"
    if {"schema_version", "groups"} <= keys:
        return "is a result document that harbor-metrics wrote; give what it was computed from"
    if {"results", "configs", "versions"} <= keys:
        return (
            "is the results file of lm-eval, which has no single samples; give the samples file "
            "beside it (written with --log_samples) or the folder of both"
        )
    dataset = head.line if isinstance(head.line, dict) else head.members
    if isinstance(dataset.get("tasks"), list) and "version" in keys:
        return "is a dataset of a registry; pass a registry with --registry"
    return ""


def _packing(data: bytes) -> str:
    """What is wrong with how a file is packed; empty where nothing is."""
    if data.startswith(MARK):
        return (
            "begins as Parquet does, which an engine reads: give the file itself to `compute`, and "
            "of a CSV name the first column otherwise"
        )
    if data.startswith(b"PK\x05\x06"):
        return "is a zip archive without any member"
    if data.startswith((GZIP, ZSTD)):
        return "is packed twice; unpack it once"
    if not data.startswith(ZIP) and ZIP in data and b"\0" in data:
        return (
            f"is a zip archive with {data.index(ZIP)} bytes of something else before it; "
            "copy it anew"
        )
    return ""


def refusal(head: Head, fits: Sequence[tuple[str, Fit]]) -> str:
    """The two nearest formats, and why each is not it."""
    near = sorted(fits, key=lambda pair: -pair[1].points)[:2]
    reasons = "; ".join(f"not {name}: {fit.why}" for name, fit in near)
    no_json = head.broken and document_of(head) is None
    seen = f"is not JSON lines: {head.broken}" if no_json else "is of no known format"
    if head.members and head.line is None and isinstance(document_of(head), dict):
        seen = "is one JSON object over several lines; JSON lines have each object on one line"
    return f"{seen}; {reasons}"
