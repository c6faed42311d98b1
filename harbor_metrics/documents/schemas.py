"""The shipped document schemas."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

NAMES = (
    "registry",
    "metric",
    "rewards",
    "trials",
    "result",
    "comparison",
    "manifest",
    "diagnostics",
    "snapshot",
)
# How a schema is named, whatever address its file has: the number is that of documents' form.
_ID = re.compile(r"urn:harbor-metrics:schema:(\w+):\d+")


def folder() -> str:
    """The folder of the schemas: in the package, or beside it in a checkout."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    inside = os.path.join(here, "schemas")
    return inside if os.path.isdir(inside) else os.path.join(os.path.dirname(here), "schemas")


@cache
def load(name: str) -> dict[str, Any]:
    """A schema as it is written.

    Raises:
        KeyError: no schema has that name.
    """
    if name not in NAMES:
        raise KeyError(name)
    with open(os.path.join(folder(), f"{name}.schema.json"), encoding="utf-8") as file:
        schema: dict[str, Any] = json.load(file)
    return schema


def bundled(name: str, composed: Mapping[str, dict[str, Any]] | None = None) -> dict[str, Any]:
    """A schema that needs no other file: those it refers to are in its `$defs`.

    `composed` are schemas to take instead of those that are written, by name.
    """
    files = {**{other: load(other) for other in NAMES}, **(composed or {})}
    schema: dict[str, Any] = json.loads(json.dumps(files[name]))
    wanted: dict[str, dict[str, Any]] = {}
    _inline(schema, wanted, files)
    if wanted:
        schema["$defs"] = {**wanted, **schema.get("$defs", {})}
    return schema


def _inline(
    node: Any, wanted: dict[str, dict[str, Any]], files: Mapping[str, dict[str, Any]]
) -> None:
    """Turn references to other schemas into references to `$defs`, and collect those schemas."""
    if isinstance(node, list):
        for item in node:
            _inline(item, wanted, files)
    if not isinstance(node, dict):
        return
    reference = node.get("$ref", "")
    match = _ID.fullmatch(reference) if isinstance(reference, str) else None
    if match is not None:
        name = match[1]
        node["$ref"] = f"#/$defs/{name}"
        if name not in wanted:
            other: dict[str, Any] = json.loads(json.dumps(files[name]))
            other.pop("$schema")
            other.pop("$id")
            wanted[name] = other
            _inline(other, wanted, files)
            # References inside must stay right where the schema now stands.
            wanted.update(other.pop("$defs", {}))
    for key, value in node.items():
        if key not in ("examples", "const", "enum", "default"):
            _inline(value, wanted, files)
