"""A dataset.toml, and the `metric.py` that its `[[files]]` name."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

from .diagnostics import Diagnostic, Span
from .document import Document, parse
from .rules import View, rules

_TABLE = re.compile(r"^\s*(\[dataset\]|dataset\b)", re.MULTILINE)
_METRIC = re.compile(r"""^\s*path\s*=\s*(["']metric\.py["'])""", re.MULTILINE)


def check(path: str, data: bytes) -> list[Diagnostic]:
    """Every mistake in the manifest and in the metric beside it."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return parse(data, path)[1]
    try:
        manifest = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        place = re.search(r"line (\d+), column (\d+)", str(error))
        line, column = (int(place[1]), int(place[2])) if place else (text.count("\n") + 1, 1)
        deep = isinstance(error, RecursionError)
        return [
            Diagnostic(
                rule="too-deep" if deep else "toml-syntax",
                message="nested too deep"
                if deep
                else f"not TOML: {str(error).partition(' (at ')[0]}",
                path=path,
                span=Span(line, column, line, column + 1),
            )
        ]
    found = []
    dataset = manifest.get("dataset")
    if not isinstance(dataset, dict) or not isinstance(dataset.get("name"), str):
        found.append(_in_manifest(path, text, _TABLE, "missing-field", "no `name` in [dataset]"))
    files = manifest.get("files", [])
    for entry in files if isinstance(files, list) else ():
        if isinstance(entry, dict) and entry.get("path") == "metric.py":
            found += _metric_of_manifest(path, text)
    return found


def _metric_of_manifest(path: str, text: str) -> Iterator[Diagnostic]:
    spec = {"type": "uv-script", "kwargs": {"script_path": "metric.py"}}
    view = View([{"name": "the dataset", "version": "", "metrics": [spec]}], path)
    for name, rule in rules().items():
        if name.startswith("script-"):
            for finding in rule(view):
                what = {**finding.what, "subject": "[[files]]"}
                yield _in_manifest(path, text, _METRIC, **what)


def _in_manifest(
    path: str, text: str, mark: re.Pattern[str], rule: str, message: str, **what: Any
) -> Diagnostic:
    """A diagnostic about the first place in a dataset.toml that the mark fits."""
    match = mark.search(text)
    start, end = match.span(1) if match else (0, 0)
    document = Document(path, text.encode(), None)
    return Diagnostic(
        path=path, span=document.place(start, end), rule=rule, message=message, **what
    )
