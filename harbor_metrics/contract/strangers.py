"""Functions of other people: whose they are, and calling one so that it can break only itself."""

from __future__ import annotations

import contextlib
import math
import operator
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from ..errors import MetricFailure
from ..numbers import exact
from ..numbers.exact import Number
from .estimate import Estimate, Undefined

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

RAISED = "metric-raised"
# Seconds from which on an import is worth a word.
_SLOW = 1.0


class Plugin(msgspec.Struct, frozen=True):
    """An entry point: the name it gives, and the distribution that brings it."""

    name: str
    distribution: str
    version: str
    entry: EntryPoint

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}"


class Loaded(msgspec.Struct, frozen=True):
    """The function that a plugin brings, and how many seconds it took to import.

    `hidden` are the names in other systems that its name would stand for without it.
    """

    plugin: Plugin
    function: Callable[..., Any]
    seconds: float
    hidden: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know of the import."""
        notes = []
        if self.hidden:
            others = " or ".join(f"`{name}`" for name in self.hidden)
            notes.append(f"`{self.plugin.name}` is that of plugin {self.plugin}, not {others}")
        if self.seconds >= _SLOW:
            notes.append(f"plugin {self.plugin} took {self.seconds:.1f} s to import")
        return tuple(notes)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """What a stranger prints goes to standard error: standard output is the result's."""
    with contextlib.redirect_stdout(sys.stderr):
        yield


def call(whose: str, function: Callable[..., Any], first: Any, kwargs: Mapping[str, Any]) -> Any:
    """What the function returns, checked: numbers, estimates, reasons, or several by name.

    Raises:
        MetricFailure: it raises, returns something else, or asks for a label that a trial lacks.
    """
    try:
        with quiet():
            value = function(first, **kwargs)
    except MetricFailure:
        raise
    except (Exception, SystemExit) as error:
        raise MetricFailure(RAISED, f"{whose}: {located(error)}") from error
    if not isinstance(value, dict):
        return _checked(whose, value)
    if not value or not all(isinstance(name, str) for name in value):
        raise MetricFailure(
            RAISED, f"{whose} returned {value!r}, which is no object of named numbers"
        )
    return {name: _checked(whose, each) for name, each in value.items()}


def _checked(whose: str, value: Any) -> Number | Estimate | Undefined:
    if isinstance(value, Undefined):
        return value
    number = _number(value.value if isinstance(value, Estimate) else value)
    if number is None:
        raise MetricFailure(RAISED, f"{whose} returned {value!r}, which is no finite number")
    if isinstance(number, int) and exact.ratio(number, 1) is None:
        return Undefined("the value is beyond the largest binary64 number")
    return msgspec.structs.replace(value, value=number) if isinstance(value, Estimate) else number


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


def located(error: BaseException) -> str:
    """The error in a line, with the file and line that it came from."""
    # For weight: only an error needs it.
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1] if frames else None
    where = f"{os.path.basename(last.filename)}, line {last.lineno}: " if last else ""
    return f"{where}{summary(error)}"


def summary(error: BaseException) -> str:
    """Type and message of an error in a line."""
    return " ".join(f"{type(error).__name__}: {error}".split())
