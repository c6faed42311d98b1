"""How many trials several sources planned, where some of them are copies."""

from __future__ import annotations

from typing import NamedTuple

from .counts import identity_of
from .source import Source
from .trial import GroupKey, group_key


class _Plan(NamedTuple):
    source: Source
    n: int
    n_planned: int


class Plans:
    """How many trials each source has of a group, and how many of them it planned."""

    def __init__(self) -> None:
        self._with_copies: set[GroupKey] = set()
        self._of_group: dict[GroupKey, list[_Plan]] = {}

    def add(self, key: GroupKey, source: Source, n: int, n_planned: int, *, copies: bool) -> None:
        """Note those of a source, and whether some of its trials were found before."""
        self._of_group.setdefault(key, []).append(_Plan(source, n, n_planned))
        if copies:
            self._with_copies.add(key)

    def once(self, key: GroupKey, n_planned: int | None) -> int | None:
        """How many were planned, where all plans together are `n_planned`, if that is known.

        What stands wholly in larger sources plans nothing more, be it fewer trials than it has.
        """
        if n_planned is None or key not in self._with_copies:
            return n_planned
        known: set[object] = set()
        missing = 0
        for plan in sorted(self._of_group[key], key=_by_size):
            trials = [trial for trial in plan.source.trials if group_key(trial) == key]
            own = {identity_of(trial) or id(trial) for trial in trials}
            missing += 0 if own <= known else plan.n_planned - plan.n
            known |= own
        return len(known) + missing


def _by_size(plan: _Plan) -> tuple[int, int]:
    """The larger first, of two as large that which lacks more of its plan."""
    return -plan.n, plan.n - plan.n_planned
