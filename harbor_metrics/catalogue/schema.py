"""The schema of a metric entry with the kwargs of each type, from the functions' signatures."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import msgspec

from ..contract.metric import Metric
from ..contract.reducer import Reducer
from ..contract.spec import COMMON, UV_SCRIPT, CommonKwargs, ScriptKwargs
from ..documents import schemas
from ..errors import MetricFailure
from . import aliases, plugins
from .aliases import Alias
from .families import families
from .names import find
from .plugins import Kind

Schema = dict[str, Any]
# What stands in front of a name in `$defs`.
_METRIC, _REDUCER = "kwargs-", "reducer-kwargs-"


def composed(name: str) -> dict[str, Any]:
    """A document schema whole, with the kwargs that each metric takes, plugins' included.

    With those of plugins it is a schema of its own, and so has no `$id`.

    Raises:
        KeyError: no schema has that name.
    """
    schema = schemas.load(name)
    # Its own name, or a reference to it.
    if schemas.load("metric")["$id"] not in json.dumps(schema):
        return schemas.bundled(name)
    metrics, reducers = _described("metrics"), _described("reducers")
    brought = any(described.plugin for described in [*metrics.values(), *reducers.values()])
    metric = {**schemas.load("metric"), **definitions(metrics, reducers)}
    whole = schemas.bundled(name, {"metric": metric})
    if brought:
        del whole["$id"]
    return whole


def _described(kind: Kind) -> dict[str, Any]:
    """Our own metrics or reducers, then those of plugins that work, each sorted by name."""
    described: dict[str, Any] = {name: find(kind, name) for name in sorted(families(kind))}
    for name in sorted(plugins.installed(kind)):
        if name not in described and name != UV_SCRIPT:
            with contextlib.suppress(MetricFailure):
                described[name] = find(kind, name)
    return described


def definitions(metrics: Mapping[str, Metric], described: Mapping[str, Reducer]) -> Schema:
    """The `allOf` and `$defs` of the schema of a metric entry."""
    structs = {name: metric.kwargs for name, metric in metrics.items()}
    reducers = {name: reducer.kwargs for name, reducer in described.items()}
    common = _properties(CommonKwargs)
    outer = [
        branch
        for name, metric in metrics.items()
        for branch in _branches(
            _METRIC, name, metric.kwargs, aliases.METRICS, metric.common, _of_inner(metric, metrics)
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


def _escaped(name: str) -> str:
    """A key in a reference: a JSON pointer (RFC 6901) in a URI fragment."""
    return quote(name.replace("~", "~0").replace("/", "~1"))


def _properties(struct: type[msgspec.Struct]) -> Schema:
    _, components = msgspec.json.schema_components([struct])
    properties: Schema = components[struct.__name__]["properties"]
    return properties


def _own(prefix: str, structs: dict[str, type[msgspec.Struct]]) -> Schema:
    """The kwargs of each function, to be referred to."""
    definitions = {}
    for name, struct in structs.items():
        properties = _properties(struct)
        if "metric" in properties:
            inner = {"$ref": "#/$defs/inner_metric"}
            optional = "default" in properties["metric"]
            properties["metric"] = {"anyOf": [inner, {"type": "null"}]} if optional else inner
        definitions[f"{prefix}{name}"] = {"properties": properties}
    return definitions


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
        then: Schema = {"allOf": [{"$ref": f"#/$defs/{_escaped(f'{prefix}{name}')}"}, *also]}
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
    return {field.name for field in msgspec.structs.fields(kwargs) if field.required}


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
    patterns = [alias.pattern for alias in known if "{k}" in alias.name]
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


def _of_inner(outer: Metric, metrics: Mapping[str, Metric]) -> list[Schema]:
    """What a metric over another one does not take where that takes no such thing."""
    if outer.takes != "inner":
        return []
    conditions = []
    for takes, common in COMMON.items():
        refused = sorted(set(COMMON["inner"]) - set(common))
        types = [name for name, metric in metrics.items() if metric.takes == takes]
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
