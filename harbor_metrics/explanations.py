"""What `explain` says about a rule or a metric: their own docstrings, and a few words on syntax."""

from __future__ import annotations

import inspect
from typing import Any

from .errors import UsageError
from .metric import UV_SCRIPT, CommonKwargs, ScriptKwargs, lookup, names
from .rules import rules

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
    """The paragraph about a rule or a metric, with the kwargs of a metric.

    Raises:
        UsageError: there is nothing of that name; the message names what is near.
    """
    if name in SYNTAX:
        return f"{name}\n\n{SYNTAX[name]}\n"
    if name in rules():
        return f"{name}\n\n{inspect.getdoc(rules()[name])}\n"
    if name == UV_SCRIPT:
        about = (
            "A script of the dataset's own: Python that reads rewards from `-i`, an object or\n"
            "null a line, and writes an object of numbers to `-o`. What it imports stands in its\n"
            "PEP 723 block. `sha256` beside `kwargs` pins it; `harbor-metrics script check FILE`\n"
            "tries it."
        )
        return f"{name}\n\n{about}\n\n{_kwargs(ScriptKwargs)}"
    if name in names():
        metric = lookup(name)
        own = _kwargs(metric.kwargs)
        return f"{name}\n\n{inspect.getdoc(metric.function)}\n\n{own}{_kwargs(CommonKwargs)}"
    from difflib import get_close_matches

    near = get_close_matches(name, [*names(), *rule_names()], n=1)
    hint = f"; did you mean `{near[0]}`?" if near else ""
    raise UsageError(f"there is no metric and no rule `{name}`{hint}")


def _kwargs(struct: type[Any]) -> str:
    import msgspec

    _, components = msgspec.json.schema_components([struct])
    fields = next(iter(components.values()))["properties"]
    return "".join(f"  {name}: {_description(field)}\n" for name, field in fields.items())


def _description(field: dict[str, Any]) -> str:
    options = [field, *field.get("anyOf", ())]
    return next((str(o["description"]) for o in options if "description" in o), "")
