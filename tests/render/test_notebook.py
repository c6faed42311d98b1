"""What a notebook shows of a result."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import JOBS
from render.pages import grid, write_trials
from render.test_markup import Tree

import harbor_metrics
from harbor_metrics.render.notebook import MOST_BYTES


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> harbor_metrics.Result:
    """Sixty models, each with ten metrics."""
    lines = [line for i in range(60) for line in grid(4, 2, seed=i, model=f"model-{i}")]
    path = tmp_path_factory.mktemp("many") / "trials.jsonl"
    metrics = ["sum", "max", "min", "std", "stderr", "median", "pass-at-k k=[1,2]", "count"]
    return harbor_metrics.compute(write_trials(path, lines), metrics=metrics)


def test_a_picture_and_the_table() -> None:
    shown = Tree(harbor_metrics.compute(JOBS / "multi")._repr_html_())
    assert shown.tags.count("table") == 1
    assert {"svg", "title", "desc"} <= set(shown.tags)
    assert "0.370 [0.214, 0.560]" in shown.text


def test_attributes_alone_and_nothing_that_other_cells_could_meet() -> None:
    shown = Tree(harbor_metrics.compute(JOBS / "two-models")._repr_html_())
    assert not {"style", "script", "link"} & set(shown.tags)
    # A `$` in a name began a formula, which MathJax set over the numbers beside it.
    assert ("class", "tex2jax_ignore mathjax_ignore") in shown.attributes
    assert not {"style", "id", "href"} & {name for name, _ in shown.attributes}


def test_a_cell_stays_small_and_says_what_it_leaves_out(many: harbor_metrics.Result) -> None:
    assert len(many._repr_html_().encode()) <= MOST_BYTES
    assert "more lines" in many._repr_html_()
    assert len(many._repr_markdown_().encode()) <= MOST_BYTES


def test_markdown_is_cut_at_a_whole_line(tmp_path: Path) -> None:
    rewards = {f"reward-{'x' * 200}-{i}": 1 for i in range(200)}
    path = write_trials(tmp_path / "t.jsonl", [{"task": "a", "rewards": rewards}])
    text = harbor_metrics.compute(path)._repr_markdown_()
    assert len(text.encode()) <= MOST_BYTES
    assert text.endswith("|\n\nThe other lines are left out.\n")


def test_a_console_shows_the_table_of_a_terminal() -> None:
    class Printer:
        text = staticmethod(lambda text: printed.append(text))

    printed: list[str] = []
    harbor_metrics.compute(JOBS / "single")._repr_pretty_(Printer(), False)
    assert printed[0].startswith("oracle on local-single@1.0\n")


def test_a_comparison_shows_its_differences() -> None:
    comparison = harbor_metrics.compare(JOBS / "two-models", metrics="pass-at-k k=[1,2]")
    shown = Tree(comparison._repr_html_())
    assert shown.tags.count("table") == 1
    # The picture, and in it a mark for each of the rows.
    assert shown.tags.count("svg") == 1 + len(comparison.comparisons[0].rows)
    assert not {"style", "id", "href"} & {name for name, _ in shown.attributes}
    assert len(comparison._repr_html_().encode()) <= MOST_BYTES
    assert "| mean | 0.460 | 0.500 | +0.040 |" in comparison._repr_markdown_()


@pytest.mark.notebook
@pytest.mark.skipif(
    importlib.util.find_spec("nbclient") is None,
    reason="no nbclient here; .ci/run installs the group notebook",
)
def test_a_notebook_that_is_run_shows_the_same(tmp_path: Path) -> None:
    job = JOBS / "two-models"
    cells = [
        f"import harbor_metrics\nharbor_metrics.{verb}({os.fspath(job)!r})"
        for verb in ("compute", "compare")
    ]
    empty = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    kernel = {"name": "python3", "display_name": "Python"}
    notebook = {
        "nbformat": 4,
        "nbformat_minor": 4,
        "metadata": {"kernelspec": kernel},
        "cells": [{**empty, "source": source} for source in cells],
    }
    path = tmp_path / "notebook.ipynb"
    path.write_text(json.dumps(notebook))
    run = [sys.executable, "-m", "jupyter", "execute", "--inplace", os.fspath(path)]
    done = subprocess.run(run, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    ran = json.loads(path.read_text())["cells"]
    for cell, own in zip(
        ran, (harbor_metrics.compute(job), harbor_metrics.compare(job)), strict=True
    ):
        (shown,) = (o["data"] for o in cell["outputs"] if o["output_type"] == "execute_result")
        assert "".join(shown["text/html"]) == own._repr_html_()
        assert "".join(shown["text/markdown"]) == own._repr_markdown_()
        assert len("".join(shown["text/html"]).encode()) <= MOST_BYTES
        assert "local-single@1.0" in "".join(shown["text/plain"])


def test_warnings_stand_below_the_numbers(tmp_path: Path) -> None:
    """They were in `.diagnostics` alone, and a notebook is where nobody sees standard error."""
    lines = [{"task": f"t{i}", "rewards": {"reward": i}} for i in range(3)]
    paths = [
        write_trials(tmp_path / f"{name}.jsonl", lines[: 3 - i]) for i, name in enumerate("ab")
    ]
    copied = [paths[0], write_trials(tmp_path / "c.jsonl", lines)]
    said = "is a copy of"
    result = harbor_metrics.compute(*map(str, copied))
    assert said in Tree(result._repr_html_()).text
    assert (
        f"- warning\\[source-copied\\]: {tmp_path}".partition(str(tmp_path))[0]
        in result._repr_markdown_()
    )
    found = harbor_metrics.compare(*map(str, paths))
    assert "tasks-unpaired" in Tree(found._repr_html_()).text
    assert "tasks-unpaired" in found._repr_markdown_()


def places_of_texts(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in items:
        if isinstance(part, str):
            yield *at, key
        elif isinstance(part, dict | list):
            yield from places_of_texts(part, (*at, key))


@pytest.mark.parametrize("of", ["comparison", "result"])
def test_no_text_of_a_document_commands_a_terminal(of: str, tmp_path: Path) -> None:
    """Whoever has written it: the method of an interval was any text."""
    job, path = JOBS / "two-models", tmp_path / "document.json"
    metrics = "pass-at-k k=[1,2]"
    document: harbor_metrics.Comparison | harbor_metrics.Result
    if of == "comparison":
        asked: dict[str, Any] = {"no_worse": "mean", "fail_if": "mean.p < 0.5", "detect": 0.1}
        document = harbor_metrics.compare(job, metrics=metrics, **asked)
    else:
        document = harbor_metrics.compute(job, metrics=metrics)
    document.write(str(path))
    whole = json.loads(path.read_text())
    shown = 0
    for *above, last in places_of_texts(whole):
        owner = reduce(lambda part, key: part[key], above, whole)
        text = owner[last]
        owner[last] = f"\x1b]0;owned\x07\u202e{text}"
        path.write_text(json.dumps(whole))
        owner[last] = text
        try:
            read = type(document).read(str(path))
        except harbor_metrics.HarborMetricsError:
            continue
        shown += 1
        printed: list[str] = []
        read._repr_pretty_(SimpleNamespace(text=printed.append), False)
        for text in (*printed, read._repr_markdown_(), read._repr_html_()):
            assert not set("\x1b\x07\u202e") & set(text), (above, last)
    assert shown > 20
