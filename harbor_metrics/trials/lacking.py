"""What is said of trials that have rewards, but not all of the keys, or none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ..documents.diagnostics import Diagnostic
from ..documents.wording import listed, plural
from .rewards import KeyTimes
from .source import Source
from .table import Table
from .trial import NO_GROUP, GroupKey, LineTrials, group_key

# Their readers say in their own words what was not scored.
_SAID = ("inspect", "lm-eval")


def remarks(source: Source) -> Iterator[Diagnostic]:
    """Which reward keys only some trials of a group have, and which trials have none."""
    if source.kind in _SAID:
        return
    for group, keys in _by_group(source).items():
        where = f"{source.path}, dataset {group.dataset}" if group.dataset else source.path
        n = keys.scored - keys.empty
        lacking = [f"`{key}` ({times})" for key, times in sorted(keys.times.items()) if times < n]
        if lacking:
            yield Diagnostic(
                rule="key-missing",
                message=f"{where}: of {n} trials with rewards only some have {listed(lacking)}; "
                "in the others it is missing",
                path=source.path,
            )
        if keys.empty:
            yield Diagnostic(
                rule="empty-rewards",
                message=f"{where}: the rewards of {plural(keys.empty, 'trial')} have no key, "
                "and count as 0",
                path=source.path,
            )


def _by_group(source: Source) -> dict[GroupKey, KeyTimes]:
    trials = source.trials
    if source.counted is not None:
        return {group: table.key_times for group, table in source.counted.groups.items()}
    if isinstance(trials, LineTrials):
        return {NO_GROUP: Table(trials).key_times}
    found: defaultdict[GroupKey, KeyTimes] = defaultdict(KeyTimes)
    for trial in trials:
        found[group_key(trial)].add(trial.rewards)
    return found
