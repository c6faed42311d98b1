"""What is said of many groups, said once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..documents.diagnostics import Diagnostic
from ..documents.wording import listed, printable, shown_path
from ..trials.source import Source
from .planned import Planned

NOT_FOUND = "registry-not-found"
_NAME_IT = "--registry FILE names it"
# Beyond, names stand in a list.
_MOST = 2


def remarks_on_scripts(metrics: Iterable[Planned]) -> Iterator[Diagnostic]:
    """Which scripts are taken from the current folder for a registry that lies elsewhere."""
    for metric in metrics:
        if metric.named_by == "current folder" and metric.script is not None:
            yield Diagnostic(
                rule="script-elsewhere",
                message=f"{printable(metric.script.shown)} is taken from the current folder, where "
                f"{shown_path(metric.registry or '')}, which names it, does not lie",
                help="run this where the registry's project lies, or put the script beside it",
            )


def once(diagnostics: Iterable[Diagnostic], sources: Sequence[Source]) -> list[Diagnostic]:
    """Each diagnostic once, and the registries that were not found in one."""
    distinct = list(dict.fromkeys(diagnostics))
    absent = [d for d in distinct if d.rule == NOT_FOUND]
    if not absent:
        return distinct
    first = distinct.index(absent[0])
    kept = [d for d in distinct if d.rule != NOT_FOUND]
    # In the notes are the registries of other jobs.
    alone = [d for d in absent if not d.notes]
    said = [_not_found(alone, sources)] if alone else []
    said += [_others_found(d) for d in absent if d.notes]
    return [*kept[:first], *said, *kept[first:]]


def _others_found(absent: Diagnostic) -> Diagnostic:
    return Diagnostic(
        rule=NOT_FOUND,
        message=f"the registry of {absent.subject} ({absent.message}) is not on this machine: its "
        f"trials are taken to ask for mean, Harbor's default, and metrics of "
        f"{listed(absent.notes)} run only where they are the same",
        help=_NAME_IT,
    )


def _not_found(absent: Sequence[Diagnostic], sources: Sequence[Source]) -> Diagnostic:
    names = list(dict.fromkeys(d.subject for d in absent))
    which = f"the registry of {names[0]} ({absent[0].message})"
    is_not = "is not"
    if len(names) > 1:
        some = listed(names) if len(names) > _MOST else " and ".join(names)
        which, is_not = f"the registries of {some}", "are not"
    jobs = [source for source in sources if source.job is not None]
    runs = "mean runs, Harbor's default"
    if all(map(_reports_mean, jobs)):
        runs = "mean runs, as the job itself reports"
        if len(jobs) > 1:
            runs = "mean runs, as the jobs themselves report"
    return Diagnostic(
        rule=NOT_FOUND,
        message=f"{which} {is_not} on this machine: {runs}",
        help=_NAME_IT,
    )


def _reports_mean(source: Source) -> bool:
    """Whether the numbers of a job are those of `mean` and of no other metric."""
    named = [
        (number.params.get("index"), number.part)
        for number in source.reported()
        if number.metric == "metric"
    ]
    return bool(named) and set(named) == {(0, "mean")}
