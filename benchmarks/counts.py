"""What large inputs take, against the limit of the machine and against what it was: ratios.

Byte-compile first, as for `start.py`. Needs compilers of C and C++, and 3 GB of disk; takes about
half an hour. Give a Python that has harbor-metrics of commit 593eff9, and some rows to measure only
those. Exits 1 where a ratio is above what it may be at most, or could not be measured.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from compute import write_job
from growth import slope
from timing import OURS, Command, Cost, cost
from validate import LOAD, registry

ROUNDS = 5
LIMITS = Path(__file__).parent / "limits"
MB = 1 << 20
READ_LOG = """
import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as log:
    for name in ("header.json", "summaries.json"):
        json.loads(log.read(name))
"""
# A name, what was measured, and what it may be at most.
Judged = tuple[str, float, float]


def write_rewards(path: Path, n: int) -> None:
    """Half ones, half zeros, three in a hundred null."""
    rng = random.Random(1)
    kinds = ['{"reward": 1.0}\n', '{"reward": 0.0}\n', "null\n"]
    with path.open("w") as file:
        for start in range(0, n, 100_000):
            file.writelines(rng.choices(kinds, [97, 97, 6], k=min(100_000, n - start)))


def write_distinct(path: Path, n: int) -> None:
    rng = random.Random(1)
    with path.open("w") as file:
        file.writelines(f'{{"reward": {rng.random()!r}}}\n' for _ in range(n))


def write_trials(path: Path, n: int) -> None:
    """Ten attempts at each task."""
    rng = random.Random(1)
    fixed = '"agent": "oracle", "model": "sail-1", "dataset": "d"'
    with path.open("w") as file:
        for i in range(n):
            task = f"task-{i // 10:06d}"
            reward = f'{{"reward": {float(rng.random() < 0.4)}}}' if rng.random() > 0.03 else "null"
            file.write(
                f'{{"task": "{task}", "attempt": {i % 10 + 1}, "trial": "{task}__{i:07x}", {fixed},'
                f' "rewards": {reward}, "usage": {{"cost_usd": {rng.random():.4f}}}}}\n'
            )


def write_evsys(path: Path, n: int) -> None:
    path.write_text(json.dumps([[float(i % 2), float(i % 3 == 0)] for i in range(n // 2)]))


def write_csv(path: Path, n: int) -> None:
    with path.open("w") as file:
        file.write("task,attempt,reward\n")
        file.writelines(f"t{i // 4},{i % 4},{i % 3 % 2}\n" for i in range(n))


def write_samples(path: Path, n: int) -> None:
    """Samples of lm-eval as short as they can be."""
    with path.open("w") as file:
        for i in range(n):
            file.write(
                f'{{"doc_id": {i}, "doc": {{"q": "q{i}"}}, "target": "a", "resps": [["a"]], '
                f'"filtered_resps": ["a"], "filter": "none", "metrics": ["acc"], "acc": {i % 2}}}\n'
            )


def write_log(path: Path, n: int) -> None:
    """An Inspect log of samples of 7 KB, with the summaries that Inspect writes."""
    ran = {"task": "t", "model": "m", "dataset": {"samples": n}, "config": {}}
    header = {"version": 2, "status": "success", "eval": ran, "plan": {}, "samples": []}
    messages = [{"role": "user", "content": f"word {i} " * 40} for i in range(16)]
    summaries = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for i in range(n):
            short = {
                "id": i,
                "epoch": 1,
                "input": f"Question {i}",
                "target": "a",
                "metadata": {"kind": "short"},
                "scores": {"match": {"value": "CI"[i % 2], "answer": "a", "metadata": {}}},
                "model_usage": {"m": {"input_tokens": 900, "output_tokens": 40}},
                "completed": True,
            }
            summaries.append(short)
            whole = json.dumps({**short, "messages": messages})
            archive.writestr(f"samples/{i}_epoch_1.json", whole)
        archive.writestr("summaries.json", json.dumps(summaries))
        archive.writestr("header.json", json.dumps(header))


def write_registry(path: Path, n: int) -> None:
    """So many times 26 MB."""
    datasets = [dict(dataset) for _ in range(n) for dataset in registry()]
    for i, dataset in enumerate(datasets):
        dataset["name"] = f"dataset-{i}"
    path.write_text(json.dumps(datasets, indent=2))


class Bench:
    """The inputs, made once, and the limits, compiled once."""

    def __init__(self, folder: Path, before: str | None) -> None:
        self.folder = folder
        self.before = before

    @cache  # noqa: B019  # there is one
    def made(self, write: Callable[[Path, int], None], name: str, n: int) -> str:
        path = self.folder / f"{n}-{name}"
        write(path, n)
        return str(path)

    @cache  # noqa: B019  # there is one
    def limit(self, source: str) -> str:
        program = str(self.folder / source.replace(".", "-"))
        compiler = "g++" if source.endswith("cpp") else "gcc"
        subprocess.run((compiler, "-O3", "-o", program, str(LIMITS / source)), check=True)
        return program

    def cost(self, command: Command, processors: str) -> Cost:
        found = cost(command, self.folder, processors=processors)
        if found.code:
            raise SystemExit(f"{command}: {found.said}")
        return found

    def ratio(
        self,
        ours: Command,
        other: Command,
        of: str = "cpu",
        processors: tuple[str, str] = ("one",) * 2,
    ) -> tuple[float, int]:
        """The median of the ratio pair by pair, and the most memory that ours took."""
        pairs = [
            (self.cost(ours, processors[0]), self.cost(other, processors[1]))
            for _ in range(ROUNDS + 1)
        ][1:]
        ratio = statistics.median(getattr(a, of) / getattr(b, of) for a, b in pairs)
        return ratio, max(a.peak for a, _ in pairs)


def rewards(bench: Bench) -> Iterator[Judged]:
    path = bench.made(write_rewards, "rewards.jsonl", 10**7)
    ours = (*OURS, "compute", path)
    ratio, peak = bench.ratio(ours, (bench.limit("rewards.cpp"), path))
    yield "10⁷ rewards, CPU / C++ from_chars", ratio, 12
    yield "10⁷ rewards, MB", peak / MB, 40
    ratio, _ = bench.ratio(ours, ours, "wall", ("all", "one"))
    yield "10⁷ rewards, wall of two processes / one", ratio, 0.65


def trials(bench: Bench) -> Iterator[Judged]:
    yield from _against_before(bench, bench.made(write_trials, "trials.jsonl", 10**6), 0.55, 70)


def distinct(bench: Bench) -> Iterator[Judged]:
    path = bench.made(write_distinct, "distinct.jsonl", 10**6)
    yield from _against_before(bench, path, 1.0, 70)


def _against_before(bench: Bench, path: str, most: float, memory: int) -> Iterator[Judged]:
    what = Path(path).stem
    if bench.before is None:
        yield f"{what}: a Python with 593eff9 was not given", float("nan"), most
        return
    before = (bench.before, "-m", "harbor_metrics", "compute", path)
    ratio, peak = bench.ratio((*OURS, "compute", path), before)
    yield f"{what}, CPU / 593eff9", ratio, most
    yield f"{what}, MB", peak / MB, memory


def job(bench: Bench) -> Iterator[Judged]:
    path = bench.made(write_job, "job", 50_000)
    ours, limit = (*OURS, "compute", path), (bench.limit("job.c"), path)
    ratio, peak = bench.ratio(ours, limit)
    yield "job of 50,000, CPU / C scandir and read", ratio, 3.9
    yield "job of 50,000, MB", peak / MB, 40
    ratio, _ = bench.ratio(ours, limit, "wall", ("all", "one"))
    yield "job of 50,000, wall of two processes / C", ratio, 2.6


def validate(bench: Bench) -> Iterator[Judged]:
    path = bench.made(write_registry, "registry.json", 1)
    load = (sys.executable, "-c", LOAD, path)
    ratio, _ = bench.ratio((*OURS, "validate", path), load)
    yield "validate of 26 MB, CPU / json.load", ratio, 2.6


def log(bench: Bench) -> Iterator[Judged]:
    path = bench.made(write_log, "log.eval", 10_000)
    read = (sys.executable, "-c", READ_LOG, path)
    ratio, _ = bench.ratio((*OURS, "compute", path), read)
    yield "Inspect log of 10,000, CPU / zip and JSON of it", ratio, 3


def memory(bench: Bench) -> Iterator[Judged]:
    """How much more of ten times as much validate and convert take, and add of its text."""
    for write, name, small in (
        (write_rewards, "rewards.jsonl", 10**6),
        (write_trials, "trials.jsonl", 10**5),
    ):
        paths = [bench.made(write, name, small * times) for times in (1, 10)]
        for command in (("validate",), ("convert", "-o", os.devnull)):
            peaks = [bench.cost((*OURS, *command, path), "one").peak for path in paths]
            growth = peaks[1] / peaks[0]
            yield f"{command[0]} of ten times as large {name}, memory", growth, 1.3

    path = bench.made(write_registry, "large.json", 4)
    size = os.path.getsize(path)
    peak = bench.cost((*OURS, "add", path, "dataset-0", "min"), "one").peak
    yield "add to 104 MB, memory / text", peak / size, 8


# Each reader to a size that its format has, or that the memory of a machine has room for.
SLOPES: list[tuple[str, Callable[[Path, int], None], str, int, bool]] = [
    ("rewards", write_rewards, "rewards.jsonl", 7, True),
    ("distinct rewards", write_distinct, "distinct.jsonl", 7, True),
    ("trials", write_trials, "trials.jsonl", 7, False),
    ("job", write_job, "job", 5, False),
    ("csv", write_csv, "trials.csv", 6, False),
    ("evsys", write_evsys, "evsys.json", 6, False),
    ("lm-eval", write_samples, "samples_t.jsonl", 6, False),
    ("inspect", write_log, "log.eval", 5, False),
]


def slopes(bench: Bench) -> Iterator[Judged]:
    """By how much CPU grows from one size to ten times it; and memory, where nothing is asked."""
    for what, write, name, largest, is_flat in SLOPES:
        nothing = bench.cost((*OURS, "compute", bench.made(write, name, 10)), "one")
        costs = []
        for power in range(largest - 1, largest + 1):
            path = bench.made(write, name, 10**power)
            costs.append(min(bench.cost((*OURS, "compute", path), "one") for _ in range(3)))
        small, large = costs
        steep = slope(small.cpu - nothing.cpu, large.cpu - nothing.cpu, 10, 0.02)
        yield f"{what} to 10^{largest}, slope of CPU", steep, 1.05
        if is_flat:
            yield f"{what} to 10^{largest}, memory / of a tenth", large.peak / small.peak, 1.15


ROWS = (rewards, trials, distinct, job, validate, log, memory, slopes)


def main(arguments: list[str]) -> int:
    names = {row.__name__: row for row in ROWS}
    wanted = [names[a] for a in arguments if a in names] or ROWS
    before = next((a for a in arguments if a not in names), None)
    held = True
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(Path(name), before)
        for row in wanted:
            for what, value, most in row(bench):
                holds = value <= most
                held = held and holds
                shown = f"{what:<56} {value:8.2f}  at most {most:5.2f}"
                print(shown + ("" if holds else "  ABOVE"), flush=True)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
