"""The digest of trials as read, which stays the same when files are moved or written anew."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import msgspec

from ..table import Trial

_encode_lines = msgspec.json.Encoder().encode_lines


def of_trials(trials: Sequence[Trial]) -> str:
    """SHA-256 of the canonical trials lines: defaults left out, in canonical order."""
    return sha256(_encode_lines(trials)).hexdigest()
