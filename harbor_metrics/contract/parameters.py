"""The keyword arguments that several metrics share: their types, bounds and descriptions."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from ..numbers.exact import Number
from ..trials.column import Column
from .estimate import Estimate, Undefined

# What a metric returns where it is known which of two values is the better one.
HIGHER, LOWER = "higher is better", "lower is better"
_Value = Number | Estimate | Undefined
Higher = Annotated[_Value, HIGHER]
Lower = Annotated[_Value, LOWER]
Highers = Annotated[_Value | dict[str, _Value], HIGHER]
Lowers = Annotated[_Value | dict[str, _Value], LOWER]
# A column whose attempts the metric itself makes into one value a task: it takes no `reducer`.
Attempts = Annotated[Column, "attempts"]

Key = Annotated[str, Meta(description="The only reward key to aggregate.")]
_MOST_K = 1_000_000_000
# Of a list: as many values has what is computed.
_MOST_NUMBERS = 1000
_K = "How many attempts at a task are looked at."
K = Annotated[int, Meta(ge=1, le=_MOST_K, description=_K, examples=[2])]
Ks = Annotated[
    Annotated[int, Meta(ge=1, le=_MOST_K)]
    | Annotated[
        list[Annotated[int, Meta(ge=1, le=_MOST_K)]], Meta(min_length=1, max_length=_MOST_NUMBERS)
    ],
    Meta(description=f"{_K} One number or a list of them.", examples=[[1, 2, 4]]),
]
_LEAST = "How many attempts at a task must pass."
Least = Annotated[int, Meta(ge=1, le=_MOST_K, description=_LEAST, examples=[2])]
Leasts = Annotated[
    Annotated[int, Meta(ge=1, le=_MOST_K)]
    | Annotated[
        list[Annotated[int, Meta(ge=1, le=_MOST_K)]], Meta(min_length=1, max_length=_MOST_NUMBERS)
    ],
    Meta(description=f"{_LEAST} One number or a list of them.", examples=[[1, 2, 4]]),
]
Threshold = Annotated[float, Meta(description="An attempt passes from this reward on.")]
Qs = Annotated[
    Annotated[float, Meta(ge=0, le=1)]
    | Annotated[
        list[Annotated[float, Meta(ge=0, le=1)]], Meta(min_length=1, max_length=_MOST_NUMBERS)
    ],
    Meta(description="The share that lies below. One number or a list of them.", examples=[0.95]),
]
Fewer = Annotated[
    Literal["strict", "available"],
    Meta(
        description="A task with fewer than k attempts has no value (`strict`), or the attempts "
        "there are decide (`available`)."
    ),
]
Cluster = Annotated[
    Annotated[str, Meta(min_length=1)] | None,
    Meta(
        description="What is independent of each other: tasks (`task`), the values of a label (1, "
        "1.0 and true are one, as for Inspect), or with null every reward."
    ),
]
Level = Annotated[
    float, Meta(gt=0, lt=1, description="The probability that the interval covers the true mean.")
]
Samples = Annotated[int, Meta(ge=2, le=100_000, description="How many resamples are drawn.")]
Seed = Annotated[int, Meta(ge=0, le=2**53, description="Where the random numbers begin.")]
Weight = Annotated[
    str,
    Meta(
        min_length=1,
        description="The reward key or label that holds each trial's weight, not negative.",
        examples=["total"],
    ),
]
