"""Picture 9: which places several runs can have."""

from __future__ import annotations

from collections.abc import Sequence

from ...documents.wording import printable
from ...reports.ranks import Rank
from .figure import Figure, Numbers, stacked
from .lanes import Lane, Spot, blocks


def places(found: Sequence[Rank], metric: str) -> Figure | None:
    """The places of each run by the first metric; None where they were not compared so."""
    if not found:
        return None
    sure = sum(rank.low == rank.high for rank in found)
    sentence = (
        f"By {metric} {sure} of {len(found)} runs have one place that is sure; all pairs compared, "
        "by Holm."
    )
    drawn = [
        Lane(
            printable(rank.run),
            [Spot(i, (rank.low + rank.high) / 2, rank.low, rank.high)],
            _said(rank),
        )
        for i, rank in enumerate(found)
    ]
    return Figure(
        "places",
        "Places",
        sentence,
        stacked("Places", sentence, (), blocks(drawn, whole=True)),
        Numbers(("run", "place"), [(printable(rank.run), _said(rank)) for rank in found]),
    )


def _said(rank: Rank) -> str:
    return str(rank.low) if rank.low == rank.high else f"{rank.low} to {rank.high}"
