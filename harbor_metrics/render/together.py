"""What several groups of a result have side by side: a column for each value, a cell a group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from functools import cached_property

import msgspec

from ..comparison.following import OF_REWARDS
from ..documents.wording import printable
from ..evaluation.distinct import joined_apart
from ..evaluation.naming import (
    Identity,
    asked_for,
    in_columns,
    model_of,
    names,
    told_by,
    unit,
)
from ..evaluation.result import Group, Outcome, Result
from ..numbers.exact import Number
from ..trials.trial import REWARD
from . import rows
from .numerals import NONE, Digits, exact

_GROUPED = "grouped"
_HARBORS = "Harbor's\n"


class Cell(msgspec.Struct, frozen=True):
    """What one group has of one column; `why`: why there is no value."""

    text: str
    value: Number | None = None
    higher_is_better: bool | None = None
    why: str = ""
    failed: bool = False
    unit: str | None = None
    # Trials and tasks that the value is over, where that is known and it is not a part of them.
    over: tuple[int, int] | None = None


class Together(msgspec.Struct, frozen=True, dict=True):
    """Groups and their cells by column; `policy`: what all were told that a missing reward is."""

    groups: Sequence[Group]
    table: Sequence[dict[str, Cell]]
    policy: str | None
    digits: Digits

    @property
    def heads(self) -> list[str]:
        """The columns; a line break parts a metric from its value's name. Harbor's own are last."""
        heads = dict.fromkeys(head for cells in self.table for head in cells)
        return sorted(heads, key=lambda head: head.startswith(_HARBORS))

    @property
    def without(self) -> tuple[str, ...]:
        """The kwargs that are said once, and so in no heading."""
        return ("missing",) if self.policy is not None else ()

    def of(self, indices: Sequence[int]) -> Together:
        """Some of the groups, in this order."""
        groups = [self.groups[i] for i in indices]
        return msgspec.structs.replace(self, groups=groups, table=[self.table[i] for i in indices])

    def comparable(self) -> list[int]:
        """The groups that have a column in common with another."""
        often = Counter(head for cells in self.table for head in cells)
        return [i for i, cells in enumerate(self.table) if any(often[head] > 1 for head in cells)]

    @cached_property
    def called(self) -> list[str]:
        """Each group as its names in the table say."""
        parts = identities(self.groups)
        return joined_apart([[of(group) for _, of in parts] for group in self.groups], " ")


def together(result: Result, digits: Digits, taken: Collection[str] = ()) -> Together:
    """All groups of a result; none of their columns has a name of `taken`."""
    policy = rows.one_policy(outcome for group in result.groups for outcome in group.metrics)
    empty = Together(result.groups, [], policy, digits)
    cells = (_cells(group, digits, empty.without) for group in result.groups)
    asked = asked_for(result.groups, empty.without)
    return msgspec.structs.replace(empty, table=in_columns(cells, taken, asked))


Part = tuple[str, Callable[[Group], str]]
WHO: tuple[Part, ...] = (
    ("agent", lambda group: printable(rows.named(group.agent))),
    ("model", lambda group: printable(rows.named(model_of(group)))),
    ("dataset", rows.dataset),
)


def identities(groups: Sequence[Group]) -> list[Part]:
    """What tells the groups apart; all that they have where nothing does."""
    differ = [(name, of) for name, of in WHO if len(set(map(of, groups))) > 1]
    return differ or [(name, of) for name, of in WHO if any(map(of, groups))] or [WHO[0]]


def _cells(
    group: Group, digits: Digits, without: Collection[str]
) -> Iterator[tuple[Identity, Hashable, str, Cell]]:
    """What the group has: of which value of which metric, what that is called, and the cell."""
    for outcome in group.metrics:
        called, metric = names(outcome, without), told_by(outcome, without)
        if outcome.status == "failed" or not outcome.values:
            why = outcome.error.message if outcome.error else "there are no trials"
            text = "failed" if outcome.status == "failed" else NONE
            cell = Cell(text, why=why, failed=outcome.status == "failed")
            yield metric, None, called.metric, cell
        for name in outcome.values:
            own = called.values[name]
            head = own if called.alone or own == called.metric else f"{called.metric}\n{own}"
            # Called as its metric, it has the column of those that have none.
            value = name if head != called.metric else None
            yield metric, value, head, _cell(outcome, name, digits)
    for k, chance in list(group.pass_at_k.items())[: rows.MOST_K]:
        cell = Cell(exact(chance, digits), chance, higher_is_better=True)
        yield Identity(_HARBORS), k, f"{_HARBORS}pass@{k}", cell


def _cell(outcome: Outcome, name: str, digits: Digits) -> Cell:
    shown = rows.cells(outcome, name, digits)
    error = f" ({shown.stderr})" if shown.stderr not in ("", NONE) else ""
    basis = outcome.known_basis.get(name)
    return Cell(
        f"{shown.value}{error}",
        outcome.values[name],
        higher_is_better(outcome, name),
        outcome.reasons.get(name, ""),
        unit=unit(outcome.type, outcome.kwargs),
        over=(basis.trials, basis.tasks) if basis and _is_whole(outcome, name) else None,
    )


def higher_is_better(outcome: Outcome, name: str) -> bool | None:
    """Whether more of a value is better; None where nobody says it, and it follows no reward."""
    said = outcome.higher_is_better
    return said if isinstance(said, bool) else _of_rewards(outcome, name) or None


def _of_rewards(outcome: Outcome, name: str) -> bool:
    """Whether a value is higher where rewards are."""
    type_ = outcome.type
    if type_ == _GROUPED:
        inner = outcome.kwargs.get("metric")
        type_ = str(inner.get("type") if isinstance(inner, dict) else inner)
        key, slash, _ = name.partition("/")
        return type_ in OF_REWARDS and (not slash or key == REWARD)
    return type_ in OF_REWARDS and name in (type_, REWARD)


def _is_whole(outcome: Outcome, name: str) -> bool:
    """Whether a value is over all trials that have one, and not of a group among them."""
    return outcome.type != _GROUPED or "all" in name.split("/")
