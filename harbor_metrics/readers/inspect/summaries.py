"""The summaries of an Inspect log: whether they do, and whether samples say what they say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from ..files.lenient import constant
from .sample import Failure, Sample
from .scores import MEASURED

# What stands in summaries for longer texts and larger values.
_CUT, _REMOVED = "...", "Key removed from summary (> 1k)"


def suffice(rows: list[Sample]) -> bool:
    """Whether summaries will do: older ones lack metadata and usage, newer ones shorten values."""
    return all(
        row.metadata is not msgspec.UNSET
        and row.model_usage is not msgspec.UNSET
        and not any(map(_is_thinned, row.metadata.values()))
        for row in rows
    )


def _is_thinned(value: Any) -> bool:
    """Whether it may stand for a longer value in a summary."""
    return isinstance(value, str) and (value.endswith(_CUT) or value == _REMOVED)


def drop_thinned(rows: Iterable[Sample]) -> None:
    """Leave out the metadata that summaries shorten: only a sample has it whole."""
    for row in rows:
        if row.metadata is not msgspec.UNSET:
            kept = {k: v for k, v in row.metadata.items() if not _is_thinned(v)}
            row.metadata = kept


def contradicts(sample: Sample, summary: Sample | None) -> bool:
    """Whether a sample has no summary, or one that says something else."""
    if summary is None or not _same_scores(sample, summary):
        return True
    return not _same_otherwise(sample, summary)


def lacks(sample: Sample, summary: Sample | None) -> bool:
    """Whether what counts in a sample has no word in its summary, which is no contradiction."""
    if summary is None:
        return True
    said = (
        (summary.total_time, sample.total_time),
        (summary.limit, sample.limit),
        (summary.error, sample.error),
    )
    own, summed = sample.scores or {}, summary.scores or {}
    return any(short is None and whole is not None for short, whole in said) or any(
        key in (score.metadata or {}) and key not in (summed[name].metadata or {})
        for name, score in own.items()
        for key in MEASURED
        if name in summed
    )


def _same_scores(sample: Sample, summary: Sample) -> bool:
    """Whether both say the same of every scorer that one of them has."""
    own, summed = sample.scores or {}, summary.scores or {}
    return own.keys() == summed.keys() and all(
        _no_nan(own[name].value) == _no_nan(score.value)
        and _abridges(score.metadata or {}, own[name].metadata or {})
        for name, score in summed.items()
    )


def _same_otherwise(sample: Sample, summary: Sample) -> bool:
    """Whether a summary says nothing else than its sample, where it says anything, and as much of
    errors."""
    said = (
        (summary.total_time, sample.total_time),
        (summary.started_at, sample.started_at),
        (summary.uuid, sample.uuid),
        (_kind(summary.limit), _kind(sample.limit)),
    )
    return (
        all(short is None or _abridges(short, whole) for short, whole in said)
        and summary.model_usage in (msgspec.UNSET, sample.model_usage or {})
        and _abridges(_message(summary.error), _message(sample.error))
        and _abridges(summary.metadata or {}, sample.metadata or {})
    )


def _kind(limit: str | dict[str, Any] | None) -> Any:
    return limit.get("type") if isinstance(limit, dict) else limit


def _message(error: str | Failure | None) -> str | None:
    """What is said of an error; nothing, too, is said of none."""
    return (error.message if isinstance(error, Failure) else error) or None


def _abridges(short: Any, whole: Any) -> bool:
    """Whether a value is the sample's own, or what a summary makes of it.

    Lists are not looked into: nothing is counted by them.
    """
    if isinstance(short, dict):
        return isinstance(whole, dict) and all(
            key in whole and _abridges(value, whole[key]) for key, value in short.items()
        )
    if isinstance(short, list) or _is_thinned(short):
        return True
    if isinstance(short, str) and isinstance(whole, str) and short.split() == whole.split():
        # Inspect puts one space for several where it shortens.
        return True
    return bool(_no_nan(short) == _no_nan(whole))


def _no_nan(value: Any) -> Any:
    """The value with null for NaN, as some versions write it, and no flag equal to a number."""
    if isinstance(value, dict):
        return {key: _no_nan(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_no_nan(item) for item in value]
    if isinstance(value, bool):
        return (value,)
    return None if constant(value) == "NaN" else value
