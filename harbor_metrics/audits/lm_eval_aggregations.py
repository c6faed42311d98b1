"""What lm-eval makes of a task's values: one number, and the error that its bootstrap gives it.

An item is what lm-eval calls the value of a document: a number, or a pair.
"""

from __future__ import annotations

import importlib
import math
import random
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

Items = Sequence[Any]
Aggregation = Callable[[Items], float]
# Of these lm-eval draws no more, however many are asked for.
_FEW = 100
_CHUNK = 1_000


def perplexity(items: Items) -> float:
    """exp of minus the mean loglikelihood."""
    return math.exp(-sum(items) / len(items))


def weighted_perplexity(items: Items) -> float:
    """exp of minus the loglikelihood a word or byte, of (loglikelihood, how many)."""
    return math.exp(-_a_unit(items))


def bits_per_byte(items: Items) -> float:
    """Minus the loglikelihood a byte, in bits."""
    return -_a_unit(items) / math.log(2)


def _a_unit(items: Items) -> float:
    return math.fsum(item[0] for item in items) / math.fsum(item[1] for item in items)


def mean(items: Items) -> float:
    """Sum divided by n."""
    return math.fsum(items) / len(items)


def median(items: Items) -> float:
    """The upper of the two in the middle."""
    return float(sorted(items)[len(items) // 2])


def f1(items: Items) -> float:
    """F1 of the class 1, of (gold, predicted); 0 where nothing is 1.

    Raises:
        ValueError: there are other classes than 0 and 1.
    """
    if not {value for item in items for value in item} <= {0, 1}:
        raise ValueError("lm-eval's f1 is of the classes 0 and 1")
    both = sum(item[0] and item[1] for item in items)
    either = sum(item[0] + item[1] for item in items)
    return float(2 * both / either) if either else 0.0


def matthews_corrcoef(items: Items) -> float:
    """Correlation of gold and predicted classes (Gorodkin 2004); 0 where one is constant."""
    n = len(items)
    right = sum(item[0] == item[1] for item in items)
    gold, predicted = (Counter(item[side] for item in items) for side in (0, 1))
    both = sum(gold[each] * predicted[each] for each in gold)
    spread = [n * n - sum(count * count for count in each.values()) for each in (gold, predicted)]
    return (right * n - both) / math.sqrt(spread[0] * spread[1]) if all(spread) else 0.0


def brier_score(items: Items) -> float:
    """Mean over documents of the squared distances, of (gold, [probability, …])."""
    distances = (
        (chance - (place == gold)) ** 2
        for gold, chances in items
        for place, chance in enumerate(chances)
    )
    return math.fsum(distances) / len(items)


def _corpus(name: str, **options: int) -> Aggregation:
    def score(items: Items) -> float:
        sacrebleu: Any = importlib.import_module("sacrebleu")
        references = [[item[0]] if isinstance(item[0], str) else item[0] for item in items]
        predictions = [item[1] for item in items]
        streams = [list(stream) for stream in zip(*references, strict=True)]
        corpus: Any = getattr(sacrebleu, f"corpus_{name}")
        return float(corpus(predictions, streams, **options).score)

    return score


SCALARS = {"mean": mean, "nanmean": mean, "median": median, "perplexity": perplexity}
PAIRS = {
    "weighted_perplexity": weighted_perplexity,
    "bits_per_byte": bits_per_byte,
    "f1": f1,
    "matthews_corrcoef": matthews_corrcoef,
}
TEXTS = {
    "bleu": _corpus("bleu"),
    "chrf": _corpus("chrf"),
    "chrf++": _corpus("chrf", word_order=2),
    "ter": _corpus("ter"),
}
# Those that lm-eval bootstraps; of the others it knows no error, but for the mean's.
BOOTSTRAPPED = ("median", "nanmean", "perplexity", "f1", "matthews_corrcoef", *TEXTS)


def draws(aggregation: str, iterations: int) -> int:
    """How many resamples lm-eval draws."""
    wanted = min(iterations, _FEW) if aggregation in TEXTS else iterations
    return wanted // min(_CHUNK, wanted) * min(_CHUNK, wanted) if wanted > 0 else 0


def bootstrap_stderr(aggregation: Aggregation, items: Items, n: int) -> float:
    """Standard deviation of the aggregation of n resamples, drawn as lm-eval draws them.

    Thousand by thousand, the generator seeded with the number of the thousand.
    """
    values = []
    chunk = min(_CHUNK, n)
    for seed in range(n // chunk):
        generator = random.Random(seed)  # noqa: S311  # nothing secret is drawn
        values += [aggregation(generator.choices(items, k=len(items))) for _ in range(chunk)]
    return statistics.stdev(values)
