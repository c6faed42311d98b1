"""How often gates err, and how good the planned power is: `benchmarks/gates.py [RUNS [PART...]]`.

Every cell is drawn RUNS times (2,000 if not said), from seeds, and compared by the public function
from files in memory. A line says what was promised beside what was found. Half an hour of one
processor; a PART is one of no-worse, non-inferior, family, power.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from comparison import simulated_gates as simulated  # type: ignore[import-not-found]  # noqa: E402

from compare import line  # noqa: E402

SHAPES = ("uniform", "bimodal", "hard")
SIZES = (20, 50, 200)
MOST_PASSED = {20: 0.06, 50: 0.045, 200: 0.035}


def no_worse(folder: Path, runs: int) -> None:
    for n in SIZES:
        found = [simulated.false_alarms(folder, shape, n, 3, runs) for shape in SHAPES]
        line(f"no-worse: fails of equal agents, {n} tasks", found, 0, 0.03)


def non_inferior(folder: Path, runs: int) -> None:
    for n in SIZES:
        found = [simulated.wrongly_passed(folder, shape, n, 3, runs) for shape in SHAPES]
        line(f"non-inferior: passes at the margin, {n} tasks", found, 0, MOST_PASSED[n])


def family(folder: Path, runs: int) -> None:
    for several in (3, 5):
        found = [simulated.family(folder, "uniform", n, 3, several, runs) for n in (20, 50)]
        line(f"any of {several} equal agents called different", found, 0, 0.055)


def power(folder: Path, runs: int) -> None:
    for n in SIZES:
        most = 0.03 if n == SIZES[-1] else 0.06
        for k in (1, 3):
            found = [
                simulated.power_beyond_analytic(folder, shape, gain, n, k, runs)
                for shape in ("uniform", "hard")
                for gain in simulated.GAINS
            ]
            line(f"power: simulated less 0.8, {n} tasks x {k}", found, -most, most)


PARTS = {
    "no-worse": no_worse, "non-inferior": non_inferior, "family": family, "power": power,
}  # fmt: skip

if __name__ == "__main__":
    MEMORY = Path("/dev/shm")
    PLACE = str(MEMORY) if MEMORY.is_dir() else None
    RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    STARTED = time.process_time()
    with tempfile.TemporaryDirectory(dir=PLACE) as FOLDER:
        for PART in sys.argv[2:] or PARTS:
            PARTS[PART](Path(FOLDER), RUNS)
    print(f"{time.process_time() - STARTED:.0f} s of processor")
