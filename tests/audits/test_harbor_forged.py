"""No number of a job can be changed, left out, renamed or excused by a greater plan unseen."""

from __future__ import annotations

import json
import random
import re
from functools import partial

import msgspec
import pytest
from conftest import JOBS
from conftest import registry_of_job as registry
from harbor_forger import Document, forgeries, inflations

from harbor_metrics import readers
from harbor_metrics.audits import harbor_numbers
from harbor_metrics.audits.row import Row, Verdict
from harbor_metrics.readers.harbor.reported import reported
from harbor_metrics.registries.registry import Registries
from harbor_metrics.trials.source import Source

NAMES = ("single", "graded", "multi", "script", "interrupted", "two-models")
HOLDS = (Verdict.EQUAL, Verdict.EXPLAINED)
SOME = 40
DROPPED = re.compile(r"without .*\.metrics\.[0-9]+$")


def rows(source: Source, document: Document, name: str | None) -> list[Row]:
    """The audit of a job with another result.json; with the registry of `name` or without."""
    assert source.job is not None
    total = document.get("n_total_trials")
    planned = total if type(total) is int else None
    forged = msgspec.structs.replace(
        source,
        job=msgspec.structs.replace(source.job, n_total_trials=planned),
        reported=partial(reported, document),
    )
    registries = Registries([registry(name)] if name else [])
    return list(harbor_numbers.rows(forged, registries, []))


def holding(rows: list[Row]) -> set[tuple[object, ...]]:
    return {(r.group, r.name, r.reported, r.recomputed) for r in rows if r.verdict in HOLDS}


def others(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row.verdict not in HOLDS]


@pytest.mark.parametrize("with_registry", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_nothing_of_a_job_can_be_changed_unseen(name: str, with_registry: bool) -> None:
    path = JOBS / name
    (source,) = readers.read(str(path))
    document = json.loads((path / "result.json").read_text())
    known = name if with_registry else None
    honest = rows(source, document, known)
    assert Verdict.DIFFERS not in {row.verdict for row in honest}
    before = holding(honest)
    changed = [*forgeries(document), *inflations(document, 4), *inflations(document, 60)]
    # Without a registry nothing says how many metrics there were.
    seen = [each for each in changed if with_registry or not DROPPED.search(each[0])]
    for what, forged in random.Random(1).sample(seen, min(SOME, len(seen))):
        after = rows(source, forged, known)
        assert holding(after) <= before, what
        assert others(after) != others(honest), what
