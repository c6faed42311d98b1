"""How the values of lm-eval lie in rewards and texts, and what lm-eval aggregates them by.

A value that is a pair or a longer list is a reward for each place: `f1/0` the truth and `f1/1` the
guess, `word_perplexity/0` the loglikelihood and `word_perplexity/1` the words.
"""

from __future__ import annotations

# The metric of what is not scored.
BYPASS = "bypass"
REFERENCE, PREDICTION = "reference", "prediction"
OF_TEXTS = ("bleu", "chrf", "chrf++", "ter")
OF_PAIRS = ("weighted_perplexity", "bits_per_byte")
OF_CLASSES = ("f1", "matthews_corrcoef")
KNOWN = (
    "mean",
    "nanmean",
    "median",
    "perplexity",
    *OF_PAIRS,
    *OF_CLASSES,
    "brier_score",
    "likelihood",
    *OF_TEXTS,
)
# Metric -> the aggregation that lm-eval has registered with it.
AGGREGATIONS = {
    **dict.fromkeys(("acc", "acc_norm", "acc_bytes", "acc_mutual_info", "exact_match"), "mean"),
    "bpb": "mean",
    **dict.fromkeys(("word_perplexity", "byte_perplexity"), "weighted_perplexity"),
    **{
        name: name
        for name in ("perplexity", "bits_per_byte", "f1", "brier_score", "likelihood", *OF_TEXTS)
    },
    **dict.fromkeys(("mcc", "matthews_corrcoef"), "matthews_corrcoef"),
}
# Of the metrics that it averages: whether more of them is better.
HIGHER_IS_BETTER = {
    **dict.fromkeys((name for name, of in AGGREGATIONS.items() if of == "mean"), True),
    "bpb": False,
}
# The names of aggregations that are another one's.
RENAMED = {"mcc": "matthews_corrcoef"}


def aggregation(metric: str, given: object = None) -> str:
    """How the values of a metric become one number: as a task says, else as is registered."""
    registered = BYPASS if metric == BYPASS else AGGREGATIONS.get(metric, "mean")
    name = str(given) if given else registered
    return RENAMED.get(name, name)


def part(key: str, member: str | int) -> str:
    """The reward key, or the name of the text, for what is inside a value."""
    return f"{key}/{member}"


def kwargs(metric: str, aggregation: str) -> dict[str, str]:
    """Which rewards an aggregation takes of a metric's values, as kwargs of the metric here.

    One of texts takes texts, which are named as its kwargs say by default.
    """
    first, second = part(metric, 0), part(metric, 1)
    if aggregation in OF_PAIRS:
        return {"key": first, "weight": second}
    if aggregation in OF_CLASSES:
        return {"key": second, "reference": first}
    if aggregation == "brier_score":
        return {"key": first, "probabilities": second}
    if aggregation == "likelihood":
        return {"key": first, "likelihoods": second}
    return {} if aggregation in OF_TEXTS else {"key": metric}
