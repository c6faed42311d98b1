"""What several comparisons are worth when all are looked at together: p values, and places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from ..evaluation.naming import apart
from ..numbers.adjustment import Adjust, adjusted
from .document import Compared, Rank, Row
from .naming import name_of

# A comparison and a row of it, by their places.
_Place = tuple[int, int]
_FEWEST_RANKED = 3


def with_adjusted(compared: Sequence[Compared], adjust: Adjust) -> list[Compared]:
    """The rows with what their p is worth among all comparisons of the same metric."""
    worth = _worth(compared, adjust)
    return [
        msgspec.structs.replace(
            pair,
            rows=[
                msgspec.structs.replace(row, p_adjusted=worth.get((i, j)))
                for j, row in enumerate(pair.rows)
            ],
        )
        for i, pair in enumerate(compared)
    ]


def ranks(compared: Sequence[Compared], level: float) -> list[Rank]:
    """The places of three runs or more by each value, on each dataset where all pairs have it.

    1 and how many are surely better, to all but how many are surely worse (Mogstad and others
    2024), by Holm. None where nobody says which value is better.
    """
    worth = _worth(compared, "holm")
    identities = [_identities(pair) for pair in compared]
    names = apart(
        {
            identities[i][j]: name_of(row)
            for i, pair in enumerate(compared)
            for j, row in enumerate(pair.rows)
        }
    )
    found: dict[tuple[str | None, str], dict[_Place, Row]] = {}
    for i, pair in enumerate(compared):
        dataset = pair.dataset.name if pair.dataset is not None else None
        for j, row in enumerate(pair.rows):
            found.setdefault((dataset, names[identities[i][j]]), {})[i, j] = row
    return [
        Rank(dataset=dataset, metric=metric, run=run, low=low, high=high)
        for (dataset, metric), rows in found.items()
        for run, (low, high) in _places(compared, rows, worth, level).items()
    ]


def _identities(pair: Compared) -> list[tuple[str | None, ...]]:
    """The metric that each row is of, and which of its values, which its name need not tell.

    Of several that are called alike, a function of the user's among them, each is its own.
    """
    times: Counter[tuple[str | None, ...]] = Counter()
    found: list[tuple[str | None, ...]] = []
    for row in pair.rows:
        own = row.metric, row.type, msgspec.json.encode(row.kwargs).decode(), row.value
        found.append((*own[:-1], str(times[own]), row.value))
        times[own] += 1
    return found


def _places(
    compared: Sequence[Compared], rows: dict[_Place, Row], worth: dict[_Place, float], level: float
) -> dict[str, tuple[int, int]]:
    """Run -> its best and its worst place by one value; empty where the value ranks nothing."""
    pairs = {place: (compared[place[0]].base.run, compared[place[0]].candidate.run)
             for place in rows}  # fmt: skip
    runs = list(dict.fromkeys(run for pair in pairs.values() for run in pair))
    whole = len(pairs) == len(runs) * (len(runs) - 1) // 2
    unknown = any(row.higher_is_better is None for row in rows.values())
    if not whole or unknown or len(runs) < _FEWEST_RANKED or not worth.keys() & rows.keys():
        return {}
    better, worse = dict.fromkeys(runs, 0), dict.fromkeys(runs, 0)
    for place, row in rows.items():
        if worth.get(place, 1.0) < 1 - level and row.difference:
            up = (row.difference > 0) == row.higher_is_better
            loser, winner = pairs[place] if up else pairs[place][::-1]
            better[loser] += 1
            worse[winner] += 1
    return {run: (1 + better[run], len(runs) - worse[run]) for run in runs}


def _worth(compared: Sequence[Compared], adjust: Adjust) -> dict[_Place, float]:
    """The p of each row among all comparisons of the same metric."""
    families: dict[tuple[str | None, ...], list[tuple[_Place, float]]] = {}
    for i, pair in enumerate(compared):
        for j, (of, row) in enumerate(zip(_identities(pair), pair.rows, strict=True)):
            if row.p is not None:
                families.setdefault(of[:-1], []).append(((i, j), float(row.p)))
    worth: dict[_Place, float] = {}
    for members in families.values():
        ps = adjusted([p for _, p in members], adjust)
        worth |= {place: p for (place, _), p in zip(members, ps, strict=True)}
    return worth
