"""Files that are united by the names of their columns: what would then be lost or changed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from ..documents.wording import printable
from ..errors import InputError
from ..readers.columns import folded, meanings
from .arrow_schema import durations
from .asked import answering
from .extras import literal
from .texts import Texts

_INTEGER = {"HUGEINT", *(f"{u}{kind}INT" for u in ("", "U") for kind in ("TINY", "SMALL", "BIG"))}
_INTEGER |= {"INTEGER", "UINTEGER"}
# Up to here a float is each sum of integers.
_EXACT = 2**53
_TEXT = "VARCHAR"
# Digits of a decimal that an engine keeps; one with more is rounded, and not to what is nearest.
_MOST_DIGITS = 38
_WIDE, _DURATIONS = f"decimals of more than {_MOST_DIGITS} digits", "durations"
_OF_TWO_TYPES = "values whose logical type is not the older, converted one"
# Logical types as DuckDB writes them, numbers of bits as a sign of that number.
_DECIMAL = re.compile(r"DecimalType\(scale=(?P<scale>\d+), precision=(?P<precision>\d+)\)")
_INT = re.compile(r"IntType\(bitWidth=(?P<bits>.), isSigned=(?P<signed>[01])\)", re.DOTALL)
# The converted types beside those of time; DuckDB reads a time without one, and no date.
_OF_TIME: dict[str, set[str | None]] = {
    "DateType": {"DATE"},
    "TimeType": {"TIME_MILLIS", "TIME_MICROS", None},
    "TimestampType": {"TIMESTAMP_MILLIS", "TIMESTAMP_MICROS", None},
}
_NOTHING = '"NULL"'
# No column of anybody's.
FILE = "file of harbor-metrics"


class Alike(NamedTuple):
    """Files with the same columns: their names, and the types of these where they could differ."""

    files: Sequence[str]
    columns: Sequence[str]
    types: Sequence[str] = ()


class Changed(NamedTuple):
    """A file with values of a column that the united type does not keep; types, and who has one."""

    file: str
    type: str
    other: str
    other_type: str
    united: str


class United(NamedTuple):
    """The files of a relation, asked of only where it is needed."""

    alike: Callable[[], Sequence[Alike]] = tuple
    # The second argument: whether it is a text, or a label, which is told by all of its digits.
    changed: Callable[[str, bool], Changed | None] = lambda *_: None
    # Refuses a column that unfolds to very much more than the files have.
    check_size: Callable[[str], None] = lambda _: None
    # Refuses a column of a type that the engine takes for another one.
    check_kind: Callable[[str], None] = lambda _: None

    def check_places(self, names: Sequence[str], given: Mapping[str, str]) -> None:
        """Refuse files of which a column is another field, or none, among the others.

        Raises:
            InputError: so it is.
        """
        fields = meanings(list(names), given)
        places = {folded(name): place for place, name in enumerate(names)}
        kinds = [({folded(name): name for name in kind.columns}, kind) for kind in self.alike()]
        known = set().union(*(columns for columns, _ in kinds))
        rewards = {folded(names[i]) for f, i in fields.items() if f.partition(".")[0] == "reward"}
        for columns, kind in kinds:
            # What the names of folders say is said of every file below, and so is what is given.
            further = [name for name in names if folded(name) not in known]
            further += [name for name in given.values() if folded(name) in known - columns.keys()]
            own = [*kind.columns, *dict.fromkeys(further)]
            said = {field: columns.get(folded(name), name) for field, name in given.items()}
            for field, index in meanings(own, said).items():
                place = places.get(folded(own[index]))
                if place is None or fields.get(field) != place:
                    other = fields.get(field, place)
                    united = "none" if other is None else f"`{printable(names[other])}`"
                    raise InputError(
                        f"{printable(kind.files[0])} has its {printable(field)} in column "
                        f"`{printable(own[index])}`, and another source in {united}",
                        "rename one of the columns, or compute the sources apart",
                    )
            if not any(name in columns or name not in known for name in rewards):
                raise InputError(
                    f"{printable(kind.files[0])} has no column of rewards, as other files have",
                    "name it with --columns reward=COLUMN, or leave the file out",
                )

    def check_values(self, column: str, wanted: str) -> None:
        """Refuse a column whose type is unknown, that is too large, or changes where it is united.

        Raises:
            InputError: so it is.
        """
        self.check_kind(column)
        self.check_size(column)
        found = self.changed(column, wanted == _TEXT)
        if found is not None:
            raise InputError(
                f"column `{printable(column)}` is {found.type} in {printable(found.file)} and "
                f"{found.other_type} in {printable(found.other)}: united, as {found.united}, "
                f"values of {printable(found.file)}, or their sum, would be others",
                f"write it as {wanted} in both, or compute the sources apart",
            )


def kinds_checked(
    local: Sequence[str],
    alike: Callable[[], Sequence[Alike]],
    odd: Callable[[], Iterable[tuple[str, str, str]]] = tuple,
) -> Callable[[str], None]:
    """What refuses a column of durations in a file of this machine, or one that is `odd`.

    Of these the file is given, the name, and what it holds.
    """

    @cache
    def columns() -> dict[str, Sequence[str]]:
        return {os.path.abspath(file): kind.columns for kind in alike() for file in kind.files}

    def columns_of(file: str) -> Sequence[str]:
        return columns().get(os.path.abspath(file), ())

    @cache
    def found() -> dict[str, tuple[str, str]]:
        kinds = {folded(name): (file, what) for file, name, what in odd()}
        for file in local:
            own = durations(file, partial(columns_of, file))
            kinds |= {folded(name): (file, _DURATIONS) for name in own}
        return kinds

    def check_kind(column: str) -> None:
        if (kind := found().get(folded(column))) is not None:
            file, what = kind
            raise InputError(
                f"column `{printable(column)}` of {printable(file)} holds {what}, which an engine "
                "takes for other values",
                "write it as a column of floating-point numbers",
            )

    return check_kind


def united_by_duckdb(
    connection: Any,
    patterns: Sequence[str],
    local: Sequence[str],
    native: Any,
    texts: Texts,
    path: str,
) -> United:
    """The files of patterns, the first of them `local`, that DuckDB has united in a relation."""

    @cache
    def alike() -> Sequence[Alike]:
        with answering("duckdb", path):
            return kinds_of(connection, patterns)

    @cache
    def changed(column: str, by_digits: bool) -> Changed | None:
        types = dict(zip(native.columns, map(str, native.types), strict=True))
        kinds = alike()
        with answering("duckdb", path):
            return _changed(connection, kinds, column, types[column], by_digits=by_digits)

    def check_size(column: str) -> None:
        with answering("duckdb", path):
            texts.check(column)

    def odd() -> Iterator[tuple[str, str, str]]:
        query = (
            "select file_name, name, precision, scale, converted_type, logical_type "
            "from parquet_schema(?) where logical_type is not null or precision is not null"
        )
        with answering("duckdb", path):
            rows = connection.execute(query, [list(patterns)]).fetchall()
        for file, name, precision, scale, converted, logical in rows:
            if precision is not None and precision > _MOST_DIGITS:
                yield file, name, _WIDE
            elif logical is not None and _differs(precision, scale, converted, logical):
                yield file, name, _OF_TWO_TYPES

    return United(alike, changed, check_size, kinds_checked(local, alike, odd))


def _differs(precision: int | None, scale: int | None, converted: str | None, logical: str) -> bool:
    """Whether a column has another logical type than the older one, which alone DuckDB reads."""
    if decimal := _DECIMAL.match(logical):
        said = (int(decimal["scale"]), int(decimal["precision"]))
        return converted != "DECIMAL" or (scale, precision) != said
    if integer := _INT.match(logical):
        is_signed = integer["signed"] == "1"
        kind = f"{'' if is_signed else 'U'}INT_{ord(integer['bits'])}"
        return converted != kind and not (converted is None and is_signed)
    of_time = _OF_TIME.get(logical.partition("(")[0])
    return of_time is not None and converted not in of_time


def kinds_of(connection: Any, patterns: Sequence[str]) -> list[Alike]:
    """The files of patterns of DuckDB by their columns.

    Raises:
        InputError: one has two columns of one name.
    """
    kinds = connection.execute(
        "select list(file_name order by file_name) as files from (select file_name, list((name, "
        "type, converted_type, logical_type, scale, precision, num_children) order by all) as "
        "columns from parquet_schema(?) group by file_name) group by columns order by files",
        [list(patterns)],
    ).fetchall()
    found = []
    for (files,) in kinds:
        one = connection.read_parquet(literal(files[0]), hive_partitioning=False)
        _check_names(connection, files[0], one.columns)
        found.append(Alike(files, one.columns, [str(each) for each in one.types]))
    return found


def _check_names(connection: Any, file: str, columns: Sequence[str]) -> None:
    """Refuse two columns of one name, whatever its case: DuckDB gives one of them another.

    Raises:
        InputError: so it is.
    """
    rows = connection.execute(
        "select name, num_children from parquet_schema(?)", [literal(file)]
    ).fetchall()
    for own, name in zip(_outermost(rows), columns, strict=True):
        # One without a name is none that is asked for.
        if own and own != name:
            raise InputError(
                f"{printable(file)} has two columns named `{printable(own)}`, or so but for case",
                "rename one",
            )


def _outermost(rows: Sequence[tuple[str, int | None]]) -> Iterator[str]:
    """The names of the columns themselves in a schema, where those of their parts follow them."""
    inside = 0
    for name, children in rows[1:]:
        if not inside:
            yield name
        inside += (children or 0) - bool(inside)


def _changed(
    connection: Any, kinds: Sequence[Alike], column: str, united: str, *, by_digits: bool
) -> Changed | None:
    """The first file of another type than the united one whose values are then others."""
    having = []
    for kind in kinds:
        types = dict(zip(map(folded, kind.columns), kind.types, strict=True))
        if types.get(folded(column), _NOTHING) != _NOTHING:
            having.append((kind.files, types[folded(column)]))
    for files, own in having:
        condition = None
        if own != united:
            condition = _condition(quoted(column), own, united, by_digits=by_digits)
        if condition is None:
            continue
        # The column's name is quoted, and types are DuckDB's own.
        query = (
            f"select {quoted(FILE)} from read_parquet(?, union_by_name = true, "  # noqa: S608
            f"hive_partitioning = false, filename = '{FILE}') where {condition} limit 1"
        )
        row = connection.execute(query, [[*map(literal, files)]]).fetchone()
        if row is not None:
            return _as(row[0], own, having, united)
    integers = [(files, own) for files, own in having if _is_integer(own)]
    if integers and not _is_integer(united):
        total = f"select sum(abs({quoted(column)}::double)) from read_parquet(?, "  # noqa: S608
        total += "union_by_name = true, hive_partitioning = false)"
        names = [literal(file) for files, _ in integers for file in files]
        ((most,),) = connection.execute(total, [names]).fetchall()
        if most is not None and most > _EXACT:
            return _as(integers[0][0][0], integers[0][1], having, united)
    return None


def _as(file: str, own: str, having: Sequence[tuple[Sequence[str], str]], united: str) -> Changed:
    others = [(theirs[0], other) for theirs, other in having if other != own]
    other = next((each for each in others if each[1] == united), others[0])
    return Changed(file, own, *other, united)


def _condition(value: str, own: str, united: str, *, by_digits: bool) -> str | None:
    """When a value is another one as the united type; None where it never is."""
    cast = f"try_cast({value} as {united})"
    if _is_number(own) and _is_number(united):
        # Amounts are computed as DOUBLE, whatever they lie as; integers are integers before.
        changed = f"{value}::double is distinct from {cast}::double"
        if _is_integer(own) or by_digits:
            changed += f" or {value} is distinct from try_cast({cast} as {own})"
        if _is_integer(own) and not _is_integer(united):
            changed += f" or {value} is distinct from try_cast({value}::double as {own})"
        return changed
    if united == _TEXT and _is_integer(own):
        return None
    return f"{value} is not null"


def _is_integer(kind: str) -> bool:
    return kind in _INTEGER or (kind.startswith("DECIMAL(") and kind.endswith(",0)"))


def _is_number(kind: str) -> bool:
    return kind in _INTEGER or kind in ("FLOAT", "DOUBLE") or kind.startswith("DECIMAL(")


def quoted(name: str) -> str:
    """The name of a column as SQL has it."""
    return '"' + name.replace('"', '""') + '"'
