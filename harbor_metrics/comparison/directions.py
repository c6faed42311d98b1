"""Which of two values is the better one, as the user says and as metrics do."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec

from ..contract.spec import MetricSpec
from ..evaluation.planned import Planned
from .document import Row
from .following import OF_REWARDS, follows, is_of_rewards
from .naming import asked_called, inner_names_of, is_asked, names_of
from .verdicts import worded

# A row, and the metric that it is of.
Measured = tuple[Row, Planned]


class Direction(msgspec.Struct, frozen=True):
    """Whether more is better, None where nobody says; `assumed`: it is not the metric's word."""

    higher: bool | None
    assumed: bool = False


class Directions(msgspec.Struct, frozen=True, kw_only=True):
    """What the user says of metrics, values and rewards, by their names.

    `of_runs` is what the runs say of rewards, None where they do not agree. `is_only_reward`:
    whether they have one alone, or `reward` alone in common, of which more is taken to be better
    where nobody says anything.
    """

    higher: Collection[str] = ()
    lower: Collection[str] = ()
    of_runs: Mapping[str, bool | None] = {}
    is_only_reward: bool

    def directed(self, rows: Sequence[Measured], keys: Sequence[str]) -> list[Measured]:
        """The rows with the better direction, and with verdicts that say it.

        A name is that of what the user asks for, and of what a registry or a job names only where
        gates know no such name of that; the name of a reward is that of all values that are larger
        with more of it. `keys` are the rewards that the runs have.
        """
        taken = self._taken(rows)
        found = []
        for row, planned in rows:
            said = self._said(row, planned, keys, () if is_asked(row) else taken)
            direction = self._of_metric(row, planned, keys) if said is None else Direction(said)
            directed = msgspec.structs.replace(
                row,
                higher_is_better=direction.higher,
                assumed_direction=direction.assumed,
                verdict=worded(row.verdict, direction.higher),
            )
            found.append((directed, planned))
        return found

    def of_reward(self, key: str, rows: Sequence[Measured], keys: Sequence[str]) -> bool | None:
        """Whether a task is better with more of a reward, as directed values that follow it say.

        Those of what the user asks for first; beside these what a registry, a job or a run names
        says it only where the user has said it of that. A perplexity, which falls where its reward
        grows, says nothing of it; nor do two values that contradict each other.
        """
        if key in self.higher or key in self.lower:
            return key in self.higher
        asked = [each for each in rows if _is_of_user(*each)]
        found = self._of_reward(key, asked, keys)
        if found is None and asked:
            taken = self._taken(rows)
            rows = [
                (row, planned)
                for row, planned in rows
                if _is_of_user(row, planned) or self._said(row, planned, keys, taken) is not None
            ]
        if found is None:
            found = self._of_reward(key, rows, keys)
        return self.of_runs.get(key) if found is None else found

    def _taken(self, rows: Sequence[Measured]) -> set[str]:
        """The names of those that are said which what the user asks for has."""
        own_rows = [row for row, _ in rows]
        return {name for name in (*self.higher, *self.lower) if asked_called(name, own_rows)}

    def _of_reward(self, key: str, rows: Sequence[Measured], keys: Sequence[str]) -> bool | None:
        following: list[Row] = []
        others: list[Row] = []
        for row, planned in rows:
            follows_it = follows(planned, key) and row.key in (None, key)
            (following if follows_it else others).append(row)
        known = {row.higher_is_better for row in following}
        doubted: set[bool] = set()
        # What is said of a mean holds where a registry has none, too.
        if said := [name for name in (*self.higher, *self.lower) if is_of_rewards(name)]:
            # Of a name that a reward has, or a value of another one, nobody knows what is meant.
            names_of_others = {name for row in others for name in _all_names(row)}
            doubtful = {*keys, *names_of_others.difference(*map(_all_names, following))}
            known |= {name in self.higher for name in said if name not in doubtful}
            doubted = {name in self.higher for name in said if name in doubtful}
        known -= {None}
        return known.pop() if len(known) == 1 and doubted <= known else None

    def _of_metric(self, row: Row, planned: Planned, keys: Sequence[str]) -> Direction:
        """What a metric says of itself, or the runs of its reward, or what it is taken to mean."""
        bound = planned.bound and planned.bound.measures
        if bound is not None and bound.metric.higher_is_better is not None:
            return Direction(bound.metric.higher_is_better)
        if self.of_runs and not names_its_values(planned):
            for key in _brought(row, planned, keys):
                if key in self.of_runs:
                    return Direction(self.of_runs[key])
        type_ = bound.metric.name if bound is not None else planned.spec.type
        # An accuracy that is called a mean says no more than one.
        if type_ in (*OF_REWARDS, "accuracy") and self.is_only_reward:
            return Direction(True, assumed=True)
        return Direction(None)

    def _said(
        self, row: Row, planned: Planned, keys: Sequence[str], taken: Collection[str]
    ) -> bool | None:
        """What the user says of a row, by its own names before those that it shares with others."""
        if not (self.higher or self.lower):
            return None
        shared = (row.metric, row.type, *inner_names_of(row))
        names = [name for name in _all_names(row) if name not in taken]
        own = [name for name in names if name not in shared]
        for name in (*own, *_brought(row, planned, keys), *names):
            if name in self.higher or name in self.lower:
                return name in self.higher
        return None


def _is_of_user(row: Row, planned: Planned) -> bool:
    """Whether the user asks for it, or Harbor itself computes it where nobody names a metric."""
    return is_asked(row) and (row.origin != "default" or planned.spec == MetricSpec())


def names_its_values(planned: Planned) -> bool:
    """Whether who wrote it has named its values; ours can be called by what trials bring."""
    return planned.bound is None or not planned.bound.metric.is_ours


def _all_names(row: Row) -> list[str]:
    """What a row is called, and groups as what measures them."""
    return [*names_of(row), *inner_names_of(row)]


def _brought(row: Row, planned: Planned, keys: Sequence[str]) -> list[str]:
    """What others than the metrics have named: a value of a script, the reward that it follows."""
    bound = planned.bound
    if names_its_values(planned) or bound is None:
        return [row.value] if row.value is not None else []
    own = (row.key, bound.common.key, bound.measures.common.key)
    rewards = [key for key in own if key is not None] or (keys if len(keys) == 1 else [])
    return [key for key in rewards if follows(planned, key)]
