"""The values of a document's metrics as rewards and texts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from ...numbers.exact import Number
from ..files import lenient
from .layout import PREDICTION, REFERENCE, part

Texts = dict[str, str | list[str]]
# How numpy prints an array, which lm-eval writes as a text.
_ARRAY = re.compile(r"\[[-+0-9.eE\s]+\]")
_DIGITS = 1e-7
_TRUTH = {"True": 1, "False": 0}


class Values:
    """Makes rewards of values; `not_a_number` counts the NaN of each key, which are left out."""

    def __init__(self) -> None:
        self.not_a_number: Counter[str] = Counter()
        self._arrays: list[str] = []

    def measured(
        self, values: Iterable[tuple[str, Any]], answers: Any
    ) -> tuple[dict[str, Number], Texts]:
        """Rewards and texts of one document; `answers` are what the filter left.

        Raises:
            InfiniteError: a value is infinite.
        """
        rewards: dict[str, Number] = {}
        texts: Texts = {}
        for metric, value in values:
            if type(value) in (int, float):
                rewards[metric] = value
            elif (pair := _pair_of_texts(value)) is not None:
                _keep_pair(metric, *pair, texts)
            else:
                self._take(metric, value, rewards, texts)
        if self._arrays:
            _sharpen(self._arrays, answers, rewards)
            self._arrays.clear()
        return rewards, texts

    def _take(self, key: str, value: Any, rewards: dict[str, Number], texts: Texts) -> None:
        """Note a value by its reward key: inside one it is `key/member`, or `key/place` from 0."""
        kind = type(value)
        if kind is int or kind is float:
            rewards[key] = value
        elif kind is str:
            self._take_text(key, value, rewards, texts)
        elif kind is list:
            for place, item in enumerate(value):
                self._take(part(key, place), item, rewards, texts)
        elif kind is dict:
            for name, item in value.items():
                self._take(part(key, name), item, rewards, texts)
        elif kind is bool:
            rewards[key] = int(value)

    def _take_text(self, key: str, value: str, rewards: dict[str, Number], texts: Texts) -> None:
        """Note a numpy scalar or array as lm-eval writes it, a constant, or a text."""
        bare = lenient.constant(value)
        if _ARRAY.fullmatch(value) and (numbers := _numbers(value)) is not None:
            self._arrays.append(key)
            for place, item in enumerate(numbers):
                rewards[part(key, place)] = item
        elif value in _TRUTH:
            rewards[key] = _TRUTH[value]
        elif bare == "NaN" or value == "nan":
            self.not_a_number[key] += 1
        elif bare or value in ("inf", "-inf"):
            raise lenient.InfiniteError(key)
        elif (number := _number(value)) is not None:
            rewards[key] = number
        else:
            texts[key] = value


def _sharpen(arrays: list[str], answers: Any, rewards: dict[str, Number]) -> None:
    """Give chances, which lm-eval writes with eight digits, all of theirs.

    They are the softmax of the loglikelihoods that stand beside them as the answers.
    """
    try:
        chances = [float(answer[0]) for answer in answers]
        top = max(chances)
        shares = [math.exp(chance - top) for chance in chances]
    except (TypeError, ValueError, LookupError, OverflowError):
        return
    total = math.fsum(shares)
    for key in arrays:
        names = [part(key, place) for place in range(len(shares))]
        exact = [share / total for share in shares]
        near = (abs(rewards.get(n, 2) - e) < _DIGITS for n, e in zip(names, exact, strict=True))
        if all(near) and part(key, len(shares)) not in rewards:
            rewards.update(zip(names, exact, strict=True))


def _numbers(array: str) -> list[float] | None:
    numbers = [_number(item) for item in array[1:-1].split()]
    return None if None in numbers else [number for number in numbers if number is not None]


def _number(text: str) -> float | None:
    """The finite number that a text is; None for another text, such as `1e999`."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _pair_of_texts(value: Any) -> tuple[str | list[str], str] | None:
    """Reference or references, and prediction."""
    if type(value) is not list or len(value) != 2 or not isinstance(value[1], str):
        return None
    reference, prediction = value
    if isinstance(reference, list):
        several = bool(reference) and all(isinstance(text, str) for text in reference)
        return (reference, prediction) if several else None
    if isinstance(reference, str) and not lenient.constant(reference):
        return reference, prediction
    return None


def _keep_pair(metric: str, reference: str | list[str], prediction: str, texts: Texts) -> None:
    same = texts.setdefault(REFERENCE, reference) == reference
    if not same or texts.setdefault(PREDICTION, prediction) != prediction:
        texts[part(metric, REFERENCE)] = reference
        texts[part(metric, PREDICTION)] = prediction


def texts_of(answers: Any, target: Any, attempt: int | None, rewards: dict[str, Number]) -> Texts:
    """Target and answer behind the filter, of a metric that was not given a pair of texts.

    A perplexity has none, although lm-eval writes the loglikelihood where the answer stands: all
    its rewards are of pairs.
    """
    answer = answers[0] if isinstance(answers, list) and answers else answers
    if isinstance(answer, list) and attempt is not None and len(answer) >= attempt:
        answer = answer[attempt - 1]
    if not isinstance(answer, str) or not isinstance(target, str):
        return {}
    if rewards and all("/" in key for key in rewards):
        return {}
    return {REFERENCE: target, PREDICTION: answer}
