"""Which metrics Harbor computes for a dataset, in its order and with its repetitions."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from ..contract.spec import DEFAULT_TYPE
from ..documents.wording import without_passwords_in
from ..evaluation.result import Outcome
from ..registries.registry import Dataset
from ..trials.source import Job


def in_order(
    outcomes: Sequence[Outcome], dataset: str | None, job: Job, entries: Sequence[Dataset]
) -> list[Outcome]:
    """The outcomes, each once, as Harbor lists them; as they are where its list is not known."""
    listed = _listed(dataset, job, entries)
    if listed is None:
        return list(outcomes)
    known: dict[str, Outcome] = {}
    for outcome in outcomes:
        known.setdefault(_as_text(outcome.type, outcome.kwargs), outcome)
    texts = [_as_text(entry.get("type"), entry.get("kwargs")) for entry in listed]
    return [known[text] for text in texts] if known.keys() >= set(texts) else list(outcomes)


def _listed(
    dataset: str | None, job: Job, entries: Sequence[Dataset]
) -> list[Mapping[str, Any]] | None:
    """Of each version that a job names its metrics, and behind these the job's own."""
    found: list[Any] = []
    named = False
    for each in job.datasets:
        if dataset is None or dataset not in (each.name, os.path.basename(each.path or "")):
            continue
        named = True
        if each.path is None:
            own = [e for e in entries if each.version in (None, e.version)]
            if len(own) != 1:
                return None
            found += own[0].metrics
        found += job.metrics
    if not named or not all(isinstance(entry, Mapping) for entry in found):
        return None
    return found or [{"type": DEFAULT_TYPE}]


def _as_text(type_: Any, kwargs: Any) -> str:
    return json.dumps([type_, without_passwords_in(kwargs or {})], sort_keys=True)
