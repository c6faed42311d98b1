"""The digest beside a metric's `kwargs`: the script that was looked at, and no other, is run."""

from __future__ import annotations

from typing import Any

from ..metric import UV_SCRIPT
from .file import ScriptError, find


def digest_of(entry: dict[str, Any], registry: str) -> str | None:
    """What the `sha256` of a metric must be; None where there is no script file to take it from.

    A script in a git repository is pinned by its commit.
    """
    kwargs = entry.get("kwargs")
    if entry.get("type") != UV_SCRIPT or not isinstance(kwargs, dict) or kwargs.get("git_url"):
        return None
    path = kwargs.get("script_path")
    if not isinstance(path, str) or not path:
        return None
    try:
        return find(path, registry).sha256
    except (ScriptError, OSError):
        return None


def differs(entry: dict[str, Any], digest: str) -> bool:
    """Whether the metric names another digest than this; an entry without a pin names any."""
    pin = entry.get("sha256")
    return isinstance(pin, str) and pin.lower() != digest
