"""Trials as a relation: each question is one query that groups, counts and adds integers.

Nothing of ours runs on an engine's workers, so every engine gives the same bits. A question is
asked of all groups at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import msgspec
import narwhals.stable.v2 as nw

from .asked import Asked, Row
from .layout import Layout

Group = tuple[Any, ...]
_Parsed = TypeVar("_Parsed")
_ALONE = "alone"
# More different values than these are not brought here.
MOST_VALUES = 1_000_000
# Engines add integers as binary64 numbers, which all of them have.
MOST_WHOLE = 2**53


@dataclass(frozen=True)
class Relation:
    """One row a trial. `by` are the columns that part groups, by name."""

    frame: Any
    layout: Layout
    asked: Asked
    by: Mapping[str, str]
    # The reward keys whose extremes are found in the first query.
    wanted: tuple[str, ...] = ()
    # What was made of the trials before anything is asked: a part of every question.
    made: tuple[str, ...] = ()

    def split(self, labels: Sequence[str]) -> Relation:
        """The same with groups parted further, by labels."""
        more = {f"label.{name}": self.layout.labels[name] for name in labels}
        return replace(self, by={**self.by, **more})

    def alone(self, group: Group) -> Relation | None:
        """The trials of one group, for what is too much of all groups; None where it is no other.

        What a stranger's group holds is no reason to say nothing of the user's.
        """
        if _ALONE in self.made or not self.by:
            return None
        if not all(value is None or isinstance(value, str) for value in group):
            return None
        frame = self.frame
        for column, value in zip(self.columns, group, strict=True):
            own = nw.col(column)
            frame = frame.filter(own.is_null() if value is None else own == value)
        name = msgspec.json.encode(list(group)).decode()
        return replace(self, frame=frame, made=(*self.made, _ALONE, name))

    def sizes_of(self, key: str | None = None) -> dict[Group, Counter[tuple[int, int]]] | None:
        """(attempts, those with the reward) -> how many tasks; None where it was not asked yet.

        Without a key that of any.
        """
        parts = tuple(self.by), self.made
        if key is not None:
            return self.asked.sizes.get((key, parts))
        return next((known for (_, of), known in self.asked.sizes.items() if of == parts), None)

    def keep_sizes(self, key: str, rows: list[tuple[Group, tuple[int, int], int]]) -> None:
        """Remember the sizes of tasks that another question has told."""
        sizes: dict[Group, Counter[tuple[int, int]]] = {}
        for group, size, tasks in rows:
            sizes.setdefault(group, Counter())[size] += tasks
        self.asked.sizes[key, (tuple(self.by), self.made)] = sizes

    @property
    def columns(self) -> list[str]:
        """The columns that part groups."""
        return list(self.by.values())

    def grouped(self, frame: Any, more: Sequence[str]) -> Any:
        """The frame by group, and by these columns."""
        keys = [*self.columns, *more]
        return frame.group_by(*keys) if keys else _Whole(frame)

    def by_group(self, rows: list[Row]) -> list[tuple[Group, Row]]:
        """The rows, each with its group apart."""
        n = len(self.by)
        return [(row[:n], row[n:]) for row in rows]

    def counted(self, rows: list[Row]) -> Any:
        """Value -> how often, by group."""
        found: dict[Group, Counter[Any]] = {}
        for group, (value, n) in self.by_group(rows):
            found.setdefault(group, Counter())[value] += int(n)
        return found

    def once(
        self,
        question: Sequence[Any],
        query: Callable[[], Any],
        parse: Callable[[list[Row]], _Parsed],
        most: int = 0,
    ) -> _Parsed:
        """What was made of an answer, as `Asked.once`."""
        return self.asked.once([*question, list(self.by), *self.made], query, parse, most)


class _Whole:
    """A frame as one group."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def agg(self, *aggregates: Any) -> Any:
        """The frame's one row."""
        return self._frame.select(*aggregates)


def flag(condition: Any, name: str) -> Any:
    """1 where it holds, else 0: not every engine adds up booleans."""
    flag = nw.when(condition).then(nw.lit(1)).otherwise(nw.lit(0))
    return flag.cast(nw.Int64).alias(name)


def as_int64(frame: Any, keep: Sequence[str], names: Sequence[str]) -> Any:
    """Sums as 64-bit integers: some engines widen them."""
    return frame.select(*keep, *(nw.col(name).cast(nw.Int64) for name in names))
