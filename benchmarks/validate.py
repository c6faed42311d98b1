"""`validate` on a registry of 26 MB, against reading it and against check-jsonschema."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from timing import OURS, compare

LOAD = "import json, sys; json.load(open(sys.argv[1]))"


def registry() -> list[dict[str, Any]]:
    """200 datasets with 500 tasks each."""
    return [
        {
            "name": f"dataset-{i}",
            "version": "1.0",
            "description": "A dataset as large as the largest that is known.",
            "metrics": [{"type": "mean"}, {"type": "max"}],
            "tasks": [
                {
                    "name": f"task-{i}-{j}",
                    "git_url": "https://example.org/some/repository-with-tasks.git",
                    "git_commit_id": f"{i * 1000 + j:040x}",
                    "path": f"datasets/dataset-{i}/some/longer/path/to/task-{j}",
                }
                for j in range(500)
            ],
        }
        for i in range(200)
    ]


def spoil(datasets: list[dict[str, Any]], n: int) -> None:
    """Put n mistakes of three kinds into tasks here and there."""
    rng = random.Random(1)
    for i in range(n):
        task = rng.choice(rng.choice(datasets)["tasks"])
        if i % 3 == 0:
            task.pop("path", None)
        elif i % 3 == 1:
            task["name"] = 5
        else:
            task["git_comit_id"] = task.pop("git_commit_id", "x")


def main(check_jsonschema: str | None) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        datasets = registry()
        (folder / "valid.json").write_text(json.dumps(datasets, indent=2))
        spoil(datasets, 900)
        (folder / "wrong.json").write_text(json.dumps(datasets, indent=2))
        small = Path(__file__).parent.parent / "registry" / "registry.json"
        valid = (*OURS, "validate", str(folder / "valid.json"))
        load = (sys.executable, "-c", LOAD, str(folder / "valid.json"))
        compare("26 MB, json.load", valid, load, "at most 3x")
        wrong = (*OURS, "validate", str(folder / "wrong.json"))
        compare("900 mistakes, none", wrong, valid, "at most 2x")
        bare = (sys.executable, "-c", "pass")
        compare("a small file, bare python", (*OURS, "validate", str(small)), bare, "at most 10x")
        if check_jsonschema:
            schema = subprocess.run((*OURS, "schema", "registry"), capture_output=True, check=True)
            (folder / "schema.json").write_bytes(schema.stdout)
            arguments = ("--schemafile", str(folder / "schema.json"), str(folder / "valid.json"))
            compare("26 MB, check-jsonschema", valid, (check_jsonschema, *arguments), "1/15x")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
