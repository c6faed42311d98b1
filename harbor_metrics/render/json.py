"""Findings as JSON (schemas/diagnostics.schema.json), whole or a line each."""

from __future__ import annotations

import json as _json
from collections.abc import Iterable

from ..diagnostics import Diagnostic


def json(found: Iterable[Diagnostic]) -> str:
    """An array, indented."""
    return _json.dumps([d.as_json() for d in found], indent=2) + "\n"


def jsonl(found: Iterable[Diagnostic]) -> str:
    """An object a line."""
    return "".join(_json.dumps(d.as_json()) + "\n" for d in found)
