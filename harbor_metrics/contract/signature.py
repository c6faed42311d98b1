"""Plain functions as what they take: keyword-only parameters become a struct of kwargs."""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Callable, Mapping
from functools import cache
from types import ModuleType
from typing import Any, TypeVar, get_type_hints

import msgspec

from ..documents.wording import did_you_mean, nearest
from ..errors import MetricFailure

# Below, every whole number is a float of its own.
_EXACT = 2**53
_Kwargs = TypeVar("_Kwargs", bound=msgspec.Struct)


def spec_name(function: Callable[..., Any]) -> str:
    """What an entry calls a function: its name with `-` for `_`."""
    return function.__name__.replace("_", "-")


def first_parameter(function: Callable[..., Any]) -> Any:
    """The annotation of the rewards that a function takes; None where there is none.

    Raises:
        TypeError: it is no function, or takes no rewards, or another parameter is not
            keyword-only, or has no annotation that can be read.
    """
    if not inspect.isfunction(function):
        raise TypeError(f"{function!r} is no function")
    name = spec_name(function)
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters or parameters[0].kind is inspect.Parameter.KEYWORD_ONLY:
        raise TypeError(f"{name}: the first parameter must be the rewards")
    if any(parameter.kind is not parameter.KEYWORD_ONLY for parameter in parameters[1:]):
        raise TypeError(f"{name}: parameters after the first must be keyword-only")
    hints = _hints(function)
    for parameter in parameters[1:]:
        if parameter.name not in hints:
            raise TypeError(f"{name}: parameter `{parameter.name}` has no annotation")
    return hints.get(parameters[0].name)


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    # An annotation may be any expression.
    except Exception as error:
        raise TypeError(f"{spec_name(function)}: an annotation cannot be read: {error}") from error


def kwargs_struct(
    function: Callable[..., Any], instead: Mapping[Any, Any] | None = None
) -> type[msgspec.Struct]:
    """The struct of a function's keyword-only parameters; some types stand for others in JSON.

    Raises:
        TypeError: a parameter is of a type that JSON has no value for.
    """
    first_parameter(function)
    _, *rest = inspect.signature(function).parameters.values()
    hints = _hints(function)
    types = {p.name: (instead or {}).get(hints[p.name], hints[p.name]) for p in rest}
    fields = [
        (p.name, types[p.name], *(() if p.default is p.empty else (p.default,))) for p in rest
    ]
    struct = msgspec.defstruct(
        spec_name(function), fields, frozen=True, kw_only=True, forbid_unknown_fields=True
    )
    if not function.__module__.startswith("harbor_metrics."):
        msgspec.json.schema_components([struct])
    return struct


def converted(
    name: str, kwargs: Mapping[str, Any], to: type[_Kwargs], also: tuple[str, ...] = ()
) -> _Kwargs:
    """The kwargs of `name` as the struct that describes them; it takes others `also`.

    Raises:
        MetricFailure: one is unknown, missing or of the wrong type.
    """
    known = [*to.__struct_fields__, *also]
    for field in sorted(kwargs.keys() - set(known), key=str):
        near = did_you_mean(nearest(str(field), known))
        takes = ", ".join(f"`{other}`" for other in known)
        raise MetricFailure(
            "invalid-metric-kwargs",
            f"`{name}` takes no `{field}`{near}; it takes {takes or 'no kwargs'}",
            field,
        )
    own = {field: _whole(kwargs[field]) for field in to.__struct_fields__ if field in kwargs}
    if not own:
        # Where none is needed no types have to be looked at.
        with contextlib.suppress(TypeError):
            return to()
    try:
        struct = msgspec.convert(own, to)
        texts = {field for field, value in own.items() if isinstance(value, str | list)}
        # Their schema is made only where there is something to look for in it.
        for field in texts and _regexes(to) & texts:
            _check_regexes(name, field, own[field])
        return struct
    except msgspec.ValidationError as error:
        for needed in _required(to):
            if needed not in kwargs:
                why = f"`{name}` needs `{needed}` in its kwargs"
                raise MetricFailure("invalid-metric-kwargs", why) from None
        # Inside, for weight: only a value that is wrong needs it.
        from ..documents.mismatch import mismatch_with

        mismatch = mismatch_with(to, own)
        if mismatch is None or not mismatch.path:
            raise MetricFailure("invalid-metric-kwargs", f"`{name}`: {error}") from error
        message = f"`{mismatch.where}` of `{name}` {mismatch.words}"
        raise MetricFailure("invalid-metric-kwargs", message, str(mismatch.path[0])) from error


def _required(struct: type[msgspec.Struct]) -> list[str]:
    """The fields without a default."""
    return [field.name for field in msgspec.structs.fields(struct) if field.required]


@cache
def _regexes(struct: type[msgspec.Struct]) -> frozenset[str]:
    """The fields that hold regular expressions: their schema says so, as its `format`."""
    _, components = msgspec.json.schema_components([struct])
    properties = components[struct.__name__]["properties"]
    return frozenset(n for n, schema in properties.items() if "'format': 'regex'" in str(schema))


def _check_regexes(name: str, field: str, value: Any) -> None:
    for i, pattern in enumerate(value if isinstance(value, list) else [value]):
        where = f"{field}[{i}]" if isinstance(value, list) else field
        try:
            if isinstance(pattern, str):
                re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            message = f"`{where}` of `{name}` is not a regular expression: {error}"
            raise MetricFailure("invalid-metric-kwargs", message, field) from error


def _whole(value: Any) -> Any:
    """1.0 as 1, which is the same number in JSON."""
    if isinstance(value, list):
        return [_whole(each) for each in value]
    whole = isinstance(value, float) and value.is_integer() and abs(value) < _EXACT
    return int(value) if whole else value


def public_functions(module: ModuleType) -> dict[str, Callable[..., Any]]:
    """Every public function that a module defines, by its name in an entry."""
    return {
        spec_name(function): function
        for name, function in vars(module).items()
        if inspect.isfunction(function)
        and function.__module__ == module.__name__
        and not name.startswith("_")
    }
