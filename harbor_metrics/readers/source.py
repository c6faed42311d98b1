"""What every reader gives: the trials of one source, and what was found on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ..diagnostics import Diagnostic
from ..errors import InputError
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
