"""Datasets that the real Harbor runs: each task says its rewards, by attempt, in its test.sh."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_TOML = 'schema_version = "1.4"\n[metadata]\ncategory = "{}"\n[verifier]\ntimeout_sec = 60.0\n'
# The n-th trial of a task that is verified takes the n-th of its rewards: a folder is made by one
# alone. An agent that did not run the solution gets an eighth.
_VERIFY = """#!/bin/bash
[ -e "$HARBOR_ROOT/app/solved" ] ||
  {{ echo 0.125 > "$HARBOR_ROOT/logs/verifier/reward.txt"; exit; }}
rewards=({rewards})
n=0
until mkdir "{counter}.$n" 2>/dev/null; do n=$((n + 1)); done
reward=${{rewards[$((n % ${{#rewards[@]}}))]}}
[ "$reward" = none ] || echo "$reward" > "$HARBOR_ROOT/logs/verifier/reward.txt"
"""


def write(
    folder: Path,
    name: str,
    tasks: Mapping[str, Sequence[float | None]],
    *,
    metrics: Sequence[Any] = (),
    seconds: float = 0,
) -> dict[str, Any]:
    """The tasks of a dataset in `folder/NAME`, and its entry; None is a trial without rewards."""
    entries = []
    for i, (task, rewards) in enumerate(tasks.items()):
        place = folder / name / task
        for part in ("environment", "solution", "tests"):
            (place / part).mkdir(parents=True)
        (place / "task.toml").write_text(_TOML.format("ab"[i % 2]))
        (place / "instruction.md").write_text(f"Solve {task}.\n")
        (place / "environment" / "Dockerfile").write_text("FROM scratch\n")
        (place / "solution" / "solve.sh").write_text(
            f'#!/bin/bash\nsleep {seconds}\ntouch "$HARBOR_ROOT/app/solved"\n'
        )
        listed = " ".join("none" if reward is None else str(reward) for reward in rewards)
        script = _VERIFY.format(rewards=listed, counter=place.resolve() / "taken")
        (place / "tests" / "test.sh").write_text(script)
        entries.append({"name": task, "path": f"{name}/{task}"})
    return {
        "name": name,
        "version": "1.0",
        "description": "Written for a test.",
        "metrics": list(metrics),
        "tasks": entries,
    }


def write_registry(folder: Path, *datasets: Mapping[str, Any]) -> None:
    (folder / "registry.json").write_text(json.dumps(datasets, indent=2) + "\n")
