"""The values of one metric on both sides, and of which reward each is."""

from __future__ import annotations

from functools import cached_property

from ..contract.metric import Bound
from ..errors import MetricFailure
from ..evaluation.measurement import Output, outputs, two_values
from .finding import Asked
from .pairing import Pairs
from .resampled import Ends, left_out


class Measured:
    """A metric on both sides of some pairs; without some of the tasks only where that is asked.

    `keys`: the reward that a value is of, where there are several.
    """

    def __init__(self, asked: Asked, bound: Bound, pairs: Pairs) -> None:
        self.pairs = pairs
        sides = _of_sides(asked, bound, pairs)
        self.ends = _ends(sides)
        self.keys = {name: output.key for side in sides for name, output in side.items()}
        self._measure = lambda kept: values_of(asked, bound, kept)

    @cached_property
    def without(self) -> list[Ends]:
        """What it is without a task, or a few, each."""
        return left_out(self.pairs, self._measure)


def _of_sides(
    asked: Asked, bound: Bound, pairs: Pairs
) -> tuple[dict[str, Output], dict[str, Output]]:
    """What the metric gives by the name of each value, on both sides."""
    found = []
    for who, table in zip(asked.names, (pairs.base, pairs.candidate), strict=True):
        try:
            gave = outputs(
                bound,
                asked.planned.spec,
                table,
                missing=asked.settings.missing,
                among=asked.keys,
            )
            by_name: dict[str, Output] = {}
            for output in gave:
                if output.name in by_name:
                    raise two_values(output.name)
                by_name[output.name] = output
            found.append(by_name)
        except MetricFailure as failure:
            raise MetricFailure(failure.rule, f"{who}: {failure}") from failure
    return found[0], found[1]


def values_of(asked: Asked, bound: Bound, pairs: Pairs) -> Ends:
    """The metric's values by name, on both sides."""
    return _ends(_of_sides(asked, bound, pairs))


def _ends(sides: tuple[dict[str, Output], dict[str, Output]]) -> Ends:
    base, candidate = ({name: each.value for name, each in side.items()} for side in sides)
    return base, candidate
