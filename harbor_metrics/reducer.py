"""What a reducer is, and where reducers are found: one task's attempts -> one value."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from . import plugins, strangers
from .column import Column
from .estimate import Estimate, Undefined
from .exact import Number
from .plugins import Loaded
from .signature import SpecError, converted, kwargs_struct, public_functions


class ReducerSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A reducer with what to pass it."""

    type: str
    kwargs: dict[str, Any] = {}


ReducerKwarg = Annotated[
    str | ReducerSpec,
    Meta(
        description="What makes a task's attempts one value: a reducer's name, or an object with "
        "`type` and `kwargs`."
    ),
]


@dataclass(frozen=True, slots=True)
class Reducer:
    """A plain function over a task's attempts, and the struct that describes its kwargs."""

    name: str
    function: Callable[..., Number | Undefined]
    kwargs: type[msgspec.Struct]
    plugin: Loaded | None = None

    @property
    def description(self) -> str:
        """What it says about itself."""
        return inspect.getdoc(self.function) or ""


@dataclass(frozen=True, slots=True)
class BoundReducer:
    """A reducer and its kwargs."""

    name: str
    function: Callable[..., Number | Undefined]
    arguments: dict[str, Any]
    plugin: Loaded | None = None

    def _of(self, attempts: Sequence[Number]) -> Number | Undefined:
        if self.plugin is None:
            return self.function(attempts, **self.arguments)
        whose = f"`{self.name}` of {self.plugin.plugin}"
        value: Any = strangers.call(whose, self.function, attempts, self.arguments)
        if isinstance(value, Estimate | dict):
            raise SpecError(strangers.RAISED, f"{whose} returned {value!r}, which is no number")
        made: Number | Undefined = value
        return made

    def __call__(self, rewards: Column, *, skip: bool) -> Column | Undefined:
        """One value a task; a task without one is left out, or leaves nothing defined."""
        values: list[Number] = []
        tasks: list[str] = []
        why = ""
        for task, attempts in rewards.by_task.items():
            value = self._of(attempts)
            if not isinstance(value, Undefined):
                values.append(value)
                tasks.append(task)
                continue
            why = why or f"task {task}: {value.reason}"
            if not skip:
                return Undefined(f"{why} (`missing`: `skip` leaves such tasks out)")
        if why and not values:
            return Undefined(f"no task has a value: {why}")
        return Column(values, tasks, attempts=rewards)


def bind(spec: str | ReducerSpec) -> BoundReducer:
    """A reducer ready to be called.

    Raises:
        SpecError: there is none of that name, or it does not take these kwargs.
    """
    from .aliases import reducer_of

    spec = ReducerSpec(type=spec) if isinstance(spec, str) else spec
    spec = reducer_of(spec.type, spec.kwargs) or spec
    reducer = lookup(spec.type)
    arguments = converted(f"reducer {spec.type}", spec.kwargs, reducer.kwargs)
    own = msgspec.structs.asdict(arguments)
    return BoundReducer(spec.type, reducer.function, own, reducer.plugin)


@cache
def lookup(name: str) -> Reducer:
    """The reducer of that name.

    Raises:
        SpecError: there is none; the message names the nearest.
    """
    function = _builtin().get(name)
    loaded = plugins.load("reducers", name) if function is None else None
    if loaded is not None:
        try:
            return Reducer(name, loaded.function, kwargs_struct(loaded.function), loaded)
        except TypeError as error:
            raise plugins.broken(loaded.plugin, str(error)) from error
    if function is None:
        from difflib import get_close_matches

        known = [*names(), *plugins.found("reducers")]
        near = get_close_matches(name.lower().replace("_", "-"), known, n=1)
        hint = f"; did you mean `{near[0]}`?" if near else ""
        raise SpecError(
            "invalid-metric-kwargs",
            f"unknown reducer `{name}`{hint} (one of: {', '.join(known)})",
            "reducer",
        )
    return Reducer(name, function, kwargs_struct(function))


def names() -> list[str]:
    """Every reducer, sorted."""
    return sorted(_builtin())


@cache
def _builtin() -> dict[str, Callable[[Sequence[Number]], Number | Undefined]]:
    from . import reducers

    return public_functions(reducers)
