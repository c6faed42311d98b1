"""Picture 9: which places several runs can have."""

from __future__ import annotations

from collections.abc import Sequence

from ...comparison.document import Rank
from ...documents.wording import printable
from ..sentences import place
from .figure import Figure, Numbers, stacked
from .lanes import Lane, Spot, blocks


def places(found: Sequence[Rank]) -> Figure:
    """The places of each run by one value on one dataset."""
    sure = sum(rank.low == rank.high for rank in found)
    sentence = (
        f"By {printable(found[0].metric)} {sure} of {len(found)} runs have one place that is sure; "
        "all pairs compared, by Holm."
    )
    drawn = [
        Lane(
            printable(rank.run),
            [Spot(i, (rank.low + rank.high) / 2, rank.low, rank.high)],
            place(rank),
        )
        for i, rank in enumerate(found)
    ]
    return Figure(
        "places",
        "Places",
        sentence,
        stacked("Places", sentence, (), blocks(drawn, whole=True)),
        Numbers(("run", "place"), [(printable(rank.run), place(rank)) for rank in found]),
    )
