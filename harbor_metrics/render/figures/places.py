"""Picture 9: which places several runs can have."""

from __future__ import annotations

from collections.abc import Sequence

from ...comparison.document import Rank
from ...documents.wording import listed, printable
from .. import svg
from ..sentences import place
from .figure import Figure, Numbers, stacked
from .lanes import Lane, Spot, blocks

_MOST_NAMED = 8


def places(found: Sequence[Rank], *, on_dataset: bool) -> Figure:
    """The places of each run by one value, on one dataset, named where there are several."""
    on = f" on {printable(found[0].dataset or 'no dataset')}" if on_dataset else ""
    title = f"Places{on}"
    order = sorted(found, key=lambda rank: (rank.low, rank.high))
    each = listed([f"{printable(rank.run)} {place(rank)}" for rank in order], _MOST_NAMED)
    sentence = f"By {printable(found[0].metric)}{on}, every two of them compared (Holm): {each}."
    names = svg.told_apart([printable(rank.run) for rank in found], 24)
    drawn = [
        Lane(
            names[i],
            [Spot(i, (rank.low + rank.high) / 2, rank.low, rank.high)],
            place(rank),
        )
        for i, rank in enumerate(found)
    ]
    return Figure(
        "places",
        title,
        sentence,
        stacked(title, sentence, (), blocks(drawn, whole=True)),
        Numbers(("run", "place"), [(printable(rank.run), place(rank)) for rank in found]),
    )
