"""Keys that stand twice where an Inspect log has its numbers: readers of it differ in which counts.

Inspect reads a whole log to the last one, and of a log in one document that it reads for its header
alone only what stands before the samples.
"""

from __future__ import annotations

import msgspec

from ...documents.diagnostics import Diagnostic
from ...documents.document import repeated_keys, repeats_a_key
from ...trials.source import REFUSED
from ..files.lenient import without_constants


def repeated(data: bytes, path: str) -> list[Diagnostic]:
    """What is said of a key that stands twice in a log, or in its results."""
    return repeated_keys(data, path) if _repeats(data) else []


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
