"""Picture 8: what became of the trials: scored, missing, errors by their kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...documents.wording import printable
from ...evaluation.result import Group
from ...reports.series import Series
from .. import rows
from .figure import Figure, Numbers, called, heads_of, of_each, stacked
from .lanes import Lane, Spot, blocks

_MOST_KINDS = 6
_COUNTED = (
    *("with rewards", "without rewards", "left out"),
    *("that cannot be read", "planned and not there"),
)
_REST = "other errors"


def trials(series: Sequence[Series]) -> Figure:
    """How many trials of each series have rewards, and what became of the others."""
    who = called(series)
    kinds: Counter[str] = Counter()
    for each in series:
        kinds.update(each.group.exceptions)
    shown = [kind for kind, _ in kinds.most_common(_MOST_KINDS)]
    # Not by their names: an error may be called as one of the others.
    rest = _REST if shown else "errors"
    called_so = {*_COUNTED, rest}
    errors = [f"error {kind}" if kind in called_so else kind for kind in map(printable, shown)]
    fates = [*_COUNTED, *errors, rest]
    columns = zip(*(_times(each.group, shown) for each in series), strict=True)
    whole = list(zip(fates, map(list, columns), strict=True))
    table = [(fate, times) for fate, times in whole if any(times)] or whole[:1]
    lanes = [
        Lane(fate, [Spot(i, n) for i, n in enumerate(times)], ", ".join(map(str, times)))
        for fate, times in table
    ]
    counts = [rows.counts(each.group) for each in series]
    sentence = of_each(
        [
            f"{name}: {text}" if len(series) > 1 else text
            for name, text in zip(who, counts, strict=True)
        ]
    )
    return Figure(
        "trials",
        "Trials",
        f"{sentence}.",
        stacked("Trials", sentence, series, blocks(lanes, bars=True)),
        Numbers(
            ("trials", *(heads_of(who) if len(series) > 1 else ["how many"])),
            [(fate, *map(str, times)) for fate, times in table],
        ),
    )


def _times(group: Group, kinds: Sequence[str]) -> list[int]:
    """How many trials each of these became of; a trial with an error may have rewards."""
    counts = group.counts
    planned = max(0, (counts.expected or 0) - counts.found - counts.unread)
    errors = [group.exceptions.get(kind, 0) for kind in kinds]
    return [
        *(counts.scored, counts.unrewarded, counts.left_out or 0, counts.unread, planned),
        *errors,
        # Errors that a document counts and does not name are among the others.
        counts.errored - sum(errors),
    ]
