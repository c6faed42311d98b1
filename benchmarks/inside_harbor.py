"""What a call of the metric script costs while trials run, against `uv run` of an empty script.

Usage: inside_harbor.py WHEEL; both scripts fetch this package from that wheel. uv on PATH.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

import timing

from harbor_metrics.registries import harbor_script

timing.ROUNDS = 41
_EMPTY = '# /// script\n# requires-python = ">=3.11"\n# dependencies = [{}]\n# ///\n'


def main() -> None:
    wheel = f"harbor-metrics @ file://{Path(sys.argv[1]).resolve()}"
    # A folder whose bytecode is kept, as that of who runs Harbor is.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "empty.py").write_text(_EMPTY.format(json.dumps(wheel)))
        (folder / "metric.py").write_text(harbor_script.text("median", {}, wheel))
        (folder / "rewards.jsonl").write_text('{"reward": 1.0}\n' * 500)
        running = {"n_total_trials": 1000, "stats": {"n_completed_trials": 500}}
        (folder / "result.json").write_text(json.dumps(running, indent=4))
        os.environ["HARBOR_METRICS_JOB"] = name
        given = ("-i", f"{name}/rewards.jsonl", "-o", f"{name}/metric.json")
        timing.compare(
            "metric script while trials run",
            ("uv", "run", f"{name}/metric.py", *given),
            ("uv", "run", f"{name}/empty.py"),
            "<= 1.15x",
        )


if __name__ == "__main__":
    main()
