"""What metric.schema.json says about the kwargs of each type: from the functions' signatures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from . import aliases, metric, reducer
from .aliases import Alias
from .metric import COMMON, UV_SCRIPT, CommonKwargs, Metric, ScriptKwargs

Schema = dict[str, Any]
# What stands in front of a name in `$defs`.
_METRIC, _REDUCER = "kwargs-", "reducer-kwargs-"


def definitions() -> Schema:
    """The `allOf` and `$defs` of the schema of a metric entry."""
    metrics = {name: metric.lookup(name) for name in metric.names() if name != UV_SCRIPT}
    structs = {name: each.kwargs for name, each in metrics.items()}
    reducers = {name: reducer.lookup(name).kwargs for name in reducer.names()}
    common = _properties(CommonKwargs)
    outer = [
        branch
        for name, each in metrics.items()
        for branch in _branches(
            _METRIC, name, each.kwargs, aliases.METRICS, each.common, _of_inner(each)
        )
    ]
    inner = [
        branch
        for name, kwargs in structs.items()
        for branch in _branches(_METRIC, name, kwargs, aliases.METRICS)
    ]
    of_reducers = [
        branch
        for name, kwargs in reducers.items()
        for branch in _branches(_REDUCER, name, kwargs, aliases.REDUCERS)
    ]
    return {
        "allOf": [*outer, *_branches(_METRIC, UV_SCRIPT, ScriptKwargs, ())],
        "$defs": {
            **_own(_METRIC, {**structs, UV_SCRIPT: ScriptKwargs}),
            **_own(_REDUCER, reducers),
            "key": common["key"],
            "missing": common["missing"],
            "reducer": {
                "anyOf": [
                    {"type": "null"},
                    _alone(reducers, aliases.REDUCERS),
                    _object(_called(reducers, aliases.REDUCERS), of_reducers, required=True),
                ],
                "default": None,
                "description": _description(common["reducer"]),
            },
            "inner_metric": {
                "anyOf": [
                    _alone(structs, aliases.METRICS),
                    _object(_called(structs, aliases.METRICS), inner, required=False),
                ],
                "description": "The metric: its type, or an object with `type` and `kwargs`.",
            },
        },
    }


def _properties(struct: type[msgspec.Struct]) -> Schema:
    _, components = msgspec.json.schema_components([struct])
    properties: Schema = components[struct.__name__]["properties"]
    return properties


def _own(prefix: str, structs: dict[str, type[msgspec.Struct]]) -> Schema:
    """The kwargs of each function, to be referred to."""
    found = {}
    for name, struct in structs.items():
        properties = _properties(struct)
        if "metric" in properties:
            inner = {"$ref": "#/$defs/inner_metric"}
            optional = "default" in properties["metric"]
            properties["metric"] = {"anyOf": [inner, {"type": "null"}]} if optional else inner
        found[f"{prefix}{name}"] = {"properties": properties}
    return found


def _branches(
    prefix: str,
    name: str,
    kwargs: type[msgspec.Struct],
    known: Iterable[Alias],
    common: Sequence[str] = (),
    also: Sequence[Schema] = (),
) -> list[Schema]:
    """If an entry is of this type, by its own name or an alias, then its kwargs are these."""
    needed = _required(kwargs)
    by_need: dict[tuple[str, ...], list[Alias]] = {tuple(sorted(needed)): []}
    for alias in known:
        if alias.type == name:
            by_need.setdefault(tuple(sorted(needed - _implied(alias))), []).append(alias)
    branches = []
    for i, (required, called) in enumerate(by_need.items()):
        then: Schema = {"allOf": [{"$ref": f"#/$defs/{prefix}{name}"}, *also]}
        if common:
            then["properties"] = {field: {"$ref": f"#/$defs/{field}"} for field in common}
        then["unevaluatedProperties"] = False
        outer: Schema = {"properties": {"kwargs": then}}
        if required:
            then["required"] = list(required)
            outer["required"] = ["kwargs"]
        types = _called([name] if i == 0 else [], called)
        condition = {"properties": {"type": types}, "required": ["type"]}
        branches.append({"if": condition, "then": outer})
    return branches


def _required(kwargs: type[msgspec.Struct]) -> set[str]:
    return {each.name for each in msgspec.structs.fields(kwargs) if each.required}


def _implied(alias: Alias) -> set[str]:
    """The kwargs that a name alone says."""
    return {*alias.kwargs, *(["k"] if "{k}" in alias.name else [])}


def _called(names: Iterable[str], known: Iterable[Alias]) -> Schema:
    """A schema of these names and aliases, with and without their system."""
    known = list(known)
    plain = list(names)
    for alias in known:
        if "{k}" not in alias.name:
            plain += [alias.name, alias.name.partition("/")[2]]
    patterns = [aliases.pattern(alias.name, bare=True) for alias in known if "{k}" in alias.name]
    options: list[Schema] = [{"enum": sorted(set(plain))}] if plain else []
    options += [{"type": "string", "pattern": f"^{pattern}$"} for pattern in patterns]
    return options[0] if len(options) == 1 else {"anyOf": options}


def _alone(structs: dict[str, type[msgspec.Struct]], known: Sequence[Alias]) -> Schema:
    """Names that need no kwargs beside them."""
    names = [name for name, kwargs in structs.items() if not _required(kwargs)]
    return _called(
        names, [alias for alias in known if not _required(structs[alias.type]) - _implied(alias)]
    )


def _object(names: Schema, branches: list[Schema], *, required: bool) -> Schema:
    return {
        "type": "object",
        "properties": {"type": names, "kwargs": {"type": "object"}},
        **({"required": ["type"]} if required else {}),
        "additionalProperties": False,
        "allOf": branches,
    }


def _of_inner(outer: Metric) -> list[Schema]:
    """What a metric over another one does not take where that takes no such thing."""
    if outer.takes != "inner":
        return []
    conditions = []
    for takes, common in COMMON.items():
        refused = sorted(set(COMMON["inner"]) - set(common))
        types = [
            name
            for name in metric.names()
            if name != UV_SCRIPT and metric.lookup(name).takes == takes
        ]
        if refused and types:
            called = _called(types, [alias for alias in aliases.METRICS if alias.type in types])
            named = {"anyOf": [called, _typed(called)]}
            conditions.append(
                {
                    "if": {"properties": {"metric": named}, "required": ["metric"]},
                    "then": {"properties": dict.fromkeys(refused, False)},
                }
            )
    return conditions


def _typed(called: Schema) -> Schema:
    return {"type": "object", "properties": {"type": called}, "required": ["type"]}


def _description(schema: Schema) -> str:
    options = [schema, *schema.get("anyOf", ())]
    return next((str(o["description"]) for o in options if "description" in o), "")
