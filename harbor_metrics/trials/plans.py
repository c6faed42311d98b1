"""How many trials several sources planned, where some of them are copies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain

from .counts import identity_in_group
from .source import Source
from .trial import GroupKey, Trial, group_key


class Plans:
    """How many trials each source has of a group, and how many of them it planned."""

    def __init__(self) -> None:
        self._with_copies: set[GroupKey] = set()
        # The source, and how many trials more it planned than it has.
        self._of_group: dict[GroupKey, list[tuple[Source, int]]] = {}

    def add(self, key: GroupKey, source: Source, n_missing: int, *, copies: bool) -> None:
        """Note what a source lacks of its plan, and whether some of its trials were found before.

        `n_missing` is less than 0 where it has more trials than it planned.
        """
        self._of_group.setdefault(key, []).append((source, n_missing))
        if copies:
            self._with_copies.add(key)

    def once(self, key: GroupKey, n_planned: int | None) -> int | None:
        """How many were planned, where all plans together are `n_planned`, if that is known.

        `planned_once` says how.
        """
        if n_planned is None or key not in self._with_copies:
            return n_planned
        return planned_once(
            ((trial for trial in source.trials if group_key(trial) == key), n)
            for source, n in self._of_group[key]
        )


def planned_once(sources: Iterable[tuple[Iterable[Trial], int]]) -> int:
    """How many trials were planned by sources that have some in common.

    What they have counts once, and what each lacks of its plan beside that, of two that have the
    same trials what one lacks more. What stands wholly in
    another source takes no trial from the plan, however few it planned; of others those that are
    more than were planned are taken off as far as no other one has them.

    Args:
        sources: the trials of each in one group, and how many it lacks of its plan, less than 0
            where it has more.
    """
    missing: dict[frozenset[object], int] = {}
    for trials, n in sources:
        own = frozenset(identity_in_group(trial) or id(trial) for trial in trials)
        missing[own] = max(n, missing.get(own, n))
    whole = [own for own in missing if not any(own < other for other in missing)]
    times = Counter(chain.from_iterable(whole))
    least = {own: -sum(times[each] == 1 for each in own) for own in whole}
    return len(times) + sum(max(n, least.get(own, 0)) for own, n in missing.items())
