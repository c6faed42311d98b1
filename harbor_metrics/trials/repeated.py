"""Trials that are found more than once, and count once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter

import msgspec

from ..documents.diagnostics import Diagnostic, Severity
from ..documents.wording import listed, plural, printable, shown_path
from .counts import NotCountableError, grouped, identities, identity_in_group, identity_of
from .labelled import label_text
from .source import Job, Source
from .table import Table
from .trial import GroupKey, LineTrials, Trial, UnreadTexts, group_key

_ID = attrgetter("id")
# What is read of a run for all trials of a group, in words.
_WORDS_OF_RUNS = {
    "datasets": "datasets",
    "metrics": "metrics",
    "defaults": "metrics that the run computes",
    "higher_is_better": "which way is better",
    "models": "models",
    "settings": "settings",
    "leaves_out": "whether trials are left out",
    "snapshot": "snapshots",
}


def may_repeat(parts: Sequence[Sequence[Trial]]) -> bool:
    """Whether a trial of these may have come twice: one that did is never missed.

    It takes a fifth of the time of looking at them one by one, a tenth where all have ids.
    """
    ids = set[str | None]().union(*(map(_ID, trials) for trials in parts))
    if len(ids) == sum(map(len, parts)) and all(ids):
        return False
    n, hashes = 0, set[int]()
    for group, members in chain.from_iterable(map(grouped, parts)):
        numbers = list(map(hash, identities(group, members)))
        n += len(numbers)
        hashes.update(numbers)
    return len(hashes) < n


class Repeated:
    """How many trials came more than once, and how many of these with other contents."""

    def __init__(self) -> None:
        self.n = 0
        self.n_different = 0
        # The first two of one trial with other contents: the one that counts, and the other.
        self.differing: tuple[Trial, Trial] | None = None
        # And how many, and the first, whose rewards are the same and written otherwise.
        self.n_rewritten = 0
        self.rewritten: tuple[Trial, Trial] | None = None
        self._seen: dict[tuple[str | None, ...], Trial] = {}
        # Copies with texts of those whose texts were not read.
        self._with_texts: dict[tuple[str | None, ...], Trial] = {}

    def is_new(self, trial: Trial) -> bool:
        """Whether it was not met before: in its group by its id, else by its name in its task."""
        identity = identity_of(trial)
        if identity is None:
            return True
        first = self._seen.setdefault(identity, trial)
        if first is trial:
            return True
        self.n += 1
        told = self._with_texts.get(identity, first)
        if self._compare(first, told, trial) and isinstance(told.texts, UnreadTexts):
            self._with_texts[identity] = trial
        return False

    def _compare(self, kept: Trial, told: Trial, other: Trial) -> bool:
        """Whether a trial is the same as what is told of the one that is kept."""
        if not _are_same(told, other):
            self.n_different += 1
            self.differing = self.differing or (kept, other)
            return False
        if _as_written(kept) != _as_written(other):
            self.n_rewritten += 1
            self.rewritten = self.rewritten or (kept, other)
        return True

    def united(self, first: Table, other: Table) -> Table:
        """The trials of two groups that become one; those of the first count where both have one.

        Raises:
            NotCountableError: of some only counts are known, which do not say what is the same.
        """
        if not (first.has_rows and other.has_rows):
            united = first + other
            if len(first) and len(other):
                raise NotCountableError("trials of two groups become one")
            return united
        known = {_in_group(trial): trial for trial in first}
        kept = []
        for trial in other:
            same = known.get(_in_group(trial)) if trial.id or trial.trial else None
            if same is None:
                kept.append(trial)
                continue
            self.n += 1
            group = {"agent": same.agent, "model": same.model, "dataset": same.dataset}
            alike = self._compare(same, same, msgspec.structs.replace(trial, **group))
            if alike and isinstance(same.texts, UnreadTexts):
                known[_in_group(trial)] = trial
        return first + (Table(kept) if len(kept) < len(other) else other)

    def diagnostics(self, sources: Sequence[Source] = ()) -> list[Diagnostic]:
        """That there were some, and of one with other contents in which sources they are."""
        if not self.n:
            return []
        message = f"{plural(self.n, 'trial')} found more than once, counted once"
        if self.n_different:
            message += f"; {self.n_different} of them with other contents, the first is kept"
            message += _where(self.differing, sources)
        if self.n_rewritten:
            message += f"; {self.n_rewritten} of them with rewards in another order, or 1.0 for 1"
            message += _where(self.rewritten, sources)
        severity = Severity.ERROR if self.n_different else Severity.NOTE
        return [Diagnostic(rule="repeated-trial", severity=severity, message=message)]


def _where(two: tuple[Trial, Trial] | None, sources: Sequence[Source]) -> str:
    """Of which source the trial that counts is, and of which the other."""
    # Looked for where something is wrong: no trial takes memory for where it is from.
    paths = [s.path for each in two or () for s in sources if _is_among(each, s)]
    if two is None or len(paths) < len(two):
        return ""
    name = printable(two[0].trial or two[0].id or two[0].task)
    return f": trial {name} is that of {shown_path(paths[0])}, not of {shown_path(paths[-1])}"


def _is_among(trial: Trial, source: Source) -> bool:
    return any(trial is each for each in source.trials)


def _as_written(trial: Trial) -> list[tuple[str, type]]:
    """What of rewards a script can see, and no comparison does."""
    return [(key, type(value)) for key, value in (trial.rewards or {}).items()]


def of_copies(
    sources: Sequence[Source], groups: Mapping[GroupKey, GroupKey]
) -> Iterator[Diagnostic]:
    """That sources which have the same trials say otherwise of their runs, if they say anything.

    What each says counts for the group that the trials are in, though the trials count once.
    `groups` is the group that the trials of each are in, which several can have become.
    """
    first: dict[tuple[object, ...], int] = {}
    times: Counter[tuple[int, int]] = Counter()
    named = [source for source in sources if not isinstance(source.trials, LineTrials)]
    for place, source in enumerate(named):
        for trial in source.trials:
            identity = identity_in_group(trial)
            group = groups.get(group_key(trial))
            if identity is None or group is None:
                continue
            other = first.setdefault((*group, *identity), place)
            if other != place:
                times[other, place] += 1
    for (one, two), n in times.items():
        source, copy = named[one], named[two]
        job, of_copy = (each.job or Job() for each in (source, copy))
        differing = [
            words
            for name, words in _WORDS_OF_RUNS.items()
            if getattr(job, name) != getattr(of_copy, name)
        ]
        if differing:
            yield Diagnostic(
                rule="copies-differ",
                message=f"{plural(n, 'trial')} of {shown_path(source.path)} "
                f"{'is' if n == 1 else 'are'} in {shown_path(copy.path)}, too, and the two say "
                f"otherwise of their runs: {listed(differing, counted=False)}",
            )


def _are_same(first: Trial, other: Trial) -> bool:
    """Whether both say the same, but for texts that were not read of one of them.

    For Python labels are the same, too, of which one is 1 and one `True`.
    """
    if isinstance(first.texts, UnreadTexts) or isinstance(other.texts, UnreadTexts):
        other = msgspec.structs.replace(other, texts=first.texts)
    if first != other:
        return False
    labels = first.labels.items()
    return all(label_text(value) == label_text(other.labels[name]) for name, value in labels)


def _in_group(trial: Trial) -> object:
    return trial.id or (trial.task, trial.trial)
