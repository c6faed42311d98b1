"""Results made by hand: an outcome, a group, a result."""

from __future__ import annotations

from typing import Any

from harbor_metrics.evaluation.result import Counts, DatasetRef, Group, Outcome, Result, Spent

COUNTS = Counts(expected=3, found=3, unread=0, scored=3, missing=0, errored=0, tasks=2)


def outcome(name: str = "mean", **more: Any) -> Outcome:
    values = more.setdefault("values", {name: 0.5})
    more.setdefault("n", dict.fromkeys(values, 3))
    fields = {"type": name, "kwargs": {}, "origin": "registry", "status": "ok", **more}
    return Outcome(name=name, **fields)


def group(*outcomes: Outcome, counts: dict[str, Any] | None = None, **more: Any) -> Group:
    fields: dict[str, Any] = {
        "agent": "oracle",
        "model": "sail-1",
        "dataset": DatasetRef(name="demo", version="1.0"),
        "evals_key": "oracle__sail-1__demo",
        "complete": True,
        "exceptions": {},
        "usage": Spent(),
        "pass_at_k": {},
        **more,
    }
    known = {name: getattr(COUNTS, name) for name in COUNTS.__struct_fields__}
    return Group(counts=Counts(**{**known, **(counts or {})}), metrics=list(outcomes), **fields)


def result(*groups: Group, **more: Any) -> Result:
    return Result(sources=[], groups=list(groups), **more)
