"""lm-eval's aggregations over the values of documents, as it writes them."""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..readers.lm_eval import layout
from .row import Answer, Instead, Known, Unknown

_Values = Sequence[Any]
Aggregation = Callable[[_Values], float]
_NOT_SCORED = 999
_IN_32_BITS = "the values are 32-bit floats, and lm-eval adds them as such"
# Those that every version has an error of.
_WITH_ERROR = (
    "mean", "median", "f1", "perplexity", "matthews_corrcoef", "bleu", "chrf", "ter", layout.BYPASS,
)  # fmt: skip
# Those that only some versions before 0.5 have an error of.
_WITH_ERROR_LATER = ("nanmean", "chrf++")
_ZERO = "undefined, because {}; lm-eval writes 0"


def known(name: str) -> bool:
    """Whether lm-eval has an aggregation of that name that needs no texts."""
    return name in AGGREGATIONS or name == layout.BYPASS


def aggregated(name: str, values: _Values, *, written: int = _NOT_SCORED) -> Answer:
    """What lm-eval makes of the values; `written` is its number where nothing was scored.

    Raises:
        ValueError, TypeError: they are of another kind than the aggregation takes.
    """
    if name == layout.BYPASS:
        reason = f"nothing was scored (--predict_only), and lm-eval writes {written}"
        return Instead(written, reason)
    if not values:
        return Known(None, "no document has a value")
    value = AGGREGATIONS[name](values)
    if math.isnan(value):
        return Known(None, "a value is NaN")
    if math.isinf(value):
        return Instead("Infinity" if value > 0 else "-Infinity", "beyond the largest number")
    if name == "mean" and _are_32_bits(values):
        return Instead(_mean_in_32_bits(values), _IN_32_BITS, value)
    if name in _NOTHING and not value and (why := _NOTHING[name](values)):
        return Instead(0, _ZERO.format(why))
    return Known(value)


def error_of_mean(values: _Values) -> Answer:
    """The standard error of a mean, which a single value does not have."""
    if len(values) < 2:
        return Known(None, "undefined for a single value")
    value = deviation(values) / math.sqrt(len(values))
    if math.isnan(value):
        return Known(None, "a value is NaN")
    if _are_32_bits(values):
        mean = _mean_in_32_bits(values)
        squares = 0.0
        for x in values:
            squares = _f32(squares + _f32(_f32(x - mean) ** 2))
        written = math.sqrt(_f32(squares / (len(values) - 1))) / math.sqrt(len(values))
        return Instead(written, _IN_32_BITS, value)
    return Known(value)


def without_error(aggregation: str, values: _Values, params: Mapping[str, Any]) -> Answer | None:
    """Why lm-eval writes no error of a number; None where it writes one."""
    draws, version = params.get("bootstrap_iters"), str(params.get("version", ""))
    if len(values) < 2:
        return Known(None, "undefined for a single value")
    if type(draws) is not int:
        return Unknown("the log does not say how many resamples were drawn")
    if draws < 1:
        return Known(None, "no resamples were asked for, and lm-eval computes no error then")
    if aggregation in _WITH_ERROR:
        return None
    if version.startswith("0.4.") and aggregation not in _WITH_ERROR_LATER:
        return Known(None, f"lm-eval has no error of `{aggregation}` before 0.5")
    return Unknown(f"earlier versions of lm-eval have no error of `{aggregation}`")


def deviation(values: _Values) -> float:
    """The sample standard deviation."""
    mean = _mean(values)
    return math.sqrt(math.fsum((x - mean) ** 2 for x in values) / (len(values) - 1))


def _mean(values: _Values) -> float:
    if any(isinstance(value, list | str) or value is None for value in values):
        raise TypeError("a value is no number")
    return math.fsum(values) / len(values)


def _are_32_bits(values: _Values) -> bool:
    """Whether all are 32-bit floats, and not only numbers that have few digits anyway."""
    floats = [value for value in values if isinstance(value, float)]
    if len(floats) < len(values) or any(value != _f32(value) for value in floats):
        return False
    return any(value != round(value, 6) for value in floats)


def _f32(value: float) -> float:
    try:
        (rounded,) = struct.unpack("f", struct.pack("f", value))
    except OverflowError:
        return math.inf
    return float(rounded)


def _mean_in_32_bits(values: _Values) -> float:
    total = 0.0
    for value in values:
        total = _f32(total + value)
    return _f32(total / len(values))


def _median(values: _Values) -> float:
    """The upper middle value."""
    return float(sorted(values)[len(values) // 2])


def _nanmean(values: _Values) -> float:
    kept = [value for value in values if value == value]  # NaN is not itself
    return _mean(kept) if kept else math.nan


def _exp(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def _share(pairs: _Values) -> float:
    return math.fsum(first for first, _ in pairs) / math.fsum(second for _, second in pairs)


def _f1(pairs: _Values) -> float:
    """Of the class 1."""
    hits = sum(gold == 1 == guess for gold, guess in pairs)
    wrong = sum((gold == 1) != (guess == 1) for gold, guess in pairs)
    return 2 * hits / (2 * hits + wrong) if hits else 0.0


def _matthews(pairs: _Values) -> float:
    """The correlation of truths and guesses, of two classes or more; 0 where one has no spread."""
    times = Counter((gold, guess) for gold, guess in pairs)
    truths: Counter[Any] = Counter()
    guesses: Counter[Any] = Counter()
    for (gold, guess), n in times.items():
        truths[gold] += n
        guesses[guess] += n
    n = len(pairs)
    right = sum(count for (gold, guess), count in times.items() if gold == guess)
    top = n * right - sum(truths[label] * guesses[label] for label in truths)
    spread = (n * n - sum(v * v for v in truths.values())) * (
        n * n - sum(v * v for v in guesses.values())
    )
    return top / math.sqrt(spread) if spread else 0.0


def _brier(pairs: _Values) -> float:
    """The mean squared distance of the chances from the truth."""
    return math.fsum(
        math.fsum((chance - (place == gold)) ** 2 for place, chance in enumerate(chances))
        for gold, chances in pairs
    ) / len(pairs)


def _no_spread(pairs: _Values) -> str:
    truths, guesses = {gold for gold, _ in pairs}, {guess for _, guess in pairs}
    return "all truths or all guesses are the same" if min(len(truths), len(guesses)) < 2 else ""


def _no_class(pairs: _Values) -> str:
    return "" if any(1 in pair for pair in pairs) else "no truth and no guess is 1"


AGGREGATIONS: dict[str, Aggregation] = {
    "mean": _mean,
    "median": _median,
    "nanmean": _nanmean,
    "perplexity": lambda values: _exp(-_mean(values)),
    "weighted_perplexity": lambda pairs: _exp(-_share(pairs)),
    "bits_per_byte": lambda pairs: -_share(pairs) / math.log(2),
    "f1": _f1,
    "matthews_corrcoef": _matthews,
    "brier_score": _brier,
    "likelihood": lambda pairs: _mean([chances[gold] for gold, chances in pairs]),
}
_NOTHING: dict[str, Callable[[_Values], str]] = {"f1": _no_class, "matthews_corrcoef": _no_spread}
