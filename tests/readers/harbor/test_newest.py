"""Which job was started last."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harbor_metrics.readers.harbor.newest import newest_job


def job(folder: Path, started: object) -> None:
    folder.mkdir(parents=True)
    result = {"n_total_trials": 1, "stats": {}, "started_at": started}
    (folder / "result.json").write_text(json.dumps(result))


@pytest.mark.parametrize(
    ("started", "newest"),
    [
        ({"b": "2026-01-02T00:00:00", "a": "2026-01-03T00:00:00"}, "a"),
        ({"b": "2026-01-03T00:00:00.5", "a": "2026-01-03T00:00:00.25"}, "b"),
        ({"b": "2026-01-03T01:00:00+02:00", "a": "2026-01-03T00:00:00Z"}, "a"),
        ({"b": None, "a": "2026-01-03T00:00:00", "c": "soon"}, "a"),
        ({"b": None}, None),
        ({}, None),
    ],
)
def test_newest_job_is_the_one_that_was_started_last(
    started: dict[str, object], newest: str | None, tmp_path: Path
) -> None:
    for name, when in started.items():
        job(tmp_path / "jobs" / name, when)
    expected = None if newest is None else str(tmp_path / "jobs" / newest)
    assert newest_job(str(tmp_path / "jobs")) == expected


def test_what_is_no_job_is_passed_over(tmp_path: Path) -> None:
    job(tmp_path / "a", "2026-01-01T00:00:00")
    (tmp_path / "b").mkdir()
    trial = {"trial_name": "t", "started_at": "2026-01-02T00:00:00"}
    (tmp_path / "b" / "result.json").write_text(json.dumps(trial))
    (tmp_path / "c").write_text("")
    assert newest_job(str(tmp_path)) == str(tmp_path / "a")
