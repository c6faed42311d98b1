"""The patient reader: loaded for a text that was refused, and for no other."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harbor_metrics.documents.diagnostics import Span
from harbor_metrics.documents.document import parse

COMPUTE = """
import sys
import harbor_metrics

try:
    harbor_metrics.compute(sys.argv[1])
except harbor_metrics.InputError:
    pass
print("harbor_metrics.documents.syntax" in sys.modules)
"""


@pytest.mark.parametrize(
    ("text", "loaded"),
    [
        ('{"reward": 1}\n{"reward": 0.5}\nnull\n', False),
        ('{"reward": 1}\n{"reward": 0.5,}\nnull\n', True),
    ],
)
def test_the_patient_reader_loads_only_for_a_text_that_was_refused(
    text: str, loaded: bool, tmp_path: Path
) -> None:
    rewards = tmp_path / "rewards.jsonl"
    rewards.write_text(text)
    ran = subprocess.run(
        [sys.executable, "-c", COMPUTE, rewards], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == str(loaded), ran.stderr


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab,\n/ü", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("kü", max_size=2), inner),
    max_leaves=8,
)


@given(_VALUES, st.data())
def test_slips_that_leave_one_reading_change_neither_meaning_nor_places(
    value: object, data: st.DataObject
) -> None:
    """Comments, commas too many and too few; only a comma missing without a space stops reading."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    tokens = re.findall(r'"(?:[^"\\]|\\.)*"|[-\w.]+|\s+|[][{},:]', text)
    spoilt = ""
    for token in tokens:
        if token == ",":
            spoilt += data.draw(st.sampled_from([",", " ", "/* , */,", ", # x\n"]))
        elif token in "]}" and spoilt.strip()[-1:] not in "[{":
            spoilt += data.draw(st.sampled_from([token, f",{token}", f", //\n{token}"]))
        else:
            spoilt += token
    document, slips = parse(spoilt.encode(), "x")
    assert document is not None
    assert document.is_whole
    assert document.value == value
    assert bool(slips) == (json_or_none(spoilt) is None)
    paths = [path for path, _ in paths_in(value)]
    for path, part in paths_in(value):
        start, end = document.offsets(path)
        (again, _) = parse(spoilt[start:end].encode(), "x")
        assert again is not None
        assert again.value == part
    assert len(document.spans((path, False) for path in paths)) == len(paths)


def json_or_none(text: str) -> list[object] | None:
    try:
        return [json.loads(text)]
    except ValueError:
        return None


def paths_in(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[Any, object]]:
    """Every value in a value, with its path."""
    yield path, value
    parts = enumerate(value) if isinstance(value, list) else ()
    for step, part in value.items() if isinstance(value, dict) else parts:
        yield from paths_in(part, (*path, step))


def test_two_objects_merged_without_a_comma_are_one_slip() -> None:
    text = '[{"name": "a", "path": "b"\n "name": "c", "path": "d"}]'
    document, (slip,) = parse(text.encode(), "x")
    assert document is not None
    assert not document.is_whole
    assert "missing `}, {` between `path` and `name`" in slip.message
    assert slip.span == Span(2, 2, 2, 3)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('[1"a"]', None),  # no room for the comma
        ('{"a": 1 "b": [2\n3]}', {"a": 1, "b": [2, 3]}),
        ('{"a": [], "a": {"b": 1,}}', {"a": {"b": 1}}),
        ('{"a": NaN, "b": -Infinity}', {"a": None, "b": None}),
        ("[1e999 nan]", [None, None]),
        # A comma has to stand where the comment begins.
        ('[{"a": 1}# "b": [\n[1]]', [{"a": 1}, [1]]),
        ('["\\ud800"]', ["\ud800"]),
        ("[1, 2", None),
        ("[1] 2", None),
        ("<<<<<<< a\n[1]\n", None),
    ],
)
def test_reading_goes_on_where_there_is_one_way(text: str, value: object) -> None:
    document, slips = parse(text.encode(), "x")
    assert document is not None
    assert slips
    assert document.is_whole == (value is not None)
    if document.is_whole:
        assert document.value == value
        assert len(document.mended or "") == len(text)
        assert type(json.loads(document.mended or "")) is type(value)
        assert document.span([])


def test_a_repeated_key_names_the_first_and_the_last_one_counts() -> None:
    text = '[{"k": [1, 2],\n  "j": {},\n  "k": [{"l": 3}], "j": 5}]'
    document, (slip,) = parse(text.encode(), "x")
    assert document is not None
    assert slip.span == Span(3, 3, 3, 6)
    assert "first [1, 2], then [{" in slip.message
    assert "the first is on line 1; also `j`" in slip.message
    assert document.span([0, "k", 0, "l"]) == Span(3, 15, 3, 16)
    assert document.span([0, "j"], key=True) == Span(3, 20, 3, 23)
    with pytest.raises(KeyError):
        document.span([0, "k", 0, "m"])
