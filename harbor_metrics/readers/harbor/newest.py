"""Which job of a folder of jobs was started last."""

from __future__ import annotations

import os
from datetime import datetime

from ...documents.paths import leads_out
from .documents import fields


def newest_job(folder: str) -> str | None:
    """The path of the job in the folder with the latest `started_at`, None where none says one.

    A link that leads out of the folder is none of its jobs.
    """
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return None
    started = [
        (when, path)
        for path in (os.path.join(folder, name) for name in names)
        if not leads_out(path, folder) and (when := _started(path)) is not None
    ]
    return max(started)[1] if started else None


def _started(job: str) -> float | None:
    """When a job was started, in seconds; None where it does not say, or the folder is no job."""
    result = fields(os.path.join(job, "result.json"))
    written = result.get("started_at")
    # A trial has a `started_at`, too.
    if not isinstance(written, str) or "n_total_trials" not in result:
        return None
    try:
        # Harbor writes the time of the machine; where a zone stands beside it, that counts.
        return datetime.fromisoformat(written).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
