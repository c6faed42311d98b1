"""What is said where a command ends by an exception that nobody has foreseen."""

from __future__ import annotations

import os
import traceback

from ..errors import HarborMetricsError
from ..output.streams import print_note

VARIABLE = "HARBOR_METRICS_TRACEBACK"
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def foreseen_by_nobody(error: Exception) -> HarborMetricsError:
    """The kind of an exception and its place; its words, which may quote anything, if asked for."""
    if os.environ.get(VARIABLE):
        print_note("".join(traceback.format_exception(error)))
    if isinstance(error, MemoryError):
        return HarborMetricsError("there is not enough memory")
    name = type(error).__name__
    return HarborMetricsError(
        f"a mistake of harbor-metrics: {name} in {_place(error)}",
        f"please report it with what `{VARIABLE}=1` before the command shows",
    )


def _place(error: Exception) -> str:
    """The last line of ours that was run."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if frame.filename.startswith(f"{_PACKAGE}{os.sep}")]
    if not ours:
        return "no file of its own"
    return f"{os.path.relpath(ours[-1].filename, _PACKAGE)}:{ours[-1].lineno}"
