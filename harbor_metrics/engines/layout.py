"""What the columns of a relation are, and whether they hold what they should."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw

from ..documents.wording import in_command, printable
from ..errors import InputError
from ..readers.columns import USAGE, check_columns, meanings
from ..trials.trial import GroupKey
from .asked import answering
from .united import United

# As engines and kinds of frames write it.
_WHOLE = re.compile(
    r"decimal(?:32|64|128|256)?\((?:precision=)?[0-9]+, ?(?:scale=)?0\)",
    re.IGNORECASE,
)
# Integers beyond 2^53 are refused.
_BEYOND = 2**62
_TEXTS = ("task", "error", "id", "trial", *GroupKey._fields)
_SHORT_INTEGERS = (nw.Int8, nw.Int16, nw.Int32, nw.UInt8, nw.UInt16, nw.UInt32)
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
    # Refuses a label by its name: only of one that is asked for it matters what it was in a file.
    check_label: Callable[[str], None] = lambda _: None


def laid_out(
    native: Any, path: str, given: Mapping[str, str], united: United
) -> tuple[Any, Layout]:
    """The frame with columns renamed, and what each of them is.

    Raises:
        InputError: a column is lacking, does not hold what its name says, or is another in a file.
    """
    frame = nw.from_native(native).lazy()
    schema = frame.collect_schema()
    names = list(schema.names())
    check_columns(path, names, given)
    fields = meanings(names, given)
    for field, why in (("task", "tasks"), ("reward", "rewards")):
        if field not in fields and not any(f.startswith(f"{field}.") for f in fields):
            raise InputError(
                f"{path} has no column of {why}; it has {', '.join(map(printable, names))}",
                f"name it with --columns {field}=COLUMN",
            )
    united.check_places(names, given)
    for field, place in fields.items():
        if field in _TEXTS or _is_amount(field):
            united.check_values(names[place], "VARCHAR" if field in _TEXTS else "DOUBLE")
    types = list(schema.dtypes())
    columns = [f"c{place}" for place in range(len(names))]
    frame = _renamed(frame, native, names, columns)
    amounts = [columns[place] for field, place in fields.items() if _is_amount(field)]
    filled = _filled(frame, [c for c in amounts if types[columns.index(c)] == nw.Unknown])
    whole = _whole_decimals(frame, native)
    of = frame.implementation
    found, numbers, casts = _read(
        path,
        fields,
        names,
        types,
        columns,
        filled,
        whole,
        in_sql=of.is_duckdb() or of.is_spark_like(),
    )
    if casts:
        with answering(of.name.lower(), path):
            frame = frame.with_columns(**casts)

    def check_label(name: str) -> None:
        place = fields[f"label.{name}"]
        what = _no_label(frame, types[place], columns[place])
        if what:
            raise InputError(
                f"column `{printable(names[place])}` of {path} holds {what}, and a label is a "
                "single text, number, boolean, date or time",
                f"say which column holds it: --columns {in_command(f'label.{name}=COLUMN')}",
            )
        united.check_values(names[fields[f"label.{name}"]], "VARCHAR")

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
        check_label=check_label,
    )


def _renamed(frame: Any, native: Any, names: Sequence[str], columns: Sequence[str]) -> Any:
    """The frame with other names of its columns, whatever an engine takes those that it has for.

    A dot is for Spark a field of a struct, a star for DuckDB and Polars each column.
    """
    if frame.implementation.is_duckdb():
        places = (f"#{place} as {column}" for place, column in enumerate(columns, start=1))
        return nw.from_native(native.project(", ".join(places))).lazy()
    if frame.implementation.is_spark_like() and hasattr(native, "toDF"):
        return nw.from_native(native.toDF(*columns)).lazy()
    return frame.rename(dict(zip(names, columns, strict=True)))


def _read(
    path: str,
    fields: Mapping[str, int],
    names: Sequence[str],
    types: Sequence[Any],
    columns: Sequence[str],
    filled: Collection[str],
    whole: Collection[int],
    *,
    in_sql: bool,
) -> tuple[dict[str, str], dict[str, Numbers | None], dict[str, nw.Expr]]:
    """The columns of texts, those of numbers, and which of them are to be cast.

    Of those whose type is not known the `filled` hold something; those at the places `whole` are
    decimals without a fraction.
    """
    found: dict[str, str] = {}
    numbers: dict[str, Numbers | None] = {}
    casts: dict[str, nw.Expr] = {}
    for field, place in fields.items():
        name, dtype, column = names[place], types[place], columns[place]
        if field in _TEXTS:
            found[field] = column
            if dtype != nw.String:
                _check_names(path, field, name, nw.Int64() if place in whole else dtype)
                casts[column] = nw.col(column).cast(nw.String)
        elif _is_amount(field):
            empty = dtype == nw.Unknown and column not in filled
            numbers[field] = None if empty else _numbers(path, field, name, dtype, column)
            if place in whole:
                numbers[field] = Numbers(column, whole=True)
                casts[column] = _as_integer(nw.col(column), in_sql=in_sql)
            elif dtype in _SHORT_INTEGERS:
                # The least of them has no magnitude of its own type.
                casts[column] = nw.col(column).cast(nw.Int64)
            elif dtype.is_decimal():
                # As a number that is read from a text is: not every engine rounds a decimal so.
                casts[column] = nw.col(column).cast(nw.String).cast(nw.Float64)
            elif dtype.is_float():
                # Else some engines round what it is compared with; and not every one takes -0.0
                # for 0.0.
                casts[column] = nw.col(column).cast(nw.Float64) + 0.0
        elif field.startswith("label.") and dtype.is_float():
            # Not every engine takes -0.0 for 0.0.
            casts[column] = nw.col(column) + 0.0
    return found, numbers, casts


def _whole_decimals(frame: Any, native: Any) -> set[int]:
    """The places of decimals without a fraction, which Spark makes of unsigned integers."""
    of = frame.implementation
    kinds: Iterable[Any] = ()
    if of.is_duckdb():
        kinds = native.types
    elif of.is_spark_like() and hasattr(native, "toDF"):
        kinds = [field.dataType.simpleString() for field in native.schema.fields]
    elif of.is_polars():
        kinds = native.lazy().collect_schema().dtypes()
    elif of.is_pyarrow():
        kinds = native.schema.types
    return {place for place, kind in enumerate(kinds) if _WHOLE.fullmatch(str(kind))}


def _as_integer(column: nw.Expr, *, in_sql: bool) -> nw.Expr:
    """A decimal without a fraction as an integer; beyond what any integer may be, as the ends are.

    Spark takes null for neither less nor more. Frames in memory refuse what is beyond.
    """
    if not in_sql:
        return column.cast(nw.Int64)
    return nw.when(~column.is_null()).then(column.clip(-_BEYOND, _BEYOND).cast(nw.Int64))


def _no_label(frame: Any, dtype: Any, column: str) -> str:
    """What no label is, and a column of this type holds."""
    if dtype.is_nested():
        return "lists or structures"
    if dtype != nw.Object or not frame.implementation.is_pandas_like():
        return "bytes" if dtype == nw.Binary else "durations" if dtype == nw.Duration else ""
    kept = frame.select(column).collect()[column].to_list()
    if any(isinstance(value, bytes) for value in kept):
        return "bytes"
    if not all(isinstance(value, Hashable) for value in kept):
        return "lists or structures"
    # Of 1 and True Python makes one group.
    kinds = {_kind(value) for value in kept if value is not None and (value == value) is True}
    return "values of mixed types" if len(kinds) > 1 else ""


def _kind(value: Any) -> type:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return Real if is_number else type(value)


def _is_amount(field: str) -> bool:
    return field in USAGE or field == "reward" or field.startswith("reward.")


def _filled(frame: Any, columns: Sequence[str]) -> set[str]:
    """Which of the columns hold anything at all."""
    if not columns:
        return set()
    counts = frame.select(*(nw.col(column).count() for column in columns)).collect()
    return {column for column in columns if counts[column].to_list()[0]}


def _numbers(path: str, field: str, name: str, dtype: Any, column: str) -> Numbers:
    if dtype.is_integer():
        return Numbers(column, whole=True)
    if dtype.is_float() or dtype.is_decimal():
        return Numbers(column, whole=False)
    what = {nw.Boolean: "true and false", nw.String: "texts"}.get(type(dtype), str(dtype))
    if dtype in (nw.Object, nw.Unknown):
        what = "values of mixed types" if dtype == nw.Object else "values of an unusual type"
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
