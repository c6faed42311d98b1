"""The numbers that an Inspect log reports."""

from __future__ import annotations

import math

from inspect_logs import LOGS

from harbor_metrics import readers


def test_reported_numbers_have_a_metric_a_key_and_a_reducer() -> None:
    (source,) = readers.read(str(LOGS / "parts.eval"))
    values = {each.place: each for each in source.reported()}
    mean = values["a1, mean: mean"]
    assert (mean.metric, mean.key, mean.reducer) == ("mean", "a1", "mean")
    assert mean.value is not None
    assert math.isclose(mean.value, 13 / 6)
    low = values["a1, max: ci_lower"]
    assert (low.metric, low.part, low.reducer) == ("ci", "lower", "max")
    assert values["a2, mean: unscored_samples"].value == 2
