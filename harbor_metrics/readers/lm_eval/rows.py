"""The lines of an lm-eval samples file as rows, without the prompts and answers in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import Any

import msgspec

from ...documents.document import KEY_TWICE, repeats_a_key
from ...documents.limits import LimitError, check_integers, is_too_deep
from ...documents.wording import shown
from ...errors import InputError
from ..files import lenient

NO_FILTER = "none"
# Each is a column of all samples.
_MOST_METRICS = 2_000
# What msgspec takes into no name of a field.
_UNNAMABLE = re.compile(r'["\\\x00-\x1f]')
_NESTED = frozenset({dict, list})
_listed = attrgetter("metrics")
_Members = Mapping[str, msgspec.Raw]
_END = b"}\n"
_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


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

    def __init__(self, path: str = "") -> None:
        self._path = path
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
        self._decode: Any = msgspec.json.Decoder(self._row).decode

    def block(self, lines: list[bytes]) -> list[Row]:
        """The rows of some lines that are not blank.

        Raises:
            ValueError: a line is not a row, or has a key twice.
        """
        text = b"\n".join(lines)
        check_integers(text)
        lenient.check_marks(text)
        if any(map(is_too_deep, lines)):
            raise LimitError
        rows: list[Row] = list(map(self._decode, lines))
        members = list(map(_members, lines))
        if new := self._new(rows, members):
            self._learn(new)
            rows = list(map(self._decode, lines))
        # All at once takes half as long.
        for line, own in () if _are_whole(text, members) else zip(lines, members, strict=True):
            if not _is_whole(line, own) and repeats_a_key(line) and _repeats_a_name(line):
                raise ValueError(KEY_TWICE)
        if self._repeats_inside(rows, members):
            raise ValueError(KEY_TWICE)
        if rows:
            self._drop_unlisted(rows)
        return rows

    def line(self, line: bytes) -> Row:
        """The row of a line that may have bare constants; raises as `block` does."""
        repeats = repeats_a_key(line)
        if repeats and _repeats_a_name(line):
            raise ValueError(KEY_TWICE)
        row: Row = lenient.decode(line, self._row)
        members = lenient.decode(line, dict[str, Any]) if row.metrics is None else {}
        if new := self._new([row], [members]):
            self._learn(new)
            row = lenient.decode(line, self._row)
        if repeats and self._repeats_inside([row], [_members(lenient.without_constants(line))]):
            raise ValueError(KEY_TWICE)
        self._drop_unlisted([row])
        return row

    def values(self, row: Row) -> Iterator[tuple[str, Any]]:
        """The metrics of a row that this decoder made."""
        for metric, field in self._fields.items():
            value = getattr(row, field, msgspec.UNSET)
            if value is not msgspec.UNSET:
                yield metric, value

    def _drop_unlisted(self, rows: list[Row]) -> None:
        """Leave out what a row does not list: it is a metric of others alone."""
        lists = list(map(_listed, rows))
        if lists.count(lists[0]) == len(lists) and self._fields.keys() <= set(lists[0] or ()):
            return
        for row, listed in zip(rows, lists, strict=True):
            if listed is not None:
                for metric in self._fields.keys() - listed:
                    setattr(row, self._fields[metric], msgspec.UNSET)

    def _repeats_inside(self, rows: list[Row], members: Sequence[_Members]) -> bool:
        """Whether a key stands twice in an object that is a metric, or in what repeats scored."""
        fields = {"scores_per_repeat": "scores_per_repeat", **self._fields}
        nested = [
            name
            for name, field in fields.items()
            if not _NESTED.isdisjoint(map(type, map(attrgetter(field), rows)))
        ]
        return any(
            b"{" in (text := bytes(own.get(name, b""))) and repeats_a_key(text)
            for name in nested
            for own in members
        )

    def _learn(self, names: set[str]) -> None:
        """Give these metrics fields.

        Raises:
            ValueError: no field can have one of the names; then none of them has one.
        """
        if odd := [name for name in sorted(names) if _UNNAMABLE.search(name)]:
            raise ValueError(
                f"the name of a metric, {shown(odd[0])}, has a quote, a backslash or a control "
                "character"
            )
        if len(self._fields) + len(names) > _MOST_METRICS:
            raise InputError(
                f"{self._path}: its samples have more than {_MOST_METRICS:,} different metrics",
                "lm-eval gives the samples of one task the metrics of that task",
            )
        for name in sorted(names):
            self._fields[name] = f"m{len(self._fields)}"
        self._build()

    def _new(self, rows: list[Row], members: Iterable[Mapping[str, Any]]) -> set[str]:
        """Metrics without a field yet; of a line that lists none, all but the fixed names."""
        lists = list(map(_listed, rows))
        if None in lists:
            lists = [own if its is None else its for its, own in zip(lists, members, strict=True)]
        names = set(chain.from_iterable(lists))
        return names - self._fields.keys() - _FIXED


def _are_whole(text: bytes, members: Sequence[_Members]) -> bool:
    """Whether these members, written again, are the lines of a text: then none stands twice.

    False where they are written in another way than Python does, or are not the same in all lines.
    """
    names = tuple(members[0]) if members else ()
    if not names or any(tuple(own) != names for own in members):
        return False
    parts = _spaced(names) * len(members)
    parts[0] = parts[0][len(_END) :]
    parts[1::2] = list(chain.from_iterable(own.values() for own in members))
    parts.append(b"}")
    return b"".join(parts) == text


def _is_whole(line: bytes, members: _Members) -> bool:
    """The same of one line, which may also be written as msgspec does."""
    return _are_whole(line, (members,)) or msgspec.json.encode(members) == line


@lru_cache(maxsize=256)
def _spaced(names: tuple[str, ...]) -> list[bytes | msgspec.Raw]:
    """What stands before each value of a further object with these names, and room for the value.

    As Python writes it.
    """
    signs = [_END + b"{", *[b", "] * (len(names) - 1)]
    before = [sign + f'"{name}": '.encode() for sign, name in zip(signs, names, strict=True)]
    return [part for name in before for part in (name, b"")]


def _repeats_a_name(line: bytes) -> bool:
    """Whether, of the keys that stand twice in a line, one does so in the object itself."""
    # Inside, for weight: few lines have a key twice.
    import json

    outermost: list[tuple[str, Any]] = []

    def keep(pairs: list[tuple[str, Any]]) -> None:
        nonlocal outermost
        outermost = pairs

    json.loads(line, object_pairs_hook=keep)
    return len(dict(outermost)) < len(outermost)
