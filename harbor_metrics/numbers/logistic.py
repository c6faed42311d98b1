"""A logistic curve through shares: the likeliest intercept and slope."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

_STEPS = 100
# After a step of this size, relative to the coefficients, the next one is rounding: steps shrink
# by their squares.
_NEAR = 1e-9
_ROUNDING = 1e-15
_HALVINGS = 40


class Point(NamedTuple):
    """Where a share was seen, how large it is (0 to 1), and how much it weighs."""

    x: float
    share: float
    weight: float


class Curve(NamedTuple):
    """1 / (1 + exp(-(intercept + slope·x)))."""

    intercept: float
    slope: float

    def crossing(self, share: float) -> float:
        """The x at which the curve has this share, 0 < share < 1; the slope is not 0."""
        return (math.log(share / (1 - share)) - self.intercept) / self.slope


class NoCurveError(Exception):
    """The points have no likeliest curve, or it was not reached; says why."""


def fitted(points: Sequence[Point]) -> Curve:
    """The curve under which the shares are likeliest (weighted maximum likelihood), by Newton.

    It depends on no order of the points. Its coefficients are right to about 1e-13.

    Raises:
        NoCurveError: the shares are all 0 or all 1, or at one place; one x separates those above 0
            from those below 1; or the steps do not settle.
    """
    ordered = sorted(points)
    _check(ordered)
    whole = math.fsum(p.weight for p in ordered)
    middle = math.fsum(p.weight * p.x for p in ordered) / whole
    spread = math.sqrt(math.fsum(p.weight * (p.x - middle) ** 2 for p in ordered) / whole)
    # Of x with mean 0 and deviation 1 the two coefficients hardly depend on each other.
    near = [Point((p.x - middle) / spread, p.share, p.weight / whole) for p in ordered]
    share = math.fsum(p.share * p.weight for p in near)
    a, b = math.log(share / (1 - share)), 0.0
    loss = _loss(near, a, b)
    near_it = False
    for _ in range(_STEPS):
        step_a, step_b = _step(near, a, b)
        if near_it:
            a, b = a + step_a, b + step_b
            return Curve(a - b * middle / spread, b / spread)
        near_it = max(abs(step_a), abs(step_b)) <= _NEAR * max(1.0, abs(a), abs(b))
        # Near the bottom rounding alone may raise the loss.
        most = loss + _ROUNDING * max(1.0, loss)
        halvings = 0
        while (new := _loss(near, a + step_a, b + step_b)) > most and halvings < _HALVINGS:
            step_a, step_b, halvings = step_a / 2, step_b / 2, halvings + 1
        a, b, loss = a + step_a, b + step_b, new
    raise NoCurveError(f"the fit of the curve did not settle in {_STEPS} steps")


def _check(points: Sequence[Point]) -> None:
    above = [p.x for p in points if p.share > 0]
    below = [p.x for p in points if p.share < 1]
    if not above or not below:
        raise NoCurveError(f"all are {'successes' if above else 'failures'}")
    if points[0].x == points[-1].x:
        raise NoCurveError("all lie at one place")
    if max(above) <= min(below) or max(below) <= min(above):
        raise NoCurveError("successes and failures lie apart, so the curve is a step")


def _step(points: Sequence[Point], a: float, b: float) -> tuple[float, float]:
    """From the gradient and the curvature of the loss."""
    slopes, curves = [], []
    for x, share, weight in points:
        at = _curve(a + b * x)
        slopes.append((weight * (share - at), weight * (share - at) * x))
        bend = weight * at * (1 - at)
        curves.append((bend, bend * x, bend * x * x))
    g_a, g_b = (math.fsum(column) for column in zip(*slopes, strict=True))
    h_aa, h_ab, h_bb = (math.fsum(column) for column in zip(*curves, strict=True))
    area = h_aa * h_bb - h_ab * h_ab
    if not area > 0:
        raise NoCurveError("the curve is too steep to be told")
    return (h_bb * g_a - h_ab * g_b) / area, (h_aa * g_b - h_ab * g_a) / area


def _curve(z: float) -> float:
    if z >= 0:
        return 1 / (1 + math.exp(-z))
    return math.exp(z) / (1 + math.exp(z)) if z > -700 else 0.0


def _loss(points: Sequence[Point], a: float, b: float) -> float:
    """The negative logarithm of the likelihood."""
    return math.fsum(
        weight * (_softplus(a + b * x) - share * (a + b * x)) for x, share, weight in points
    )


def _softplus(z: float) -> float:
    return max(z, 0.0) + math.log1p(math.exp(-abs(z)))
