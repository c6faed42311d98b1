"""Tables and columns of clusters drawn with replacement, from a seed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from random import Random
from typing import overload

from msgspec import json

from ..trials.column import Column
from ..trials.labelled import TASK, clusters
from ..trials.table import Table
from ..trials.trial import LineTasks

View = Column | Table
_CHUNK = 1000


def resampled(view: View, cluster: str | None, samples: int, seed: int) -> Iterator[View]:
    """So many tables or columns of clusters drawn with replacement; drawn twice, they are two."""
    rng = Random(seed)  # noqa: S311  # statistics, not secrets
    rows_of = _rows_of_clusters(view, cluster)
    n, uniform, tasks = len(rows_of), rng.random, [*view.tasks]
    for _ in range(samples):
        drawn = [rows_of[int(uniform() * n)] for _ in range(n)]
        rows = [*chain.from_iterable(drawn)]
        yield view.picked(rows, _Names(tasks, drawn))


class _Names(Sequence[str]):
    """The tasks of clusters that were drawn, named when they are asked for: few metrics do."""

    def __init__(self, tasks: Sequence[str], drawn: list[list[int]]) -> None:
        self._tasks, self._drawn = tasks, drawn

    @cached_property
    def _names(self) -> list[str]:
        tasks = self._tasks
        return [f"{i}/{tasks[row]}" for i, rows in enumerate(self._drawn) for row in rows]

    def __len__(self) -> int:
        return sum(map(len, self._drawn))

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        return self._names[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)


def _rows_of_clusters(view: View, cluster: str | None) -> list[list[int]]:
    """The rows of each cluster, in an order that is not that of the rows."""
    if cluster is None:
        return [[row] for row in sorted(range(len(view)), key=_by_content(view))]
    keys = view.tasks if cluster == TASK else clusters(view, cluster)
    rows_of: dict[object, list[int]] = {}
    for row, key in enumerate(keys):
        rows_of.setdefault(key, []).append(row)
    return [rows_of[key] for key in sorted(rows_of, key=_place)]


def _by_content(view: View) -> Callable[[int], tuple[str, str]]:
    """An order of rows by what they hold: some attempts have no other."""
    tasks = [*view.tasks]
    rewards = view.values if isinstance(view, Column) else [*view.rewards()]
    contents = [json.encode(reward, order="deterministic").decode() for reward in rewards]
    return lambda row: (tasks[row], contents[row])


def _place(key: object) -> tuple[str, bool]:
    """Where a cluster stands: the same of labels that are equal, such as 1, 1.0 and true."""
    if isinstance(key, int) or (isinstance(key, float) and key.is_integer()):
        return f"{int(key):09}", False
    return str(key), isinstance(key, str)


def as_lm_eval(view: View, samples: int) -> Iterator[View]:
    """The draws of lm-eval: in chunks of at most 1,000, the chunk's number the seed, rest left out.

    Rows stand in the order of the tasks' names, numbers in them by their value, as documents do in
    lm-eval's files.
    """
    order = sorted(range(len(view)), key=lambda row: (_natural(view.tasks[row]), row))
    chunk = min(samples, _CHUNK)
    names = LineTasks(range(1, len(order) + 1))
    for number in range(samples // chunk):
        rng = Random(number)  # noqa: S311  # statistics, not secrets
        for _ in range(chunk):
            yield view.picked(rng.choices(order, k=len(order)), names)


def _natural(name: str) -> list[tuple[int, str]]:
    parts = re.split(r"([0-9]+)", name)
    # A number as its length and its digits: Python makes no integer of very many.
    parts[1::2] = [part.lstrip("0") for part in parts[1::2]]
    return [(len(part) if i % 2 else 0, part) for i, part in enumerate(parts)]
