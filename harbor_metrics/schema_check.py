"""What the schemas say of a value: jsonschema-rs decides, jsonschema explains, in our words."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from typing import Any

from . import rewards, schemas
from .document import Finding
from .rules import label
from .syntax import printable

_SINGULAR = {"trials": "trial"}
_UNLOADABLE = "Harbor cannot load any dataset of the file"


def of_registry(value: list[Any]) -> Iterator[Finding]:
    """What the registry's schema says: jsonschema-rs decides, jsonschema explains what is wrong."""
    import jsonschema_rs

    errors = jsonschema_rs.validator_for(schemas.structure("registry")).iter_errors(value)
    units = dict.fromkeys(_unit(tuple(error.instance_path)) for error in errors)
    for at in units:
        entry: Any = value
        for step in at:
            entry = entry[step]
        kind = "dataset" if len(at) == 1 else "task" if at[1] == "tasks" else "metric"
        if kind == "dataset" and isinstance(entry, dict):
            entry = {k: v if not isinstance(v, list) else [] for k, v in entry.items()}
        yield from explained(entry, kind, at, subject=_subject(value, at))


def _unit(at: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """The task, metric or dataset that an error is in."""
    return at[:3] if len(at) >= 3 and isinstance(at[2], int) else at[:1]


def _subject(value: list[Any], at: tuple[Any, ...]) -> str:
    dataset = value[at[0]]
    name = label(dataset) if isinstance(dataset, dict) else f"the entry at index {at[0]}"
    return name if len(at) == 1 else f"{name}, {at[1]}[{at[2]}]"


def explained(
    entry: Any, kind: str, at: tuple[str | int, ...], subject: str = ""
) -> Iterator[Finding]:
    """The schema's errors in our own words."""
    for error in _explainer(kind).iter_errors(entry):
        path = (*at, *error.absolute_path)
        if error.validator == "required" and _is_misspelt(_missing(error), error):
            continue  # unknown-field says it
        rule, message, help_ = _words(error, kind)
        what = {
            "rule": rule,
            "message": message,
            "subject": subject,
            "label": "here",
            "help": help_,
            "notes": (_UNLOADABLE,) if at and rule != "empty-field" else (),
        }
        yield Finding(path, what)


@cache
def _explainer(kind: str) -> Any:
    """The validator that explains; made once, since making it takes as long as using it."""
    from jsonschema import Draft202012Validator

    if kind in schemas.NAMES:
        return Draft202012Validator(schemas.bundled(kind))
    registry = schemas.structure("registry")
    return Draft202012Validator({**registry["$defs"][kind], "$defs": registry["$defs"]})


def _words(error: Any, kind: str) -> tuple[str, str, str]:
    where = error.absolute_path[-1] if error.absolute_path else None
    name = f"`{printable(where)}`" if isinstance(where, str) else f"a {_SINGULAR.get(kind, kind)}"
    if error.validator == "required":
        field = _missing(error)
        empty = '""' if field in ("name", "version", "description", "path") else "[]"
        return "missing-field", f"{name} has no `{field}`", f'add `"{field}": {empty}`'
    if error.validator == "type":
        wanted = error.validator_value
        wanted = wanted if isinstance(wanted, str) else " or ".join(wanted)
        article = "an" if wanted[0] in "aio" else "a"
        example = ' such as {"type": "mean"}' if kind == "metric" and where is None else ""
        got = rewards.article(error.instance)
        message = f"{name} must be {article} {wanted}{example}, not {got}"
        return "wrong-type", message, _type_help(wanted, error.instance)
    if error.validator == "minLength":
        return "empty-field", f"{name} must not be empty", ""
    fields = _alternatives(error)
    if fields and error.validator == "anyOf":
        return "missing-field", f"{name} has no {' and no '.join(fields)}", ""
    if fields and error.validator == "not":
        return "schema", f"{name} has {' and '.join(fields)}, of which one says it all", ""
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        unknown = sorted(field for field in error.instance if field not in known)
        listed = ", ".join(f"`{printable(field)}`" for field in unknown)
        near = get_close_matches(unknown[0].lower(), known, n=1)
        hint = f"; did you mean `{near[0]}`?" if near else ""
        return "schema", f"{name} has no field {listed}{hint}", ""
    return "schema", printable(f"{name}: {error.message}"), ""


def _alternatives(error: Any) -> list[str]:
    """The fields of which one, or not all, must be there."""
    options = error.validator_value
    options = options if isinstance(options, list) else [options]
    if not all(isinstance(option, dict) and option.keys() == {"required"} for option in options):
        return []
    return [f"`{field}`" for option in options for field in option["required"]]


def _missing(error: Any) -> str:
    """Which of the required fields this error is about."""
    absent = [field for field in error.validator_value if field not in error.instance]
    return str(next((field for field in absent if repr(field) in error.message), absent[0]))


def _is_misspelt(field: str, error: Any) -> bool:
    """Whether the object has an unknown field that was probably meant to be this one."""
    known = error.schema.get("properties", {})
    others = [other.lower() for other in error.instance if other not in known]
    return bool(get_close_matches(field, others, n=1, cutoff=0.7))


def _type_help(wanted: str, got: Any) -> str:
    if wanted == "string" and isinstance(got, int | float):
        return f'write `"{got}"`, in quotes'
    if wanted == "array" and isinstance(got, dict):
        return "put `[` and `]` around it"
    if wanted == "array" and got is None:
        return "write `[]`, or leave the field out"
    return ""
