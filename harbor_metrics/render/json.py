"""Diagnostics as JSON (schemas/diagnostics.schema.json), whole or a line each."""

from __future__ import annotations

import json as _json
from collections.abc import Iterable

from ..documents.diagnostics import Diagnostic


def json(diagnostics: Iterable[Diagnostic]) -> str:
    """An array, indented."""
    return _json.dumps([d.as_json() for d in diagnostics], indent=2) + "\n"


def jsonl(diagnostics: Iterable[Diagnostic]) -> str:
    """An object on each line."""
    return "".join(_json.dumps(d.as_json()) + "\n" for d in diagnostics)
