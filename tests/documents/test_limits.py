"""What no JSON text may hold is found wherever it stands."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from harbor_metrics.documents.document import parse, repeats_a_key
from harbor_metrics.documents.limits import MAX_DEPTH, has_long_number, is_too_deep

_keys = st.text('[{"\\', max_size=3)
_scalars = st.one_of(st.none(), st.integers(), st.text('[]{}"\\ a', max_size=4))
# Pieces of texts that nobody closed, cut off or in no encoding.
_pieces = st.one_of(
    st.sampled_from([b"[", b"]", b'{"a":', b"}", b'"', b"\\", b",", b"1", b"\xff", b"\xe2", b"\n"]),
    st.builds(
        lambda n, piece: n * piece,
        st.sampled_from([MAX_DEPTH - 1, MAX_DEPTH + 1, 2_000]),
        st.sampled_from([b"[", b"]", b'{"a":', b"[]", b'["",']),
    ),
)
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


def deepest(text: str) -> int:
    """How deep a decoder is at the deepest place of what begins like JSON."""
    depths = [0]
    inside = escaped = False
    for char in text:
        if inside and not escaped and char == "\\":
            escaped = True
            continue
        if char == '"' and not escaped:
            inside = not inside
        escaped = False
        if not inside:
            depths.append(depths[-1] + (char in "[{") - (char in "]}"))
    return max(depths)


@given(value=_values, more=st.integers(MAX_DEPTH - 4, MAX_DEPTH + 2), cut=st.integers(0, 300))
def test_brackets_that_are_never_closed_count(value: Any, more: int, cut: int) -> None:
    for opening, closing in (("[", "]"), ('{"]": ', "}")):
        text = f"{opening * more}{json.dumps(value)}{closing * more}"
        text = text[: max(0, len(text) - cut)]
        assert is_too_deep(text.encode()) == (deepest(text) > MAX_DEPTH)


@given(data=st.lists(_pieces, max_size=8).map(b"".join))
def test_no_text_is_too_deep_for_who_decodes_it(data: bytes) -> None:
    if not is_too_deep(data):
        with contextlib.suppress(ValueError):
            msgspec.json.decode(data)
    document, slips = parse(data, "x")
    assert slips or (document is not None and document.is_whole)
    assert not repeats_a_key(data) or document is not None
