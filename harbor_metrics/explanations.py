"""What `explain` says: the docstrings of rules, metrics and reducers, and what they take."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from textwrap import fill, wrap
from typing import Any

import msgspec

from . import aliases, plugins, reducer
from .errors import UsageError
from .metric import UV_SCRIPT, CommonKwargs, ScriptKwargs, lookup, names
from .rules import rules
from .signature import SpecError

_WIDTH = 80
SYNTAX = {
    "json-syntax": "The text is not JSON at this place; nothing behind it is certain.",
    "json-comment": "JSON has no comments. Harbor cannot read a registry with one.",
    "trailing-comma": "A comma follows the last element. Harbor cannot read the registry.",
    "duplicate-key": "A key stands twice in an object. Readers keep the last value and say "
    "nothing, so that a merge of two datasets into one object swallows the first.",
    "conflict-marker": "A merge was not finished: both sides stand in the file.",
    "not-json": "The file is a web page or XML, often an error page saved by mistake.",
    "not-utf-8": "JSON is UTF-8. The place is that of the first byte that is not.",
    "byte-order-mark": "The file begins with a byte order mark, with which Harbor cannot read it.",
    "lone-surrogate": "An escape gives half of a character, which cannot be written as UTF-8.",
    "non-finite-number": "NaN and Infinity are no JSON. Harbor writes null for them and then "
    "cannot read the trial again.",
    "number-out-of-range": "The number is larger than any that binary64 holds.",
    "too-deep": "Nested deeper than any of these documents is.",
    "toml-syntax": "The dataset.toml is not TOML at this place.",
    "missing-field": "A field that Harbor needs is missing: no dataset loads.",
    "wrong-type": "A field holds another type of value than Harbor takes.",
    "empty-field": "A name or a version is the empty string, by which nothing can be named.",
    "schema": "The document's schema forbids this; `harbor-metrics schema` prints it.",
    "not-a-registry": "A registry is an array of datasets at the top of the file.",
    "empty-registry": "The registry is an array without any dataset.",
    "not-json-lines": "Rewards and trials are JSONL: a document a line, no array around them.",
    "invalid-rewards": "The rewards of a trial are an object of numbers, or null.",
    "invalid-reward": "A reward is a finite number. Harbor takes true for 1.0, and refuses others.",
}


def rule_names() -> list[str]:
    """Every rule that `validate` knows, sorted."""
    return sorted({*rules(), *SYNTAX})


def explain(name: str) -> str:
    """All there is to say about a rule, a metric, a reducer or a name of another system.

    Raises:
        UsageError: there is nothing of that name; the message names what is near.
    """
    parts = [*_rule(name), *_metric(name), *_reducer(name)]
    own = bool(parts)
    parts += [_alias(alias) for alias in aliases.find(name) if not own or "/" in name]
    if parts:
        return "\n".join(parts)
    from difflib import get_close_matches

    others = [a.name.replace("{k}", "1") for a in (*aliases.METRICS, *aliases.REDUCERS)]
    known = [*names(), *reducer.names(), *rule_names(), *others]
    near = get_close_matches(name, known, n=1)
    hint = f"; did you mean `{near[0]}`?" if near else ""
    raise UsageError(f"there is no metric, reducer or rule `{name}`{hint}")


def _rule(name: str) -> Iterator[str]:
    if name in SYNTAX:
        yield f"{name}\n\n{SYNTAX[name]}\n"
    elif name in rules():
        yield f"{name}\n\n{inspect.getdoc(rules()[name])}\n"


def _metric(name: str) -> Iterator[str]:
    if name == UV_SCRIPT:
        about = (
            "A script of the dataset's own: Python that reads rewards from `-i`, an object or "
            "null a line, and writes an object of numbers to `-o`. What it imports stands in its "
            "PEP 723 block. `sha256` beside `kwargs` pins it; `harbor-metrics script check FILE` "
            "tries it."
        )
        yield _page(f"{name}: a metric", about, [*_kwargs(ScriptKwargs)], name, ScriptKwargs)
    elif name in names() or name in plugins.found("metrics"):
        try:
            metric = lookup(name)
        except SpecError as error:
            raise UsageError(str(error)) from error
        common = [line for line in _kwargs(CommonKwargs) if line.split(":")[0] in metric.common]
        lines = [*_kwargs(metric.kwargs), *common]
        whose = f" of the plugin {metric.plugin.plugin}" if metric.plugin else ""
        title = f"{name}: a metric{whose}{_known_as(name, aliases.METRICS)}"
        yield _page(title, metric.description, lines, name, metric.kwargs)


def _reducer(name: str) -> Iterator[str]:
    if name in reducer.names() or name in plugins.found("reducers"):
        try:
            found = reducer.lookup(name)
        except SpecError as error:
            raise UsageError(str(error)) from error
        title = f"{name}: a reducer, one task's attempts -> one value"
        title += _known_as(name, aliases.REDUCERS)
        lines = _kwargs(found.kwargs)
        required = _examples(found.kwargs)
        spec = {"type": name, "kwargs": required} if required else name
        entry = {"type": "mean", "kwargs": {"reducer": spec}}
        yield _text(title, found.description, lines, json.dumps(entry))


def _alias(alias: aliases.Alias) -> str:
    of = f"a {alias.kind}"
    spec: dict[str, Any] = {"type": alias.type, "kwargs": alias.kwargs}
    if "{k}" in alias.name:
        spec["kwargs"] = {"k": "{k}", **alias.kwargs}
    lines = [f"{alias.name}: the name of {of} elsewhere", "", "It means", *_json(spec)]
    if alias.difference:
        lines += ["", *wrap(alias.difference, _WIDTH)]
    return "\n".join([*lines, "", f"See `harbor-metrics explain {alias.type}`.", ""])


def _known_as(name: str, known: tuple[aliases.Alias, ...]) -> str:
    found = [alias.name for alias in known if alias.type == name]
    return f" (elsewhere {', '.join(found)})" if found else ""


def _page(title: str, about: str, lines: list[str], name: str, struct: type[msgspec.Struct]) -> str:
    required = _examples(struct)
    entry = {"type": name, **({"kwargs": required} if required else {})}
    return _text(title, about, lines, json.dumps(entry))


def _text(title: str, about: str, lines: list[str], example: str) -> str:
    kwargs = [
        part
        for line in lines
        for part in wrap(line, _WIDTH, initial_indent="  ", subsequent_indent="      ")
    ]
    parts = [fill(title, _WIDTH), "", *_paragraphs(about)]
    if kwargs:
        parts += ["kwargs", *kwargs, ""]
    return "\n".join([*parts, "example", *_json(json.loads(example)), ""])


def _json(value: Any) -> list[str]:
    """JSON in one line, or in several where that is too long."""
    line = json.dumps(value)
    lines = [line] if len(line) <= _WIDTH - 2 else json.dumps(value, indent=2).split("\n")
    return [f"  {each}" for each in lines]


def _paragraphs(about: str) -> Iterator[str]:
    for paragraph in about.split("\n\n"):
        yield fill(" ".join(paragraph.split()), _WIDTH)
        yield ""


def _examples(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """A value for each kwarg that is needed."""
    properties = _schema(struct)
    needed = [each.name for each in msgspec.structs.fields(struct) if each.required]
    return {name: _example(properties[name]) for name in needed}


def _example(field: dict[str, Any]) -> Any:
    options = [field, *field.get("anyOf", ())]
    found = next((o["examples"][0] for o in options if "examples" in o), None)
    return found if found is not None else "metrics/mine.py"


def _kwargs(struct: type[msgspec.Struct]) -> list[str]:
    fields = {each.name: each for each in msgspec.structs.fields(struct)}
    lines = []
    for name, schema in _schema(struct).items():
        given = "needed" if fields[name].required else f"default {_default(fields[name])}"
        lines.append(f"{name}: {_description(schema)} [{_choices(schema)}{given}]")
    return lines


def _default(field: Any) -> str:
    made = field.default_factory is not msgspec.NODEFAULT
    return json.dumps(field.default_factory() if made else field.default)


def _schema(struct: type[msgspec.Struct]) -> dict[str, Any]:
    _, components = msgspec.json.schema_components([struct])
    properties: dict[str, Any] = components[struct.__name__]["properties"]
    return properties


def _choices(field: dict[str, Any]) -> str:
    options = [field, *field.get("anyOf", ())]
    values: list[Any] = next((o["enum"] for o in options if "enum" in o), [])
    return f"{', '.join(map(str, values))}; " if values else ""


def _description(field: dict[str, Any]) -> str:
    options = [field, *field.get("anyOf", ())]
    return next((str(o["description"]) for o in options if "description" in o), "")
