"""The smallest change of a registry's text, and back."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from registries_by_hand import DATASET

from harbor_metrics.documents.document import parse
from harbor_metrics.registries import edit
from harbor_metrics.registries.edit import EditError, Place, with_metric, without_metric

SHAPES = [
    DATASET,
    {**DATASET, "metrics": []},
    {**DATASET, "metrics": [{"type": "max"}]},
    {**DATASET, "metrics": [{"type": "max"}, {"type": "min", "kwargs": {}}]},
    {"metrics": [], **DATASET},
    {"tasks": [], "name": "a", "version": "1", "description": ""},
    {"name": "a", "version": "1"},
]
STYLES = [
    {"indent": 2},
    {"indent": 4},
    {"indent": "\t"},
    {},
    {"separators": (",", ":")},
    {"indent": 3, "ensure_ascii": False},
]
ENTRIES = [{"type": "mean"}, {"type": "uv-script", "kwargs": {"script_path": "é.py"}}]


@pytest.mark.parametrize("entry", ENTRIES, ids=["mean", "script"])
@pytest.mark.parametrize("end", ["", "\n", "\r\n"], ids=repr)
@pytest.mark.parametrize("style", STYLES, ids=str)
@pytest.mark.parametrize("shape", range(len(SHAPES)))
def test_remove_undoes_add(
    shape: int, style: dict[str, object], end: str, entry: dict[str, object]
) -> None:
    text = json.dumps([DATASET, {**SHAPES[shape], "name": "b"}], **style) + end
    if end == "\r\n":
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    document, found = parse(text.encode(), "x")
    assert not found
    n = len(SHAPES[shape].get("metrics", []))
    after = with_metric(document, Place(1, "metrics", n), entry)
    assert json.loads(after)[1]["metrics"][n] == entry
    assert ("\r\n" in after) == ("\r\n" in text)
    edited, _ = parse(after.encode(), "x")
    assert without_metric(edited, Place(1, "metrics", n)) == text


@settings(max_examples=200)
@given(st.integers(0, 10**9))
def test_any_metric_can_be_removed(seed: int) -> None:
    rng = random.Random(seed)
    metrics = [{"type": rng.choice(["mean", "max", "min"])} for _ in range(rng.randint(1, 4))]
    style = rng.choice(STYLES)
    document, _ = parse(json.dumps([{**DATASET, "metrics": metrics}], **style).encode(), "x")
    index = rng.randrange(len(metrics))
    value = json.loads(without_metric(document, Place(0, "metrics", index)))
    assert value[0].get("metrics", []) == metrics[:index] + metrics[index + 1 :]


@pytest.mark.parametrize("inside", ["", " ", "\n    ", "\t"])
def test_empty_array_comes_back_as_it_was(inside: str) -> None:
    text = f'[\n  {{"name": "a", "version": "1", "metrics": [{inside}], "tasks": []}}\n]'
    document, _ = parse(text.encode(), "x")
    after = with_metric(document, Place(0, "metrics", 0), {"type": "mean"})
    edited, _ = parse(after.encode(), "x")
    assert without_metric(edited, Place(0, "metrics", 0)) == text


@pytest.mark.parametrize(
    "write",
    [
        lambda text, new: text.replace('"b"', '"c"'),
        lambda text, new: text.replace('"metrics": []', f'"metrics": [{new}, {new}]'),
        lambda text, new: text.replace('"metrics": []', '"metrics": [{"type": "mean", "k": 1.0}]'),
        lambda text, new: text.replace('"metrics": []', '"metrics": ['),
        lambda text, new: text.replace("[]", f"[{new}]") + " ",
    ],
    ids=["another dataset", "twice", "1.0 for 1", "no JSON", "behind"],
)
def test_text_that_says_more_than_the_metric_is_refused(
    write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = {"type": "mean", "k": 1}
    datasets = [{"name": "a", "metrics": []}, {"name": "b"}]
    document, _ = parse(json.dumps(datasets).encode(), "")
    assert document is not None
    wrong = write(document.text, json.dumps(entry))
    monkeypatch.setattr(edit, "_fill_empty", lambda *_: wrong)
    with pytest.raises(EditError, match="alter more than the metric"):
        with_metric(document, Place(0, "metrics", 0), entry)
