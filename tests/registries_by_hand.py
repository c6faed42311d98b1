"""Entries of registries: a dataset, a metric."""

from __future__ import annotations

import json
from typing import Any

# One task, and a text that is not ASCII.
DATASET: dict[str, Any] = {
    "name": "a",
    "version": "1",
    "description": "é \u2028",
    "tasks": [{"name": "t", "path": "p"}],
}


def dataset(name: str, version: str = "1", **more: object) -> dict[str, Any]:
    return {"name": name, "version": version, "description": "", "tasks": [], **more}


def entry(type_: str, **kwargs: Any) -> str:
    """A metric with its kwargs, as `--metric` takes it."""
    return json.dumps({"type": type_, "kwargs": kwargs})
