"""What runs on the trials of several sources is what runs on those of each of them alone.

Else one source, a stranger's perhaps, would have its metrics run on the trials of another.
"""

from __future__ import annotations

import json
import random
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import pytest
from conftest import trial, write_job

from harbor_metrics.computation.preparation import prepare
from harbor_metrics.computation.request import Request
from harbor_metrics.trials.snapshot import SNAPSHOT

SCRIPT = {"type": "uv-script", "kwargs": {"script_path": "m/score.py"}}
SKIPPING = {"type": "mean", "kwargs": {"missing": "skip"}}
MEAN, MAX, SUM = ({"type": name} for name in ("mean", "max", "sum"))
# What the registry that the job names has; None where it names none, and one that several name.
SHARED = [{"type": "min"}]
REGISTRIES = [None, [], [MEAN], [SKIPPING, MAX], [SCRIPT], [MAX, MAX], SHARED]


class Form(msgspec.Struct, frozen=True):
    """How a source comes by its metrics; `score` stands in its script."""

    kind: str
    registry: list[Any] | None = None
    extra: list[Any] = []
    configured: list[Any] = []
    version: str | None = None
    snapshot: list[Any] | None = None
    score: int = 1


FORMS = [
    Form("rows"),
    *(Form("folder of tasks", configured=own) for own in ([], [MAX], [SKIPPING], [SCRIPT])),
    *(
        Form("job", registry, extra, configured, version, snapshot, score)
        for registry, extra, configured, version, snapshot, score in product(
            REGISTRIES,
            ([], [SUM]),
            ([], [MAX], [SKIPPING], [SCRIPT]),
            ("1", "2", None),
            (None, [MAX], [SCRIPT]),
            (1, 2),
        )
        if not (extra and registry is None)
    ),
]


def entry(version: str, metrics: list[Any], extra: list[Any]) -> dict[str, Any]:
    of_dataset = {"name": "demo", "version": version, "description": "", "tasks": []}
    return {**of_dataset, "metrics": metrics, "extra_metrics": extra}


def write(who: str, form: Form) -> str:
    """A source of that form in a folder of its own; its path."""
    folder = Path(who)
    folder.mkdir()
    group = {"dataset": "demo", "agent": "oracle", "model": "sail-1"}
    if form.kind == "rows":
        rows = [{"task": f"{who}-{i}", "rewards": {"reward": i}, **group} for i in range(2)]
        Path(who, "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
        return f"{who}/rows.jsonl"
    own = {"name": "demo"} | ({"version": form.version} if form.version else {})
    if form.kind == "folder of tasks":
        own = {"path": "tasks/demo"}
    elif form.registry is SHARED:
        own["registry_path"] = "shared.json"
    elif form.registry is not None or form.snapshot is not None:
        own["registry_path"] = "own.json"
    trials = [trial(f"{who}-{i}", {"reward": i}) for i in range(2)]
    job = write_job(folder / "job", trials, datasets=[own], metrics=form.configured)
    if form.registry is not None and form.registry is not SHARED:
        of_two = entry("1", form.registry, form.extra), entry("2", [*form.registry, SUM], [])
        (folder / "own.json").write_text(json.dumps(of_two))
    if form.snapshot is not None:
        version = form.version or "1"
        known = {"name": "demo", "version": version, "entry": entry(version, form.snapshot, [])}
        (job / SNAPSHOT).write_text(json.dumps({"schema_version": "1", "datasets": [known]}))
    for place in (folder / "m", job / "m"):
        place.mkdir()
        text = f"# /// script\n# dependencies = []\n# ///\n# {form.score}\n"
        (place / "score.py").write_text(text)
    return str(job)


def running(given: tuple[str, ...], *sources: str) -> set[tuple[str, bytes | None]]:
    """The metrics that run: the entry of each, and the text of its script."""
    (group,) = prepare(Request(sources=sources, registries=given)).groups
    return {
        (metric.entry, None if metric.script is None else metric.script.text)
        for metric in group.plan.metrics
        if metric.failure is None
    }


@pytest.mark.parametrize("seed", range(3))
def test_metrics_of_pooled_sources_are_those_that_each_has_alone(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = random.Random(seed)
    for number in range(25):
        here = tmp_path / str(number)
        here.mkdir()
        monkeypatch.chdir(here)
        shared = entry("1", SHARED, []), entry("2", [*SHARED, SUM], [])
        Path("shared.json").write_text(json.dumps(shared))
        forms = drawn.sample(FORMS, drawn.choice([2, 2, 3]))
        sources = [write(f"s{i}", form) for i, form in enumerate(forms)]
        for given in ((), ("shared.json",)):
            alone = [running(given, source) for source in sources]
            for order in (sources, sources[::-1]):
                assert running(given, *order) == set.intersection(*alone), forms
