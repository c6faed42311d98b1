"""What is said of trials that have rewards, but not all of the keys, or none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from ..documents.diagnostics import Diagnostic
from ..documents.wording import listed, plural
from .source import Source
from .table import Table
from .trial import NO_GROUP, GroupKey, LineTrials, Rewards, group_key

# Their readers say in their own words what was not scored.
_SAID = ("inspect", "lm-eval")


class _Keys:
    """How many trials of a group have rewards, how many of these no key, and how many each key."""

    def __init__(self, rows: Iterable[tuple[Rewards | None, int]] = ()) -> None:
        self.n_scored = self.n_empty = 0
        self.times: Counter[str] = Counter()
        for rewards, times in rows:
            self.add(rewards, times)

    def add(self, rewards: Rewards | None, times: int = 1) -> None:
        if rewards is None:
            return
        self.n_scored += times
        self.n_empty += 0 if rewards else times
        for key in rewards:
            self.times[key] += times


def remarks(source: Source) -> Iterator[Diagnostic]:
    """Which reward keys only some trials of a group have, and which trials have none."""
    if source.kind in _SAID:
        return
    for group, keys in _by_group(source).items():
        where = f"{source.path}, dataset {group.dataset}" if group.dataset else source.path
        n = keys.n_scored - keys.n_empty
        lacking = [f"`{key}` ({times})" for key, times in sorted(keys.times.items()) if times < n]
        if lacking:
            yield Diagnostic(
                rule="key-missing",
                message=f"{where}: of {n} trials with rewards only some have {listed(lacking)}; "
                "in the others it is missing",
                path=source.path,
            )
        if keys.n_empty:
            yield Diagnostic(
                rule="empty-rewards",
                message=f"{where}: the rewards of {plural(keys.n_empty, 'trial')} have no key, "
                "and count as 0",
                path=source.path,
            )


def _by_group(source: Source) -> dict[GroupKey, _Keys]:
    trials = source.trials
    if source.counted is not None:
        return {group: _counted(table) for group, table in source.counted.groups.items()}
    found: dict[GroupKey, _Keys] = {}
    if isinstance(trials, LineTrials):
        keys = _Keys()
        keys.n_scored, keys.n_empty = trials.n_scored, len(trials.empty)
        for key, values in trials.columns.items():
            keys.times[key] = len(trials) - values.count(None)
        return {NO_GROUP: keys}
    for trial in trials:
        found.setdefault(group_key(trial), _Keys()).add(trial.rewards)
    return found


def _counted(table: Table) -> _Keys:
    # For weight: small sources are not counted.
    from .counted import CountedTable
    from .counted_lines import CountedLines

    if isinstance(table, CountedTable):
        return _Keys(table.counts.rows_with_times())
    assert isinstance(table, CountedLines)  # nothing else is counted
    keys = _Keys()
    keys.n_scored, keys.n_empty = table.counts.n_scored, table.counts.n_empty
    keys.times.update({key: counts.n for key, counts in table.counts.keys.items()})
    return keys
