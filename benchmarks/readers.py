"""`compute` on an Inspect log and on lm-eval samples, against the usual ways to read them."""

from __future__ import annotations

import gzip
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from timing import OURS, ROUNDS, compare, peak_memory, seconds

LOGS = Path(__file__).parent.parent / "tests" / "logs"
# Made by Inspect itself, so that the file is packed as its users have it.
MAKE_LOG = """
import sys
from inspect_ai.log import read_eval_log, write_eval_log
log = read_eval_log(sys.argv[1])
n = int(sys.argv[3])
first = log.samples
log.samples = [
    first[i % len(first)].model_copy(update={"id": i // 2, "epoch": i % 2 + 1, "uuid": f"u{i}"})
    for i in range(n)
]
log.eval.dataset.sample_ids = list(range(n // 2))
log.eval.config.epochs = 2
log.results.total_samples = n
write_eval_log(log, sys.argv[2])
"""
READ_LOG = """
import sys, time
from inspect_ai.log import read_eval_log
started = time.perf_counter()
log = read_eval_log(sys.argv[1])
print(time.perf_counter() - started, len(log.samples))
"""
PLAIN_JSON = """
import json, sys
rows = 0
total = 0
for line in open(sys.argv[1]):
    row = json.loads(line)
    rows += 1
    total += row["acc"]
print(total / rows)
"""


def write_samples(path: Path, n: int) -> None:
    """Multiple-choice samples of about 1.2 KB, as lm-eval wrote one of them."""
    folder = LOGS / "lm_eval" / "selfrun_0.4.13"
    packed = next(folder.glob("samples_sr_mc4_big_*")).read_bytes()
    rows = [json.loads(line) for line in gzip.decompress(packed).splitlines()]
    with path.open("w") as file:
        for i in range(n):
            file.write(json.dumps({**rows[i % len(rows)], "doc_id": i}, ensure_ascii=False) + "\n")


def against_inspect(python: str, log: str) -> None:
    """The whole command against `read_eval_log` alone, its imports not counted."""
    pairs = []
    for _ in range(ROUNDS // 2 + 1):
        ours = seconds((*OURS, "compute", log))
        done = subprocess.run([python, "-c", READ_LOG, log], capture_output=True, text=True)
        pairs.append((ours, float(done.stdout.split()[0])))
    mine, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(b / a for a, b in pairs)
    what = "10,000-sample .eval, read_eval_log"
    print(
        f"{what:<42} {mine * 1e3:8.0f} ms  against {theirs * 1e3:8.0f} ms   1/{ratio:.2f}x  1/10x"
    )


def main(inspect: str | None) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if inspect:
            log = str(folder / "log.eval")
            source = str(LOGS / "inspect" / "log3_noreduce.eval")
            subprocess.run([inspect, "-c", MAKE_LOG, source, log, "10000"], check=True)
            print(f"the log has {Path(log).stat().st_size >> 20} MB")
            against_inspect(inspect, log)
            peak_memory("10,000-sample .eval", (*OURS, "compute", log), "at most 150 MB")
            whole = (*OURS, "convert", log, "-o", str(folder / "trials.jsonl"))
            peak_memory("10,000-sample .eval, its samples too", whole, "")
        samples = folder / "samples.jsonl"
        write_samples(samples, 100_000)
        print(f"the samples have {samples.stat().st_size >> 20} MB")
        plain = (sys.executable, "-c", PLAIN_JSON, str(samples))
        ours = (*OURS, "compute", str(samples))
        compare("100,000 lm-eval samples, json.loads", ours, plain, "at most 3x")
        peak_memory("100,000 lm-eval samples", ours, "")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
