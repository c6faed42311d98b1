"""Pages to test: of trials made by hand, and what a page consists of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harbor_metrics.computation.request import Request
from harbor_metrics.render.page import page
from harbor_metrics.reports.request import report


def write_trials(path: Path, lines: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def page_of(*sources: str | Path, **options: Any) -> str:
    return page(report(Request(sources=tuple(map(str, sources)), **options)))


def grid(
    n_tasks: int, n_attempts: int, *, seed: int = 0, prefix: str = "task-", **more: Any
) -> list[dict[str, Any]]:
    """Trials that pass by a rule that looks like chance."""
    return [
        {
            "task": f"{prefix}{task:03d}",
            "attempt": attempt + 1,
            "dataset": "demo",
            "agent": "oracle",
            "rewards": {"reward": float((task * 7919 + attempt * 104729 + seed) % 97 > task % 89)},
            **more,
        }
        for task in range(n_tasks)
        for attempt in range(n_attempts)
    ]
