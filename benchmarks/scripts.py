"""A warm run of a metric script, against `python script.py` in its environment and `uv run`."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from timing import ROUNDS, seconds
from uv import find_uv_bin

from harbor_metrics.confinement.workplace import Workplace
from harbor_metrics.registries.script_file import find
from harbor_metrics.registries.template import SCRIPT
from harbor_metrics.scripts.environment import environment
from harbor_metrics.scripts.execution import Inputs, execute
from harbor_metrics.scripts.options import ScriptOptions
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import Trial


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "m.py").write_text(SCRIPT)
        (folder / "r.jsonl").write_text(json.dumps({"reward": 1.0}) + "\n")
        script = find(str(folder / "m.py"), None)
        inputs = Inputs.of(Table([Trial(task="t", rewards={"reward": 1.0})]))
        with Workplace() as place:
            made = environment(script, place)
        files = ("-i", str(folder / "r.jsonl"), "-o", str(folder / "o.json"))
        bare = (*made.command, script.path, *files)
        uv = (find_uv_bin(), "run", "--quiet", "--script", script.path, *files)

        def ours(**options: Any) -> float:
            started = time.perf_counter()
            with Workplace() as place:
                execute(script, inputs, ScriptOptions(**options), place)
            return time.perf_counter() - started

        layers: dict[str, Callable[[], float]] = {
            "python m.py": lambda: seconds(bare),
            "uv run --script m.py": lambda: seconds(uv),
            "ours, sandboxed": ours,
            "ours, Landlock alone": lambda: ours(layers=("landlock",)),
            "ours, namespaces alone": lambda: ours(layers=("namespaces",)),
            "ours, --sandbox off": lambda: ours(sandbox="off"),
        }
        for run in layers.values():
            run()
        rounds = [{what: run() for what, run in layers.items()} for _ in range(3 * ROUNDS)]
        for what in layers:
            took = median(row[what] for row in rounds)
            to_bare = median(row[what] / row["python m.py"] for row in rounds)
            to_uv = median(row[what] / row["uv run --script m.py"] for row in rounds)
            print(f"{what:<26} {took * 1e3:6.1f} ms  {to_bare:5.2f}x python  {to_uv:5.2f}x uv run")
        print("sandboxed: at most 2.5x python, and at most 1x uv run")


if __name__ == "__main__":
    main()
