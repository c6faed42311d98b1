"""Samples of lm-eval: those of tests/logs, and others written by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from conftest import HERE

from harbor_metrics import readers
from harbor_metrics.trials.source import Source

LOGS = HERE / "logs" / "lm_eval"
NEW, OLD = LOGS / "0.5.0.dev1", LOGS / "0.4.13"


def source(task: str, folder: Path = OLD) -> Source:
    (found,) = readers.read(str(next(folder.glob(f"samples_{task}_*"))))
    return found


def line(doc_id: Any = 0, **more: Any) -> dict[str, Any]:
    """A line as lm-eval writes it, without what is never read."""
    row = {"doc_id": doc_id, "doc": {"q": "?"}, "target": "t", "resps": [["a"]]}
    return {**row, "filtered_resps": ["a"], "filter": "none", "arguments": {}, **more}


def write(folder: Path, rows: list[dict[str, Any]], name: str = "samples.jsonl") -> Path:
    text = "".join(
        json.dumps({**row, "metrics": row.get("metrics", ["acc"])}) + "\n" for row in rows
    )
    (folder / name).write_text(text)
    return folder / name
