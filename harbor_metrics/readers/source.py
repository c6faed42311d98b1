"""What every reader gives: the trials of one source, and what was found on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ..diagnostics import Diagnostic
from ..errors import InputError
from ..exact import Number
from ..trial import GroupKey, Trial

# What decoding raises for a text that is not what it should be, deep nesting included.
REFUSED = (msgspec.DecodeError, ValueError, RecursionError)

Progress = Callable[[int, int], None]


class NotThisFormat(InputError):  # it is an answer more than an error
    """The reader's reason why the source is not of its format."""


class JobDataset(msgspec.Struct, frozen=True, kw_only=True):
    """A dataset as the job's config.json names it; `path` when it is a local folder."""

    name: str | None = None
    version: str | None = None
    path: str | None = None
    registry_path: str | None = None
    registry_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What a job says beside its trials."""

    datasets: tuple[JobDataset, ...] = ()
    metrics: tuple[Any, ...] = ()
    n_agents: int = 1
    n_total_trials: int | None = None
    running: bool = False
    waiting: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """A number that a log itself reports: where it stands, and in the log's words what it is.

    `group` is the part of the source that it is over, or with `members` the parts; `reducer` makes
    one task's attempts one value; `key` is the reward key, None for the only one; `part` one of
    several values that a metric gives. A value that is none is null, and `not_finite` says `NaN` or
    `Infinity` where it was one of these.
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
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Source:
    """Trials as read, the groups of those that could not be (None where unknown), and findings."""

    path: str
    kind: str
    trials: Sequence[Trial]
    sha256: str
    unread: list[GroupKey | None] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    job: Job | None = None
    # Whether trials lack texts that a slower reading, of the whole source, gives them.
    shortened: bool = False
    # Made when asked for: only an audit does.
    reported: Callable[[], Iterable[Reported]] = tuple
