"""Diagnostics as JSON."""

from __future__ import annotations

import json

from harbor_metrics.documents.diagnostics import Diagnostic
from harbor_metrics.render.json import json as whole
from harbor_metrics.render.json import jsonl

DIAGNOSTICS = [Diagnostic(rule="wrong-type", message=m) for m in ("é\n", "second")]


def test_whole_is_an_array_and_lines_are_its_objects() -> None:
    objects = [diagnostic.as_json() for diagnostic in DIAGNOSTICS]
    assert json.loads(whole(DIAGNOSTICS)) == objects
    assert [json.loads(line) for line in jsonl(DIAGNOSTICS).splitlines()] == objects


def test_nothing_is_an_empty_array_and_no_line() -> None:
    assert (whole([]), jsonl([])) == ("[]\n", "")
