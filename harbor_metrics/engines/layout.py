"""What the columns of a relation are, and whether they hold what they should."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw

from ..documents.wording import printable
from ..errors import InputError
from ..readers.columns import USAGE, meanings
from ..trials.trial import GroupKey

_NAMES = (nw.String, nw.Categorical, nw.Enum)


class Numbers(NamedTuple):
    """A column of numbers, and whether all are integers."""

    column: str
    whole: bool


class Layout(NamedTuple):
    """Where a relation keeps what: reward keys, labels, usage; and the columns that part groups.

    Columns are renamed: not every engine takes every name.
    """

    rewards: dict[str, Numbers]
    labels: dict[str, str]
    usage: dict[str, Numbers]
    groups: dict[str, str]
    task: str
    error: str | None
    # What says which trial a row is: the columns that do together, and the one that does alone.
    trial: tuple[str, ...]
    id: str | None


def laid_out(
    native: Any, path: str, given: Mapping[str, str], files: Iterable[tuple[str, Sequence[str]]]
) -> tuple[Any, Layout]:
    """The frame with columns renamed, and what each of them is.

    Of `files` that are united in it the names of their own columns are known.

    Raises:
        InputError: a column is lacking, does not hold what its name says, or is another in a file.
    """
    frame = nw.from_native(native).lazy()
    schema = frame.collect_schema()
    names = list(schema.names())
    for field, column in given.items():
        if column not in names:
            raise InputError(
                f"{path} has no column `{printable(column)}` for {field}; "
                f"it has {', '.join(map(printable, names))}"
            )
    fields = meanings(names, given)
    for field, why in (("task", "tasks"), ("reward", "rewards")):
        if field not in fields and not any(f.startswith(f"{field}.") for f in fields):
            raise InputError(
                f"{path} has no column of {why}; it has {', '.join(map(printable, names))}",
                f"name it with --columns {field}=COLUMN",
            )
    _check_alike(names, fields, given, files)
    types = list(schema.dtypes())
    columns = [f"c{place}" for place in range(len(names))]
    # Spark takes a dot in a name for a field of a struct.
    if frame.implementation.is_spark_like() and hasattr(native, "toDF"):
        frame = nw.from_native(native.toDF(*columns)).lazy()
    else:
        frame = frame.select(
            *(nw.col(name).alias(column) for name, column in zip(names, columns, strict=True))
        )
    casts = {}
    found: dict[str, str] = {}
    for field, place in fields.items():
        if field in ("task", "error", "id", "trial", *GroupKey._fields):
            found[field] = columns[place]
            if types[place] != nw.String:
                _check_names(path, field, names[place], types[place])
                casts[columns[place]] = nw.col(columns[place]).cast(nw.String)
    if casts:
        frame = frame.with_columns(**casts)
    numbers = {
        field: _numbers(path, field, names[place], types[place], columns[place])
        for field, place in fields.items()
        if field == "reward" or field.startswith("reward.") or field in USAGE
    }
    by = {name: found[name] for name in GroupKey._fields if name in found}
    trial = (*by.values(), found["task"], found["trial"]) if "trial" in found else ()
    return frame, Layout(
        rewards={
            "reward" if field == "reward" else field.partition(".")[2]: column
            for field, column in numbers.items()
            if column is not None and field not in USAGE
        },
        labels={
            field.partition(".")[2]: columns[place]
            for field, place in fields.items()
            if field.startswith("label.")
        },
        usage={f: column for f, column in numbers.items() if column is not None and f in USAGE},
        groups=by,
        task=found["task"],
        error=found.get("error"),
        trial=trial,
        id=found.get("id"),
    )


def _check_alike(
    names: Sequence[str],
    fields: Mapping[str, int],
    given: Mapping[str, str],
    files: Iterable[tuple[str, Sequence[str]]],
) -> None:
    """Each file has its fields where all of them together have: else its rows would lack them."""
    for file, columns in files:
        own = [name for name in names if name in columns]
        said = {field: column for field, column in given.items() if column in own}
        for field, place in meanings(own, said).items():
            united = names[fields[field]] if field in fields else own[place]
            if own[place] != united and field not in given:
                raise InputError(
                    f"{printable(file)} has its {field} in column `{printable(own[place])}`, and "
                    f"another source in `{printable(united)}`",
                    "rename one of the columns, or compute the sources apart",
                )


def _numbers(path: str, field: str, name: str, dtype: Any, column: str) -> Numbers | None:
    """The column as numbers; None where nothing at all is in it."""
    if dtype.is_integer():
        return Numbers(column, whole=True)
    if dtype.is_float() or dtype.is_decimal():
        return Numbers(column, whole=False)
    if dtype == nw.Unknown:
        return None
    what = {nw.Boolean: "true and false", nw.String: "texts"}.get(type(dtype), str(dtype))
    if dtype == nw.Object:
        what = "values of mixed types"
    raise InputError(
        f"column `{printable(name)}` of {path} holds {what}, and {field} needs numbers",
        f"make it a column of numbers, or say which one is: --columns {field}=COLUMN",
    )


def _check_names(path: str, field: str, name: str, dtype: Any) -> None:
    if not (dtype.is_integer() or dtype in _NAMES or dtype in (nw.Object, nw.Unknown)):
        raise InputError(
            f"column `{printable(name)}` of {path} holds {dtype}, and {field} needs texts",
            f"say which column holds them: --columns {field}=COLUMN",
        )
