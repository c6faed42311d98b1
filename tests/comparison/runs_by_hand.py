"""Runs made by hand: trials files of tasks and their rewards."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# Task -> the reward of each attempt, or None.
Rewards = Mapping[str, Sequence[float | None]]


def write_run(path: Path, rewards: Rewards, /, **more: Any) -> Path:
    """A trials file of these rewards; `more` are fields, or functions from (task, attempt)."""
    lines = []
    for task, attempts in rewards.items():
        for number, reward in enumerate(attempts):
            fields = {
                name: value(task, number) if callable(value) else value
                for name, value in more.items()
            }
            own = None if reward is None else {"reward": reward}
            lines.append({"task": task, "rewards": own, "attempt": number, **fields})
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path
