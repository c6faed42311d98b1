"""Relations as sources: a table a group, of which the engine is asked when a metric asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..documents.wording import plural
from ..errors import InputError
from ..trials.counted import Absent
from ..trials.counts import Seen
from ..trials.source import Counted, Engine, Source
from ..trials.trial import GroupKey
from .asked import Asked
from .layout import Layout, laid_out
from .opened import Opened
from .opening import open_frame, open_paths
from .overview import Overview, overview, repeated
from .relation import MOST_WHOLE, Relation
from .table import RelationTable


def read(
    sources: Sequence[Any],
    *,
    engine: str | None = None,
    columns: Mapping[str, str],
    keys: Sequence[str] | None = None,
    totals_only: bool = False,
) -> list[Source]:
    """All paths as one source, and each frame as one.

    Args:
        sources: paths of Parquet, or frames.
        engine: which reads the paths: `duckdb`, `spark` or `sc://HOST:PORT`.
        columns: FIELD -> column, where names do not say it.
        keys: the reward keys that metrics will ask for; None for all.
        totals_only: whether no interval will be asked for.

    Raises:
        UsageError: there is no such engine, or a source is neither.
        InputError: a source cannot be read, or holds what rewards and tasks cannot be.
    """
    paths = [source for source in sources if isinstance(source, str)]
    opened = [open_paths(paths, engine)] if paths else []
    opened += [open_frame(source) for source in sources if not isinstance(source, str)]
    return [_source(each, columns, keys, totals_only=totals_only) for each in opened]


def _source(
    opened: Opened, columns: Mapping[str, str], keys: Sequence[str] | None, *, totals_only: bool
) -> Source:
    frame, layout = laid_out(opened.native, opened.path, columns, opened.united)
    wanted = tuple(key for key in layout.rewards if keys is None or key in keys)
    asked = Asked(opened.engine, opened.path, totals_only=totals_only, unchanged=opened.unchanged)
    relation = Relation(frame, layout, asked, layout.groups, wanted)
    groups = overview(relation)
    for said in groups.values():
        _check(opened.path, layout, said)
    asked.trials = sum(said.trials for said in groups.values())
    with opened.frugal():
        again = repeated(relation)
    if again:
        raise InputError(
            f"{opened.path} has {plural(again, 'trial')} more than once",
            "leave out what was exported twice: an engine cannot tell which one to keep",
        )
    tables: Any = {
        GroupKey(**dict(zip(layout.groups, group, strict=True), **_absent(layout))): RelationTable(
            relation, group
        )
        for group in groups
    }
    return Source(
        path=opened.path,
        trials=Absent(asked.trials, "every trial"),
        sha256="",
        counted=Counted(tables, Seen()),
        kind="relation",
        diagnostics=list(opened.diagnostics),
        engine=Engine(opened.engine, opened.version, lambda: asked.sha256),
        files=opened.unchanged.paths,
    )


def _absent(layout: Layout) -> dict[str, None]:
    return {name: None for name in GroupKey._fields if name not in layout.groups}


def _check(path: str, layout: Layout, said: Overview) -> None:
    """Refuse trials that no metric could be computed of.

    Raises:
        InputError: a trial has no task, or its reward is not a number that can be added exactly.
    """
    if said.nameless:
        raise InputError(f"{path}: {said.nameless} of {said.trials} trials have no task")
    for key, ends in said.extremes.items():
        if ends.bad:
            raise InputError(
                f"{path}: {ends.bad} of {ends.given} rewards `{key}` are NaN or infinite",
                "a reward is a finite number; null where there is none",
            )
        beyond = [end for end in ends[1:3] if end is not None and abs(end) > MOST_WHOLE]
        if layout.rewards[key].whole and beyond:
            raise InputError(
                f"{path}: reward `{key}` has the integer {beyond[0]}, and an engine adds integers "
                "exactly up to 2^53",
                "store such rewards as floating-point numbers, or compute from the trials",
            )
