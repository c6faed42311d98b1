"""What lies on an engine: data frames, Parquet, and whatever is on object storage."""

from __future__ import annotations

import os
import stat
from typing import Any

from ..documents import parquet
from ..documents.paths import STANDARD_INPUT, is_address


def is_relation(source: Any, engine: str | None = None) -> bool:
    """Whether an engine is to be asked about a source: a frame, Parquet, or what is on storage."""
    if not isinstance(source, str):
        return True
    if source == STANDARD_INPUT:
        return False
    if engine is not None or is_address(source) or parquet.is_called_so(source):
        return True
    is_there = os.path.lexists(source)
    if is_there and is_parquet(source):
        return True
    # For weight: most sources are there and no pattern.
    from ..documents.patterns import hidden_by, matching, two_meanings

    if not is_there:
        return any(map(is_parquet, matching(source)[:1]))
    for match in hidden_by(source):
        if is_parquet(match):
            raise two_meanings(source, match, matching, os.path.lexists)
    return False


def is_parquet(path: str) -> bool:
    """Whether a file begins as Parquet does; a pipe, which could be read only once, does not."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return False
        with open(path, "rb") as file:
            return file.read(len(parquet.MARK)) == parquet.MARK
    except (OSError, ValueError):
        return False
