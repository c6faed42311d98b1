"""A dataset.toml, and the `metric.py` that its `[[files]]` name."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

from ..documents.diagnostics import Diagnostic, Span
from ..documents.document import Document, parse
from .rules import View, rules, run

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
    diagnostics = []
    dataset = manifest.get("dataset")
    if not isinstance(dataset, dict) or not isinstance(dataset.get("name"), str):
        message, span = "no `name` in [dataset]", _place(text, _TABLE)
        diagnostics.append(Diagnostic(rule="missing-field", message=message, path=path, span=span))
    files = manifest.get("files", [])
    for entry in files if isinstance(files, list) else ():
        if isinstance(entry, dict) and entry.get("path") == "metric.py":
            diagnostics += _metric_of_manifest(path, text)
    return diagnostics


def _metric_of_manifest(path: str, text: str) -> Iterator[Diagnostic]:
    spec = {"type": "uv-script", "kwargs": {"script_path": "metric.py"}}
    view = View([{"name": "the dataset", "version": "", "metrics": [spec]}], path)
    for finding in run(view, [name for name in rules() if name.startswith("script-")]):
        yield finding._replace(subject="[[files]]").diagnostic(path, _place(text, _METRIC))


def _place(text: str, mark: re.Pattern[str]) -> Span:
    """The first place in a dataset.toml that the mark fits."""
    match = mark.search(text)
    start, end = match.span(1) if match else (0, 0)
    return Document("", text.encode(), None).place(start, end)
