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
_REST = "other errors"


def trials(series: Sequence[Series]) -> Figure:
    """How many trials of each series have rewards, and what became of the others."""
    who = called(series)
    kinds: Counter[str] = Counter()
    for each in series:
        kinds.update(each.group.exceptions)
    shown = [kind for kind, _ in kinds.most_common(_MOST_KINDS)]
    columns = [_fates(each.group, shown) for each in series]
    fates = [fate for fate in columns[0] if any(column[fate] for column in columns)]
    table = {fate: [column[fate] for column in columns] for fate in fates or ["with rewards"]}
    if not shown and _REST in table:
        table["errors"] = table.pop(_REST)
    lanes = [
        Lane(fate, [Spot(i, n) for i, n in enumerate(times)], ", ".join(map(str, times)))
        for fate, times in table.items()
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
            [(fate, *map(str, times)) for fate, times in table.items()],
        ),
    )


def _fates(group: Group, kinds: Sequence[str]) -> dict[str, int]:
    """What became of the trials -> how many; a trial with an error may have rewards."""
    counts = group.counts
    planned = max(0, (counts.expected or 0) - counts.found - counts.unread)
    return {
        "with rewards": counts.scored,
        "without rewards": counts.unrewarded,
        "left out": counts.left_out or 0,
        "that cannot be read": counts.unread,
        "planned and not there": planned,
        **{printable(kind): group.exceptions.get(kind, 0) for kind in kinds},
        # Errors that a document counts and does not name are among the others.
        _REST: counts.errored - sum(group.exceptions.get(kind, 0) for kind in kinds),
    }
