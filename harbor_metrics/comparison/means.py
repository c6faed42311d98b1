"""How sure a difference of two means is: the method by the data, and what checks it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ..contract.estimate import Estimate
from ..numbers import flips
from ..numbers.differences import Difference, Influences, Ratio, fieller, student
from ..numbers.reruns import Reruns, reruns
from ..numbers.sign_flip import sign_flip
from ..numbers.uncertainty import Over, spread_over_attempts
from ..numbers.undefined import NoIntervalError
from ..numbers.units import Range
from .document import Method
from .influences import Flips, Moved

ONE_TASK = "undefined for a single task: one does not tell how others differ"


class Answer(msgspec.Struct):
    """An interval and a p by a named method, over `n` tasks or clusters.

    `checks` are the p values of other tests, which never decide. `reason` says why a part is
    missing.
    """

    method: Method
    found: Difference
    n: int
    checks: dict[str, float | None] = {}
    relative: Ratio | None = None
    reruns: Reruns | None = None
    range: Range = Range.ANY
    reason: str | None = None


def of_means(
    base: Estimate,
    candidate: Estimate,
    moved: Moved,
    *,
    level: float,
    over: Over = "tasks",
    clusters: Mapping[str, object] | None = None,
) -> Answer:
    """What the tasks behind two means say of the difference.

    Tango's score interval where each task is one 0 or 1 on both sides; else Student's t on the
    influences of tasks, or of the clusters that they are in.
    """
    answer = _answer(moved, level, clusters)
    answer.range = moved.range
    answer.reruns, why = _reruns(base, candidate, moved, level)
    if over == "attempts":
        again = answer.reruns
        reason = why if again is None else None if again.variance else _ALL_ALIKE
        found = again.found if again is not None else Difference()
        return Answer("welch t", found, len(moved.names), {}, None, again, moved.range, reason)
    if moved.range == Range.POSITIVE and answer.n > 1:
        influences = moved.influences if clusters is None else moved.clustered(clusters)
        answer.relative = fieller(base.exact, moved.difference, influences, level)
    return answer


_ALL_ALIKE = "undefined: the attempts at each task are alike"


def _answer(moved: Moved, level: float, clusters: Mapping[str, object] | None) -> Answer:
    if clusters is not None:
        influences = moved.clustered(clusters)
        if len(influences) < 2:
            reason = "undefined for a single cluster: one does not tell how others differ"
            return Answer("clustered t", Difference(), len(influences), reason=reason)
        return _student(moved, influences, "clustered t", level)
    if moved.flips is not None:
        return _score(moved.flips, level)
    if len(moved.names) < 2:
        return Answer("t", Difference(), len(moved.names), reason=ONE_TASK)
    answer = _student(moved, moved.influences, "t", level)
    if moved.contributions is not None and answer.method == "t":
        answer.checks["sign_flip"] = sign_flip(moved.contributions, moved.scale)
    return answer


def _score(counted: Flips, level: float) -> Answer:
    fixed, broken, n = counted.fixed, counted.broken, counted.n
    low, high = flips.interval(fixed, broken, n, level)
    found = Difference(flips.stderr(fixed, broken, n), low, high, flips.score_p(fixed, broken))
    checks: dict[str, float | None] = {
        "mcnemar_exact": flips.exact_p(fixed, broken),
        "mcnemar_mid_p": flips.mid_p(fixed, broken),
    }
    return Answer("score", found, n, checks)


def _student(moved: Moved, influences: Influences, method: Method, level: float) -> Answer:
    n = len(influences)
    variance = influences.variance
    if variance:
        return Answer(method, student(float(moved.difference), variance, n - 1, level), n)
    if moved.difference:
        # Every choice of signs but two gives less.
        return Answer(
            "sign flip",
            Difference(p=2.0 ** (1 - n)),
            n,
            {"sign_flip": 2.0 ** (1 - n)},
            reason="no interval: all tasks differ by the same",
        )
    if moved.range <= Range.SHARE:
        low, high = flips.interval(0, 0, n, level)
        return Answer("score over tasks", Difference(None, low, high, 1.0), n)
    return Answer(method, Difference(p=1.0), n, reason="no interval: no task differs")


def _reruns(
    base: Estimate, candidate: Estimate, moved: Moved, level: float
) -> tuple[Reruns | None, str | None]:
    """What another try of the same attempts would vary by, or why that is not known."""
    try:
        before = spread_over_attempts(base.known.strata)
        after = spread_over_attempts(candidate.known.strata)
    except NoIntervalError as none:
        return None, str(none)
    return reruns(moved.difference, before, after, level), None
