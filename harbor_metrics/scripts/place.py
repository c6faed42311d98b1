"""A metric script needs a place for temporary files; what to do where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..confinement.workplace import NoPlaceError
from ..errors import OutputError


@contextmanager
def place_needed() -> Iterator[None]:
    """Around the work in a `Workplace`.

    Raises:
        OutputError: there is no place for temporary files.
    """
    try:
        yield
    except NoPlaceError as error:
        raise OutputError(
            f"{error}; a metric script needs a place for its input",
            "set TMPDIR to a directory that can be written",
        ) from error
