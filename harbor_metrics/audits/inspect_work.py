"""How much is computed for the numbers of an Inspect log, which may name any number of them."""

from __future__ import annotations

from ..readers.inspect.scored import Log
from .inspect_scores import NotHeldError

# So many scores are gone through in any case, and so many more for each that the log has, or has
# reduced: each reducer and each metric goes through those that it is of.
_FEW, _EACH, _EACH_KEPT = 1_000_000, 100, 20
# What draws goes through its scores as if so many times.
DRAWN = 100
_TOO_MANY = "the log has far more numbers than are recomputed of so few scores"


class Work:
    """Counts the scores that are gone through."""

    def __init__(self, log: Log) -> None:
        scores = [score.value for sample in log.samples for score in (sample.scores or {}).values()]
        n = sum(len(value) if isinstance(value, dict | list) else 1 for value in scores)
        reduced = sum(len(reduction.samples) for reduction in log.reductions)
        self._left = _FEW + _EACH * n + _EACH_KEPT * reduced

    def spend(self, n: int) -> None:
        """Count some that are about to be gone through.

        Raises:
            NotHeldError: they are far more than the log has.
        """
        self._left -= n
        if self._left < 0:
            raise NotHeldError(_TOO_MANY)
