"""Quantiles, against published values and their own distribution functions."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from harbor_metrics.numbers.distributions import (
    beta_cdf,
    beta_quantile,
    normal_quantile,
    t_quantile,
    t_tails,
)


@pytest.mark.parametrize(
    ("p", "z"), [(0.5, 0.0), (0.975, 1.959963984540054), (0.995, 2.5758293035489004)]
)
def test_normal_quantile_is_that_of_tables(p: float, z: float) -> None:
    assert normal_quantile(p) == pytest.approx(z, abs=1e-14)
    assert normal_quantile(1 - p) == pytest.approx(-z, abs=1e-14)


@pytest.mark.parametrize("p", [1e-300, 1e-100, 1e-9, 0.4])
def test_normal_quantile_inverts_the_distribution(p: float) -> None:
    assert 0.5 * math.erfc(-normal_quantile(p) / math.sqrt(2)) == pytest.approx(p, rel=1e-12)


def of_four(p: float) -> float:
    """The quantile for 4 degrees of freedom, from the roots of a cubic."""
    alpha = 4 * p * (1 - p)
    q = math.cos(math.acos(math.sqrt(alpha)) / 3) / math.sqrt(alpha)
    return math.copysign(2 * math.sqrt(q - 1), p - 0.5)


@pytest.mark.parametrize("p", [0.01, 0.2, 0.4999, 0.8, 0.975])
@pytest.mark.parametrize(
    ("df", "closed_form"),
    [
        (1, lambda p: math.tan(math.pi * (p - 0.5))),
        (2, lambda p: (2 * p - 1) / math.sqrt(2 * p * (1 - p))),
        (4, of_four),
    ],
)
def test_t_quantile_is_the_closed_form(
    p: float, df: float, closed_form: Callable[[float], float]
) -> None:
    assert t_quantile(p, df) == pytest.approx(closed_form(p), rel=1e-11)


def test_t_quantile_of_a_half_is_0() -> None:
    assert t_quantile(0.5, 3) == 0.0


def test_t_comes_near_the_normal_without_a_step() -> None:
    below, above = t_quantile(0.975, 10_000), t_quantile(0.975, 10_001)
    assert below > above > normal_quantile(0.975)
    assert below - above < 1e-7


@pytest.mark.parametrize("p", [1e-12, 0.025, 0.5, 0.975])
@pytest.mark.parametrize(("a", "b"), [(1, 1), (0.5, 0.5), (2, 3), (0.5, 300), (4000, 20)])
def test_beta_quantile_inverts_the_distribution(p: float, a: float, b: float) -> None:
    assert beta_cdf(beta_quantile(p, a, b), a, b) == pytest.approx(p, rel=1e-11)


def test_beta_of_whole_numbers_is_a_sum_of_binomials() -> None:
    n, c, x = 10, 4, 0.3
    tail = sum(math.comb(n, i) * x**i * (1 - x) ** (n - i) for i in range(c, n + 1))
    assert beta_cdf(x, c, n - c + 1) == pytest.approx(tail, rel=1e-14)
    assert (beta_cdf(0, 2, 3), beta_cdf(1, 2, 3)) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("p", "z"),
    [
        (1e-20, -9.262340089798407),
        (1e-97, -20.946959481197215),
        (1e-200, -30.20559417957964),
        (1e-300, -37.0470962993612),
    ],
)
def test_normal_quantile_far_out_is_that_of_60_digits(p: float, z: float) -> None:
    assert normal_quantile(p) == pytest.approx(z, rel=1e-13)


@pytest.mark.parametrize(
    ("p", "df", "t"),
    [
        (1e-12, 99, -8.036982609972041),
        (1e-30, 99, -16.632307231330607),
        (1e-100, 7, -387862584049539.9),
        (1e-30, 1000, -11.854333104084482),
        (1e-60, 100_000, -16.40834732638771),
    ],
)
def test_t_quantile_far_out_is_that_of_60_digits(p: float, df: float, t: float) -> None:
    assert t_quantile(p, df) == pytest.approx(t, rel=1e-13)


@pytest.mark.parametrize("p", [0.25, 0.5, 0.75])
@pytest.mark.parametrize("a", [0.5, 1, 7, 1e6])
def test_quantiles_of_a_symmetric_beta_are_symmetric(p: float, a: float) -> None:
    assert beta_quantile(p, a, a) == pytest.approx(1 - beta_quantile(1 - p, a, a), rel=1e-13)


@pytest.mark.parametrize("df", [1, 2.5, 9, 88, 20_000])
@pytest.mark.parametrize("p", [1e-9, 0.001, 0.05, 0.5])
def test_tails_of_t_invert_its_quantiles(df: float, p: float) -> None:
    assert t_tails(t_quantile(p / 2, df), df) == pytest.approx(p, rel=1e-11)


def test_tails_of_t_are_those_of_tables() -> None:
    # One degree of freedom is Cauchy's distribution.
    assert t_tails(1.0, 1) == pytest.approx(0.5, rel=1e-13)
    assert t_tails(0.0, 7) == 1.0
