"""How lm-eval's values lie stands once: reader, names, task files and audits agree on it."""

from __future__ import annotations

import pytest

from harbor_metrics.catalogue import names
from harbor_metrics.readers.lm_eval import layout
from harbor_metrics.readers.lm_eval.values import Values, share_texts

VALUES = {
    "word_perplexity": [-12.5, 3],
    "byte_perplexity": [-12.5, 9],
    "bits_per_byte": [-12.5, 9],
    "f1": [1, 0],
    "mcc": [1, 0],
    "brier_score": [1, [0.25, 0.75]],
    "perplexity": -1.5,
    "acc": 1.0,
}


@pytest.mark.parametrize("metric", VALUES)
def test_the_reader_puts_values_where_the_kwargs_look_for_them(metric: str) -> None:
    rewards, _ = Values().measured({metric: VALUES[metric]}, None)
    wanted = layout.kwargs(metric, layout.AGGREGATIONS[metric]).values()
    assert all(any(key == w or key.startswith(f"{w}/") for key in rewards) for w in wanted)


@pytest.mark.parametrize("metric", layout.OF_TEXTS)
def test_pairs_of_texts_lie_where_metrics_of_texts_look_by_default(metric: str) -> None:
    values = Values()
    rewards, texts = values.measured({metric: ["right", "guess"]}, None)
    assert not rewards
    (texts,) = share_texts([texts], values.paired)
    assert texts == {layout.REFERENCE: "right", layout.PREDICTION: "guess"}
    assert layout.kwargs(metric, metric) == {}


@pytest.mark.parametrize("aggregation", layout.KNOWN)
def test_every_known_aggregation_is_a_metric_with_these_kwargs(aggregation: str) -> None:
    names.check(f"lm-eval/{aggregation}", layout.kwargs("own", aggregation))


def test_registered_aggregations_are_known() -> None:
    assert set(layout.AGGREGATIONS.values()) <= set(layout.KNOWN)
