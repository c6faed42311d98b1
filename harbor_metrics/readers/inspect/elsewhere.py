"""What an Inspect log has beside the numbers that Inspect reads, and what stands in it twice.

Of a key that stands twice readers differ in which counts.

Inspect reads a whole log to the last one, and of a log in one document that it reads for its header
alone only what stands before the samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from ...documents.diagnostics import Diagnostic
from ...documents.document import repeated_keys, repeats_a_key
from ...trials.source import REFUSED
from ..files.lenient import without_constants
from ..files.names import shown

# What a log has by the versions of Inspect that are known, with what is free in it and no number of
# a metric: `metadata`, `params`.
_COUNTS = ("total_samples", "completed_samples", "scored_samples", "unscored_samples")
_OF_RESULTS = frozenset(
    (*_COUNTS[:2], "scores", "scorer", "metrics", "sample_reductions", "early_stopping")
).union(("metadata", "headline"))
_OF_HEADLINE = frozenset(("scorer", "score", "metric", "reducer"))
_OF_SCORES = frozenset((*_COUNTS[2:], "name", "scorer", "reducer", "params", "metrics", "metadata"))
_OF_METRIC = frozenset(("name", "value", "group", "params", "options", "metadata"))


class _Header(msgspec.Struct):
    results: Any = None


def repeated(data: bytes, path: str) -> list[Diagnostic]:
    """What is said of a key that stands twice in a log, or in its results."""
    return repeated_keys(data, path) if _repeats(data) else []


def elsewhere(data: bytes) -> dict[str, Any]:
    """What stands in the results of a log under names that Inspect does not read, by its place."""
    try:
        header = msgspec.json.decode(without_constants(data), type=_Header)
    except REFUSED:
        return {}
    found = {}
    for place, value, known in _places(header.results):
        for name, inner in value.items() if isinstance(value, dict) else ():
            if name not in known:
                found[f"{place}{name}"] = inner
    return found


def _places(results: Any) -> Iterator[tuple[str, Any, frozenset[str]]]:
    """Where Inspect has names of its own, with what stands there, and the names."""
    yield "", results, _OF_RESULTS
    if not isinstance(results, dict):
        return
    yield "headline.", results.get("headline"), _OF_HEADLINE
    scores = results.get("scores")
    scorers = {f"scores[{i}].": s for i, s in enumerate(scores if isinstance(scores, list) else ())}
    scorers["scorer."] = results.get("scorer")
    for place, scorer in scorers.items():
        yield place, scorer, _OF_SCORES
    for place, holder in {"": results, **scorers}.items():
        metrics = holder.get("metrics") if isinstance(holder, dict) else None
        for name, metric in metrics.items() if isinstance(metrics, dict) else ():
            yield f"{place}metrics.{shown(name)}.", metric, _OF_METRIC


def _repeats(data: bytes) -> bool:
    """Whether members of the log are dropped when it is read, without a look into its samples."""
    plain = without_constants(data)
    try:
        members = msgspec.json.decode(plain, type=dict[str, msgspec.Raw])
    except REFUSED:
        # What only the slow reader takes, such as half a surrogate pair.
        return repeats_a_key(data)
    quotes = sum(2 + bytes(value).count(b'"') for value in members.values())
    return quotes != plain.count(b'"') or repeats_a_key(bytes(members.get("results", b"")))
