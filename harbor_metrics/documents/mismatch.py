"""What does not fit a schema: jsonschema-rs decides, jsonschema finds where, the words are ours.

There are words for the keywords that our schemas use; of the others jsonschema's own are taken.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, Literal

import msgspec

from . import schemas, wording
from .document import Finding
from .wording import did_you_mean, nearest, printable, shown

Schema = dict[str, Any]
Path = tuple[str | int, ...]
Noun = Literal["dataset", "task", "metric", "trial", "result", "comparison"]
_BOUNDS = {
    "minimum": (operator.ge, "at least"),
    "maximum": (operator.le, "at most"),
    "exclusiveMinimum": (operator.gt, "more than"),
    "exclusiveMaximum": (operator.lt, "less than"),
}
_LONGEST_EXAMPLE = 60
# How many names a message lists.
_LISTED = 100


class Mismatch(msgspec.Struct, frozen=True):
    """What is wrong at a path: its rule, the end of a sentence such as `must be a string`, help."""

    path: Path
    rule: str
    words: str
    help: str = ""

    @property
    def where(self) -> str:
        """The path as people write it, `a.b[1]`; empty for the whole value."""
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        return printable("".join(steps).removeprefix("."))

    @property
    def sentence(self) -> str:
        """What is wrong, where there is no text to point into."""
        return f"{f'`{self.where}`' if self.path else 'it'} {self.words}"


@cache
def _schema_of(noun: Noun) -> Schema:
    """The schema of what a document is, or of what is in it."""
    if noun == "trial":
        return schemas.bundled("trials")
    if noun in ("result", "comparison"):
        return schemas.bundled(noun)
    parts = schemas.bundled("registry")["$defs"]
    return {**parts[noun], "$defs": parts}


@cache
def _decider(noun: Noun) -> Any:
    # For weight: only what is wrong is looked at so.
    import jsonschema_rs

    return jsonschema_rs.validator_for(_schema_of(noun))


def fits(value: Any, noun: Noun) -> bool:
    """Whether the value is what the schema says that it must be."""
    try:
        return bool(_decider(noun).is_valid(value))
    except UnicodeEncodeError:
        # Half of a surrogate pair, which no text of Rust can hold.
        return False


def findings(
    value: Any, noun: Noun, *, at: Path = (), subject: str = "", notes: tuple[str, ...] = ()
) -> Iterator[Finding]:
    """Every mistake in a value that stands `at` a path of a document."""
    schema = _schema_of(noun)
    for mismatch in mismatches_in(value, schema, schema):
        where = mismatch.path[-1] if mismatch.path else None
        name = f"`{printable(where)}`" if isinstance(where, str) else f"a {noun}"
        yield Finding(
            (*at, *mismatch.path),
            f"{name} {mismatch.words}",
            subject=subject,
            label="here",
            notes=notes if mismatch.rule != "empty-field" else (),
            help=mismatch.help,
            rule=mismatch.rule,
        )


def mismatch_with(type_: Any, value: Any) -> Mismatch | None:
    """The first thing in a value for which msgspec does not take it for one of the type."""
    reference, components = _made_of(type_)
    return next(mismatches_in(value, reference, {"$defs": components}), None)


@cache
def _made_of(type_: Any) -> tuple[Schema, Schema]:
    """The schema of a type, and of those that it is made of."""
    (reference,), components = msgspec.json.schema_components([type_])
    return reference, components


def mismatches_in(value: Any, schema: Schema, root: Schema) -> Iterator[Mismatch]:
    """What in the value does not fit; references in the schema are to `$defs` of the root."""
    whole = {**schema, "$defs": root.get("$defs", {})}
    errors = list(_explainer()(whole).iter_errors(value))
    # What is missing is said before what is wrong with the rest.
    errors.sort(key=lambda error: error.validator != "required" or bool(error.absolute_path))
    yield from _explained(errors, root)


@cache
def _explainer() -> Any:
    """jsonschema's validator, but that NaN lies within no bounds, as for msgspec."""
    # For weight: only what is wrong is explained.
    from jsonschema import Draft202012Validator, ValidationError
    from jsonschema.validators import extend

    def bounded(holds: Callable[[Any, Any], bool]) -> Callable[..., Iterator[ValidationError]]:
        def check(validator: Any, bound: Any, value: Any, _: Any) -> Iterator[ValidationError]:
            if validator.is_type(value, "number") and not holds(value, bound):
                yield ValidationError(f"{value} is out of bounds")

        return check

    checks = {keyword: bounded(holds) for keyword, (holds, _) in _BOUNDS.items()}
    return extend(Draft202012Validator, checks)  # type: ignore[no-untyped-call]


class _Broken(msgspec.Struct, frozen=True):
    """A keyword of a schema that a value does not keep, as jsonschema tells of it."""

    keyword: str
    path: Path
    wanted: Any
    value: Any
    schema: Any
    message: str
    options: list[list[Any]]

    @classmethod
    def of(cls, error: Any) -> _Broken:
        """The parts of an error; of `anyOf` those of each option, by its index."""
        wanted = error.validator_value
        n = len(wanted) if error.validator == "anyOf" else 0
        return cls(
            error.validator,
            tuple(error.absolute_path),
            wanted,
            error.instance,
            error.schema,
            error.message,
            [[e for e in error.context if e.schema_path[0] == i] for i in range(n)],
        )

    def says(self, words: str, *, rule: str, help_: str = "") -> Mismatch:
        """A mismatch at the place of the value."""
        return Mismatch(self.path, rule, words, help_)


def _explained(errors: Iterable[Any], root: Schema) -> Iterator[Mismatch]:
    """Errors of jsonschema in our words; of a value of another type nothing else is said."""
    breaches = [_Broken.of(error) for error in errors]
    mistyped = {broken.path for broken in breaches if broken.keyword == "type"}
    for broken in breaches:
        if broken.keyword == "anyOf":
            yield from _none_of(broken, root)
        elif broken.keyword == "type" or broken.path not in mistyped:
            words = _WORDS.get(broken.keyword, _unknown_keyword)
            mismatch = words(broken)
            if mismatch is not None:
                yield mismatch


def _wrong_type(broken: _Broken) -> Mismatch:
    types = _types({broken.keyword: broken.wanted})
    example = _example(broken.schema) if types == ["object"] else ""
    words = f"must be {_either(types)}{example}, not {wording.article(broken.value)}"
    return broken.says(words, rule="wrong-type", help_=_help(types, broken.value))


def _not_one_of(broken: _Broken) -> Mismatch:
    if not any(type(broken.value) is type(option) for option in broken.wanted):
        return _wrong_type(broken)
    near = did_you_mean(nearest(str(broken.value), map(str, broken.wanted)))
    options = ", ".join(f"`{option}`" for option in broken.wanted)
    return broken.says(
        f"is `{printable(str(broken.value))}`{near}; it is one of {options}", rule="schema"
    )


def _missing(broken: _Broken) -> Mismatch | None:
    known: dict[str, Schema] = broken.schema.get("properties", {})
    others = [field for field in broken.value if field not in known]
    # Which of the fields is only said by the message, which begins with it.
    absent = [field for field in broken.wanted if field not in broken.value]
    field = next((f for f in absent if broken.message.startswith(repr(f))), absent[0])
    not_there = [other for other in known if other not in broken.value]
    # As the rule asks of an unknown field: the other way round names are not as near.
    if any(nearest(other, not_there, cutoff=0.7) == [field] for other in others):
        return None  # it is only misspelt, and the unknown field is said
    empty = '""' if "string" in _types(known.get(field, {})) else "[]"
    return broken.says(f"has no `{field}`", rule="missing-field", help_=f'add `"{field}": {empty}`')


def _together(broken: _Broken) -> Mismatch:
    if broken.wanted.keys() != {"required"}:
        return _unknown_keyword(broken)
    listed = " and ".join(f"`{field}`" for field in broken.wanted["required"])
    return broken.says(f"has {listed}, of which one says it all", rule="schema")


def _unknown_field(broken: _Broken) -> Mismatch:
    known = broken.schema.get("properties", {})
    others = sorted(field for field in broken.value if field not in known)
    listed = ", ".join(f"`{printable(field)}`" for field in others[:_LISTED])
    listed += f" and {len(others) - _LISTED} more" if len(others) > _LISTED else ""
    return broken.says(
        f"has no field {listed}{did_you_mean(nearest(others[0], known))}", rule="schema"
    )


def _out_of_bounds(broken: _Broken) -> Mismatch:
    bound = f"{_BOUNDS[broken.keyword][1]} {_plain(broken.wanted)}"
    return broken.says(f"must be {bound}, not {shown(broken.value)}", rule="schema")


def _unknown_keyword(broken: _Broken) -> Mismatch:
    return broken.says(f"does not fit: {printable(broken.message)}", rule="schema")


_WORDS: dict[str, Callable[[_Broken], Mismatch | None]] = {
    "type": _wrong_type,
    "enum": _not_one_of,
    "required": _missing,
    "not": _together,
    "additionalProperties": _unknown_field,
    "const": lambda broken: broken.says(
        f"must be {shown(broken.wanted)}, not {shown(broken.value)}", rule="schema"
    ),
    "minLength": lambda broken: broken.says(
        _too_short(broken.wanted, "characters"), rule="empty-field"
    ),
    "minItems": lambda broken: broken.says(_too_short(broken.wanted, "elements"), rule="schema"),
    "pattern": lambda broken: broken.says(
        f"must match `{broken.wanted}`, and {shown(broken.value)} does not", rule="schema"
    ),
    **dict.fromkeys(_BOUNDS, _out_of_bounds),
}


def _none_of(broken: _Broken, root: Schema) -> Iterator[Mismatch]:
    """Why a value fits none of the options: the one that is of its type says it best."""
    if all(option.keys() == {"required"} for option in broken.wanted):
        fields = [field for option in broken.wanted for field in option["required"]]
        listed = " and no ".join(f"`{field}`" for field in fields)
        yield broken.says(f"has no {listed}", rule="missing-field")
        return
    tried = [list(_explained(errors, root)) for errors in broken.options]
    of_its_type = [
        mismatches
        for mismatches in tried
        if mismatches and (mismatches[0].path, mismatches[0].rule) != (broken.path, "wrong-type")
    ]
    if of_its_type:
        yield from of_its_type[0]
    elif all(tried):
        types = [type_ for option in broken.wanted for type_ in _all_types(option, root)]
        words = f"must be {_either(types)}, not {wording.article(broken.value)}"
        yield broken.says(words, rule="wrong-type", help_=_help(types, broken.value))


def _types(schema: Schema) -> list[str]:
    """The types that a value may have by the schema itself; none where it does not say."""
    if "type" not in schema:
        return list(dict.fromkeys(wording.kind(option) for option in schema.get("enum", ())))
    types: str | list[str] = schema["type"]
    return [types] if isinstance(types, str) else types


def _all_types(schema: Schema, root: Schema) -> list[str]:
    """The types that a value may have by the schema and those that it leads to."""
    if "$ref" in schema:
        return _all_types(_referred(schema, root), root)
    return _types(schema) or [
        type_ for option in schema.get("anyOf", ()) for type_ in _all_types(option, root)
    ]


def _referred(schema: Schema, root: Schema) -> Schema:
    referred: Schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    return referred


def _either(types: list[str]) -> str:
    names = [wording.with_article(type_) for type_ in dict.fromkeys(types)]
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def _example(schema: Schema) -> str:
    text = next((json.dumps(example) for example in schema.get("examples", ())), "")
    return f" such as {text}" if 0 < len(text) <= _LONGEST_EXAMPLE else ""


def _plain(number: float) -> str:
    """1.0 as 1, as people write bounds."""
    return str(int(number) if number == int(number) else number)


def _too_short(least: int, of_what: str) -> str:
    return "must not be empty" if least == 1 else f"must have at least {least} {of_what}"


def _help(types: list[str], got: Any) -> str:
    if types == ["string"] and isinstance(got, int | float):
        return f'write `"{got}"`, in quotes'
    if types == ["array"] and isinstance(got, dict):
        return "put `[` and `]` around it"
    if types == ["array"] and got is None:
        return "write `[]`, or leave the field out"
    return ""
