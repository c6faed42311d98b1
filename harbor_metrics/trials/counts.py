"""What the trials of a group gave, counted task by task as they come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from hashlib import sha256
from itertools import repeat
from operator import attrgetter

import msgspec

from ..numbers import exact
from ..numbers.exact import Number
from .trial import NO_USAGE, GroupKey, Rewards, Trial, Usage

# More different tasks than these are not worth counting.
MOST_STATES = 1 << 16
# Nor are tasks with so many different rewards: those of each state that a task went through are,
# where it gets another reward each time, the square of its trials. So many, and some a trial.
_ENTRIES, _ENTRIES_A_TRIAL = 1 << 12, 8
# So many trials tell whether most of them differ.
_TELLING = 1 << 12
# The smallest binary64 number is 2^-1074: in units of it every number is an integer.
_UNIT = 1 << 1074
DIGEST_SIZE = sha256().digest_size
_encoder = msgspec.json.Encoder()
_encode = _encoder.encode
_TASK, _REWARDS, _ERROR, _USAGE = map(attrgetter, ("task", "rewards", "error", "usage"))
_ID, _NAME, _LEFT_OUT = map(attrgetter, ("id", "trial", "left_out"))
_VERSION = attrgetter("task_version")
_USED = tuple(map(attrgetter, Usage.__struct_fields__))
_GROUP = attrgetter(*GroupKey._fields)
_PARTS = tuple(map(attrgetter, GroupKey._fields))
# The trials of a task by what they gave: (index of the rewards, how often), sorted.
State = tuple[tuple[int, int], ...]
Group = tuple[str | None, ...]


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
            whole = exact.add_up(numbers)
            self.n += len(numbers)
            self.units += whole.numerator * (_UNIT // whole.denominator)
            self.integers_only = self.integers_only and float not in map(type, numbers)

    def __add__(self, other: Total) -> Total:
        both = self.integers_only and other.integers_only
        return Total(self.n + other.n, self.units + other.units, both)

    @property
    def value(self) -> Number | None:
        """The sum rounded once, None where there are no numbers or it is beyond binary64."""
        if not self.n:
            return None
        value = exact.ratio(self.units, _UNIT)
        return self.units // _UNIT if self.integers_only and value is not None else value


class Counts:
    """The trials of one group: tasks that gave the same share one state. Adds up with another."""

    def __init__(self) -> None:
        self.n = self.n_scored = 0
        self.rows: list[Rewards | None] = []
        self.states: list[State] = [()]
        self.tasks: dict[str, int] = {}
        self.errors: Counter[str] = Counter()
        # Task -> a version that a trial of it says; and those of which trials say several.
        self.versions: dict[str, str] = {}
        self.changed: dict[str, None] = {}
        self.totals = {name: Total() for name in Usage.__struct_fields__}
        self._row_of: dict[bytes, int] = {}
        self._state_of: dict[State, int] = {(): 0}
        self._n_entries = 0
        # State -> row -> the state after one more trial that gave it.
        self._next: list[dict[int, int]] = [{}]

    def add(self, trials: Sequence[Trial]) -> None:
        """Count some trials.

        Raises:
            NotCountableError: too many tasks differ, or most of them.
        """
        rewards = list(map(_REWARDS, trials))
        self.n += len(rewards)
        self.n_scored += len(rewards) - rewards.count(None)
        tasks, following = self.tasks, self._next
        state_of = tasks.get
        for name, row in zip(map(_TASK, trials), self._rows(rewards), strict=True):
            state = state_of(name, 0)
            tasks[name] = following[state].get(row) or self._advanced(state, row, 1)
        if self.n >= _TELLING and 2 * max(len(self.rows), len(self.states)) > self.n:
            raise NotCountableError("most tasks differ")
        versions = list(map(_VERSION, trials))
        if versions.count(None) < len(versions):
            self._add_versions(zip(map(_TASK, trials), versions, strict=True))
        errors = map(_ERROR, trials)
        self.errors.update(error for error in errors if error is not None)
        usages = [usage for usage in map(_USAGE, trials) if usage is not NO_USAGE]
        for get, total in zip(_USED, self.totals.values(), strict=True) if usages else ():
            values = list(map(get, usages))
            without = values.count(None)
            if without < len(values):
                total.add([v for v in values if v is not None] if without else values)

    def _add_versions(self, said: Iterable[tuple[str, str | None]]) -> None:
        for task, version in said:
            if version is not None and self.versions.setdefault(task, version) != version:
                self.changed[task] = None

    def _rows(self, rewards: list[Rewards | None]) -> list[int]:
        """The index of each of these rewards among those that differ."""
        # As text, because 1 and 1.0 are the same key of a dict.
        texts = _encoder.encode_lines(rewards).split(b"\n")
        del texts[-1]
        rows = self._row_of
        if not rows.keys() >= set(texts):
            for text, values in zip(texts, rewards, strict=True):
                if text not in rows:
                    self._add_row(text, values)
        return list(map(rows.__getitem__, texts))

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
            self._next.append({})
            self._n_entries += len(after)
            most = _ENTRIES + _ENTRIES_A_TRIAL * self.n
            if number > MOST_STATES or self._n_entries > most:
                raise NotCountableError("too many different tasks")
        if times == 1:
            self._next[state][row] = number
        return number

    def rows_with_times(self) -> list[tuple[Rewards | None, int]]:
        """The different rewards, and how often each was given."""
        times: Counter[int] = Counter()
        for state, n_tasks in Counter(self.tasks.values()).items():
            for row, n in self.states[state]:
                times[row] += n * n_tasks
        return [(rewards, times[row]) for row, rewards in enumerate(self.rows)]

    def __add__(self, other: Counts) -> Counts:
        merged = Counts()
        merged += self
        merged += other
        return merged

    def __iadd__(self, part: Counts) -> Counts:
        self.n += part.n
        self.n_scored += part.n_scored
        self.errors += part.errors
        self.changed |= part.changed
        self._add_versions(part.versions.items())
        for name, total in part.totals.items():
            self.totals[name] += total
        texts = [_encode(row) for row in part.rows]
        rows = [
            self._row_of[text] if text in self._row_of else self._add_row(text, row)
            for text, row in zip(texts, part.rows, strict=True)
        ]

        def joined(step: tuple[int, int]) -> int:
            """The state of a task here and there -> its state with both."""
            state, theirs = step
            for row, times in part.states[theirs]:
                state = self._advanced(state, rows[row], times)
            return state

        # In C: a task for each trial is frequent, and few states differ.
        tasks = part.tasks
        steps = list(zip(map(self.tasks.get, tasks, repeat(0)), tasks.values(), strict=True))
        after = {step: joined(step) for step in set(steps)}
        self.tasks.update(zip(tasks, map(after.__getitem__, steps), strict=True))
        return self


class Seen:
    """Eight bytes for each trial that says which one it is, to know whether any came twice."""

    # Where the buckets of hashes end, all of the same width.
    _ENDS = range(-(2**63) + 2**60, 2**63 + 1, 2**60)

    def __init__(self) -> None:
        # For weight: few sources are counted.
        from array import array

        self._buckets = [array("q") for _ in self._ENDS]

    def add(self, group: Group, trials: Sequence[Trial]) -> None:
        """Remember some trials of a group."""
        # For weight, as well.
        from bisect import bisect_left

        # Sorted, so that what goes into a bucket stands together: a third of the time.
        numbers = sorted(map(hash, identities(group, trials)))
        start = 0
        for bucket, end in zip(self._buckets, self._ENDS, strict=True):
            stop = bisect_left(numbers, end, start)
            bucket.fromlist(numbers[start:stop])
            start = stop

    def __iadd__(self, other: Seen) -> Seen:
        for mine, theirs in zip(self._buckets, other._buckets, strict=True):
            mine.extend(theirs)
        return self

    @property
    def twice(self) -> bool:
        """Whether any may have come twice; one that did is never missed."""
        return any(len(set(bucket)) < len(bucket) for bucket in self._buckets)


def identities(group: Group, trials: Sequence[Trial]) -> Iterable[Hashable]:
    """What tells trials of a group apart, of those that say which they are.

    Trials of two groups that have one identity here may be two: `identity_of` tells.
    """
    # In C for the most frequent cases: all have an id, or none has and all have names.
    ids, names = list(map(_ID, trials)), list(map(_NAME, trials))
    # Whatever the group: one that has no dataset can be put under that of another.
    if all(ids):
        return ids
    same = hash(group)
    if ids.count(None) == len(ids) and all(names):
        return zip(repeat(same), map(_TASK, trials), names)
    known = (trial for trial in trials if identity_of(trial) is not None)
    return (t.id or (same, t.task, t.trial) for t in known)


def identity_of(trial: Trial) -> tuple[str | None, ...] | None:
    """What is the same of a trial that comes twice; None where a trial does not say which it is.

    An id is one within a group: who writes the ids of another's trials under an agent, a model or
    a dataset of his own takes none of them from the other's group.
    """
    own = identity_in_group(trial)
    return (trial.agent, trial.model, trial.dataset, *own) if own is not None else None


def identity_in_group(trial: Trial) -> tuple[str | None, ...] | None:
    """As `identity_of`, of trials whose groups have become one."""
    if trial.id:
        return (trial.id,)
    if trial.trial is None and trial.id is None:
        return None
    return trial.task, trial.trial


class CountedTrials:
    """Trials as they come: counts of each group, a digest of each trial, and which were seen."""

    def __init__(self) -> None:
        self.n = 0
        self.groups: dict[GroupKey, Counts] = {}
        self.left_out: dict[GroupKey, Counts] = {}
        self.seen = Seen()
        self.digests = bytearray()

    def add(self, trials: Sequence[Trial]) -> None:
        """Count some trials.

        Raises:
            NotCountableError: too many tasks differ.
        """
        self.n += len(trials)
        for group, members in grouped(trials):
            self.seen.add(group, members)
            counting, left_out = parted(members)
            self._count(self.groups, GroupKey(*group), counting)
            if left_out:
                self._count(self.left_out, GroupKey(*group), left_out)

    def _count(
        self, groups: dict[GroupKey, Counts], key: GroupKey, trials: Sequence[Trial]
    ) -> None:
        if key not in groups:
            groups[key] = Counts()
        groups[key].add(trials)

    @property
    def n_tasks(self) -> int:
        """How many tasks there are, those of each group added up."""
        return sum(len(counts.tasks) for counts in self.groups.values())

    @property
    def joint_digest(self) -> str:
        """The digest of all trials whose own were taken."""
        return joint_digest(self.digests)

    def __iadd__(self, other: CountedTrials) -> CountedTrials:
        for mine, theirs in ((self.groups, other.groups), (self.left_out, other.left_out)):
            for key, counts in theirs.items():
                if key in mine:
                    mine[key] += counts
                else:
                    mine[key] = counts
        self.n += other.n
        self.seen += other.seen
        self.digests += other.digests
        return self


def grouped(trials: Sequence[Trial]) -> Iterable[tuple[Group, Sequence[Trial]]]:
    """Each group and its trials."""
    firsts = [part(trials[0]) for part in _PARTS] if trials else []
    # In C for the most frequent case: there is one. It is quicker to compare texts than to hash.
    n = len(trials)
    if all(list(map(part, trials)).count(f) == n for part, f in zip(_PARTS, firsts, strict=False)):
        return [(tuple(firsts), trials)] if trials else []
    groups: dict[Group, list[Trial]] = {}
    for trial in trials:
        groups.setdefault(_GROUP(trial), []).append(trial)
    return groups.items()


def parted(trials: Sequence[Trial]) -> tuple[Sequence[Trial], Sequence[Trial]]:
    """The trials that count, and those that their harness leaves out."""
    # In C for the most frequent case: all count.
    out = list(map(_LEFT_OUT, trials))
    if True not in out:
        return trials, ()
    return [t for t in trials if not t.left_out], [t for t in trials if t.left_out]


def digest_of(trial: Trial) -> bytes:
    """SHA-256 of the canonical line of a trial."""
    return sha256(_encode(trial)).digest()


def joint_digest(digests: bytes | bytearray) -> str:
    """SHA-256 of the sorted digests, given in a row: the same for any order of the trials."""
    # Not sliced as it is: a slice of a bytearray is a copy that would be copied again.
    view = memoryview(digests)
    parts = [bytes(view[at : at + DIGEST_SIZE]) for at in range(0, len(view), DIGEST_SIZE)]
    return sha256(b"".join(sorted(parts))).hexdigest()
