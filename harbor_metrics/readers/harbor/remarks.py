"""What is said of the trials of a job that were read and are not as Harbor writes them."""

from __future__ import annotations

from collections.abc import Iterator

from ...documents.diagnostics import Diagnostic
from ...documents.wording import listed, plural
from ...trials.trial import Trial
from .passes import Pass
from .trial import Result, has_misplaced_reward


def note(reading: Pass, name: str, data: bytes, result: Result, trial: Trial) -> None:
    """Keep the name of a trial that is to be remarked on."""
    if trial.rewards is None and has_misplaced_reward(data):
        reading.misplaced.append(name)
    valid = result.reward_valid
    if reading.leaves_out is False:
        # Harbor writes either since 0.26.
        if valid is not None or result.schema_version is not None:
            reading.later.append(name)
    elif valid is trial.left_out:
        # Of a trial that counts it is true.
        reading.otherwise.append(name)


def remarks(path: str, reading: Pass) -> Iterator[Diagnostic]:
    """What is said of the job at a path."""
    if reading.misplaced:
        yield _misplaced(path, sorted(reading.misplaced))
    if reading.otherwise:
        yield _otherwise(path, sorted(reading.otherwise))
    if reading.later:
        yield _later(path, len(reading.later))


def _misplaced(path: str, names: list[str]) -> Diagnostic:
    return Diagnostic(
        rule="misplaced-reward",
        message=f"{plural(len(names), 'trial')} of {path} with a `reward` beside `rewards`, not in "
        f"it: {listed(names)}",
        path=path,
        notes=("Harbor reads `verifier_result.rewards` alone: these trials have no rewards",),
        help='write `"verifier_result": {"rewards": {"reward": 1.0}}`',
    )


def _otherwise(path: str, names: list[str]) -> Diagnostic:
    return Diagnostic(
        rule="reward-valid-differs",
        message=f"{plural(len(names), 'trial')} of {path} with another `reward_valid` than Harbor "
        f"makes of the errors: {listed(names)}",
        path=path,
        notes=("Harbor does not read it: rewards count by the errors and their `policy_override`",),
        help="look who changed it, or which later Harbor judges these errors otherwise",
    )


def _later(path: str, n: int) -> Diagnostic:
    return Diagnostic(
        rule="older-result",
        message=f"the result.json of {path} has no `schema_version`, and {plural(n, 'trial')} of "
        "it were written by Harbor 0.26 or later",
        path=path,
        notes=("trials without a valid reward count, as they do in an earlier Harbor",),
        help='if Harbor 0.26 or later wrote its numbers, add `"schema_version": 1`',
    )
