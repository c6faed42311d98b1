"""Gates as they are written: what a build must not do, or has to show."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Literal, TypeVar, get_args

import msgspec

from ..errors import UsageError

Margin = Literal["no-worse", "non-inferior", "better"]
Kind = Literal["no-worse", "non-inferior", "better", "fail-if"]
Part = Literal["difference", "low", "high", "p", "relative", "base", "candidate"]
Counted = Literal[
    "tasks.worse", "tasks.better", "tasks.unpaired", "tasks.changed", "missing", "errored"
]
Operator = Literal["<", "<=", ">", ">="]
_OPERATORS = r"(<=|>=|<|>)"
_NUMBER = r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?"
_LONG = 10
_QUOTED = r"(?s)`([^`]+)`(.*)"
_Word = TypeVar("_Word", bound=str)


class Expression(msgspec.Struct, frozen=True):
    """What fails a gate: a part of a difference, or a count, on one side of a number.

    `metric` is None where something is counted; a `share` is 0.05 for 5%.
    """

    metric: str | None
    part: Part | Counted
    operator: Operator
    limit: float

    def holds(self, value: float) -> bool:
        """Whether a value is on that side of the number."""
        if self.operator == "<":
            return value < self.limit
        if self.operator == "<=":
            return value <= self.limit
        return value > self.limit if self.operator == ">" else value >= self.limit


class Gate(msgspec.Struct, frozen=True):
    """One gate: as it was written, and what it asks of which metric."""

    kind: Kind
    written: str
    metric: str | None
    by: float = 0.0
    expression: Expression | None = None

    def __str__(self) -> str:
        return f"{self.kind} {self.written}"


def gates(
    *,
    no_worse: Sequence[str] = (),
    non_inferior: Sequence[str] = (),
    better: Sequence[str] = (),
    fail_if: Sequence[str] = (),
) -> tuple[Gate, ...]:
    """The gates of these texts; `METRIC[:BY]` each, but `fail_if`, which are expressions.

    Raises:
        UsageError: a text is not one.
    """
    margins: list[tuple[Margin, Sequence[str]]] = [
        ("no-worse", no_worse), ("non-inferior", non_inferior), ("better", better),
    ]  # fmt: skip
    of_margins = [_margin(kind, text) for kind, texts in margins for text in texts]
    return (*of_margins, *map(_fail_if, fail_if))


def _margin(kind: Margin, text: str) -> Gate:
    option = f"--{kind} {text}"
    quoted = re.fullmatch(_QUOTED, text.strip())
    if quoted is not None:
        metric, colon, rest = quoted[1], *_parted(quoted[2])
        if quoted[2].strip() and (not colon or re.fullmatch(_NUMBER, rest) is None):
            raise UsageError(f"{option}: behind `{metric}` stands {quoted[2]!r}", _HELP[kind])
    else:
        metric, colon, rest = text.strip().rpartition(":")
        if not colon or re.fullmatch(_NUMBER, rest.strip()) is None:
            metric, rest = text.strip(), ""
    if not metric:
        raise UsageError(f"{option} names no metric", _HELP[kind])
    by = float(rest) if rest else 0.0
    if not math.isfinite(by) or by < 0:
        raise UsageError(f"{option}: what may be lost or gained is 0 or more", _HELP[kind])
    if kind == "non-inferior" and not by:
        raise UsageError(f"{option} does not say how much may be lost", _HELP[kind])
    return Gate(kind, text, metric, by)


_HELP = {
    "no-worse": "--no-worse mean, or --no-worse mean:0.02",
    "non-inferior": "--non-inferior mean:0.02",
    "better": "--better mean, or --better mean:0.02",
}


def _parted(text: str) -> tuple[str, str]:
    _, colon, rest = text.partition(":")
    return colon, rest.strip()


def _fail_if(text: str) -> Gate:
    parts = re.split(_OPERATORS, text) if "`" not in text else _behind_quotes(text)
    if len(parts) != 3 or not parts[0].strip():
        raise UsageError(f"--fail-if {text} is not NAME, one of < <= > >=, and a number", _EXAMPLES)
    name, operator, limit = (part.strip() for part in parts)
    percent = limit.endswith("%")
    number = limit.removesuffix("%").strip()
    if re.fullmatch(_NUMBER, number) is None or not math.isfinite(float(number)):
        raise UsageError(f"--fail-if {text}: {limit!r} is not a number or a percentage", _EXAMPLES)
    metric, part = _named(name, text, percent=percent)
    value = _hundredth(number) if percent else float(number)
    expression = Expression(metric, part, _known(operator, get_args(Operator)), value)
    return Gate("fail-if", text, metric, expression=expression)


def _hundredth(number: str) -> float:
    """The share that a percentage is, rounded once, which `float(number) / 100` is twice."""
    digits, _, exponent = number.lower().partition("e")
    # With an exponent as long it is 0, or was not finite.
    return float(f"{digits}e{int(exponent or 0) - 2}") if len(exponent) < _LONG else 0.0


_EXAMPLES = "such as 'mean < -0.02', 'cost-per-task > 10%', 'tasks.worse > 3', 'missing > 0'"


def _behind_quotes(text: str) -> list[str]:
    """The parts of an expression, what stands between backquotes left whole."""
    end = text.rfind("`") + 1
    parts = re.split(_OPERATORS, text[end:])
    return [text[:end] + parts[0], *parts[1:]]


def _named(name: str, text: str, *, percent: bool) -> tuple[str | None, Part | Counted]:
    """The metric and the part of it, or what is counted."""
    quoted = re.fullmatch(_QUOTED, name)
    if quoted is None and name in get_args(Counted):
        if percent:
            raise UsageError(f"--fail-if {text}: {name} is a count, not a share", _EXAMPLES)
        return None, _known(name, get_args(Counted))
    if quoted is not None:
        metric, rest = quoted[1], quoted[2]
    else:
        stem, dot, last = name.rpartition(".")
        metric, rest = (stem, f".{last}") if dot and last in get_args(Part) else (name, "")
    if rest and (rest[0] != "." or rest[1:] not in get_args(Part)):
        raise UsageError(
            f"--fail-if {text}: there is no {rest!r} of a metric",
            f"the parts are {', '.join(get_args(Part))}",
        )
    part: Part = _known(rest[1:], get_args(Part)) if rest else "difference"
    if percent and not rest:
        part = "relative"
    if percent and part != "relative":
        raise UsageError(f"--fail-if {text}: only `relative` is a percentage", _EXAMPLES)
    return metric, part


def _known(word: str, words: Sequence[_Word]) -> _Word:
    """The word, as one of those that can be."""
    return next(each for each in words if each == word)
