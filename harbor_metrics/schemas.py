"""The shipped document schemas."""

from __future__ import annotations

import json
import os
from functools import cache
from typing import Any

NAMES = ("registry", "metric", "rewards", "trials", "result", "diagnostics")


def folder() -> str:
    """Where the schemas lie: in the package, or beside it in a checkout."""
    here = os.path.dirname(os.path.abspath(__file__))
    inside = os.path.join(here, "schemas")
    return inside if os.path.isdir(inside) else os.path.join(os.path.dirname(here), "schemas")


@cache
def load(name: str) -> dict[str, Any]:
    """One schema as it is written.

    Raises:
        KeyError: there is no such schema.
    """
    if name not in NAMES:
        raise KeyError(name)
    with open(os.path.join(folder(), f"{name}.schema.json"), encoding="utf-8") as file:
        schema: dict[str, Any] = json.load(file)
    return schema


@cache
def structure(name: str) -> dict[str, Any]:
    """A schema whole but without the kwargs of each metric type, which a rule explains better."""
    schema = bundled(name)
    schema.get("$defs", {}).get("metric", {}).pop("allOf", None)
    return schema


def bundled(name: str) -> dict[str, Any]:
    """One schema whole: every other schema that it refers to put into its `$defs`."""
    schema: dict[str, Any] = json.loads(json.dumps(load(name)))
    wanted: dict[str, dict[str, Any]] = {}
    _inline(schema, wanted)
    if wanted:
        schema["$defs"] = {**wanted, **schema.get("$defs", {})}
    return schema


def _inline(node: Any, wanted: dict[str, dict[str, Any]]) -> None:
    """Turn references to sibling files into references to `$defs`, and collect those files."""
    if isinstance(node, list):
        for item in node:
            _inline(item, wanted)
    if not isinstance(node, dict):
        return
    reference = node.get("$ref", "")
    if isinstance(reference, str) and reference.endswith(".schema.json"):
        name = reference.removesuffix(".schema.json")
        node["$ref"] = f"#/$defs/{name}"
        if name not in wanted:
            other: dict[str, Any] = json.loads(json.dumps(load(name)))
            other.pop("$schema")
            other.pop("$id")
            wanted[name] = other
            _inline(other, wanted)
            # References inside must stay right where the schema now stands.
            wanted.update(other.pop("$defs", {}))
    for key, value in node.items():
        if key not in ("examples", "const", "enum", "default"):
            _inline(value, wanted)
