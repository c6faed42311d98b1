"""A sample of an Inspect log, or the summary of one."""

from __future__ import annotations

from typing import Any

import msgspec

from ...numbers.exact import Number


class Failure(msgspec.Struct, gc=False):
    """What ended a sample, or the eval."""

    message: str = ""


class Spent(msgspec.Struct, gc=False):
    """The usage of one model; `input_tokens` leave cached ones out, but not in older logs."""

    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    input_tokens_cache_write: int | None = None
    input_tokens_cache_read: int | None = None
    total_cost: Number | str | None = None


class Edit(msgspec.Struct, gc=False):
    """A score as it was before it was edited, or what an edit made of it."""

    value: Any = None


class Score(msgspec.Struct, gc=False):
    """What a scorer said of a sample."""

    value: Any = None
    answer: Any = None
    metadata: dict[str, Any] | None = None
    history: list[Edit] = []


class Sample(msgspec.Struct, gc=False):
    """A sample or its summary, which lacks what was not noted at the time."""

    id: int | str | None = None
    epoch: int = 1
    target: str | list[str] = ""
    metadata: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    scores: dict[str, Score] | None = None
    # The only one of a log of the first versions.
    score: Score | None = None
    model_usage: dict[str, Spent] | msgspec.UnsetType = msgspec.UNSET
    total_time: Number | str | None = None
    started_at: str | None = None
    uuid: str | None = None
    error: str | Failure | None = None
    limit: str | dict[str, Any] | None = None
