"""What is said of trials that have rewards, but not all of the keys, or none."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from ..documents.diagnostics import Diagnostic
from ..documents.wording import in_command, listed, plural
from .source import Source
from .table import Table
from .trial import GroupKey

# Their readers say in their own words what was not scored.
_SAID = ("inspect", "lm-eval")


def left_out(
    group: GroupKey,
    out: Table,
    everything: Table,
    emptied: int,
    jobs: Sequence[str],
    files: Sequence[str],
) -> Diagnostic:
    """Which trials of a group its harness leaves out of its numbers, and after what errors.

    Args:
        group: of which they are.
        out: those trials.
        everything: all trials of the group.
        emptied: the number of tasks that have no other trial.
        jobs: the paths of the jobs that the group is of.
        files: those of its other sources.
    """
    errors = [f"{name} ({times})" for name, times in out.errors.items()]
    why = f" after {listed(errors)}" if errors else ""
    lost = (f"{plural(emptied, 'task')} without any other trial",) if emptied else ()
    of = f"{len(out)} of {plural(len(everything), 'trial')}"
    return Diagnostic(
        rule="trials-left-out",
        message=f"{group.in_words or 'trials'}: {of} without a valid reward{why}, "
        "left out of all numbers as Harbor leaves them out since 0.26",
        notes=(*lost, "Harbor before 0.26 counted a trial without rewards as 0"),
        help=f"to count them: {_how_to_count(jobs, files)}",
    )


def _how_to_count(jobs: Sequence[str], files: Sequence[str]) -> str:
    """What to do with the sources so that trials count which are left out."""
    if not jobs:
        return f"remove `left_out` from the lines of {listed(files)}"
    made = f"harbor-metrics convert {in_command(jobs[0] if len(jobs) == 1 else 'JOB')}"
    return f"`{made} -o trials.jsonl`, without `left_out` in its lines"


def of_sources(group: GroupKey, keys: Mapping[str, Collection[str]]) -> Iterator[Diagnostic]:
    """Which reward keys only some sources of a group have; `keys` are those of each by its path."""
    paths: dict[str, list[str]] = {}
    for path in sorted(keys):
        for key in keys[path]:
            paths.setdefault(key, []).append(path)
    some = [f"`{key}` ({listed(of, 3)})" for key, of in paths.items() if len(of) < len(keys)]
    if some:
        where = f"dataset {group.dataset}" if group.dataset else "trials"
        yield Diagnostic(
            rule="key-missing",
            message=f"{where}: of {len(keys)} sources of one group only some have "
            f"{listed(sorted(some))}; in the others it is missing",
        )


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
