"""Kwargs as people write them, `NAME=VALUE`, with the types that a metric takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from ..errors import MetricFailure, UsageError
from . import names


def parse_kwargs(
    type_: str,
    given: Sequence[str],
    check: Callable[[dict[str, Any]], object] | None = None,
    *,
    option: str = "-k ",
) -> dict[str, Any]:
    """Kwargs from `NAME=VALUE`: text where the metric takes text, else JSON.

    `check` raises a MetricFailure for kwargs that do not fit; without it those of the type are
    checked. What no type fits stays as it is, for whoever binds it to explain.

    Raises:
        UsageError: a pair has no `=`.
    """
    fits = check or (lambda kwargs: names.check(type_, kwargs))
    kwargs: dict[str, Any] = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise UsageError(f"{option}{pair}: write NAME=VALUE")
        kwargs[name] = value
    read: set[str] = set()
    while True:
        try:
            fits(kwargs)
        except MetricFailure as error:
            name = error.kwarg or ""
            if name in kwargs and name not in read:
                read.add(name)
                try:
                    kwargs[name] = msgspec.json.decode(kwargs[name].encode())
                except (ValueError, RecursionError):
                    return kwargs
                continue
        return kwargs
