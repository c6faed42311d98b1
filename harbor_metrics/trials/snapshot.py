"""What a job's folder does not say itself, as it was when the job ran."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from .trial import Label

SNAPSHOT = "harbor-metrics.snapshot.json"


class DatasetSnapshot(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A dataset of a job: its registry entry without the tasks, its scripts, its tasks' labels.

    `name` is None for tasks that were run without a dataset. `registry` is where the entry was
    found, as the job names it. `scripts` are SHA-256 by the path that a metric names. `tasks` have
    the labels of the registry, and of their own folders those that it does not give.
    """

    name: str | None
    version: str | None = None
    registry: str | None = None
    entry: dict[str, Any] | None = None
    scripts: dict[str, str] = {}
    tasks: dict[str, dict[str, Label]] = {}


class Snapshot(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The datasets of a job, and the digests of the scripts that its own configuration names."""

    schema_version: Literal["1"] = "1"
    datasets: list[DatasetSnapshot]
    scripts: dict[str, str] = {}
