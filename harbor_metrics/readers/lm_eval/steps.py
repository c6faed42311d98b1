"""What lies in a document of which nothing is known: nothing where it is of another kind."""

from __future__ import annotations

from typing import Any


def member(value: Any, *steps: str | None) -> Any:
    """What lies at the end of the steps through objects; None where there is nothing."""
    for step in steps:
        if not isinstance(value, dict) or step is None:
            return None
        value = value.get(step)
    return value


def members(value: Any) -> dict[str, Any]:
    """An object."""
    return value if isinstance(value, dict) else {}


def array(value: Any) -> list[Any]:
    """An array."""
    return value if isinstance(value, list) else []
