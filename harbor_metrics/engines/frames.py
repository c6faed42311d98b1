"""Frames of the libraries that are installed, from a stream of Arrow."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from ..errors import InputError, UsageError
from .extras import require

_BACKENDS = ("pandas", "polars", "pyarrow")


def frame_of(stream: Any, backend: str | None = None) -> Any:
    """What offers a stream of Arrow as a frame of pandas, Polars or PyArrow.

    Args:
        stream: has `__arrow_c_stream__`.
        backend: one of the three; None for the first that is installed.

    Raises:
        UsageError: there is no such library.
        InputError: it, or narwhals, is not installed.
    """
    if backend not in (None, *_BACKENDS):
        raise UsageError(f"a frame is of {', '.join(_BACKENDS)}, not of {backend}")
    nw = require("narwhals.stable.v2", "frames")
    installed = [name for name in _BACKENDS if find_spec(name)]
    if not installed or backend not in (None, *installed):
        raise InputError(
            f"{backend or 'no library of data frames'} is not installed",
            f"pip install {backend or 'pandas'}; __arrow_c_stream__ needs none",
        )
    return nw.from_arrow(stream, backend=backend or installed[0]).to_native()
