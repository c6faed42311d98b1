"""Inspect's reducers that count scores as they were given, before they are numbers."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from ..trials.table import Table
from ..trials.trial import Trial

SILENT = ("missing", "error")
STATUS, VALUE = "inspect/status", "inspect/value"


def by_vote(table: Table, key: str, reducer: str) -> Table:
    """One trial a task, its reward the most frequent score or that of more than half.

    Inspect counts the scores as they were given: `I` and `N` are two values, of which the number is
    the same. A score that is NaN has a vote in a majority, and an attempt that failed has none.
    """
    voted = []
    for task in dict.fromkeys(table.tasks):
        trials = [t for t in table if t.task == task and t.labels.get(STATUS) not in SILENT]
        if not trials:
            continue
        scored = [t for t in trials if t.rewards is not None and key in t.rewards]
        votes = Counter(str(_given(trial, key)) for trial in scored)
        winner, times = votes.most_common(1)[0] if votes else ("", 0)
        enough = times * 2 > len(trials) if reducer == "majority" else times > 0
        first = next((t for t in scored if str(_given(t, key)) == winner), trials[0])
        rewards = {key: first.rewards[key]} if enough and first.rewards is not None else None
        labels = {**trials[0].labels, STATUS: None}
        voted.append(msgspec.structs.replace(trials[0], rewards=rewards, labels=labels))
    return Table(voted)


def _given(trial: Trial, key: str) -> Any:
    """The score before it was made a number."""
    own = trial.labels.get(VALUE)
    if own is None:
        own = trial.labels.get(f"{VALUE}/{key}")
    return own if own is not None else float((trial.rewards or {})[key])
