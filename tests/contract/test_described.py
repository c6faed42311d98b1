"""A plain function as a metric or a reducer."""

from __future__ import annotations

from types import SimpleNamespace

import msgspec
import pytest

from harbor_metrics.catalogue.names import find_metric
from harbor_metrics.contract.described import Described
from harbor_metrics.contract.strangers import Loaded, Plugin
from harbor_metrics.errors import MetricFailure


def my_metric(rewards: object, *, k: int = 1) -> object:
    """A metric.

    More of it.
    """
    return rewards


PLUGIN = Plugin("my-metric", "dist", "1.2", SimpleNamespace())  # type: ignore[arg-type]
MINE = Described(name="my-metric", function=my_metric, kwargs=msgspec.Struct)


def test_description_is_the_docstring_without_its_indentation() -> None:
    assert MINE.description == "A metric.\n\nMore of it."


def test_plugin_is_named_in_complaints() -> None:
    assert MINE.origin == "`my-metric`"
    brought = msgspec.structs.replace(MINE, plugin=Loaded(PLUGIN, my_metric, 0.0))
    assert brought.origin == "`my-metric` of dist 1.2"


def test_answer_of_a_stranger_is_checked_and_of_ours_is_not() -> None:
    assert find_metric("mean").is_ours
    assert not MINE.is_ours
    assert MINE.call(0.5, {"k": 2}) == 0.5
    with pytest.raises(MetricFailure, match="`my-metric` returned 'x'"):
        MINE.call("x", {})
