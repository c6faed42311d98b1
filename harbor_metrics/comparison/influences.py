"""How much each task moves the difference of two means, exactly, by the task's name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import msgspec

from ..contract.estimate import Estimate
from ..numbers.differences import Influences
from ..numbers.units import Range, Stratum, Tasks


class Flips(msgspec.Struct, frozen=True):
    """Tasks that pass in the candidate alone, in the base alone, and all."""

    fixed: int
    broken: int
    n: int


class Moved(msgspec.Struct, frozen=True):
    """The tasks behind a difference of means, and what each does to it.

    `contributions`: what each task adds to the difference, as integers over `scale`; None where a
    task has not the same weight on both sides, so that the sides cannot change places. `flips`:
    how many tasks turned where each is one 0 or 1 on both sides.
    """

    names: list[str]
    difference: Fraction
    influences: Influences
    contributions: list[int] | None
    scale: int
    flips: Flips | None
    range: Range

    def clustered(self, clusters: Mapping[str, object]) -> Influences:
        """The influences of clusters, from the cluster of each task."""
        places: dict[object, int] = {}
        index = [places.setdefault(clusters[name], len(places)) for name in self.names]

        def added(own: Sequence[int]) -> list[int]:
            sums = [0] * len(places)
            for place, value in zip(index, own, strict=True):
                sums[place] += value
            return sums

        whole = self.influences
        return Influences(added(whole.base), added(whole.candidate), whole.denominator)


def tasks_of(estimate: Estimate) -> list[tuple[Fraction, Tasks]] | None:
    """The tasks of each stratum with its weight; None where the strata do not know their tasks."""
    found = []
    for weight, units in estimate.known.strata:
        if units.tasks is None:
            return None
        found.append((weight, units.tasks()))
    return found or None


def names_of(strata: list[tuple[Fraction, Tasks]]) -> set[str]:
    """The tasks that any of the strata has."""
    return {name for _, tasks in strata for name in tasks.names}


class _Side(msgspec.Struct, frozen=True):
    """A stratum of one side: the sums of all its tasks, and those of each by name."""

    weight: Fraction
    top: int
    bottom: int
    scale: int
    tops: dict[str, int]
    bottoms: dict[str, int]


def moved(base: Estimate, candidate: Estimate) -> Moved | None:
    """What the tasks do to the difference of two means; None where that is not known by task.

    Both means are of the same tasks. Of a mean Σ w·N/D over strata, task t moves it by
    Σ w·(N_t - m·D_t)/D, where m = N/D.
    """
    strata = [tasks_of(side) for side in (base, candidate)]
    if strata[0] is None or strata[1] is None:
        return None
    sides = [[_side(weight, tasks) for weight, tasks in side] for side in strata if side]
    names = sorted(names_of(strata[0]))
    if set(names) != names_of(strata[1]):
        raise ValueError("the tasks of both sides are not the same")
    denominator = math.lcm(
        *(part.weight.denominator * part.bottom**2 * part.scale for side in sides for part in side)
    )
    base_moves, candidate_moves = (_moves(side, names, denominator) for side in sides)
    means = [
        sum((p.weight * Fraction(p.top, p.bottom * p.scale) for p in side), Fraction(0))
        for side in sides
    ]
    added, scale = _contributions(sides, names)
    return Moved(
        names,
        means[1] - means[0],
        Influences(base_moves, candidate_moves, denominator),
        added,
        scale,
        _flips(sides, names),
        max(_range(base.known.strata), _range(candidate.known.strata)),
    )


def _range(strata: tuple[Stratum, ...]) -> Range:
    return max(units.range for _, units in strata)


def _side(weight: Fraction, tasks: Tasks) -> _Side:
    bottoms = tasks.denominators or [1] * len(tasks.names)
    return _Side(
        weight,
        sum(tasks.numerators),
        sum(bottoms),
        tasks.scale,
        dict(zip(tasks.names, tasks.numerators, strict=True)),
        dict(zip(tasks.names, bottoms, strict=True)),
    )


def _moves(side: list[_Side], names: list[str], denominator: int) -> list[int]:
    moves = [0] * len(names)
    for part in side:
        factor = part.weight.numerator * (
            denominator // (part.weight.denominator * part.bottom**2 * part.scale)
        )
        tops, bottoms = part.tops.get, part.bottoms.get
        own = factor * part.bottom
        mean = factor * part.top
        moves = [
            before + own * tops(name, 0) - mean * bottoms(name, 0)
            for before, name in zip(moves, names, strict=True)
        ]
    return moves


def _contributions(sides: list[list[_Side]], names: list[str]) -> tuple[list[int] | None, int]:
    """What each task adds to the difference, where its weight is the same on both sides."""
    base, candidate = sides
    if len(base) != len(candidate):
        return None, 1
    for ours, theirs in zip(base, candidate, strict=True):
        alike = ours.weight == theirs.weight and all(
            ours.bottoms.get(name, 0) * theirs.bottom == theirs.bottoms.get(name, 0) * ours.bottom
            for name in names
        )
        if not alike:
            return None, 1
    scale = math.lcm(*(p.weight.denominator * p.bottom * p.scale for side in sides for p in side))
    added = [0] * len(names)
    for side, sign in zip(sides, (-1, 1), strict=True):
        for part in side:
            factor = sign * part.weight.numerator
            factor *= scale // (part.weight.denominator * part.bottom * part.scale)
            added = [
                before + factor * part.tops.get(name, 0)
                for before, name in zip(added, names, strict=True)
            ]
    return added, scale


def _flips(sides: list[list[_Side]], names: list[str]) -> Flips | None:
    if any(len(side) != 1 for side in sides):
        return None
    (base,), (candidate,) = sides
    for part in (base, candidate):
        if part.weight != 1 or set(part.bottoms.values()) != {1}:
            return None
        if not set(part.tops.values()) <= {0, part.scale}:
            return None
    passed = [(base.tops[name] > 0, candidate.tops[name] > 0) for name in names]
    return Flips(passed.count((False, True)), passed.count((True, False)), len(names))
