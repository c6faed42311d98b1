"""Where values stand: offsets into the text; test_document.py has the law of all values."""

from __future__ import annotations

import pytest

from harbor_metrics.documents.places import Steps, find_places, pointer

TEXT = '{ "a" : [1, {"b/c": "x,}"}],\n "é": null, "d": {} }'


@pytest.mark.parametrize(
    ("path", "value", "key"),
    [
        ((), TEXT, None),
        (("a",), '[1, {"b/c": "x,}"}]', '"a"'),
        (("a", 0), "1", None),
        (("a", 1, "b/c"), '"x,}"', '"b/c"'),
        (("é",), "null", '"é"'),
        (("d",), "{}", '"d"'),
    ],
)
def test_value_and_its_key_are_found(path: Steps, value: str, key: str | None) -> None:
    found = find_places(TEXT, [path])[path]
    assert TEXT[found.start : found.end] == value
    assert (TEXT[slice(*found.key)] if found.key else None) == key


def test_several_places_are_found_in_one_walk() -> None:
    places = find_places(TEXT, [("a", 0), ("d",)])
    assert places.keys() == {(), ("a",), ("a", 0), ("d",)}


@pytest.mark.parametrize("path", [("z",), ("a", 2), ("a", 1, "b")])
def test_place_of_nothing_is_a_key_error(path: Steps) -> None:
    with pytest.raises(KeyError):
        find_places(TEXT, [path])


def test_pointer_names_a_place_with_slashes_escaped() -> None:
    assert pointer(("a", 1, "b/c", "~")) == "/a/1/b~1c/~0"
    assert pointer(()) == ""
