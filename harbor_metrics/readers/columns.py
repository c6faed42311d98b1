"""What the columns of a table of trials are: by their names, or as the user says."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence

from ..documents.wording import in_command, printable
from ..errors import InputError, UsageError
from ..trials.trial import Usage

# FIELD -> the names of columns that mean it, first match wins; the FIELD itself always does.
_NAMES: dict[str, tuple[str, ...]] = {
    "task": ("task_name", "task_id", "problem_id", "problem", "question_id", "sample_id"),
    "reward": ("score",),
    "attempt": ("epoch", "repeat"),
    "trial": ("trial_name", "trial_id"),
    "id": ("uuid",),
    "started_at": (),
    "agent": ("agent_name",),
    "model": ("model_name",),
    "dataset": ("dataset_name", "benchmark"),
    "error": ("exception", "exception_type"),
}
USAGE = Usage.__struct_fields__
MANY = ("reward", "label", "text")
_LEFT_OUT = "left_out"
_FIELDS = (*_NAMES, *USAGE)
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def parse_columns(text: str) -> dict[str, str]:
    """FIELD -> column, from `FIELD=COLUMN,…`; none from an empty text.

    Raises:
        UsageError: it is not of that form, or a FIELD is unknown or given twice.
    """
    columns: dict[str, str] = {}
    for part in text.split(",") if text else ():
        field, equals, column = part.partition("=")
        field = field.strip()
        if not equals or not column:
            raise UsageError(
                f"--columns {text}: `{part}` is not FIELD=COLUMN",
                "write --columns task=problem_id,reward=score",
            )
        _check_field(field, f"--columns {text}")
        if field in columns:
            raise UsageError(f"--columns {text}: `{field}` is given twice")
        columns[field] = column.strip()
    return columns


def columns_of(given: str | Mapping[str, str]) -> Mapping[str, str]:
    """FIELD -> column, from either form.

    Raises:
        UsageError: see `parse_columns`; or a column is no text.
    """
    if isinstance(given, str):
        return parse_columns(given)
    for field, column in given.items():
        _check_field(field, "columns")
        if not isinstance(column, str):
            raise UsageError(f"columns: the column of {field} is not a text: {column!r}")
    return given


def _check_field(field: object, where: str) -> None:
    many, dot, name = str(field).partition(".")
    if field not in _FIELDS and not (dot and name and many in MANY):
        raise UsageError(
            f"{where}: unknown field `{field}`",
            f"one of {', '.join(_FIELDS)}, reward.KEY, label.NAME, text.prediction, text.reference",
        )


def check_columns(path: str, names: Sequence[str], given: Mapping[str, str]) -> None:
    """Refuse a table that lacks a column that is asked for, or has one that it cannot have.

    Raises:
        InputError: so it is.
    """
    for field, column in given.items():
        if column not in names:
            raise InputError(
                f"{path} has no column `{printable(column)}` for {field}; "
                f"it has {', '.join(map(printable, names))}"
            )
    for name in names:
        if folded(name) == _LEFT_OUT and name not in given.values():
            raise InputError(
                f"{path}: `{printable(name)}` says which trials are left out, and that is not read "
                "from a table: all rows would count",
                "give the trials as JSON lines (`harbor-metrics schema trials`), or the column as "
                f"a label: --columns {in_command(f'label.{_LEFT_OUT}={name}')}",
            )


def folded(name: str) -> str:
    """The name as it is compared: without the case of ASCII letters."""
    # As DuckDB compares names: `str.lower` would make a k of the sign for Kelvin.
    return name.translate(_LOWER)


def meanings(names: list[str], given: Mapping[str, str]) -> dict[str, int]:
    """FIELD -> index of the column that holds it; every column has one at most."""
    meaning = {field: names.index(column) for field, column in given.items()}
    taken = set(meaning.values())
    places = {folded(name): i for i, name in reversed(list(enumerate(names)))}
    for field in _FIELDS:
        for name in (field, *_NAMES.get(field, ())):
            index = places.get(name)
            rewards = field == "reward" and any(f.startswith("reward.") for f in meaning)
            if index is not None and index not in taken and field not in meaning and not rewards:
                meaning[field] = index
                taken.add(index)
    left = {i: _one_of_many(name) for i, name in enumerate(names) if i not in taken and name}
    # A column `x` is the label x, wherever a column `label.x` stands.
    plain = {f"label.{names[i]}" for i, named in left.items() if named is None}
    for i, own in left.items():
        field = f"label.{names[i]}" if own is None or own in meaning or own in plain else own
        while field in meaning:
            field = f"label.{field}"
        meaning[field] = i
    return meaning


def _one_of_many(name: str) -> str | None:
    """The field that a column names whose name has a dot: `reward.acc` of `REWARD.acc`."""
    prefix, dot, rest = name.partition(".")
    prefix = folded(prefix)
    if prefix == "reward" and rest == "reward":
        return "reward"
    # A reward's key may be empty.
    named = prefix in MANY and dot and (rest or prefix == "reward")
    return f"{prefix}.{rest}" if named else None
