"""Dataset-level numbers for agent evals: the public names, each loaded when it is first used."""

from __future__ import annotations

# As `typing.TYPE_CHECKING`, whose module takes longer to load than `--version` itself.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .api import compare as compare
    from .api import compute as compute
    from .comparison.document import Comparison as Comparison
    from .contract.estimate import Estimate as Estimate
    from .contract.estimate import Undefined as Undefined
    from .contract.parameters import Attempts as Attempts
    from .documents.diagnostics import Diagnostic as Diagnostic
    from .errors import HarborMetricsError as HarborMetricsError
    from .errors import InputError as InputError
    from .errors import OutputError as OutputError
    from .errors import UsageError as UsageError
    from .evaluation.result import Result as Result
    from .scripts.options import ScriptOptions as ScriptOptions
    from .testing import check_metric as check_metric
    from .trials.column import Column as Column
    from .trials.table import Table as Table
    from .validation.validation import validate as validate

__version__ = "0.2.0"

_HOME = {
    "Attempts": "contract.parameters",
    "check_metric": "testing",
    "Column": "trials.column",
    "compare": "api",
    "Comparison": "comparison.document",
    "compute": "api",
    "Diagnostic": "documents.diagnostics",
    "Estimate": "contract.estimate",
    "HarborMetricsError": "errors",
    "InputError": "errors",
    "OutputError": "errors",
    "Result": "evaluation.result",
    "Table": "trials.table",
    "Undefined": "contract.estimate",
    "ScriptOptions": "scripts.options",
    "UsageError": "errors",
    "validate": "validation.validation",
}
__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
