"""The lines of an lm-eval samples file as rows, without the prompts and answers in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from . import lenient

NO_FILTER = "none"


class Row(msgspec.Struct, gc=False):
    """The fields of a line that have fixed names; metrics are put in fields of their own."""

    doc_id: int | str | None = None
    doc: Any = None
    target: Any = None
    filtered_resps: Any = None
    filter: str = NO_FILTER
    metrics: list[str] | None = None
    doc_hash: str = ""
    prompt_hash: str = ""
    target_hash: str = ""
    scores_per_repeat: dict[str, list[Any]] | None = None


_FIXED = frozenset(Row.__struct_fields__) | {"resps", "arguments", "metadata"}


class Decoder:
    """Decodes lines into rows with a field a metric, so that everything else is skipped."""

    def __init__(self) -> None:
        self._fields: dict[str, str] = {}
        self._build()

    def _build(self) -> None:
        self._row: Any = msgspec.defstruct(
            "Row",
            [(field, Any, msgspec.UNSET) for field in self._fields.values()],
            bases=(Row,),
            rename={field: metric for metric, field in self._fields.items()},
            gc=False,
        )
        self._decode_lines: Any = msgspec.json.Decoder(self._row).decode_lines

    def block(self, block: bytes) -> list[Row]:
        """The rows of a block of lines."""
        rows: list[Row] = self._decode_lines(block)
        if new := self._new(rows, block):
            self._learn(new)
            rows = self._decode_lines(block)
        return rows

    def line(self, line: bytes) -> Row:
        """The row of a line that may have bare constants."""
        row: Row = lenient.decode(line, self._row)
        if new := self._new([row], line):
            self._learn(new)
            row = lenient.decode(line, self._row)
        return row

    def values(self, row: Row) -> Iterator[tuple[str, Any]]:
        """The metrics of a row that this decoder made."""
        for metric, field in self._fields.items():
            value = getattr(row, field, msgspec.UNSET)
            if value is not msgspec.UNSET:
                yield metric, value

    def _learn(self, names: set[str]) -> None:
        for name in sorted(names):
            self._fields[name] = f"m{len(self._fields)}"
        self._build()

    def _new(self, rows: list[Row], block: bytes) -> set[str]:
        """Metrics without a field yet; where a line lists none, every name that is no fixed one."""
        names: set[str] = set()
        for row in rows:
            if row.metrics is None:
                names |= _unlisted(block)
                break
            names.update(row.metrics)
        return names - self._fields.keys() - _FIXED


def _unlisted(block: bytes) -> set[str]:
    value: dict[str, Any] = lenient.decode(block.partition(b"\n")[0], dict[str, Any])
    return value.keys() - _FIXED
