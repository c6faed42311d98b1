"""`convert` loses nothing that a metric can use: convert then compute equals compute."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from conftest import JOBS, LOGS, Run

import harbor_metrics
from harbor_metrics.documents import schemas
from harbor_metrics.readers import conversion

REGISTRIES = sorted(str(path) for path in (JOBS / "datasets").glob("*.registry.json"))
SOURCES = [
    *[path for path in sorted(JOBS.iterdir()) if path.name != "datasets"],
    *sorted((LOGS / "inspect").glob("*.eval")),
    *sorted((LOGS / "inspect").glob("*.gz")),
    *[path for path in sorted((LOGS / "lm_eval").iterdir()) if path.is_dir()],
]
METRICS = ["sum", "min", "max", '{"type": "mean", "kwargs": {"missing": "skip"}}']


def values(document: harbor_metrics.Result) -> bytes:
    """The values with their groups, as they stand in the result document."""
    return msgspec.json.encode(
        [
            (g.agent, g.model, g.dataset and g.dataset.name, g.counts.missing,
             [(m.name, m.values, m.n) for m in g.metrics])
            for g in document.groups
        ]
    )  # fmt: skip


def both(source: Path, tmp_path: Path, **options: str) -> tuple[bytes, bytes]:
    done = conversion.convert(str(source), **options)
    (tmp_path / "trials.jsonl").write_bytes(done.lines())
    kinds = {each.kind for each in done.sources}
    of_a_job = kinds == {"harbor-job"}
    more: dict[str, Any] = {"registry": REGISTRIES} if of_a_job else {}
    # What a run of lm-eval aggregates by itself, its trials do not say.
    more |= {"metrics": METRICS, "only_asked": "lm-eval" in {kind[:7] for kind in kinds}}
    direct = harbor_metrics.compute(str(source), **options, **more)
    after = harbor_metrics.compute(tmp_path / "trials.jsonl", **more)
    assert any(m.values for g in direct.groups for m in g.metrics)
    return values(direct), values(after)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_convert_then_compute_is_compute(source: Path, tmp_path: Path) -> None:
    direct, after = both(source, tmp_path)
    assert direct == after


@pytest.mark.parametrize(
    "text",
    [
        '{"reward": 1}\nnull\n{}\n{"reward": 0.1}\n{"other": 3}\n',
        '{"a": 1, "b": 0.30000000000000004}\n{"a": 2}\n',
        '{"task": "t", "attempt": 2, "rewards": {"r": 1e-300}}\n{"task": "t", "rewards": null}\n',
        "[[1, 0.5, null], [], [0.1]]",
        '{"x": [1.0, 0], "y": [0.7]}',
        "task,reward,attempt,kind\na,0.1,1,x\na,,2,y\nb,1,1,x\n",
    ],
)
def test_convert_then_compute_is_compute_for_sources_by_hand(text: str, tmp_path: Path) -> None:
    (tmp_path / "source").write_text(text)
    direct, after = both(tmp_path / "source", tmp_path)
    assert direct == after


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_the_schema_validates_what_is_written(source: Path) -> None:
    validator = jsonschema.Draft202012Validator(schemas.bundled("trials"))
    lines = conversion.convert(str(source)).lines().splitlines()
    assert lines
    for line in lines[:: max(1, len(lines) // 20)]:
        validator.validate(json.loads(line))


@pytest.mark.parametrize(
    "metric",
    [
        "exact-match",
        '{"type": "grouped", "kwargs": {"metric": "exact-match", "by": "kind"}}',
    ],
)
def test_texts_of_an_inspect_log_are_read_where_a_metric_needs_them(
    metric: str, cli: Run, tmp_path: Path
) -> None:
    source = LOGS / "inspect" / "reducers.eval"
    direct = cli("compute", source, "--metric", metric, "--format", "json")
    assert cli("convert", source, "-o", "t.jsonl").returncode == 0
    after = cli("compute", "t.jsonl", "--metric", metric, "--format", "json")
    (first,), (second,) = (json.loads(done.stdout)["groups"] for done in (direct, after))
    assert first["metrics"] == second["metrics"]


def test_what_a_job_lacks_is_said(cli: Run) -> None:
    done = cli("convert", JOBS / "interrupted", "-o", "t.jsonl")
    assert "job-not-finished" in done.stderr
