"""A group of trials that lie on an engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from ..errors import InputError, MetricFailure, NeedsRowsError
from ..numbers.exact import Number
from ..trials.column import Column
from ..trials.counted import Absent
from ..trials.labelled import label_text
from ..trials.rewards import KeyTimes
from ..trials.table import Missing, Table
from ..trials.trial import Label
from .column import RelationColumn
from .overview import Overview, errors, extremes_of, overview, sizes
from .parts import check_labels, parted
from .relation import Group, Relation
from .sums import used


class RelationTable(Table):
    """Trials of which an engine tells counts and sums."""

    has_rows = False

    def __init__(self, relation: Relation, group: Group) -> None:
        self.relation, self.group = relation, group
        self.trials = Absent(self._said.trials, "every trial")

    @cached_property
    def _said(self) -> Overview:
        return overview(self.relation)[self.group]

    def __add__(self, other: Table) -> Table:
        raise InputError(
            "groups of an engine cannot be joined into one",
            "give all their trials the same agent, model and dataset, or convert to a trials file",
        )

    @cached_property
    def columns(self) -> Any:
        given = self._said.given
        return {key: Absent(len(self), "every reward") for key in sorted(given) if given[key]}

    @property
    def tasks(self) -> Sequence[str]:
        return Absent(len(self), "the task of every trial")

    @property
    def n_tasks(self) -> int:
        if self.relation.asked.dry:
            # Whatever is asked next may need rows.
            return len(self)
        known = self.relation.sizes_of()
        if known is not None:
            return known[self.group].total()
        return sizes(self.relation)[self.group].total()

    @property
    def n_scored(self) -> int:
        return self._said.scored

    @property
    def key_times(self) -> KeyTimes:
        given = Counter({key: n for key, n in self._said.given.items() if n})
        return KeyTimes(self.n_scored, 0, given)

    @property
    def errors(self) -> dict[str, int]:
        if not self._said.errored:
            return {}
        return dict(sorted(errors(self.relation)[self.group].items()))

    def used(self, name: str) -> Number | None:
        try:
            return used(self.relation, name).get(self.group)
        except MetricFailure:
            alone = self.relation.alone(self.group)
            if alone is None:
                raise
            return used(alone, name).get(self.group)

    def task_passes(self) -> Counter[tuple[int, int]] | None:
        if len(self.columns) != 1:
            return None
        (key,) = self.columns
        column = self.column(key, "zero")
        if set(extremes_of(self.relation, key)[self.group][1:3]) <= {0, 1} and column.range == 0:
            return column.passes(1.0)
        return None

    def label(self, name: str) -> list[Label]:
        raise NeedsRowsError(f"the label `{name}` of every trial")

    def split(self, names: Sequence[str]) -> dict[tuple[str, ...], Table]:
        groups: dict[tuple[str, ...], Table] = {}
        for group, said, relation in parted(self.relation, self.group, names):
            labels = group[-len(names) :]
            check_labels(names, labels, said.trials, len(self))
            groups[tuple(map(label_text, labels))] = RelationTable(relation, group)
        return dict(sorted(groups.items()))

    def picked(self, rows: Sequence[int], tasks: Sequence[str]) -> Table:  # noqa: ARG002
        raise NeedsRowsError("every trial")

    def _column(self, key: str, missing: Missing) -> Column:
        said = self._said
        if key not in self.columns:
            return Column([], ())
        ends = extremes_of(self.relation, key)[self.group]
        absent = said.trials - ends.given
        if absent and missing == "error":
            raise MetricFailure(
                "missing-reward", f"{absent} of {said.trials} trials have no `{key}`"
            )
        return RelationColumn.of(
            self.relation, self.group, key, said.trials, ends, skip=missing == "skip"
        )
