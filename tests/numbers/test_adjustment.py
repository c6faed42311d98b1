"""p values of several questions."""

from __future__ import annotations

from typing import Any

from golden_comparisons import near, of_method
from hypothesis import given
from hypothesis import strategies as st

from harbor_metrics.numbers.adjustment import adjusted


@of_method("adjust")
def test_as_statsmodels_and_r(case: dict[str, Any]) -> None:
    ps, expected = case["inputs"]["p"], case["expected"]
    assert adjusted(ps, "holm") == [near(case, p) for p in expected["holm"]]
    assert adjusted(ps, "bh") == [near(case, p) for p in expected["benjamini_hochberg"]]
    assert adjusted(ps, "none") == ps


@given(st.lists(st.floats(0, 1), max_size=20))
def test_never_smaller_and_in_the_same_order(ps: list[float]) -> None:
    order = sorted(range(len(ps)), key=ps.__getitem__)
    for how in ("holm", "bh"):
        found = adjusted(ps, how)  # type: ignore[arg-type]
        assert all(p <= q + 1e-15 for p, q in zip(ps, found, strict=True))
        values = [found[i] for i in order]
        assert values == sorted(values)
    holm, bh = adjusted(ps, "holm"), adjusted(ps, "bh")
    assert all(q <= p + 1e-12 for p, q in zip(holm, bh, strict=True))
