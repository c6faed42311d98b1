"""Why there is no interval."""

from __future__ import annotations


class NoIntervalError(Exception):
    """The data do not allow what was asked; says why."""
