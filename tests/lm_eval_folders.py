"""Folders of lm-eval as it lays them: samples of many tasks beside one results file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lm_eval_logs import line, write

STAMP = "2026-01-01T00-00-00.0"


def folder(
    path: Path,
    *,
    tasks: int,
    docs: int = 3,
    metrics: Sequence[str] = ("acc",),
    filters: Sequence[str] = ("none",),
    **more: Any,
) -> Path:
    """A run in which every other document is right, and a group of all its tasks."""
    names = [f"task{i}" for i in range(tasks)]
    values = [float(i % 2) for i in range(docs)]
    mean = sum(values) / docs
    numbers = {f"{metric},{filter_}": mean for metric in metrics for filter_ in filters}
    for name in names:
        rows = [
            line(i, filter=filter_, metrics=list(metrics), **dict.fromkeys(metrics, value))
            for filter_ in filters
            for i, value in enumerate(values)
        ]
        write(path, rows, f"samples_{name}_{STAMP}.jsonl")
    results = {
        "results": {name: {**numbers, "sample_len": docs} for name in names},
        "groups": {"all": numbers},
        "group_subtasks": {"all": names},
        "n-samples": {name: {"original": docs, "effective": docs} for name in names},
        **more,
    }
    (path / f"results_{STAMP}.json").write_text(json.dumps(results))
    return path
