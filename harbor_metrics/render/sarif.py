"""Findings as SARIF 2.1.0, for code scanning."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote

from .. import __version__
from ..documents.diagnostics import Diagnostic, Severity
from ..documents.wording import encodable, without_passwords

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def sarif(diagnostics: Sequence[Diagnostic], explain: Callable[[str], str]) -> str:
    """One run with every diagnostic; `explain` gives the help of a rule."""
    rules = sorted({d.rule for d in diagnostics})
    driver = {
        "name": "harbor-metrics",
        "version": __version__,
        "rules": [_rule(rule, explain(rule)) for rule in rules],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(d, rules.index(d.rule)) for d in diagnostics],
    }
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2) + "\n"


def _rule(name: str, text: str) -> dict[str, Any]:
    paragraphs = text.split("\n\n")
    return {
        "id": name,
        "shortDescription": {"text": " ".join(paragraphs[1].split())},
        "help": {"text": "\n\n".join(" ".join(p.split()) for p in paragraphs[1:])},
    }


def _plain(text: str) -> str:
    """The text as a message that has neither placeholders, 3.11.5, nor links, 3.11.6."""
    text = text.replace("{", "{{").replace("}", "}}")
    if "](" not in text:
        return text
    # A backslash before a bracket would make that of ours one of the text.
    return text.replace("\\", r"\\").replace("[", r"\[").replace("]", r"\]")


def _result(d: Diagnostic, index: int) -> dict[str, Any]:
    sentences = [f"{d.message}.", *(f"{note}." for note in d.notes)]
    if d.help:
        sentences.append(f"Help: {d.help}.")
    result: dict[str, Any] = {
        "ruleId": d.rule,
        "ruleIndex": index,
        "level": _LEVELS[d.severity],
        "message": {"text": _plain(encodable(without_passwords(" ".join(sentences))))},
    }
    if d.path is not None:
        physical: dict[str, Any] = {"artifactLocation": {"uri": quote(encodable(d.path))}}
        if d.span:
            physical["region"] = {
                "startLine": d.span.line,
                "startColumn": d.span.column,
                "endLine": d.span.end_line,
                "endColumn": d.span.end_column,
            }
        location: dict[str, Any] = {"physicalLocation": physical}
        if d.pointer:
            name = encodable(str(d.shown_pointer))
            location["logicalLocations"] = [{"fullyQualifiedName": name}]
        result["locations"] = [location]
    return result
