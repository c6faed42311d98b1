"""An error of what a link leads to is told without a word of what lies there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..documents.paths import strayed
from ..documents.patterns import fixed_part, is_pattern
from ..errors import HarborMetricsError, OutputError


def without_quotes(error: HarborMetricsError, given: Mapping[str, Any]) -> HarborMetricsError:
    """The error, or in its place that a path which was named leads out by a link, if one does.

    What a link leads to may be its reader's secret, and any error may quote what was read. `given`
    are the arguments and options of the command, each of which may be a path.
    """
    if isinstance(error, OutputError):
        return error  # it is of what would have been written
    for path in _paths(given.values()):
        if (where := strayed(path)) is not None:
            told = HarborMetricsError(
                f"{path}: a link to {where}, of which something would be shown",
                "name the file itself, if it is yours, or the folder by where it lies",
            )
            told.exit_code = error.exit_code
            return told
    return error


def _paths(given: Any) -> Iterator[str]:
    """The paths that may be meant: a file or a folder, that of `NAME=SOURCE`, that of a pattern."""
    if isinstance(given, str):
        for text in filter(None, (given, given.partition("=")[2])):
            yield text
            if is_pattern(text):
                yield fixed_part(text)
    elif isinstance(given, Iterable) and not isinstance(given, bytes):
        for each in given:
            yield from _paths(each)
