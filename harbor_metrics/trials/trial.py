"""One attempt of an agent at a task, and the order of attempts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from operator import attrgetter
from typing import NamedTuple

import msgspec

from ..numbers.exact import Number

_ALL_DIGITS = str.maketrans("123456789", "000000000")
_DIGITS_OF_SECOND = re.compile(r"[.,](\d+)")
Rewards = dict[str, Number]
# What Harbor calls the reward of a verifier that says a number alone: more of it is better.
REWARD = "reward"
Label = str | Number | bool | None


class GroupKey(NamedTuple):
    """The agent, model and dataset that trials are grouped by; None where a source has none."""

    agent: str | None
    model: str | None
    dataset: str | None

    @property
    def who(self) -> str:
        """Agent and model in words, as far as there are any."""
        return " · ".join(part for part in (self.agent, self.model) if part)

    @property
    def in_words(self) -> str:
        """Agent, model and dataset, as far as there are any."""
        return " on ".join(part for part in (self.who, self.dataset) if part)


class Usage(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    gc=False,
    forbid_unknown_fields=True,
):
    """What a trial consumed; tokens are counts, seconds are wall-clock."""

    n_input_tokens: Number | None = None
    n_cache_tokens: Number | None = None
    n_output_tokens: Number | None = None
    cost_usd: Number | None = None
    seconds: Number | None = None


NO_USAGE = Usage()
Texts = dict[str, str | list[str]]


class UnreadTexts(Texts):
    """The texts of a trial whose log has them where nothing has asked for them yet.

    It is without content, and equal to any that is.
    """


UNREAD_TEXTS = UnreadTexts()


class Trial(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    gc=False,
    forbid_unknown_fields=True,
):
    """One attempt of one agent at one task: a line of a trials file. No rewards: None.

    `left_out` where the harness itself leaves it out of its numbers, as Harbor does since 0.26.
    """

    task: str
    rewards: Rewards | None
    attempt: int | None = None
    trial: str | None = None
    id: str | None = None
    started_at: str | None = None
    agent: str | None = None
    model: str | None = None
    dataset: str | None = None
    task_version: str | None = None
    error: str | None = None
    left_out: bool = False
    texts: Texts = {}
    labels: dict[str, Label] = {}
    usage: Usage = NO_USAGE


NO_GROUP = GroupKey(None, None, None)


def part_of(dataset: str | None) -> str | None:
    """The dataset whose part `name:scorer` or `name:filter` is, as readers of logs name groups."""
    return dataset.rpartition(":")[0] or dataset if dataset is not None else None


def group_key(trial: Trial) -> GroupKey:
    """The group that a trial belongs to."""
    return GroupKey(trial.agent, trial.model, trial.dataset)


class InOrder(list[Trial]):
    """Trials that are in canonical order, and need not be put in it again."""


def in_canonical_order(trials: Iterable[Trial]) -> InOrder:
    """By task, attempt (none last), start, trial's name and id; equal ones stay as they came."""
    if isinstance(trials, InOrder):
        return trials
    trials = list(trials)
    if _sort_as_texts(map(_START, trials)):
        # One may have what another lacks.
        with suppress(TypeError):
            return InOrder(sorted(trials, key=_PLACE))
    return InOrder(sorted(trials, key=place_of))


_START = attrgetter("started_at")
_PLACE = attrgetter("task", "attempt", "started_at", "trial", "id")


def place_of(t: Trial) -> tuple[str, bool, int, str, str, str]:
    """What canonical order sorts by."""
    start = moment(t.started_at) if t.started_at else ""
    return t.task, t.attempt is None, t.attempt or 0, start, t.trial or "", t.id or ""


def _sort_as_texts(starts: Iterable[str | None]) -> bool:
    """Whether moments sort as their texts do: all in UTC, with the same signs and digits."""
    shapes = {start.translate(_ALL_DIGITS) for start in starts if start is not None}
    return not shapes or (len(shapes) == 1 and shapes.pop()[-1:] == "Z")


def moment(text: str) -> str:
    """A moment as a text that sorts as time does; what is not written by ISO 8601 as it is.

    One without a zone is taken for UTC.
    """
    try:
        # RFC 3339 also has a small one, which Python does not read.
        when = datetime.fromisoformat(text.replace("z", "Z"))
        if when.tzinfo is not None:
            when = when.astimezone(UTC)
    except (ValueError, OverflowError):
        return text
    # Python keeps six of them, and other programs write nine.
    digits = _DIGITS_OF_SECOND.search(text)
    seconds = when.replace(tzinfo=None).isoformat(timespec="seconds")
    return f"{seconds}.{digits[1].rstrip('0') if digits else ''}"


class LineTrials(Sequence[Trial]):
    """Lines of a rewards file, each a task of its own, kept as columns: a million fit in memory.

    `empty` are the indices of lines with an empty object; other lines without any value are
    `null`. `numbers` are the numbers of the lines, where they are not 1, 2, 3, …
    """

    def __init__(
        self,
        n: int,
        columns: dict[str, list[Number | None]],
        empty: frozenset[int] = frozenset(),
        numbers: Sequence[int] | None = None,
    ) -> None:
        self.n = n
        self.columns = columns
        self.empty = empty
        self.numbers = numbers if numbers is not None else range(1, n + 1)
        assert len(self.numbers) == n

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, index: int) -> Trial:  # type: ignore[override]  # no slices: never needed
        number = self.numbers[index]
        row = ((key, values[index]) for key, values in self.columns.items())
        rewards = {key: value for key, value in row if value is not None}
        scored = rewards or index % self.n in self.empty
        return Trial(task=f"line:{number}", rewards=rewards if scored else None)

    @property
    def n_scored(self) -> int:
        """How many lines are not `null`."""
        columns = list(self.columns.values())
        if len(columns) == 1:
            return self.n - columns[0].count(None) + len(self.empty)
        rows = zip(*columns, strict=True)
        return sum(any(v is not None for v in row) for row in rows) + len(self.empty)

    @property
    def tasks(self) -> Sequence[str]:
        """The names of the lines, each made when it is asked for."""
        return LineTasks(self.numbers)

    def join(self, other: LineTrials) -> LineTrials:
        """The lines of both, those of the other numbered on from these."""
        columns = {
            key: self.columns.get(key, [None] * len(self))
            + other.columns.get(key, [None] * len(other))
            for key in sorted(self.columns.keys() | other.columns.keys())
        }
        return LineTrials(self.n + other.n, columns, self.empty | {self.n + i for i in other.empty})


class TaskNames(list[str]):
    """The task of each trial."""

    @cached_property
    def times(self) -> Counter[str]:
        """How often each stands, in order; counted once for all who ask."""
        return Counter(self)


def times_of(tasks: Sequence[str]) -> Counter[str]:
    """How often each task stands, in order."""
    return tasks.times if isinstance(tasks, TaskNames) else Counter(tasks)


class LineTasks(Sequence[str]):
    """The names `line:<number>` as a sequence that takes no memory."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, index: int) -> str:  # type: ignore[override]  # no slices: never needed
        return f"line:{self.numbers[index]}"


class Picked(Sequence[Trial]):
    """The trials at these indices, as a sequence that copies nothing."""

    def __init__(self, trials: Sequence[Trial], indices: Sequence[int]) -> None:
        self.trials = trials
        self.indices = indices

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, index: int) -> Trial:  # type: ignore[override]  # no slices: never needed
        return self.trials[self.indices[index]]
