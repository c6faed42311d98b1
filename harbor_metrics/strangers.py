"""Functions of other people, called so that what goes wrong in one breaks nothing but itself."""

from __future__ import annotations

import contextlib
import math
import operator
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from . import exact
from .column import LabelError
from .estimate import Estimate, Undefined
from .exact import Number
from .signature import SpecError

RAISED = "metric-raised"


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """What a stranger prints goes to standard error: standard output is the result's."""
    with contextlib.redirect_stdout(sys.stderr):
        yield


def call(whose: str, function: Callable[..., Any], first: Any, kwargs: Mapping[str, Any]) -> Any:
    """What the function returns, checked: numbers, estimates, reasons, or several by name.

    Raises:
        SpecError: it raises, or returns something else; the message says whose it is.
        LabelError: it asks for a label that a trial lacks.
    """
    try:
        with quiet():
            value = function(first, **kwargs)
    except (SpecError, LabelError):
        raise
    except (Exception, SystemExit) as error:
        raise SpecError(RAISED, f"{whose}: {told(error)}") from error
    if not isinstance(value, dict):
        return _checked(whose, value)
    if not value or not all(isinstance(name, str) for name in value):
        raise SpecError(RAISED, f"{whose} returned {value!r}, which is no object of named numbers")
    return {name: _checked(whose, each) for name, each in value.items()}


def _checked(whose: str, value: Any) -> Number | Estimate | Undefined:
    if isinstance(value, Undefined):
        return value
    number = _number(value.value if isinstance(value, Estimate) else value)
    if number is None:
        raise SpecError(RAISED, f"{whose} returned {value!r}, which is no finite number")
    if isinstance(number, int) and exact.ratio(number, 1) is None:
        return Undefined("the value is beyond the largest binary64 number")
    return replace(value, value=number) if isinstance(value, Estimate) else number


def _number(value: Any) -> Number | None:
    """A plain number of what counts as one, such as numpy's; None for a boolean and the rest."""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return None
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    try:
        return operator.index(value)
    except TypeError:
        pass
    try:
        number = float(value) if hasattr(value, "__float__") else math.nan
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def told(error: BaseException) -> str:
    """The error in a line, with the file and line that it came from."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1] if frames else None
    where = f"{os.path.basename(last.filename)}, line {last.lineno}: " if last else ""
    return f"{where}{said(error)}"


def said(error: BaseException) -> str:
    """Type and message of an error in a line."""
    return " ".join(f"{type(error).__name__}: {error}".split())
