"""What is said of trials that have rewards, but not all of the keys, or none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..documents.diagnostics import Diagnostic
from ..documents.wording import listed, plural
from .source import Source
from .table import Table
from .trial import GroupKey

# Their readers say in their own words what was not scored.
_SAID = ("inspect", "lm-eval")


def remarks(source: Source, tables: Mapping[GroupKey, Table]) -> Iterator[Diagnostic]:
    """Which reward keys only some trials of a group have, and which trials have none."""
    if source.kind in _SAID:
        return
    for group, table in tables.items():
        keys = table.key_times
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
