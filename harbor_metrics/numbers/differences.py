"""How sure a difference of two values over the same units is, and their ratio."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from operator import mul, sub

import msgspec

from . import exact
from .distributions import t_quantile, t_tails
from .exact import Number


class Difference(msgspec.Struct, frozen=True):
    """A standard error, an interval, and the p of no difference; None where it is not known."""

    stderr: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    df: float | None = None


class Ratio(msgspec.Struct, frozen=True):
    """By how much a value is larger than another, as a share of it, and an interval."""

    value: float
    low: float
    high: float


class Influences(msgspec.Struct, frozen=True, dict=True):
    """How much each unit moves the value of either side: integers over a common denominator.

    A unit is a task, or a cluster of tasks, that both sides have.
    """

    base: Sequence[int]
    candidate: Sequence[int]
    denominator: int

    def __len__(self) -> int:
        return len(self.base)

    @cached_property
    def own(self) -> list[int]:
        """How much each unit moves the difference."""
        return list(map(sub, self.candidate, self.base))

    def product(self, first: Sequence[int], second: Sequence[int]) -> Fraction:
        """The covariance of two values that these influences move, exactly."""
        n = len(self)
        return Fraction(n * sum(map(mul, first, second)), (n - 1) * self.denominator**2)

    @property
    def variance(self) -> Fraction:
        """The squared standard error of the difference: n/(n-1) times the sum of squares."""
        return self.product(self.own, self.own)


def student(difference: Number, variance: Fraction, df: float, level: float) -> Difference:
    """Student's t around a difference of that variance, which is not 0."""
    error = exact.root(variance.numerator, variance.denominator)
    if not error:
        return Difference()
    half = -t_quantile((1 - level) / 2, df) * error
    return Difference(
        error, difference - half, difference + half, t_tails(difference / error, df), df
    )


def fieller(base: Fraction, difference: Fraction, moved: Influences, level: float) -> Ratio | None:
    """The shares of the base that the difference could be (Fieller 1954).

    Exactly up to a root: of a difference that is small beside the base binary64 would keep nothing.
    None where the base is not surely positive, or a share is beyond binary64.
    """
    squared_t = Fraction(t_quantile((1 - level) / 2, len(moved) - 1)) ** 2
    square = base**2 - squared_t * moved.product(moved.base, moved.base)
    if base <= 0 or square <= 0:
        return None
    middle = (base * difference - squared_t * moved.product(moved.base, moved.own)) / square
    outer = (difference**2 - squared_t * moved.variance) / square
    # By Cauchy and Schwarz it is not below 0.
    half = middle**2 - outer
    root = exact.root(half.numerator, half.denominator)
    if root is None:
        return None
    return Ratio(float(difference / base), float(middle) - root, float(middle) + root)
