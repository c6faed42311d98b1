"""What every reader gives: the trials of one source, and the diagnostics of reading it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from ..documents.diagnostics import Diagnostic
from ..errors import InputError
from ..numbers.exact import Number
from .counts import identity_of
from .labels import Labels
from .snapshot import DatasetSnapshot
from .trial import GroupKey, Trial

if TYPE_CHECKING:
    from .counts import Seen
    from .table import Table

# What decoding raises for a text that is not what it should be, deep nesting included.
REFUSED = (msgspec.DecodeError, ValueError, RecursionError)

Progress = Callable[[int, int], None]


class NotThisFormatError(InputError):
    """The source is not of the format that it was read as; the message is the reader's reason."""


class JobDataset(msgspec.Struct, frozen=True, kw_only=True):
    """A dataset as the job's config.json names it; `path` where it is a local folder.

    `whole` where no tasks of it were chosen or left out.
    """

    name: str | None = None
    version: str | None = None
    path: str | None = None
    registry_path: str | None = None
    registry_url: str | None = None
    whole: bool = True


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """What a job, or the run that a log is of, says beside its trials.

    `n_groups` is into how many groups of one size the planned trials part: one an agent, a scorer
    or a filter. `n_each` is how many trials each task has; `n_planned` how many trials there are by
    the configuration or the lock of the job, where these say it, beside the `n_total_trials` that
    it reports. `n_retries` is how often a trial may be tried again, None where nothing says it.
    `trials_per_sample` is how many of the trials one sample of a log is.
    `lacks_trials`: whether planned trials are not there, though there may be as many as planned.
    `models` are the names that its agents were configured with. `defaults` are the metrics that the
    run itself makes numbers of, as entries by dataset; they run where nobody names a metric.
    `higher_is_better` is what the run says of which values are better, by reward.
    `settings` are those of the run by which samples of the same names may be other tasks, as JSON.
    `leaves_out`: whether its numbers are without the trials that have no valid reward.
    `snapshot` are the datasets as they were when the job ran; `labels` finds the labels of tasks,
    by dataset.
    """

    datasets: tuple[JobDataset, ...] = ()
    metrics: tuple[Any, ...] = ()
    defaults: Mapping[str | None, tuple[Any, ...]] = {}
    higher_is_better: Mapping[str, bool] = {}
    models: tuple[str, ...] = ()
    settings: Mapping[str, str] = {}
    n_groups: int = 1
    n_each: int = 1
    n_planned: int | None = None
    n_retries: int | None = None
    trials_per_sample: int = 1
    n_total_trials: int | None = None
    lacks_trials: bool = False
    running: bool = False
    leaves_out: bool = False
    waiting: tuple[str, ...] = ()
    snapshot: tuple[DatasetSnapshot, ...] = ()
    # A function: most computations group by no label.
    labels: Callable[[], Mapping[str | None, Labels]] = dict

    def labels_on(self, dataset: str | None) -> Labels:
        """What it says of the tasks of a dataset, or of all where its trials name none."""
        labels = self.labels()
        return labels.get(dataset, labels.get(None, {}))

    @property
    def n_expected(self) -> int | None:
        """How many trials there are to be: as it reports, or the more that were planned."""
        if self.n_total_trials is None:
            return None
        return max(self.n_total_trials, self.n_planned or 0)


class Reported(msgspec.Struct, frozen=True, kw_only=True):
    """A number that a log itself reports: where it stands, and what it is in the log's words.

    It is over the trials of `group`, or of all the `members`. `reducer` makes one value of a task's
    attempts; `key` is the reward key, None for the only one; `part` names one of several values of
    a metric. `value` is None where the log has null, and where it has NaN or Infinity, which
    `not_finite` then says. `under` is the name that the log has it under, where that is not the
    metric's by itself.
    """

    place: str
    metric: str
    value: Number | None
    group: GroupKey
    members: tuple[GroupKey, ...] = ()
    not_finite: str = ""
    key: str | None = None
    part: str | None = None
    reducer: str | None = None
    params: Mapping[str, Any] = {}
    under: str | None = None


class Counted(msgspec.Struct):
    """The groups of a source whose trials were counted, and which trials those were.

    `left_out` are the trials of each group that its harness leaves out of its numbers.
    """

    groups: dict[GroupKey, Table]
    seen: Seen
    left_out: dict[GroupKey, Table] = {}


class Engine(msgspec.Struct):
    """What holds the trials of a relation, and the digest of what it has answered."""

    name: str
    version: str
    answers_sha256: Callable[[], str]


class Source(msgspec.Struct, kw_only=True):
    """The trials of one source, and how it was read."""

    path: str
    trials: Sequence[Trial]
    sha256: str
    digest_of: Literal["bytes", "trials"] = "bytes"
    # The trials of each group where they were counted and not kept; `trials` then has no rows.
    counted: Counted | None = None
    # What the trials lie on, where they were not read: then there is no digest of them.
    engine: Engine | None = None
    # The group of each trial that could not be read, None where it is unknown.
    unread: list[GroupKey | None] = []
    diagnostics: list[Diagnostic] = []
    job: Job | None = None
    # The name of the format, which who asks its reader knows.
    kind: str = ""
    # Whether the trials lack texts that `readers.with_texts` gives them.
    lacks_texts: bool = False
    # Whether tasks have no names but those that their places give them.
    by_place: bool = False
    # Functions: only an audit asks for them. `scored` gives what the harness itself scored, in its
    # reader's own shape, where `readers.read` was asked to keep it.
    reported: Callable[[], Iterable[Reported]] = tuple
    scored: Callable[[], Any] = tuple
    # What the numbers that it reports are of: the path of a results file beside it.
    results: str | None = None
    # What was read beside the path, or in its place where it stands for several files.
    files: Sequence[str] = ()

    def repeats(self, other: Source) -> bool:
        """Whether its trials say that they are those of another source, and so count once."""
        if self.counted is not None or other.counted is not None:
            return False
        own = set(map(identity_of, self.trials))
        return None not in own and own == set(map(identity_of, other.trials))

    @property
    def inputs(self) -> list[str]:
        """Every path that it was read from."""
        return [self.path, *self.files]
