"""Names of other systems without a metric or reducer here, and what to write instead."""

from __future__ import annotations

from typing import Any, NamedTuple


class Elsewhere(NamedTuple):
    """What the name means there, why nothing here has it, and an entry that does the same."""

    name: str
    kind: str
    paragraph: str
    instead: dict[str, Any] | None = None


_MEMBER = {"key": "MEMBER", "missing": "skip", "reducer": "mean"}
_ELSEWHERE = (
    Elsewhere(
        "inspect/aggregate",
        "metric",
        "It takes a metric of one member of each score. Every metric here does so with `key`, and "
        "its `on_missing` is `missing`: `skip`, `zero` or `error`.",
        {"type": "accuracy", "kwargs": _MEMBER},
    ),
    Elsewhere(
        "inspect/collect",
        "reducer",
        "It keeps the scores of all epochs of a sample as a list, for a metric that takes lists. "
        "A reducer here gives one number; metrics without a `reducer` see every attempt anyway. "
        "Ratings to be compared are rewards or labels of one trial, which `raters` names.",
        {"type": "krippendorff-alpha", "kwargs": {"raters": ["judge_1", "judge_2"]}},
    ),
    Elsewhere(
        "lm-eval/acc_all",
        "metric",
        "It is the share of questions of which all answers are judged right, and takes the "
        "question from the document. In a trials file whose tasks are the questions, and whose "
        "attempts are their answers, it is the mean of the least reward of each task.",
        {"type": "accuracy", "kwargs": {"reducer": "min"}},
    ),
    Elsewhere(
        "lm-eval/bypass",
        "metric",
        "lm-eval writes 999 for it where it ran with --predict_only: nothing was scored, and "
        "there is nothing to compute.",
    ),
)


def find(name: str) -> Elsewhere | None:
    """The name, with or without its system; None where there is none such."""
    found = [each for each in _ELSEWHERE if name in (each.name, each.name.rpartition("/")[2])]
    return found[0] if found else None


def names() -> list[str]:
    """All of them, with their systems."""
    return [each.name for each in _ELSEWHERE]
