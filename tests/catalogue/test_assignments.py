"""Kwargs as people write them."""

from __future__ import annotations

import pytest

from harbor_metrics.catalogue.assignments import parse_kwargs
from harbor_metrics.errors import UsageError


@pytest.mark.parametrize(
    ("type_", "given", "kwargs"),
    [
        ("uv-script", ["script_path=4"], {"script_path": "4"}),
        ("mean", ["missing=skip", "key=1"], {"missing": "skip", "key": "1"}),
        ("pass-at-k", ["k=2", "threshold=0.5", "key=r"], {"k": 2, "threshold": 0.5, "key": "r"}),
        ("pass-at-k", ["threshold=0.5", "k=[1, 2]"], {"threshold": 0.5, "k": [1, 2]}),
        ("mean", ["key=a=b"], {"key": "a=b"}),
        ("mean", ["q=1"], {"q": 1}),  # whoever binds it says that there is no `q`
        ("pass-at-k", ["k=two"], {"k": "two"}),
        ("accuracy", ['reducer={"type": "max"}'], {"reducer": {"type": "max"}}),
        ("nonesuch", ["a=1"], {"a": "1"}),
    ],
)
def test_value_is_what_the_metric_takes(
    type_: str, given: list[str], kwargs: dict[str, object]
) -> None:
    assert parse_kwargs(type_, given) == kwargs


@pytest.mark.parametrize("pair", ["missing", "=skip", ""])
def test_what_is_no_pair_is_refused(pair: str) -> None:
    with pytest.raises(UsageError, match="write NAME=VALUE"):
        parse_kwargs("mean", [pair])
