"""The exact sums of one reward key: all units of a size, and task by task."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from ..errors import MetricFailure, NeedsRowsError
from ..numbers import exact
from ..numbers.exact import Number
from ..trials.labelled import TASK
from . import limbs
from .asked import TooManyError
from .overview import extremes_of
from .relation import Group, Relation
from .summed import Pairs, Powers
from .sums import Sums, sums_by_size, sums_with_times


@dataclass(frozen=True)
class Grid:
    """The rewards of a group as integers, on a grid that those of all groups fit on."""

    relation: Relation
    group: Group
    key: str
    # Whether trials without the reward are left out; else they count as 0.
    skip: bool

    @property
    def fits(self) -> bool:
        """Whether all rewards fit on it."""
        return self._power_or_none is not None

    def total(self, highest: int) -> Number | None:
        """The sum of all rewards, from the same query as the powers up to the `highest`."""
        total = sum(size.first for size in self._by_size(TASK, highest).values())
        if self.relation.layout.rewards[self.key].whole:
            return total >> self._shift if self._shift >= 0 else total << -self._shift
        return exact.ratio(total << self._up, self.scale)

    def powers(self, unit: str, highest: int) -> Powers:
        """The sums of units: `task`, `trial` or `label.NAME`."""
        up = self._up

        def sums(highest: int) -> dict[int, Sums]:
            return {
                size: Sums(s.units, s.first << up, s.second << 2 * up, s.third << 3 * up)
                for size, s in self._by_size(unit, highest).items()
            }

        return Powers(sums(max(2, highest)), lambda: sums(3), self.scale)

    def by_task(self) -> Pairs:
        """Each different task: the sum of its rewards, how many they are, and how many tasks.

        Raises:
            NeedsRowsError: too many tasks differ.
        """
        try:
            found = sums_with_times(self.relation, self.key, self._power).get(self.group, {})
        except TooManyError as error:
            alone = self.alone()
            if alone is not None:
                return alone.by_task()
            raise NeedsRowsError(f"the sum of every task ({error} of them differ)") from error
        pairs = [
            (total << self._up, given if self.skip else n, tasks)
            for (n, given, total), tasks in found.items()
        ]
        return [pair for pair in pairs if pair[1]], self.scale

    def alone(self) -> Grid | None:
        """The grid of the rewards of this group by themselves; None where that is no other."""
        relation = self.relation.alone(self.group)
        return None if relation is None else replace(self, relation=relation)

    @property
    def scale(self) -> int:
        """What the integers of sums are over."""
        return 1 << max(0, self._shift)

    @property
    def _up(self) -> int:
        return max(0, -self._shift)

    @property
    def _shift(self) -> int:
        return limbs.FRACTION + self._power

    @cached_property
    def _power(self) -> int:
        """The power of two that brings all rewards onto the grid.

        Raises:
            MetricFailure: an engine cannot add them up exactly.
        """
        if self._power_or_none is None:
            least, most = self._ends
            raise MetricFailure(
                "beyond-engine",
                f"rewards `{self.key}` have magnitudes from {least:g} to {most:g}, and "
                f"an engine adds exactly where they are at most 2^{limbs.SPREAD} apart; "
                "compute from the trials themselves",
            )
        return self._power_or_none

    @cached_property
    def _power_or_none(self) -> int | None:
        return limbs.grid(*self._ends)

    @cached_property
    def _ends(self) -> tuple[float, float]:
        """The least and the most magnitude of all rewards that are not 0."""
        extremes = extremes_of(self.relation, self.key).values()
        least = [each.smallest for each in extremes if each.smallest is not None]
        return min(least, default=0), max((each.magnitude for each in extremes), default=0)

    def _by_size(self, unit: str, highest: int) -> dict[int, Sums]:
        """Number of attempts -> the sums over units with so many."""
        power = self._power
        found = sums_by_size(self.relation, self.key, power, highest, unit).get(self.group, {})
        sizes: dict[int, Sums] = {}
        for (n, given), sums in found.items():
            size = given if self.skip else n
            if size:
                old = sizes.get(size, Sums(0, 0, 0, 0))
                sizes[size] = Sums(*map(sum, zip(old, sums, strict=True)))
        return sizes
