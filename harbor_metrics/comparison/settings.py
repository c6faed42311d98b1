"""What a comparison is asked for beside its sources."""

from __future__ import annotations

from typing import get_args

import msgspec

from ..errors import UsageError
from ..numbers.adjustment import Adjust
from ..numbers.uncertainty import Over
from ..trials.table import Missing


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How sure, over what, and which differences matter; see `api.compare` for each field."""

    level: float = 0.95
    over: Over = "tasks"
    missing: Missing | None = None
    cluster: str | None = None
    adjust: Adjust = "holm"
    margin: float | None = None
    detect: float | None = None
    power: float = 0.8
    higher: tuple[str, ...] = ()
    lower: tuple[str, ...] = ()

    def check(self) -> None:
        """Refuse what means nothing.

        Raises:
            UsageError: a number or a choice is not one that can be.
        """
        for name, share in (("level", self.level), ("power", self.power)):
            if not 0 < share < 1:
                example = 0.95 if name == "level" else 0.8
                raise UsageError(
                    f"a {name} lies between 0 and 1, as {example} does, and {share} does not"
                )
        for name, amount in (("margin", self.margin), ("detect", self.detect)):
            if amount is not None and not 0 < amount < float("inf"):
                raise UsageError(f"--{name} is a difference above 0, and {amount} is not")
        if self.missing is not None and self.missing not in get_args(Missing):
            raise UsageError(
                f"missing must be one of {', '.join(get_args(Missing))}, not {self.missing!r}"
            )
        if self.over not in get_args(Over):
            raise UsageError(f"over must be one of {', '.join(get_args(Over))}, not {self.over!r}")
        if self.adjust not in get_args(Adjust):
            raise UsageError(
                f"adjust must be one of {', '.join(get_args(Adjust))}, not {self.adjust!r}"
            )
        both = set(self.higher) & set(self.lower)
        if both:
            raise UsageError(f"higher and lower cannot both be better: {', '.join(sorted(both))}")
        if self.cluster is not None and self.over == "attempts":
            raise UsageError(
                "--cluster is for other tasks (--over tasks); over attempts the tasks stay as they "
                "are"
            )
