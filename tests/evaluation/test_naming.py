"""What metrics and their values are called."""

from __future__ import annotations

from typing import Any

import pytest
from results_by_hand import outcome

from harbor_metrics.evaluation.naming import in_columns, names, told_by
from harbor_metrics.evaluation.result import Outcome, PluginRef, ScriptRef

SKIP = {"missing": "skip"}
BY = {"metric": "mean", "by": "side"}


@pytest.mark.parametrize(
    ("fields", "called"),
    [
        ({}, {"mean": "mean"}),
        ({"values": {"a": 1, "b": 2}}, {"a": "mean: a", "b": "mean: b"}),
        ({"kwargs": SKIP}, {"mean": "mean (missing=skip)"}),
        (
            {"kwargs": {"reducer": {"type": "pass-at-k", "kwargs": {"k": 2}}}},
            {"mean": "mean (reducer=pass@2)"},
        ),
        ({"name": "pass-at-k", "kwargs": {"k": 5}}, {"pass-at-k": "pass@5"}),
        ({"name": "pass-hat-k", "kwargs": {"k": 5}}, {"pass-hat-k": "pass^5"}),
        (
            {"name": "pass-at-k", "kwargs": {"k": [1, 2]}, "values": {"1": 0, "2": 1}},
            {"1": "pass@1", "2": "pass@2"},
        ),
        (
            {"name": "pass-at-k", "kwargs": {"k": [1, 2], **SKIP}, "values": {"1": 0, "2": 1}},
            {"1": "pass@k (missing=skip): pass@1", "2": "pass@k (missing=skip): pass@2"},
        ),
        (
            {"name": "pass-at-k", "kwargs": {"k": [1]}, "values": {"a/1": 0, "b/1": 1}},
            {"a/1": "pass@k: a: pass@1", "b/1": "pass@k: b: pass@1"},
        ),
        (
            {
                "name": "pass_at_2",
                "type": "pass-at-k",
                "kwargs": {"k": 2},
                "values": {"pass-at-k": 1},
            },
            {"pass-at-k": "pass@2"},
        ),
        (
            {
                "name": "evsys/pass@3",
                "type": "any-first-k",
                "kwargs": {"method": "available", "k": 3},
                "values": {"any-first-k": 1},
            },
            {"any-first-k": "evsys/pass@3"},
        ),
        (
            {"name": "grouped", "kwargs": BY, "values": {"lee": 1, "all": 2}},
            {"lee": "mean grouped by side: lee", "all": "mean grouped by side: all"},
        ),
        (
            {
                "name": "grouped",
                "kwargs": {"metric": {"type": "pass@2"}, "by": ["a", "b"], "all": False},
                "values": {"x/y": 1},
            },
            {"x/y": "pass@2 grouped by a and b (all=false): x/y"},
        ),
        (
            {
                "name": "grouped",
                "kwargs": {"metric": {"type": "pass-at-k", "kwargs": {"k": [1, 2]}}, "by": "side"},
                "values": {"lee/1": 1, "all/2": 1},
            },
            {
                "lee/1": "pass@k grouped by side: lee: pass@1",
                "all/2": "pass@k grouped by side: all: pass@2",
            },
        ),
        (
            {
                "name": "uv-script",
                "kwargs": {"script_path": "metrics/spread.py"},
                "values": {"spread": 1},
            },
            {"spread": "spread.py: spread"},
        ),
        *(
            (
                {"name": "uv-script", "kwargs": {"script_path": path}, "values": {key: 1}},
                {key: whole},
            )
            for path, key, whole in (
                ("metrics/mean", "mean", "script mean: mean"),
                ("mean (missing=skip)", "v", "script mean (missing=skip): v"),
                ("script mean", "script mean", "script script mean: script mean"),
                ("m.py", "m.py", "m.py"),
                ("m.py\x1b", "v", "script m.py\\x1b: v"),
            )
        ),
        ({"name": "mean", "values": {"a\x1b": 1}}, {"a\x1b": "mean: a\\x1b"}),
    ],
)
def test_metrics_are_called_as_people_call_them(
    fields: dict[str, Any], called: dict[str, str]
) -> None:
    made = outcome(fields.pop("name", "mean"), **fields)
    assert {value: names(made).whole(value) for value in made.values} == called


def test_kwargs_that_are_said_elsewhere_are_left_out() -> None:
    assert names(outcome(kwargs={**SKIP, "key": "r"}), ["missing"]).metric == "mean (key=r)"


PLUGIN = outcome(plugins=[PluginRef(distribution="theirs", version="1")])
SCRIPT = outcome("uv-script", kwargs={"script_path": "mean"})


@pytest.mark.parametrize(
    "standing",
    [
        ([SCRIPT], [outcome(kwargs=SKIP)], [outcome()]),
        ([SCRIPT, PLUGIN], [outcome()]),
        ([outcome(kwargs=SKIP), outcome()],),
    ],
)
def test_plain_name_is_that_of_our_metric_by_default(standing: tuple[list[Outcome], ...]) -> None:
    """Where several are called alike, whoever stands first."""
    lines = [[(told_by(each), "v", "mean", each) for each in line] for line in standing]
    (mean,) = (line["mean"] for line in in_columns(lines) if "mean" in line)
    assert mean == outcome()


def test_names_of_other_columns_are_taken() -> None:
    lines = [[(told_by(PLUGIN), "v", "missing", PLUGIN)]]
    assert in_columns(lines, {"missing"}) == [{"missing#2": PLUGIN}]


def test_functions_of_other_files_are_other_metrics() -> None:
    made = [
        outcome("m.py:f", script=ScriptRef(path="m.py", sha256=digest * 64)) for digest in "abb"
    ]
    assert [told_by(each) == told_by(made[1]) for each in made] == [False, True, True]
