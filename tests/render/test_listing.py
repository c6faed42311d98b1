"""What `list` prints."""

from __future__ import annotations

import json

from harbor_metrics.catalogue.listing import Entry
from harbor_metrics.render import listing

ENTRIES = [
    Entry(
        "metric", "Means", "mean", "The mean of the rewards, which is a long sentence.", ("key",)
    ),
    Entry("metric", "Means", "sum", "The sum.", ()),
    Entry(
        "reducer", "Names in x", "x/p", "Other.", (), {"type": "pass-at-k", "kwargs": {"k": [1]}}
    ),
]


def test_names_stand_in_sections_folded_at_the_width() -> None:
    assert listing.table(ENTRIES, 40) == (
        "Means (metrics)\n"
        "  mean  The mean of the rewards, which\n"
        "        is a long sentence.\n"
        "  sum   The sum.\n"
        "\n"
        "Names in x (reducers)\n"
        "  x/p   pass-at-k(k=[1])\n"
    )


def test_array_has_an_object_for_each_name() -> None:
    first, _, alias = json.loads(listing.json(ENTRIES))
    assert first["name"] == "mean"
    assert first["kwargs"] == ["key"]
    assert alias["of"] == {"type": "pass-at-k", "kwargs": {"k": [1]}}
