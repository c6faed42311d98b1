"""What several comparisons are worth when all are looked at together: p values, and places."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import combinations
from typing import NamedTuple

import msgspec

from ..documents.diagnostics import Diagnostic
from ..documents.wording import listed, printable
from ..evaluation.distinct import apart, mark_of
from ..evaluation.planned import Planned
from ..numbers.adjustment import Adjust, adjusted
from .document import Compared, Rank, Row
from .naming import is_asked, name_of

# A comparison and a row of it, by their places.
_Place = tuple[int, int]
_FEWEST_RANKED = 3


class Pair(NamedTuple):
    """Two runs on a dataset, and what tells the metric of each row from others, as names do not."""

    compared: Compared
    metrics: Sequence[Hashable]

    @property
    def values(self) -> list[tuple[Hashable, str | None]]:
        """What tells each row from others: its metric, and which of its values."""
        rows = self.compared.rows
        return [(metric, row.value) for metric, row in zip(self.metrics, rows, strict=True)]


def told_by(planned: Planned) -> Hashable:
    """What tells a metric from others on whatever runs: its name, its entry and its code.

    The names and entries of several functions of the user's, and of several scripts, can be alike.
    """
    code: Hashable = None
    if planned.script is not None:
        code = planned.script.identity
    elif planned.file is not None:
        code = planned.file.path, planned.file.sha256
    elif planned.bound is not None:
        code = planned.bound.metric.function
    return planned.name, planned.entry, code


def with_adjusted(pairs: Sequence[Pair], adjust: Adjust) -> list[Pair]:
    """The rows with what their p is worth among all comparisons of the same metric."""
    worth = _worth(pairs, adjust)
    return [
        pair._replace(
            compared=msgspec.structs.replace(
                pair.compared,
                rows=[
                    msgspec.structs.replace(row, p_adjusted=worth.get((i, j)))
                    for j, row in enumerate(pair.compared.rows)
                ],
            )
        )
        for i, pair in enumerate(pairs)
    ]


def ranks(pairs: Sequence[Pair], level: float, diagnostics: list[Diagnostic]) -> list[Rank]:
    """The places of three runs or more by each value, on each dataset where all pairs have it.

    1 and how many are surely better, to all but how many are surely worse (Mogstad and others
    2024), by Holm. None where nobody says which value is better; `diagnostics` gets it where some
    pairs alone are the reason.
    """
    worth = _worth(pairs, "holm")
    ranked: list[Rank] = []
    for (on, metric), rows in _by_value(pairs).items():
        sides = {place: _sides(pairs[place[0]].compared) for place in rows}
        runs = list(dict.fromkeys(run for pair in sides.values() for run in pair))
        if len(runs) < _FEWEST_RANKED or not worth.keys() & rows.keys():
            continue
        if reason := _why_none(runs, sides, rows):
            where = f" on {printable(on)}" if on else ""
            message = f"no places by {printable(metric)}{where}: {reason}"
            diagnostics.append(Diagnostic(rule="places-unknown", message=message))
        elif next(iter(rows.values())).higher_is_better is not None:
            ranked += [
                Rank(dataset=on, metric=metric, run=run, low=low, high=high)
                for run, (low, high) in _places(runs, sides, rows, worth, level).items()
            ]
    return ranked


def _sides(compared: Compared) -> tuple[str, str]:
    return compared.base.run, compared.candidate.run


def _by_value(pairs: Sequence[Pair]) -> dict[tuple[str | None, str], dict[_Place, Row]]:
    """The rows of each value on each dataset, by the name that tells it from others."""
    named = {
        value: row
        for pair in pairs
        for value, row in zip(pair.values, pair.compared.rows, strict=True)
    }
    # What a registry names takes no name from what the user asks for.
    metrics = dict.fromkeys(metric for pair in pairs for metric in pair.metrics)
    order = {metric: i for i, metric in enumerate(metrics)}
    places = {
        # In a registry somebody else may have put another one first.
        value: (0, order[value[0]]) if is_asked(row) else (1, 0)
        for value, row in named.items()
    }
    wished = {value: name_of(row) for value, row in named.items()}

    def mark(value: tuple[Hashable, str | None], _: bool) -> str | None:
        row = named[value]
        if is_asked(row):
            return None
        return mark_of((row.metric, row.type, sorted(row.kwargs.items()), row.value, row.key))

    names = apart(wished, rank=places.__getitem__, mark=mark)
    found: dict[tuple[str | None, str], dict[_Place, Row]] = {}
    for i, pair in enumerate(pairs):
        dataset = pair.compared.dataset
        on = dataset.name if dataset is not None else None
        for j, (value, row) in enumerate(zip(pair.values, pair.compared.rows, strict=True)):
            found.setdefault((on, names[value]), {})[i, j] = row
    return found


def _why_none(
    runs: list[str], pairs: dict[_Place, tuple[str, str]], rows: dict[_Place, Row]
) -> str:
    """Why runs have no places by a value, as far as it is not so of all pairs."""
    there = set(pairs.values())
    lacking = [pair for pair in combinations(runs, 2) if not {pair, pair[::-1]} & there]
    if lacking:
        return f"it has no value of {_against(lacking)}"
    if len({row.higher_is_better for row in rows.values()}) == 1:
        return ""
    silent = [pair for place, pair in pairs.items() if rows[place].higher_is_better is None]
    if silent:
        return f"nobody says whether more is better of {_against(silent)}"
    return "of some runs more is better, of others less"


def _against(pairs: Sequence[tuple[str, str]]) -> str:
    return listed([f"{candidate} against {base}" for base, candidate in pairs])


def _places(
    runs: list[str],
    pairs: dict[_Place, tuple[str, str]],
    rows: dict[_Place, Row],
    worth: dict[_Place, float],
    level: float,
) -> dict[str, tuple[int, int]]:
    """Run -> its best and its worst place by one value."""
    better, worse = dict.fromkeys(runs, 0), dict.fromkeys(runs, 0)
    for place, row in rows.items():
        if worth.get(place, 1.0) < 1 - level and row.difference:
            up = (row.difference > 0) == row.higher_is_better
            loser, winner = pairs[place] if up else pairs[place][::-1]
            better[loser] += 1
            worse[winner] += 1
    return {run: (1 + better[run], len(runs) - worse[run]) for run in runs}


def _worth(pairs: Sequence[Pair], adjust: Adjust) -> dict[_Place, float]:
    """The p of each row among all comparisons of the same metric."""
    families: dict[Hashable, list[tuple[_Place, float]]] = {}
    for i, pair in enumerate(pairs):
        for j, (metric, row) in enumerate(zip(pair.metrics, pair.compared.rows, strict=True)):
            if row.p is not None:
                families.setdefault(metric, []).append(((i, j), float(row.p)))
    worth: dict[_Place, float] = {}
    for members in families.values():
        ps = adjusted([p for _, p in members], adjust)
        worth |= {place: p for (place, _), p in zip(members, ps, strict=True)}
    return worth
