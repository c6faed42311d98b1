"""A warm run of a metric script, against `python script.py` in its environment and `uv run`.

By the clock, and by the processor's time of all processes, those of the sandbox among them.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from timing import ROUNDS
from uv import find_uv_bin

from harbor_metrics.confinement.sandbox import adopt_orphans
from harbor_metrics.confinement.workplace import Workplace
from harbor_metrics.errors import MetricFailure
from harbor_metrics.registries.script_file import find
from harbor_metrics.registries.template import SCRIPT
from harbor_metrics.scripts.environment import environment
from harbor_metrics.scripts.execution import Inputs, execute
from harbor_metrics.scripts.options import ScriptOptions
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import Trial

AT_MOST = 1.05
UV_RUN = "uv run"
WITH_PANDAS = SCRIPT.replace("dependencies = []", 'dependencies = ["pandas"]').replace(
    "import json\n", "import json\n\nimport pandas\n", 1
)


class Took(NamedTuple):
    """Seconds of the processor and of the clock."""

    processor: float
    clock: float


def main() -> None:
    # With it, uv would compile pandas anew in each run.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    adopt_orphans()
    compare("without dependencies", SCRIPT, 6 * ROUNDS)
    assert "import pandas" in WITH_PANDAS
    try:
        compare("with pandas", WITH_PANDAS, 3 * ROUNDS)
    except MetricFailure as error:
        print(f"with pandas: not measured, {error}")


def compare(title: str, text: str, rounds: int) -> None:
    """Measure one script in every way, in turn, and print the ratios."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "m.py").write_text(text)
        (folder / "r.jsonl").write_text(json.dumps({"reward": 1.0}) + "\n")
        script = find(str(folder / "m.py"), None)
        inputs = Inputs.of(Table([Trial(task="t", rewards={"reward": 1.0})]))
        with Workplace() as place:
            made = environment(script, place)
        files = ("-i", str(folder / "r.jsonl"), "-o", str(folder / "o.json"))
        bare = (*made.command, script.path, *files)
        # The same Python: another version can take more time to start than all that is compared.
        python = os.path.realpath(made.command[0])
        uv = (find_uv_bin(), "run", "--quiet", "--python", python, "--script", script.path, *files)

        def other(command: tuple[str, ...]) -> Callable[[], object]:
            return lambda: subprocess.run(command, capture_output=True, check=True)

        def ours(**options: Any) -> Callable[[], object]:
            def run() -> None:
                with Workplace() as place:
                    execute(script, inputs, ScriptOptions(**options), place)

            return run

        ways = {
            "its own python": other(bare),
            UV_RUN: other(uv),
            "ours, sandboxed": ours(),
            "ours, Landlock alone": ours(layers=("landlock",)),
            "ours, namespaces alone": ours(layers=("namespaces",)),
            "ours, --sandbox off": ours(sandbox="off"),
        }
        for run in (*ways.values(), *ways.values()):
            took(run)
        taken = [{what: took(run) for what, run in ways.items()} for _ in range(rounds)]
    print(f"{title}, against `uv run`, medians of {rounds}")
    for what in ways:
        if what == UV_RUN:
            continue
        for i, kind in enumerate(("processor", "clock")):
            seconds = median(row[what][i] for row in taken)
            peer = median(row[UV_RUN][i] for row in taken)
            ratio = median(row[what][i] / row[UV_RUN][i] for row in taken)
            target = f"at most {AT_MOST}x" if what.startswith("ours") else ""
            print(
                f"script {title}, {what}, {kind:<10} {seconds * 1e3:6.1f} ms against "
                f"{peer * 1e3:6.1f} ms  {ratio:5.2f}x  {target}".rstrip()
            )


def took(run: Callable[[], object]) -> Took:
    """What a run takes with all that it starts, those that it does not wait for among them."""
    before, started = _processor(), time.perf_counter()
    run()
    clock = time.perf_counter() - started
    try:
        while os.wait():
            pass
    except ChildProcessError:
        return Took(_processor() - before, clock)


def _processor() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


if __name__ == "__main__":
    main()
