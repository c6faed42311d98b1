"""What the trials of a group gave, counted task by task as they come."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256

import msgspec

from ..numbers import exact
from ..numbers.exact import Number
from .trial import NO_USAGE, GroupKey, Rewards, Trial, Usage, group_key

# More different tasks than these are not worth counting.
MOST_STATES = 1 << 16
# So many numbers are added up at once.
_BATCH = 4_096
# The smallest binary64 number is 2^-1074: in units of it every number is an integer.
_UNIT = 1 << 1074
_encode = msgspec.json.Encoder().encode
# The trials of a task by what they gave: (index of the rewards, how often), sorted.
State = tuple[tuple[int, int], ...]


class NotCountableError(Exception):
    """The trials must be kept to say what there is to say of them."""


class Total(msgspec.Struct):
    """The exact sum of numbers that come in batches."""

    n: int = 0
    units: int = 0
    integers_only: bool = True

    def add(self, numbers: Sequence[Number]) -> None:
        """Add a batch."""
        if numbers:
            integers, scale = exact.scaled(numbers)
            self.n += len(numbers)
            self.units += sum(integers) * (_UNIT // scale)
            self.integers_only = self.integers_only and float not in map(type, numbers)

    def __add__(self, other: Total) -> Total:
        both = self.integers_only and other.integers_only
        return Total(self.n + other.n, self.units + other.units, both)

    @property
    def value(self) -> Number | None:
        """The sum rounded once, None where there are no numbers or it is beyond binary64."""
        if not self.n:
            return None
        return self.units // _UNIT if self.integers_only else exact.ratio(self.units, _UNIT)


class Counts:
    """The trials of one group: tasks that gave the same share one state. Adds up with another."""

    def __init__(self) -> None:
        self.n = self.n_scored = 0
        self.rows: list[Rewards | None] = []
        self.states: list[State] = [()]
        self.tasks: dict[str, int] = {}
        self.errors: Counter[str] = Counter()
        self.totals = {name: Total() for name in Usage.__struct_fields__}
        self._row_of: dict[bytes, int] = {}
        self._state_of: dict[State, int] = {(): 0}
        self._next: dict[tuple[int, int], int] = {}
        self._usages: list[Usage] = []

    def add(self, trial: Trial) -> None:
        """Count one trial.

        Raises:
            NotCountableError: too many tasks differ.
        """
        self.n += 1
        rewards = trial.rewards
        self.n_scored += rewards is not None
        # As text, because 1 and 1.0 are the same key of a dict.
        text = _encode(rewards)
        row = self._row_of.get(text)
        if row is None:
            row = self._add_row(text, rewards)
        tasks = self.tasks
        name = trial.task
        step = tasks.get(name, 0), row
        state = self._next.get(step)
        tasks[name] = self._advanced(*step, 1) if state is None else state
        if trial.error is not None:
            self.errors[trial.error] += 1
        if trial.usage is not NO_USAGE:
            self._usages.append(trial.usage)
            if len(self._usages) == _BATCH:
                self._fold()

    def _add_row(self, text: bytes, rewards: Rewards | None) -> int:
        self._row_of[text] = row = len(self.rows)
        self.rows.append(rewards)
        if row > MOST_STATES:
            raise NotCountableError("too many different rewards")
        return row

    def _advanced(self, state: int, row: int, times: int) -> int:
        """The state after so many more trials that gave this row."""
        grown = dict(self.states[state])
        grown[row] = grown.get(row, 0) + times
        after = tuple(sorted(grown.items()))
        number = self._state_of.get(after)
        if number is None:
            number = self._state_of[after] = len(self.states)
            self.states.append(after)
            if number > MOST_STATES:
                raise NotCountableError("too many different tasks")
        if times == 1:
            self._next[state, row] = number
        return number

    def _fold(self) -> None:
        for name, total in self.totals.items():
            total.add([v for u in self._usages if (v := getattr(u, name)) is not None])
        self._usages.clear()

    def finish(self) -> Counts:
        """The same, with nothing left to be added up."""
        self._fold()
        return self

    def __add__(self, other: Counts) -> Counts:
        merged = Counts()
        for part in (self, other):
            merged._take_in(part.finish())
        return merged

    def _take_in(self, part: Counts) -> None:
        self.n += part.n
        self.n_scored += part.n_scored
        self.errors += part.errors
        for name, total in part.totals.items():
            self.totals[name] += total
        texts = [_encode(row) for row in part.rows]
        rows = [
            self._row_of[text] if text in self._row_of else self._add_row(text, row)
            for text, row in zip(texts, part.rows, strict=True)
        ]
        joined: dict[tuple[int, int], int] = {}
        for task, theirs in part.tasks.items():
            step = self.tasks.get(task, 0), theirs
            if step not in joined:
                state = step[0]
                for row, times in part.states[theirs]:
                    state = self._advanced(state, rows[row], times)
                joined[step] = state
            self.tasks[task] = joined[step]


class Seen:
    """Eight bytes for each trial that says which one it is, to know whether any came twice."""

    _BUCKETS = 64

    def __init__(self) -> None:
        self._buckets = [array("q") for _ in range(self._BUCKETS)]

    def add(self, trial: Trial) -> None:
        """Remember one trial."""
        identity = identity_of(trial)
        if identity is not None:
            number = hash(identity)
            self._buckets[number % self._BUCKETS].append(number)

    def __iadd__(self, other: Seen) -> Seen:
        for mine, theirs in zip(self._buckets, other._buckets, strict=True):
            mine.extend(theirs)
        return self

    @property
    def twice(self) -> bool:
        """Whether any may have come twice; one that did is never missed."""
        return any(len(set(bucket)) < len(bucket) for bucket in self._buckets)


def identity_of(trial: Trial) -> tuple[str | None, ...] | None:
    """What is the same of a trial that comes twice; None where a trial does not say which it is."""
    if trial.id:
        return (trial.id,)
    if trial.trial is None and trial.id is None:
        return None
    return (*group_key(trial), trial.task, trial.trial)


class CountedTrials:
    """Trials as they come: counts of each group, a digest of each trial, and which were seen."""

    def __init__(self) -> None:
        self.n = 0
        self.groups: dict[GroupKey, Counts] = {}
        self.seen = Seen()
        self.digests = bytearray()

    def add(self, trial: Trial) -> None:
        """Count one trial.

        Raises:
            NotCountableError: too many tasks differ.
        """
        key = group_key(trial)
        counts = self.groups.get(key)
        if counts is None:
            counts = self.groups[key] = Counts()
        counts.add(trial)
        self.seen.add(trial)
        self.n += 1

    @property
    def joint_digest(self) -> str:
        """The digest of all trials whose own were taken."""
        size = sha256().digest_size
        starts = range(0, len(self.digests), size)
        return joint_digest(bytes(self.digests[at : at + size]) for at in starts)

    def __iadd__(self, other: CountedTrials) -> CountedTrials:
        for key, counts in other.groups.items():
            self.groups[key] = self.groups[key] + counts if key in self.groups else counts
        self.n += other.n
        self.seen += other.seen
        self.digests += other.digests
        return self


def digest_of(trial: Trial) -> bytes:
    """SHA-256 of the canonical line of a trial."""
    return sha256(_encode(trial)).digest()


def joint_digest(digests: Iterable[bytes]) -> str:
    """SHA-256 of the sorted digests: the same for any order of the trials."""
    return sha256(b"".join(sorted(digests))).hexdigest()
