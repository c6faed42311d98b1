"""Packages that come with an extra."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

from ..errors import InputError


def require(name: str, extra: str) -> Any:
    """The package of that name.

    Raises:
        InputError: it is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise InputError(
            f"{name.partition('.')[0]} is not installed, which this source needs",
            f"pip install 'harbor-metrics[{extra}]'",
        ) from error


def literal(path: str) -> str:
    """The pattern of DuckDB that fits this path alone."""
    return re.sub(r"[*?[]", r"[\g<0>]", path)
