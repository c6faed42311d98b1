"""Dataset-level numbers for agent evals: the public names, each loaded when it is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import compute as compute
    from .column import Column as Column
    from .diagnostics import Diagnostic as Diagnostic
    from .errors import HarborMetricsError as HarborMetricsError
    from .errors import InputError as InputError
    from .errors import OutputError as OutputError
    from .errors import UsageError as UsageError
    from .estimate import Estimate as Estimate
    from .estimate import Undefined as Undefined
    from .parameters import Attempts as Attempts
    from .result import Result as Result
    from .scripts.options import ScriptOptions as ScriptOptions
    from .table import Table as Table
    from .testing import check_metric as check_metric
    from .validation import validate as validate

__version__ = "0.1.0"

_HOME = {
    "Attempts": "parameters",
    "check_metric": "testing",
    "Column": "column",
    "compute": "api",
    "Diagnostic": "diagnostics",
    "Estimate": "estimate",
    "HarborMetricsError": "errors",
    "InputError": "errors",
    "OutputError": "errors",
    "Result": "result",
    "Table": "table",
    "Undefined": "estimate",
    "ScriptOptions": "scripts.options",
    "UsageError": "errors",
    "validate": "validation",
}
__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
