"""Which of two values is the better one, as the user says and as metrics do."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import msgspec

from ..evaluation.planned import Planned
from ..evaluation.result import OF_REGISTRY
from .document import Row
from .following import OF_REWARDS, follows, is_of_rewards
from .naming import names_of
from .verdicts import worded


class Direction(msgspec.Struct, frozen=True):
    """Whether more is better, None where nobody says; `assumed`: it is not the metric's word."""

    higher: bool | None
    assumed: bool = False


class Directions(msgspec.Struct, frozen=True):
    """What the user says of metrics, values and rewards, by their names."""

    higher: Collection[str] = ()
    lower: Collection[str] = ()

    def directed(
        self, rows: Sequence[Row], metrics: Sequence[Planned], keys: Sequence[str]
    ) -> list[Row]:
        """The rows, each of a metric, with the better direction, and with verdicts that say it.

        A name is that of what the user asks for, and of what a registry or a job names only where
        there is none of that name; the name of a reward is that of all values of it.
        """
        asked = {name for row in rows if row.origin not in OF_REGISTRY for name in names_of(row)}
        found = []
        for row, planned in zip(rows, metrics, strict=True):
            taken = asked if row.origin in OF_REGISTRY else ()
            own, *common = (None if name in taken else name for name in names_of(row))
            reward = _only_reward(planned, keys) if row.key is None else None
            direction = self._of((own, row.key, *common, reward), planned, keys)
            directed = msgspec.structs.replace(
                row,
                higher_is_better=direction.higher,
                assumed_direction=direction.assumed,
                verdict=worded(row.verdict, direction.higher),
            )
            found.append(directed)
        return found

    def _of(self, names: Iterable[str | None], planned: Planned, keys: Sequence[str]) -> Direction:
        for name in names:
            if name in self.higher or name in self.lower:
                return Direction(name in self.higher)
        bound = planned.bound and planned.bound.measures
        if bound is not None and bound.metric.higher_is_better is not None:
            return Direction(bound.metric.higher_is_better)
        type_ = bound.metric.name if bound is not None else planned.spec.type
        if type_ in OF_REWARDS and len(keys) <= 1:
            return Direction(True, assumed=True)
        return Direction(None)

    def of_reward(self, key: str, metrics: Iterable[Planned], keys: Sequence[str]) -> bool | None:
        """Whether a task is better with more of a reward, as metrics that follow it say.

        A perplexity, which falls where its reward grows, says nothing of it; nor do two metrics
        that contradict each other.
        """
        if key in self.higher or key in self.lower:
            return key in self.higher
        metrics = list(metrics)
        following = [metric for metric in metrics if follows(metric, key)]
        others = [metric for metric in metrics if not follows(metric, key)]
        known = {self._of(_named(metric), metric, keys).higher for metric in following}
        # What is said of a mean holds where a registry has none, too.
        said = [name for name in (*self.higher, *self.lower) if is_of_rewards(name)]
        # Of a name that a reward has, or a metric of another one, nobody knows what is meant.
        names_of_others = {name for metric in others for name in _named(metric)}
        doubtful = {*keys, *names_of_others.difference(*map(_named, following))}
        known |= {name in self.higher for name in said if name not in doubtful}
        known -= {None}
        doubted = {name in self.higher for name in said if name in doubtful}
        return known.pop() if len(known) == 1 and doubted <= known else None


def _named(planned: Planned) -> tuple[str, ...]:
    """What a metric is called, and groups as what measures them: others are called groups, too."""
    if planned.bound is not None and planned.bound.measures is not planned.bound:
        return (planned.bound.measures.metric.name,)
    return planned.name, planned.spec.type


def _only_reward(planned: Planned, keys: Sequence[str]) -> str | None:
    """The reward that the runs have, if it is one and the metric is larger with more of it."""
    return keys[0] if len(keys) == 1 and follows(planned, keys[0]) else None
