"""Tables and columns of clusters drawn with replacement, from a seed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from random import Random

from ..trials.column import Column
from ..trials.labelled import TASK
from ..trials.table import Table
from ..trials.trial import LineTasks

View = Column | Table
_CHUNK = 1000


def resampled(view: View, cluster: str | None, samples: int, seed: int) -> Iterator[View]:
    """So many tables or columns of clusters drawn with replacement; drawn twice, they are two."""
    rng = Random(seed)  # noqa: S311  # statistics, not secrets
    clusters = [rows for _, rows in sorted(_clusters(view, cluster).items())]
    n = len(clusters)
    for _ in range(samples):
        drawn = [clusters[int(rng.random() * n)] for _ in range(n)]
        rows = [row for cluster_rows in drawn for row in cluster_rows]
        names = [
            f"{i}/{view.tasks[row]}" for i, cluster_rows in enumerate(drawn) for row in cluster_rows
        ]
        yield view.picked(rows, names)


def _clusters(view: View, cluster: str | None) -> dict[str, list[int]]:
    keys: Sequence[object] = range(len(view))
    if cluster is not None:
        keys = view.tasks if cluster == TASK else view.label(cluster)
    clusters: dict[str, list[int]] = {}
    for row, key in enumerate(keys):
        clusters.setdefault(f"{key:09}" if isinstance(key, int) else str(key), []).append(row)
    return clusters


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
    return [(int(part), "") if i % 2 else (0, part) for i, part in enumerate(parts)]
