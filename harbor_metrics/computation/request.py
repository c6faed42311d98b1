"""What is to be computed, and from which sources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from ..evaluation.asked import Asked
from ..numbers.uncertainty import Over
from ..trials.source import Progress, Source
from ..trials.table import Missing

if TYPE_CHECKING:
    from ..scripts.options import ScriptOptions

LEVEL = 0.95


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be computed, and from which sources; see `api.compute` for each field."""

    sources: tuple[Any, ...]
    registries: tuple[str, ...] = ()
    dataset: str | None = None
    metrics: tuple[Asked, ...] = ()
    only_asked: bool = False
    missing: Missing | None = None
    level: float | None = LEVEL
    over: Over = "tasks"
    labels: str | None = None
    group_by: tuple[str, ...] = ()
    as_format: str | None = None
    columns: str | Mapping[str, str] = ""
    scripts: ScriptOptions | None = None
    # Whether labels of tasks, and texts of trials, are read even where no metric asks for them.
    reads_labels: bool = False
    reads_texts: bool = False
    # Whether the sources are jobs of the user's own, whose scripts are the user's word.
    own_jobs: bool = False
    progress: Progress | None = None
    engine: str | None = None
    # What standard input had, which can be read once: of all requests that are made of this one.
    read_once: dict[str, list[Source]] = msgspec.field(default_factory=dict)
