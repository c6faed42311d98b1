"""What no JSON text may hold is found wherever it stands."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harbor_metrics.documents.limits import MAX_DEPTH, has_long_number, is_too_deep

_keys = st.text('[{"\\', max_size=3)
_scalars = st.one_of(st.none(), st.integers(), st.text('[]{}"\\ a', max_size=4))
_values = st.recursive(_scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(_keys, v))


def depth(value: Any) -> int:
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


@given(
    before=st.integers(0, 130),
    digits=st.integers(0, 700),
    after=st.integers(0, 130),
    between=st.sampled_from(["", "x", "9,9"]),
)
def test_so_many_digits_are_found_at_any_place(
    before: int, digits: int, after: int, between: str
) -> None:
    text = f"{'a' * before}{'7' * digits}{between}{'4' * 299}{'b' * after}"
    longest = {"": digits + 299, "x": max(digits, 299), "9,9": max(digits + 1, 300)}[between]
    assert has_long_number(text.encode()) == (longest >= 300)


@given(value=_values, more=st.integers(MAX_DEPTH - 4, MAX_DEPTH + 2))
def test_depth_is_that_of_the_value_whatever_stands_in_strings(value: Any, more: int) -> None:
    for opening, closing in (("[", "]"), ('{"]": ', "}")):
        text = f"{opening * more}{json.dumps(value)}{closing * more}"
        assert is_too_deep(text.encode()) == (depth(value) + more > MAX_DEPTH)
