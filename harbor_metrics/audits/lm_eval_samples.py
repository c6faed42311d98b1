"""The samples of one run of lm-eval, by task and filter, each looked through once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from ..readers.lm_eval.scored import Line, values_of
from ..trials.source import Source
from ..trials.table import Table
from ..trials.trial import GroupKey
from .row import Answer, Instead, Known, Unknown
from .tables import tables_of

NO_SAMPLES = "the samples of this task or filter are not on disk"


class Samples:
    """The lines of all sources of a run by their groups."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = sources
        self.lines: dict[GroupKey, list[Line]] = {}
        for source in sources:
            for group, lines in source.scored().items():
                # A task and a filter can have one name together with another two.
                self.lines[group] = [*self.lines.get(group, ()), *lines]
        self._having: dict[GroupKey, dict[str, list[Line]]] = {}
        # A task's lines by filter.
        self._of_task: dict[tuple[str | None, str], list[list[Line]]] = {}
        for (_, model, name), lines in self.lines.items():
            if name is not None:
                self._of_task.setdefault((model, task_of(name)), []).append(lines)
        self._counts: dict[tuple[str | None, str], Answer] = {}
        self._texts: dict[GroupKey, set[str]] = {}

    def metrics(self, group: GroupKey) -> dict[str, list[Line]]:
        """The lines of a group that have a value, by metric."""
        if group not in self._having:
            having = self._having[group] = {}
            for line in self.lines[group]:
                for name in line.values:
                    having.setdefault(name, []).append(line)
        return self._having[group]

    def values(self, group: GroupKey, metric: str) -> list[Any]:
        """The values of a metric, of the documents that have one."""
        return values_of(self.metrics(group).get(metric, []), metric)

    def size(self, group: GroupKey) -> int:
        """How many documents a task has: as many as the filter with the most."""
        return max(map(len, self._of_task.get(_task_key(group), ())), default=0)

    def count(self, group: GroupKey) -> Answer:
        """How many documents lm-eval says that a task has: none where nothing was scored."""
        key = _task_key(group)
        if key not in self._counts:
            self._counts[key] = self._counted(group)
        return self._counts[key]

    def _counted(self, group: GroupKey) -> Answer:
        of_task = self._of_task.get(_task_key(group), ())
        size = self.size(group)
        if not size:
            return Unknown(NO_SAMPLES)
        if not any(line.values for lines in of_task for line in lines):
            reason = "nothing was scored (--predict_only), and lm-eval counts no document"
            return Instead(0, reason, size)
        return Known(size)

    def table(self, group: GroupKey) -> Table:
        """The trials of a group."""
        return self._tables[group]

    def texts(self, group: GroupKey) -> set[str]:
        """What the texts of a group are called."""
        if group not in self._texts:
            self._texts[group] = set().union(*(trial.texts for trial in self._tables[group]))
        return self._texts[group]

    @cached_property
    def _tables(self) -> dict[GroupKey, Table]:
        return tables_of(self._sources)


def task_of(name: str) -> str:
    """The task of a group's name, which has the filter behind a colon; two belong to a task."""
    head, *rest = name.split("::")
    return "::".join(
        [head, *rest[:-1], rest[-1].partition(":")[0]] if rest else [head.partition(":")[0]]
    )


def _task_key(group: GroupKey) -> tuple[str | None, str]:
    return group.model, task_of(str(group.dataset))
