"""How many, and how often."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

from msgspec import Meta

from ..contract.estimate import Undefined
from ..contract.parameters import Threshold
from ..errors import MetricFailure
from ..numbers.exact import Number
from ..trials.column import Column
from ..trials.labelled import label_text
from .moments import NO_VALUES

_Share = Annotated[bool, Meta(description="Shares that add up to 1, or numbers of trials.")]


_Label = Annotated[
    Annotated[str, Meta(min_length=1)] | None,
    Meta(
        description="A label that stands for the reward where a trial has it, such as a category.",
    ),
]


def count(rewards: Column, *, threshold: Threshold | None = None) -> Number:
    """Number of rewards, or of those that reach the threshold.

    With `missing` `skip` it is the number of trials that have the reward.
    """
    if threshold is None:
        return len(rewards)
    return sum(c * times for (_, c), times in rewards.passes(threshold).items())


def frequency(
    rewards: Column, *, normalize: _Share = True, label: _Label = None
) -> dict[str, Number | Undefined]:
    """How often each reward stands, as a share of all.

    One value for each different reward, named as JSON writes it, 1 and 1.0 as `1`; in the order of
    the rewards. With `label` one for each value of it too, in front of them. Inspect's `frequency`
    is over attempts too, and names 1 and 1.0 apart.
    """
    if not len(rewards):
        return {"frequency": Undefined(NO_VALUES)}
    n = len(rewards)
    if label is not None:
        return {
            name: times / n if normalize else times for name, times in _of_label(rewards, label)
        }
    times = rewards.counter
    return {
        label_text(value): times[value] / n if normalize else times[value]
        for value in sorted(times)
    }


def _of_label(rewards: Column, name: str) -> list[tuple[str, int]]:
    """How often each value of a label stands, sorted, then each reward of trials without it."""
    if rewards.attempts is not None:
        reason = f"`{name}` belongs to attempts, and a `reducer` makes them one value"
        raise MetricFailure("missing-label", reason)
    labels: Counter[str] = Counter()
    others: Counter[Number] = Counter()
    for value, trial in zip(rewards.values, rewards.trials, strict=True):
        if name in trial.labels:
            labels[label_text(trial.labels[name])] += 1
        else:
            others[value] += 1
    # A number and a text that is written like it have one name.
    times = Counter(dict(sorted(labels.items())))
    for value in sorted(others):
        times[label_text(value)] += others[value]
    return list(times.items())
