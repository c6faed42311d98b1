"""Texts of trials: predictions against references."""

from __future__ import annotations

import importlib
import re
import string
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from msgspec import Meta

from ..contract.deadline import LateError, at_most
from ..contract.estimate import Estimate, Undefined, estimate, ratio_units
from ..contract.parameters import Higher, Lower
from ..errors import MetricFailure
from ..numbers.units import Range
from ..trials.column import Column
from ..trials.table import Table
from .moments import NO_VALUES

_Prediction = Annotated[str, Meta(min_length=1, description="The name of the text that is judged.")]
_Reference = Annotated[
    str,
    Meta(min_length=1, description="The name of the right text, or of several that are right."),
]
_Flag = Annotated[bool, Meta(description="Take it away from both texts first.")]
_Case = Annotated[bool, Meta(description="Take upper for lower case in both texts.")]
_Regexes = Annotated[
    list[Annotated[str, Meta(extra_json_schema={"format": "regex"})]],
    Meta(description="What these match is taken away from both texts first."),
]
_Order = Annotated[int, Meta(ge=0, le=9, description="Words in a row that count; 2 is chrF++.")]
_Wrong = Annotated[
    Literal["zero", "skip", "error"],
    Meta(
        description="A trial without the texts is no match (`zero`), left out (`skip`), or fails "
        "the metric (`error`)."
    ),
]
_Absent = Annotated[
    Literal["error", "skip"],
    Meta(
        description="A trial without the texts fails the metric (`error`), or is left out (`skip`)."
    ),
]
# Of the processor, for all texts; a registry can have brought the regular expressions.
_SECONDS = 60
# What is moved in a text `ter` looks for in more than the square of its length.
_SECONDS_OF_CORPUS = 600
# As many pairs of words take a gigabyte.
_MOST_EDITS = 4_000**2
# Each trial has as many places for references as the one with most of them.
_MANY_REFERENCES, _MOST_TIMES = 1_000_000, 20
_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)
_WITHOUT_DIGITS = str.maketrans("", "", string.digits)


def exact_match(
    trials: Table,
    *,
    ignore_case: _Case = False,
    ignore_punctuation: _Flag = False,
    ignore_numbers: _Flag = False,
    regexes_to_ignore: _Regexes = [],  # noqa: B006  # only read
    prediction: _Prediction = "prediction",
    reference: _Reference = "reference",
    missing: _Wrong = "zero",
) -> Higher:
    """Share of trials whose prediction is the reference, or one of several.

    Of both texts what the regular expressions match is taken away, then case, punctuation and
    digits, in that order, as in lm-eval's `exact_match`.
    """
    texts = _texts(trials, prediction, reference, missing)
    if not texts:
        return Undefined(NO_VALUES)
    patterns = [re.compile(pattern) for pattern in regexes_to_ignore]

    def plain(text: str) -> str:
        for pattern in patterns:
            text = pattern.sub("", text)
        text = text.lower() if ignore_case else text
        text = text.translate(_WITHOUT_PUNCTUATION) if ignore_punctuation else text
        return text.translate(_WITHOUT_DIGITS) if ignore_numbers else text

    if any(not right for _, (_, right) in texts if right is not None):
        return Undefined("undefined: a trial has no reference")
    try:
        with at_most(_SECONDS):
            hits = [
                int(right is not None and plain(guess) in map(plain, right))
                for _, (guess, right) in texts
            ]
    except LateError as error:
        raise MetricFailure(
            "invalid-metric-kwargs",
            f"`regexes_to_ignore` of `exact-match` takes more than {_SECONDS} s for these texts: "
            "a repetition within a repetition can go on for ever",
            "regexes_to_ignore",
        ) from error
    rows = Column(hits, [task for task, _ in texts])
    return estimate(ratio_units(rows, hits, None, 1, bounds=Range.BINARY), n=len(rows))


def bleu(
    trials: Table,
    *,
    prediction: _Prediction = "prediction",
    reference: _Reference = "reference",
    missing: _Absent = "error",
) -> Higher:
    """Words in a row that predictions share with references, from 0 to 100, over all trials.

    sacrebleu's `corpus_bleu` with its own defaults (Papineni et al. 2002, Post 2018); needs the
    extra `text`.
    """
    texts = _texts(trials, prediction, reference, missing)
    return _corpus(texts, lambda s, p, r: s.corpus_bleu(p, r))


def chrf(
    trials: Table,
    *,
    word_order: _Order = 0,
    prediction: _Prediction = "prediction",
    reference: _Reference = "reference",
    missing: _Absent = "error",
) -> Higher:
    """Characters in a row that predictions share with references, from 0 to 100, over all trials.

    sacrebleu's `corpus_chrf` with its own defaults (Popović 2015); with `word_order` 2 chrF++.
    Needs the extra `text`.
    """
    texts = _texts(trials, prediction, reference, missing)
    return _corpus(texts, lambda s, p, r: s.corpus_chrf(p, r, word_order=word_order))


def ter(
    trials: Table,
    *,
    prediction: _Prediction = "prediction",
    reference: _Reference = "reference",
    missing: _Absent = "error",
) -> Lower:
    """Edits that make predictions references, per 100 words of the references, over all trials.

    sacrebleu's `corpus_ter` with its own defaults (Snover et al. 2006); needs the extra `text`.
    """
    texts = _texts(trials, prediction, reference, missing)
    for _, (guess, right) in texts:
        sizes = len(guess.split()), max((len(text.split()) for text in right or ()), default=0)
        if sizes[0] * sizes[1] > _MOST_EDITS:
            raise MetricFailure(
                "metric-raised",
                f"a prediction of {sizes[0]:,} words and a reference of {sizes[1]:,} are too long: "
                "for each pair of their words sacrebleu keeps how many edits lead there",
            )
    return _corpus(texts, lambda s, p, r: s.corpus_ter(p, r))


# A prediction and its references; None: the trial lacks one of them.
_Texts = tuple[str, Sequence[str] | None]


def _texts(
    trials: Table, prediction: str, reference: str, missing: str
) -> list[tuple[str, _Texts]]:
    """The task, the prediction and the references of each trial."""
    compared: list[tuple[str, _Texts]] = []
    for trial in trials:
        who = trial.trial or trial.task
        absent = next((name for name in (prediction, reference) if name not in trial.texts), None)
        if absent is not None:
            if missing == "error":
                raise MetricFailure("missing-label", f"{who} has no text `{absent}`")
            if missing == "zero":
                compared.append((trial.task, ("", None)))
            continue
        guess, right = trial.texts[prediction], trial.texts[reference]
        if not isinstance(guess, str):
            raise MetricFailure(
                "missing-label", f"text `{prediction}` of {who} is several texts, and must be one"
            )
        compared.append((trial.task, (guess, [right] if isinstance(right, str) else right)))
    return compared


def _corpus(texts: Sequence[tuple[str, _Texts]], score: Any) -> Estimate | Undefined:
    try:
        sacrebleu: Any = importlib.import_module("sacrebleu")
    except ImportError as error:
        raise MetricFailure(
            "not-installed",
            "sacrebleu is not installed, which computes bleu, chrf and ter; "
            "install `harbor-metrics[text]`",
        ) from error
    if not texts:
        return Undefined(NO_VALUES)
    guesses = [guess for _, (guess, _) in texts]
    rights = [right or () for _, (_, right) in texts]
    if not all(rights):
        return Undefined("undefined: a trial has no reference")
    n = max(map(len, rights))
    if len(rights) * n > max(_MANY_REFERENCES, _MOST_TIMES * sum(map(len, rights))):
        raise MetricFailure(
            "missing-label",
            f"a trial has {n:,} references and others few, of which sacrebleu wants as many each",
        )
    # One list for the first references, one for the second, …; None where a trial has fewer.
    references = [[right[i] if i < len(right) else None for right in rights] for i in range(n)]
    try:
        with at_most(_SECONDS_OF_CORPUS):
            return Estimate(value=float(score(sacrebleu, guesses, references).score), n=len(texts))
    except LateError as error:
        raise MetricFailure(
            "metric-raised",
            f"sacrebleu takes more than {_SECONDS_OF_CORPUS} s for these texts",
        ) from error
