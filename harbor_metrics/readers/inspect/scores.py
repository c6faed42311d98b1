"""The scores of Inspect as numbers by reward key."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from ...numbers.exact import Number
from ..files.lenient import InfiniteError, constant
from ..files.names import of_parts, put
from .sample import Score

# Inspect's own: correct, partial, incorrect, no answer.
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
# What a score's metadata has of a text's chances.
MEASURED = ("sum_log_probs", "num_tokens")
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def rewards_of(
    scorer: str, score: Score, labels: dict[str, Any], unknown: Callable[[str], None]
) -> dict[str, Number]:
    """The rewards of a score; a text or a boolean goes to `labels`, too.

    Args:
        scorer: the reward key of a scalar.
        score: of a sample, by one scorer.
        labels: gets `inspect/value`.
        unknown: called with each text that Inspect cannot read, and counts as 0.

    Raises:
        InfiniteError: a score is infinite.
        TwoValuesError: two values have one reward key.
    """
    rewards: dict[str, Number] = {}
    value = score.value
    named = value.items() if isinstance(value, dict) else [(scorer, value)]
    for name, part in named:
        for key, leaf in _leaves(name, part):
            if leaf is None or (bare := constant(leaf)) == "NaN":
                continue
            if bare:
                raise InfiniteError(key)
            try:
                number = number_of(leaf, unknown)
            except OverflowError:
                raise InfiniteError(key) from None
            put(rewards, key, number)
            if isinstance(leaf, str | bool):
                place = f"/{key}" if isinstance(value, dict) else key.removeprefix(scorer)
                put(labels, f"inspect/value{place}", leaf)
    measured = score.metadata
    if measured and all(type(measured.get(key)) in (int, float) for key in MEASURED):
        for key in MEASURED:
            put(rewards, key, measured[key])
    return rewards


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """A value by reward key: `name`, for what is inside it `name/member` or `name/place` from 0."""
    if isinstance(value, dict):
        name = of_parts(name)
        for key, item in value.items():
            yield from _leaves(f"{name}/{key}", item)
    elif isinstance(value, list):
        name = of_parts(name)
        for place, item in enumerate(value):
            yield from _leaves(f"{name}/{place}", item)
    else:
        yield name, value


def number_of(value: str | float | bool, unknown: Callable[[str], None]) -> Number:
    """What Inspect's `value_to_float` makes of a scalar score; a text it does not know is 0.0.

    Raises:
        OverflowError: it is beyond binary64.
    """
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int | float):
        if not math.isfinite(value):
            raise OverflowError
        return value
    if value in _LETTERS:
        return _LETTERS[value]
    if (word := value.lower()) in _WORDS:
        return _WORDS[word]
    try:
        number = float(value)
        if math.isfinite(number):
            return number
    except ValueError:
        pass
    unknown(value)
    return 0.0
