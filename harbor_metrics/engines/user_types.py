"""Types of Spark that name code: a file that holds one has Spark import and run it.

Spark writes its own schema of a table into the footer of a Parquet. A user-defined type there names
a Python module and a Java class, which are loaded where the schema is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..documents.wording import printable
from ..errors import InputError
from .extras import require
from .heads import read_footer, values_in

_KEY = b"org.apache.spark.sql.parquet.row.metadata"
_USERS = "udt"


def check_footers(files: Sequence[str]) -> None:
    """Refuse files that name code, or of which it cannot be told.

    Raises:
        InputError: there is one.
    """
    for file in files:
        if any(map(_names_code, values_in(read_footer(file), _KEY))):
            raise _refusal(file)


@contextmanager
def refusing(path: str) -> Iterator[None]:
    """Meanwhile no type names code that is imported here, wherever the files lie.

    Raises:
        InputError: one does.
    """
    types = require("pyspark.sql.types", "spark").UserDefinedType
    before = types.__dict__["fromJson"]

    def refuse(*_: Any) -> None:
        raise _refusal(path)

    types.fromJson = classmethod(refuse)
    try:
        yield
    finally:
        types.fromJson = before


def without_metadata(schema: Any) -> Any:
    """The names and types of a schema, without what its columns are said to default to, or to be
    compared by: Spark would fill with it what other files lack.
    """
    types = require("pyspark.sql.types", "spark")
    return types.StructType.fromJson(_plain(schema.jsonValue()))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: {} if key == "metadata" else _plain(own) for key, own in value.items()}
    return [_plain(own) for own in value] if isinstance(value, list) else value


def _refusal(path: str) -> InputError:
    return InputError(
        f"{printable(path)} holds a type that names code, which Spark would run",
        "take --engine duckdb, which reads the plain values, or write the file without the type",
    )


def _names_code(schema: bytes | None) -> bool:
    if schema is None:
        return True
    try:
        # A key that stands twice keeps both of its values.
        return _holds(json.loads(schema, object_pairs_hook=tuple))
    except (ValueError, RecursionError):
        return True


def _holds(value: Any) -> bool:
    """Whether a text in it is the name of such a type; a column may be called so."""
    if isinstance(value, tuple):
        return any(key != "name" and _holds(own) for key, own in value)
    if isinstance(value, list):
        return any(map(_holds, value))
    return isinstance(value, str) and value.lower() == _USERS
