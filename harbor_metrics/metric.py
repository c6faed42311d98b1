"""What a metric is, what it is passed, and where metrics are found."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, NamedTuple, TypeVar, get_type_hints

import msgspec
from msgspec import Meta

from .table import Column, Missing

HARBOR_TYPES = ("sum", "min", "max", "mean", "uv-script")
UV_SCRIPT = "uv-script"
DEFAULT_TYPE = "mean"
_Kwargs = TypeVar("_Kwargs", bound=msgspec.Struct)


class Undefined(NamedTuple):
    """What a metric returns where the rewards give no number, and why."""

    reason: str


class MetricSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An entry of a `metrics` array: a metric's type, what to pass it, the digest of its script."""

    type: str = DEFAULT_TYPE
    kwargs: dict[str, Any] = {}
    sha256: str | None = None


class ScriptKwargs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The kwargs of `uv-script`; with a `git_url` the path is inside that repository."""

    script_path: Annotated[
        str, Meta(min_length=1, description="The script, relative to the registry file.")
    ]
    git_url: Annotated[str, Meta(description="A repository that holds the script.")] | None = None
    git_commit_id: Annotated[str, Meta(description="The full commit of the repository.")] | None = (
        None
    )


class CommonKwargs(msgspec.Struct, frozen=True, kw_only=True):
    """The kwargs that every metric over one reward key takes."""

    key: Annotated[str, Meta(description="The only reward key to aggregate.")] | None = None
    missing: (
        Annotated[
            Missing,
            Meta(
                description="A trial without the reward counts as 0 (`zero`, Harbor's rule), "
                "not at all (`skip`), or fails the metric (`error`)."
            ),
        ]
        | None
    ) = None


class SpecError(Exception):
    """A metric entry that cannot be run: an unknown type, or kwargs that do not fit."""

    def __init__(self, rule: str, message: str, kwarg: str | None = None) -> None:
        super().__init__(message)
        self.rule = rule
        self.kwarg = kwarg


@dataclass(frozen=True, slots=True)
class Metric:
    """A plain function over a Column, and the struct that its kwargs are checked against."""

    name: str
    function: Callable[..., Any]
    kwargs: type[msgspec.Struct]

    @property
    def summary(self) -> str:
        """The first line of what it says about itself."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    def arguments(self, kwargs: Mapping[str, Any]) -> tuple[CommonKwargs, dict[str, Any]]:
        """The common kwargs and the function's own, checked and typed.

        Raises:
            SpecError: one is unknown, missing or of the wrong type.
        """
        common = {k: v for k, v in kwargs.items() if k in CommonKwargs.__struct_fields__}
        own = {k: v for k, v in kwargs.items() if k not in common}
        return (
            converted(self.name, common, CommonKwargs),
            msgspec.structs.asdict(converted(self.name, own, self.kwargs)),
        )


def converted(name: str, kwargs: Mapping[str, Any], to: type[_Kwargs]) -> _Kwargs:
    """The kwargs of the metric `name` as the struct that describes them.

    Raises:
        SpecError: one is unknown, missing or of the wrong type.
    """
    known = to.__struct_fields__
    for field in sorted(kwargs.keys() - set(known)):
        takes = ", ".join(f"`{other}`" for other in [*known, *_also_takes(to)])
        raise SpecError(
            "invalid-metric-kwargs",
            f"`{name}` takes no `{field}`; it takes {takes or 'no kwargs'}",
            field,
        )
    for each in msgspec.structs.fields(to):
        if each.required and each.name not in kwargs:
            raise SpecError("invalid-metric-kwargs", f"`{name}` needs `{each.name}` in its kwargs")
    try:
        return msgspec.convert(kwargs, to)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$.")
        where = where.rstrip("`")
        message = f"`{where}` of `{name}`: {_in_json_words(what)}" if where else f"`{name}`: {what}"
        raise SpecError("invalid-metric-kwargs", message, where or None) from error


def _also_takes(to: type[msgspec.Struct]) -> tuple[str, ...]:
    return () if to in (CommonKwargs, ScriptKwargs) else CommonKwargs.__struct_fields__


def _in_json_words(message: str) -> str:
    words = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}
    words |= {"dict": "object", "list": "array"}
    for python, plain in words.items():
        article = "an" if plain[0] in "aio" else "a"
        message = message.replace(f"`{python}`", f"{article} {plain}")
        message = message.replace(f"`{python} |", f"`{plain} |")
    return message[:1].lower() + message[1:]


def metric_of(function: Callable[..., Any]) -> Metric:
    """Describe a function as a metric.

    Raises:
        TypeError: its first parameter is not a Column, or another one is not keyword-only.
    """
    first, *rest = inspect.signature(function).parameters.values()
    hints = get_type_hints(function, include_extras=True)
    name = function.__name__.replace("_", "-")
    if hints.get(first.name) is not Column:
        raise TypeError(f"metric {name}: the first parameter must be a Column")
    if any(parameter.kind is not parameter.KEYWORD_ONLY for parameter in rest):
        raise TypeError(f"metric {name}: parameters after the first must be keyword-only")
    fields = [
        (p.name, hints[p.name], *(() if p.default is p.empty else (p.default,))) for p in rest
    ]
    kwargs = msgspec.defstruct(name, fields, frozen=True, kw_only=True, forbid_unknown_fields=True)
    return Metric(name, function, kwargs)


@cache
def lookup(name: str) -> Metric:
    """The metric of that type.

    Raises:
        SpecError: there is none; the message names the nearest.
    """
    found = _builtin().get(name)
    if found is None:
        raise SpecError("unknown-metric-type", unknown_type(name))
    return metric_of(found)


def kwargs_of(name: str) -> tuple[str, ...]:
    """The names of the kwargs that a metric takes.

    Raises:
        SpecError: there is no such metric.
    """
    if name == UV_SCRIPT:
        return ScriptKwargs.__struct_fields__
    return (*lookup(name).kwargs.__struct_fields__, *CommonKwargs.__struct_fields__)


def check_kwargs(name: str, kwargs: Mapping[str, Any]) -> None:
    """Whether a metric takes these kwargs.

    Raises:
        SpecError: there is no such metric, or it does not.
    """
    if name == UV_SCRIPT:
        converted(name, kwargs, ScriptKwargs)
    else:
        lookup(name).arguments(kwargs)


def near_type(name: str) -> str | None:
    """The known type that looks most like `name`."""
    from difflib import get_close_matches

    near = get_close_matches(name.lower().replace("_", "-"), names(), n=1)
    return near[0] if near else None


def unknown_type(name: str) -> str:
    """The sentence that names an unknown type, the nearest known, and all of them."""
    near = near_type(name)
    hint = f"; did you mean `{near}`?" if near else ""
    return f"unknown metric type `{name}`{hint} (one of: {', '.join(names())})"


def names() -> list[str]:
    """Every metric type, sorted."""
    return sorted([*_builtin(), UV_SCRIPT])


@cache
def _builtin() -> dict[str, Callable[..., Any]]:
    from . import metrics

    families = [
        importlib.import_module(f"{metrics.__name__}.{module.name}")
        for module in pkgutil.iter_modules(metrics.__path__)
    ]
    return {
        name.replace("_", "-"): function
        for family in families
        for name, function in vars(family).items()
        if inspect.isfunction(function)
        and function.__module__ == family.__name__
        and not name.startswith("_")
    }
