"""What rewards may be, and the diagnostics for what is something else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from ..documents.diagnostics import Diagnostic
from ..documents.document import Document, Finding
from ..documents.wording import article, printable, shown
from ..errors import InputError
from .trial import Rewards

if TYPE_CHECKING:
    from ..documents.places import Path

# How many times as many different keys there may be as a trial has on average.
_MOST_KEYS = 2_000
# So many columns are never too many.
FEW_KEYS = 1_000
HARBOR_WRITES_NULL = (
    "Harbor writes null where a reward was NaN or infinite, and cannot read the trial again"
)


class KeyTimes(msgspec.Struct):
    """How many trials have rewards, how many of these without a key, and how many each key."""

    scored: int = 0
    empty: int = 0
    times: Counter[str] = msgspec.field(default_factory=Counter)

    def add(self, rewards: Rewards | None, often: int = 1) -> None:
        """Count trials of the same rewards."""
        if rewards is None:
            return
        self.scored += often
        self.empty += 0 if rewards else often
        for key in rewards:
            self.times[key] += often


def check_keys(n_keys: int, n_rewards: int, n_trials: int) -> None:
    """Refuse rewards that would make a table of almost nothing but gaps.

    A table has a column a key: where each trial has a key of its own, it takes the square of the
    trials.

    Raises:
        InputError: there are too many different keys for so many rewards.
    """
    if n_keys * n_trials > _MOST_KEYS * max(n_rewards, n_trials):
        raise InputError(
            f"the rewards of {n_trials:,} trials have {n_keys:,} different keys, and a trial has "
            f"{n_rewards / n_trials:.1f} of them on average; the most is "
            f"{_MOST_KEYS:,} times as many keys",
            "give what differs from trial to trial as a label, and its reward one name",
        )


def mistakes(rewards: Any, path: Path, subject: str) -> Iterator[Finding]:
    """What is wrong with the rewards that stand at `path`."""
    if rewards is None:
        return
    if not isinstance(rewards, dict):
        yield Finding(
            tuple(path),
            f"rewards must be an object of numbers or null, not {article(rewards)}",
            subject=subject,
            label=f"this is {article(rewards)}",
            help='write `{"reward": 0.5}`',
            rule="invalid-rewards",
        )
        return
    for key, value in rewards.items():
        if type(value) in (int, float):
            continue
        example = f" {shown(value)}" if isinstance(value, bool | str) else ""
        yield Finding(
            (*path, key),
            f"reward `{printable(key)}` must be a number, not {article(value)}{example}",
            subject=subject,
            label=f"this is {article(value)}",
            notes=_notes(value),
            help=_help(key, value),
            rule="invalid-reward",
        )


def _notes(value: Any) -> tuple[str, ...]:
    if isinstance(value, bool):
        return (f"Harbor would count it as {float(value)}",)
    if value is None:
        return (HARBOR_WRITES_NULL,)
    return ()


def _help(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return f'write `"{printable(key)}": {int(value)}`'
    if isinstance(value, str):
        try:
            return f'write `"{printable(key)}": {float(value):g}`, without quotes'
        except ValueError:
            return "text belongs in `texts` of a trials file"
    if value is None:
        return "write a finite number, or leave the key out"
    return "rewards are flat: give each number a key of its own"


def check(document: Document, path: Path, subject: str) -> list[Diagnostic]:
    """The diagnostics for the rewards that stand at `path` of a document."""
    value = document.value
    for step in path:
        value = value[step]
    return document.resolve(list(mistakes(value, path, subject)))
