"""What lies on an engine: data frames, Parquet, and whatever is on object storage."""

from __future__ import annotations

import os
import stat
from typing import Any

SUFFIX = ".parquet"
_MARK = b"PAR1"


def is_relation(source: Any, engine: str | None = None) -> bool:
    """Whether an engine is to be asked about a source: a frame, Parquet, or what is on storage."""
    if not isinstance(source, str):
        return True
    if engine is not None or "://" in source or source.lower().endswith(SUFFIX):
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
            return file.read(len(_MARK)) == _MARK
    except (OSError, ValueError):
        return False
