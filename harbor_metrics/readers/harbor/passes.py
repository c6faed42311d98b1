"""The trials of one pass over the folders of a job: kept, counted or put on disk as they come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from ...trials.counts import DIGEST_SIZE, CountedTrials, digest_of, grouped
from ...trials.trial import Trial

# So many trials are counted at once.
_BATCH = 1_024


class Kept:
    """Trials that are kept as they come, and a digest of each."""

    def __init__(self, trials: list[Trial] | None = None, digests: bytes = b"") -> None:
        self.trials: list[Trial] = trials or []
        self.digests = digests
        self.add_one = self.trials.append

    def finish(self) -> None:
        """Take the digests of those that came since."""
        n = len(self.digests) // DIGEST_SIZE
        # Sorted here, where two processes do it: to merge what is sorted takes next to nothing.
        self.digests += b"".join(sorted(map(digest_of, self.trials[n:])))

    def __iadd__(self, other: Kept) -> Kept:
        self.trials += other.trials
        self.digests += other.digests
        return self

    def __reduce__(self) -> Any:
        # What is left out of a trial stays so, and it takes half the time of pickled structs.
        return _unpacked, (msgspec.msgpack.encode(self.trials), self.digests)


def _unpacked(trials: bytes, digests: bytes) -> Kept:
    return Kept(msgspec.msgpack.decode(trials, type=list[Trial]), digests)


class Digested(CountedTrials):
    """Trials that are counted as they come, and a digest of each."""

    def __init__(self) -> None:
        super().__init__()
        self._batch: list[Trial] = []

    def add_one(self, trial: Trial) -> None:
        """Count one trial with the next others."""
        self.digests += digest_of(trial)
        self._batch.append(trial)
        if len(self._batch) == _BATCH:
            self.finish()

    def finish(self) -> None:
        """Count those that wait for others."""
        self.add(self._batch)
        self._batch = []


class Spooled(Digested):
    """Trials that go to a spool as they come, and a digest of each."""

    def __init__(self) -> None:
        # For weight: few trials are spooled.
        from ..files.spool import Spool

        super().__init__()
        self.spool = Spool()

    def add(self, trials: Sequence[Trial]) -> None:
        """Spool some trials."""
        self.n += len(trials)
        for group, members in grouped(trials):
            self.seen.add(group, members)
        self.spool.extend(trials)


class Pass(msgspec.Struct):
    """The trials of one pass over the directories, and those without a result or not readable.

    `leaves_out` is what `validity` says of the job. `misplaced`, `otherwise` and `later` are what
    is remarked on.
    """

    trials: Kept | Digested
    leaves_out: bool | None = None
    waiting: list[str] = []
    refused: list[tuple[str, bytes]] = []
    failed: list[tuple[str, OSError]] = []
    misplaced: list[str] = []
    otherwise: list[str] = []
    later: list[str] = []
