"""What a comparison is asked for beside its sources."""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

from ..errors import UsageError
from ..numbers.adjustment import Adjust
from ..numbers.uncertainty import Over
from ..trials.table import Missing
from .gates import Gate

# Which runs are compared with which; and whether gates leave tasks of one run alone out.
Pairs = Literal["base", "all"]
Unpaired = Literal["drop", "error"]


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
    pairs: Pairs = "base"
    unpaired: Unpaired | None = None
    script_error_bars: bool = False
    gates: tuple[Gate, ...] = ()

    def check(self) -> None:
        """Refuse what means nothing.

        Raises:
            UsageError: a number or a choice is not one that can be.
        """
        self._check_choices()
        for name, share in (("level", self.level), ("power", self.power)):
            if not 0 < share < 1:
                example = 0.95 if name == "level" else 0.8
                raise UsageError(
                    f"a {name} lies between 0 and 1, as {example} does, and {share} does not"
                )
        for name, amount in (("margin", self.margin), ("detect", self.detect)):
            if amount is not None and not 0 < amount < float("inf"):
                raise UsageError(f"--{name} is a difference above 0, and {amount} is not")
        both = set(self.higher) & set(self.lower)
        if both:
            raise UsageError(f"higher and lower cannot both be better: {', '.join(sorted(both))}")
        if self.script_error_bars and (self.cluster is not None or self.over == "attempts"):
            raise UsageError("--script-error-bars is for intervals over tasks, without --cluster")
        if self.cluster is not None and self.over == "attempts":
            raise UsageError(
                "--cluster is for other tasks (--over tasks); over attempts the tasks stay as they "
                "are"
            )

    def _check_choices(self) -> None:
        for name, choice, choices in (
            ("missing", self.missing or "zero", get_args(Missing)),
            ("over", self.over, get_args(Over)),
            ("adjust", self.adjust, get_args(Adjust)),
            ("pairs", self.pairs, get_args(Pairs)),
            ("unpaired", self.unpaired or "error", get_args(Unpaired)),
        ):
            if choice not in choices:
                raise UsageError(f"{name} must be one of {', '.join(choices)}, not {choice!r}")
        if self.unpaired is not None and not self.gates:
            raise UsageError(
                f"--unpaired {self.unpaired} says what unpaired tasks do to gates, and none is set",
                "--no-worse METRIC sets one",
            )
