"""Honest logs of Inspect that once audited wrong: no number differs, and a changed one is seen."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec
import pytest
from conftest import LOGS

from harbor_metrics import readers
from harbor_metrics.audits.inspect_numbers import rows
from harbor_metrics.audits.row import Verdict
from harbor_metrics.trials.source import Reported, Source

FOUND = sorted((LOGS / "inspect" / "found").iterdir())
# What is not equal, and why.
ODD = {
    "one_sample": {"explained": 8},
    "own_mapping": {"unverified": 3},
    "reducers_floats": {"explained": 2},
}


def read(path: Path) -> Source:
    (source,) = readers.read(str(path), with_scores=True)
    return source


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name.partition(".")[0])
def test_found_log_audits_without_a_false_alarm(path: Path) -> None:
    times = Counter(str(row.verdict) for row in rows(read(path)))
    equal = times.pop("equal")
    assert times == ODD.get(path.name.partition(".")[0], {})
    assert equal >= 4


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name.partition(".")[0])
def test_every_verified_number_of_a_found_log_is_seen_when_changed(path: Path) -> None:
    source = read(path)
    before = [row.verdict for row in rows(source)]
    numbers = list(source.reported())

    def forged(reported: Reported) -> Reported:
        value = 0.5 if reported.value is None else reported.value
        by = max(1e-6, abs(value) * 1e-6) if isinstance(value, float) else 1
        return msgspec.structs.replace(reported, value=value + by, not_finite="")

    source.reported = lambda: map(forged, numbers)
    after = [row.verdict for row in rows(source)]
    for was, now in zip(before, after, strict=True):
        assert now == (was if was == Verdict.UNVERIFIED else Verdict.DIFFERS)
