"""The chances that attempts pass, against counting every draw."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harbor_metrics.numbers.passing import at_k, hat_k, least_k, most_of_k

CASES = [(n, c, k) for n in range(1, 6) for c in range(n + 1) for k in range(1, n + 1)]


@pytest.mark.parametrize(("n", "passed", "k"), CASES)
def test_chance_is_the_share_of_all_draws(n: int, passed: int, k: int) -> None:
    draws = list(combinations([1] * passed + [0] * (n - passed), k))
    assert at_k(n, passed, k) == Fraction(sum(any(draw) for draw in draws), len(draws))
    assert hat_k(n, passed, k) == Fraction(sum(all(draw) for draw in draws), len(draws))


@pytest.mark.parametrize(("n", "passed", "k"), CASES)
def test_chance_of_a_number_is_the_share_of_draws_with_as_many(n: int, passed: int, k: int) -> None:
    draws = list(combinations([1] * passed + [0] * (n - passed), k))
    for least in range(k + 1):
        reached = sum(sum(draw) >= least for draw in draws)
        assert least_k(n, passed, k, least) == Fraction(reached, len(draws))


@given(
    st.lists(st.tuples(st.integers(1, 3), st.booleans()), max_size=4),
    st.integers(0, 2),
    st.integers(1, 6),
)
def test_the_most_frequent_answer_is_that_of_all_draws(
    answers: list[tuple[int, bool]], unanswered: int, k: int
) -> None:
    attempts = [i for i, (times, _) in enumerate(answers) for _ in range(times)]
    attempts += [-1] * unanswered
    assume(len(attempts) >= k)
    won = Fraction(0)
    draws = list(combinations(attempts, k))
    for draw in draws:
        times = Counter(answer for answer in draw if answer >= 0)
        tied = [answer for answer in times if times[answer] == max(times.values())]
        won += Fraction(sum(answers[answer][1] for answer in tied), len(tied) or 1)
    assert most_of_k(answers, unanswered, k) == won / len(draws)
