"""How the attempts at the same tasks spread: what would differ if those tasks were tried again."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import msgspec

from .undefined import NoIntervalError


class Powers(msgspec.Struct, frozen=True):
    """Of one task: how many attempts, Σr, Σr², Σr³."""

    attempts: int
    r: int
    rr: int
    rrr: int


class Spread(msgspec.Struct, frozen=True):
    """A mean over attempts at fixed tasks, and the moments of what its attempts add.

    `evenly` is what the variance would be if all attempts had a variance of 1; `freedom` are
    the degrees of freedom of the variance by Welch and Satterthwaite.
    """

    mean: Fraction
    variance: Fraction
    evenly: Fraction
    third_moment: Fraction = Fraction(0)
    freedom: Fraction = Fraction(0)


class Repeats(msgspec.Struct, frozen=True, dict=True):
    """The attempts at tasks whose mean is taken, where each task weighs the same or each attempt.

    Rewards are integers over `scale`; `times` is how often a task with these sums stands.
    """

    tasks: Sequence[Powers]
    times: Sequence[int]
    scale: int
    by_task: bool

    @cached_property
    def n(self) -> int:
        """How many attempts there are."""
        return sum(task.attempts * often for task, often in self._counted)

    @property
    def smoothed(self) -> Spread:
        """Of rewards between 0 and 1, with half a success and half a failure added to each task.

        A task that always passes or always fails so has a variance too.

        Raises:
            NoIntervalError: every task has a single attempt.
        """
        if all(task.attempts == 1 for task in self.tasks):
            raise NoIntervalError("undefined over attempts: every task has a single one")
        s = self.scale
        means: dict[int, int] = {}
        squares: dict[int, int] = {}
        tasks: dict[int, int] = {}
        for task, often in self._counted:
            a, top = task.attempts, 2 * task.r + s
            means[a] = means.get(a, 0) + often * top
            squares[a] = squares.get(a, 0) + often * (
                2 * (2 * task.rr + s * s) * (a + 1) - top * top
            )
            tasks[a] = tasks.get(a, 0) + often
        mean = variance = evenly = Fraction(0)
        for a, often in tasks.items():
            weight = self._weight(a)
            mean += weight * Fraction(means[a], 2 * s * (a + 1))
            variance += weight**2 * Fraction(squares[a], (2 * s * (a + 1)) ** 2 * a)
            evenly += weight**2 * Fraction(often, a)
        return Spread(mean, variance, evenly)

    @property
    def plain(self) -> Spread:
        """As the rewards are.

        Raises:
            NoIntervalError: a task has a single attempt.
        """
        single = sum(often for task, often in self._counted if task.attempts == 1)
        if single:
            raise NoIntervalError(
                f"undefined over attempts: {single} of {self._tasks} tasks have a single one"
            )
        s = self.scale
        mean = variance = evenly = third = parts = Fraction(0)
        for task, often in self._counted:
            a, r, rr, rrr = task.attempts, task.r, task.rr, task.rrr
            weight = self._weight(a)
            mean += often * weight * Fraction(r, a * s)
            # The sample variance of the task's attempts over how many they are.
            own = weight**2 * Fraction(a * rr - r * r, a * a * (a - 1) * s * s)
            variance += often * own
            parts += often * own * own / (a - 1)
            evenly += often * weight**2 / a
            cubes = Fraction(a * a * rrr - 3 * a * r * rr + 2 * r**3, a**3 * s**3)
            third += often * weight**3 * cubes / (a * a)
        freedom = variance**2 / parts if parts else Fraction(0)
        return Spread(mean, variance, evenly, third, freedom)

    def _weight(self, attempts: int) -> Fraction:
        return Fraction(1, self._tasks) if self.by_task else Fraction(attempts, self.n)

    @cached_property
    def _tasks(self) -> int:
        return sum(self.times)

    @property
    def _counted(self) -> list[tuple[Powers, int]]:
        return list(zip(self.tasks, self.times, strict=True))
