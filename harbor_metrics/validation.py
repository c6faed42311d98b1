"""Documents -> diagnostics: strict reading, then the schema, then the rules."""

from __future__ import annotations

import codecs
import glob
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import manifest, rewards, schema_check, schemas
from .diagnostics import Diagnostic, Severity, Span
from .document import Document, Finding, parse, read_bytes
from .errors import InputError, UsageError
from .readers.lines import each_line
from .rules import View, rules

STDIN = "-"
# Lines that tell rewards from trials.
_LOOKED_AT = 50
# Slips that leave the meaning of a text, and its offsets, as they are.
_NOT_OF_A_REWARD = {"name", "version", "tasks", "datasets", "metrics", "groups", "schema_version"}
_HARMLESS = {"byte-order-mark"}


@dataclass(slots=True)
class Report:
    """What was found in some documents: in file order, with the texts that the places are in."""

    found: list[Diagnostic] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)
    n_files: int = 0
    n_datasets: int = 0
    unread: list[InputError] = field(default_factory=list)
    # Rule -> how often it would have spoken, and why it was told not to.
    ignored: dict[str, tuple[int, str]] = field(default_factory=dict)

    def count(self, severity: Severity) -> int:
        """How many findings are that severe."""
        return sum(d.severity == severity for d in self.found)

    @property
    def ok(self) -> bool:
        """Whether there is no error, and every file was read."""
        return not self.count(Severity.ERROR) and not self.unread


def validate(
    *paths: str | os.PathLike[str],
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    reasons: Mapping[str, str] | None = None,
) -> Report:
    """Every mistake in registries, result documents, rewards and trials files, dataset.toml.

    Nothing is run and nothing fetched. A path may be a pattern such as `**/registry.json`, or `-`
    for standard input. `select` keeps only these rules, `ignore` leaves rules out; `reasons` leaves
    rules out too, and the report says how often, with the reason.

    Raises:
        InputError: no file can be read, or a pattern matches none.
    """
    if not paths:
        raise UsageError("no file was given")
    report = Report()
    for path in dict.fromkeys(expanded([os.fspath(p) for p in paths])):
        try:
            data = sys.stdin.buffer.read() if path == STDIN else read_bytes(path)
        except InputError as error:
            report.unread.append(error)
            continue
        report.n_files += 1
        report.found += _of_file(path, data, report)
    if not report.n_files and report.unread:
        raise report.unread[0]
    report.found = [
        d for d in report.found if (not select or d.rule in select) and d.rule not in ignore
    ]
    for rule, reason in (reasons or {}).items():
        n = sum(d.rule == rule for d in report.found)
        if n:
            report.ignored[rule] = n, reason
            report.found = [d for d in report.found if d.rule != rule]
    return report


def expanded(paths: Iterable[str]) -> Iterator[str]:
    """The paths with patterns replaced by the files that they match.

    Raises:
        InputError: a pattern matches none, or a path is a directory.
    """
    for path in paths:
        if path == STDIN or os.path.exists(path) or not glob.has_magic(path):
            if os.path.isdir(path):
                raise InputError(f"{path} is a directory", "name a file, such as registry.json")
            yield path
            continue
        matches = sorted(m for m in glob.glob(path, recursive=True) if not os.path.isdir(m))
        if not matches:
            raise InputError(f"no file matches {path}")
        yield from matches


def _of_file(path: str, data: bytes, report: Report) -> list[Diagnostic]:
    shown = os.fsencode(path).decode("utf-8", "backslashreplace")
    if path.endswith(".toml"):
        report.n_datasets += 1
        report.sources[shown] = data.decode("utf-8", "replace")
        return manifest.check(path, data)
    if _is_lines(path, data):
        report.sources[shown] = data.decode("utf-8-sig", "replace")
        return _lines(shown, data)
    document, found = parse(data, shown)
    if document is None:
        return found
    if all(d.rule in _HARMLESS for d in found):
        found = [*found, *_document(document, report)]
    if found:
        report.sources[shown] = document.text
    return found


def _is_lines(path: str, data: bytes) -> bool:
    """Whether a text is JSON lines: by its name, or because each of its first lines is whole."""
    if path.endswith((".jsonl", ".ndjson")):
        return True
    first, second = [*_first_lines(data, 2), b"", b""][:2]
    document, slips = parse(first, "")
    value = document.value if document else None
    braced = first[:1] == b"{" and first[-1:] == b"}"
    if isinstance(value, list) or (slips and not braced):
        return False
    if second:
        return second[:1] in b"{n-0123456789"
    return (
        isinstance(value, dict)
        and bool(value)
        and not path.endswith(".json")
        and not value.keys() & _NOT_OF_A_REWARD
    )


def _first_lines(data: bytes, n: int) -> Iterator[bytes]:
    """The first lines that are not blank, without white space around them."""
    at = 0
    while n and at < len(data):
        end = data.find(b"\n", at) + 1 or len(data)
        line = data[at:end].strip()
        at = end
        if line:
            n -= 1
            yield line


def _document(document: Document, report: Report) -> list[Diagnostic]:
    value = document.value
    if isinstance(value, dict):
        return _single_object(document)
    if not isinstance(value, list):
        return [
            document.find(
                [],
                rule="not-a-registry",
                message=f"a registry is an array of datasets, not {rewards.article(value)}",
            )
        ]
    if any(value[:3]) and all(_only_numbers(entry) for entry in value[:3]):
        return [
            document.find(
                [],
                rule="not-json-lines",
                message="rewards come as JSONL, not as a JSON array",
                label="an array",
                help="write an object or null a line, without the array and its commas",
            )
        ]
    report.n_datasets += len(value)
    return validate_document(document)


def validate_document(document: Document) -> list[Diagnostic]:
    """What the schema and the rules find in an array of datasets."""
    value = document.value
    if not value:
        return [
            document.find(
                [],
                rule="empty-registry",
                severity=Severity.WARNING,
                message="there is no dataset in the registry",
            )
        ]
    try:
        findings = findings_in(value, document.path)
    except (ValueError, RecursionError):
        return document.slips()  # deeper than the validator goes
    return document.resolve(findings) if findings else []


def findings_in(datasets: list[Any], path: str) -> list[Finding]:
    """What the schema and the rules find, without places; `path` is the registry's."""
    view = View(datasets, path)
    findings = list(schema_check.of_registry(datasets))
    for rule in rules().values():
        findings += rule(view)
    return findings


def _only_numbers(entry: Any) -> bool:
    return entry is None or (
        isinstance(entry, dict)
        and bool(entry)
        and all(type(value) in (int, float) for value in entry.values())
    )


def _single_object(document: Document) -> list[Diagnostic]:
    value = document.value
    if "groups" in value and "schema_version" in value:
        return document.resolve(list(schema_check.explained(value, "result", ())))
    if "name" in value and "tasks" in value:
        return [
            document.find(
                [],
                rule="not-a-registry",
                message="this is a single dataset; a registry is an array of datasets",
                label="a dataset",
                notes=("Harbor iterates over the keys of an object and fails",),
                help="put `[` before it and `]` behind it",
            )
        ]
    if isinstance(value.get("datasets"), list):
        return [
            document.find(
                ["datasets"],
                key=True,
                rule="not-a-registry",
                message="a registry is an array of datasets, without an object around it",
                help="keep only the array",
            )
        ]
    return [
        document.find(
            [],
            rule="not-a-registry",
            message="this object is neither a registry nor a result document",
            help="a registry is an array of datasets",
        )
    ]


def _lines(path: str, data: bytes) -> list[Diagnostic]:
    """Rewards or trials, a document a line."""
    if not data.strip():
        message = "the file is empty"
        return [Diagnostic(rule="json-syntax", message=message, path=path, span=Span(1, 1, 1, 1))]
    found: list[Diagnostic] = []
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        found += parse(data, path)[1]
        if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return found
    first = (parse(line, path)[0] for line in _first_lines(data, _LOOKED_AT))
    is_trials = any(
        isinstance(d.value, dict) and isinstance(d.value.get("task"), str) for d in first if d
    )
    check = _trial_checker() if is_trials else _rewards_of_line
    for number, line in each_line(data, 1):
        document, slips = parse(line, path, first_line=number)
        found += [slip for slip in slips if slip.rule != "not-utf-8"]
        if document is not None and all(slip.rule in _HARMLESS for slip in slips):
            found += check(document, number)
    return found


def _rewards_of_line(document: Document, number: int) -> list[Diagnostic]:
    if isinstance(document.value, list):
        return [
            document.find(
                [],
                rule="not-json-lines",
                message="rewards come as JSONL, an object or null a line, not as a JSON array",
                help="write each object on a line of its own, without the array",
            )
        ]
    return rewards.check(document, [], f"line {number}")


def _trial_checker() -> Callable[[Document, int], list[Diagnostic]]:
    import jsonschema_rs

    decide = jsonschema_rs.validator_for(schemas.bundled("trials"))

    def check(document: Document, number: int) -> list[Diagnostic]:
        if decide.is_valid(document.value):
            return []
        value = document.value
        subject = f"line {number}"
        if isinstance(value, dict) and "rewards" in value:
            found = rewards.check(document, ["rewards"], subject)
            if found:
                return found
        return document.resolve(list(schema_check.explained(value, "trials", (), subject)))

    return check
