"""The values of a document's metrics as rewards and texts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from ...numbers.exact import Number
from ..files import lenient
from ..files.names import of_parts, put
from .layout import PREDICTION, REFERENCE, part

Texts = dict[str, str | list[str]]
# How numpy prints an array, which lm-eval writes as a text.
_ARRAY = re.compile(r"\[[-+0-9.eE\s]+\]")
_DIGITS = 1e-7
_TRUTH = {"True": 1, "False": 0}
_NUMBERS = frozenset({int, float})


class Values:
    """Makes rewards of values; `not_a_number` counts the NaN of each key, which are left out."""

    def __init__(self) -> None:
        self.not_a_number: Counter[str] = Counter()
        self._arrays: list[str] = []

    def measured(self, values: dict[str, Any], answers: Any) -> tuple[dict[str, Number], Texts]:
        """Rewards and texts of one document; `answers` are what the filter left.

        The rewards are `values` itself where these are numbers.

        Raises:
            InfiniteError: a value is infinite.
            TwoValuesError: two values have one reward key, or one name of a text.
        """
        if _NUMBERS.issuperset(map(type, values.values())):
            return values, {}
        rewards: dict[str, Number] = {}
        texts: Texts = {}
        for metric, value in values.items():
            if type(value) in (int, float):
                put(rewards, metric, value)
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
            put(rewards, key, value)
        elif kind is str:
            self._take_text(key, value, rewards, texts)
        elif kind is list:
            key = of_parts(key)
            for place, item in enumerate(value):
                self._take(part(key, place), item, rewards, texts)
        elif kind is dict:
            key = of_parts(key)
            for name, item in value.items():
                self._take(part(key, name), item, rewards, texts)
        elif kind is bool:
            put(rewards, key, int(value))

    def _take_text(self, key: str, value: str, rewards: dict[str, Number], texts: Texts) -> None:
        """Note a numpy scalar or array as lm-eval writes it, a constant, or a text."""
        bare = lenient.constant(value)
        if (numbers := array_of(value)) is not None:
            self._arrays.append(of_parts(key))
            for place, item in enumerate(numbers):
                put(rewards, part(key, place), item)
        elif value in _TRUTH:
            put(rewards, key, _TRUTH[value])
        elif bare == "NaN" or value == "nan":
            self.not_a_number[key] += 1
        elif bare or value in ("inf", "-inf"):
            raise lenient.InfiniteError(key)
        elif (number := _number(value)) is not None:
            put(rewards, key, number)
        else:
            put(texts, key, value)


def _sharpen(arrays: list[str], answers: Any, rewards: dict[str, Number]) -> None:
    """Give chances, which lm-eval writes with eight digits, all of theirs."""
    for key in arrays:
        names: list[str] = []
        while (name := part(key, len(names))) in rewards:
            names.append(name)
        exact = chances(answers, [rewards[name] for name in names])
        if exact is not None:
            rewards.update(zip(names, exact, strict=True))


def chances(answers: Any, rounded: Sequence[Number]) -> list[float] | None:
    """The softmax of the loglikelihoods that stand as the answers; None where it is not near.

    Behind those of the choices may be as many without the question.
    """
    try:
        likelihoods = [float(answer[0]) for answer in answers[: len(rounded)]]
        top = max(likelihoods)
        shares = [math.exp(value - top) for value in likelihoods]
    except (TypeError, ValueError, LookupError, OverflowError):
        return None
    if len(shares) != len(rounded):
        return None
    total = math.fsum(shares)
    exact = [share / total for share in shares]
    near = all(abs(r - e) < _DIGITS for r, e in zip(rounded, exact, strict=True))
    return exact if near else None


def array_of(text: str) -> list[float] | None:
    """The numbers of an array as numpy prints it; None for another text."""
    return _numbers(text) if _ARRAY.fullmatch(text) else None


def _numbers(array: str) -> list[float] | None:
    numbers = [_number(item) for item in array[1:-1].split()]
    return None if None in numbers else [number for number in numbers if number is not None]


def _number(text: str) -> float | None:
    """The finite number that a text is; None for another text, such as `1e999`."""
    if "_" in text:
        return None  # Python alone takes `1_0` for a number
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
