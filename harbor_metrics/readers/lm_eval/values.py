"""The values of a document's metrics as rewards and texts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from ...numbers import written
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
    """Makes rewards of values; `not_a_number` counts the NaN of each key, which are left out.

    `paired` are the metrics that had a pair of texts, in the order of their first ones.
    """

    def __init__(self) -> None:
        self.not_a_number: Counter[str] = Counter()
        self.paired: dict[str, None] = {}
        self._arrays: list[str] = []

    def measured(self, values: dict[str, Any], answers: Any) -> tuple[dict[str, Number], Texts]:
        """Rewards and texts of one document; `answers` are what the filter left.

        The rewards are `values` itself where these are numbers. The texts of each metric with a
        pair have its name before theirs: `share_texts` knows which are the same.

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
                self.paired[metric] = None
                texts |= zip(_names(metric), pair, strict=True)
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
    found = written.number(text)
    return None if found is None else float(found)


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


def share_texts(documents: Sequence[Texts], paired: Iterable[str]) -> list[Texts]:
    """The texts of all documents of a filter, where those of the first metric are `reference` and
    `prediction`, and so are another's that are the same in each document.

    Where no metric has a pair they stay as they are. Else a document in which the first has none
    has neither: it would count for that metric.
    """
    names = [own for own in map(_names, paired) if any(own[0] in texts for texts in documents)]
    if not names:
        return list(documents)
    first, *others = names
    same = [
        own
        for own in others
        if all(_pair(texts, own) == _pair(texts, first) for texts in documents)
    ]
    shared = {REFERENCE, PREDICTION}.union(first, *same)
    renamed = tuple(zip((REFERENCE, PREDICTION), first, strict=True))
    return [
        {short: texts[name] for short, name in renamed if name in texts}
        | {name: text for name, text in texts.items() if name not in shared}
        for texts in documents
    ]


def _names(metric: str) -> tuple[str, str]:
    return part(metric, REFERENCE), part(metric, PREDICTION)


def _pair(texts: Texts, names: tuple[str, str]) -> tuple[str | list[str] | None, ...]:
    return tuple(map(texts.get, names))


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
