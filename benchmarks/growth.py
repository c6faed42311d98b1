"""How time and memory of every command and reader grow with what strangers write.

Each case is run at three sizes, each twice the one before; what the command takes on next to
nothing is taken away first. A slope of 1 is linear. Name some cases to run only those.
"""

from __future__ import annotations

import gzip
import json
import math
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from timing import OURS, Cost, cost

TARGET = 1.1
SHA = "0123456789abcdef0123456789abcdef01234567"
# Seconds and bytes below which a difference is noise.
QUIET, SMALL = 0.08, 8 << 20


def task(i: int) -> dict[str, Any]:
    return {"name": f"task-{i}", "git_url": "https://e.org/t", "git_commit_id": SHA, "path": "t"}


def dataset(i: int = 0, metrics: Any = (), tasks: Any = None, **more: Any) -> dict[str, Any]:
    entry = {"name": f"dataset-{i}", "version": "1.0", "description": "made"}
    metrics = list(metrics) or [{"type": "mean"}, {"type": "max"}]
    return {**entry, "metrics": metrics, "tasks": [task(0)] if tasks is None else tasks, **more}


def registry(entries: Callable[[int], list[Any]], indent: int | None = 1) -> Callable[..., None]:
    def write(folder: Path, n: int) -> None:
        (folder / "registry.json").write_text(json.dumps(entries(n), indent=indent))

    return write


def text(name: str, content: Callable[[int], str]) -> Callable[[Path, int], None]:
    return lambda folder, n: _write(folder / name, content(n).encode())


def lines(name: str, line: Callable[[int], Any]) -> Callable[[Path, int], None]:
    def write(folder: Path, n: int) -> None:
        rows = (row if isinstance(row := line(i), str) else json.dumps(row) for i in range(n))
        _write(folder / name, "".join(f"{row}\n" for row in rows).encode())

    return write


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(gzip.compress(data, 1) if path.suffix == ".gz" else data)


def job(folder: Path, n: int, spoil: Callable[[dict[str, Any]], Any] = lambda _: None) -> None:
    (folder / "job").mkdir()
    numbers = {"n_total_trials": n, "stats": {}, "finished_at": "2026-01-01T00:00:00"}
    (folder / "job/result.json").write_text(json.dumps(numbers))
    for i in range(n):
        result = {
            "task_name": f"t{i}",
            "trial_name": f"t{i}__1",
            "agent_info": {"name": "oracle"},
            "verifier_result": {"rewards": {"reward": i % 2}},
        }
        spoil(result)
        (folder / f"job/t{i}__1").mkdir()
        (folder / f"job/t{i}__1/result.json").write_text(json.dumps(result))


def spoiled_job(folder: Path, n: int) -> None:
    job(folder, n, lambda result: result["verifier_result"].update(rewards={"reward": "x"}))


def sample(i: int) -> dict[str, Any]:
    scores = {"match": {"value": "C", "answer": "a"}}
    return {"id": i, "epoch": 1, "target": "a", "metadata": {}, "scores": scores, "model_usage": {}}


def inspect(n: int) -> dict[str, Any]:
    ran = {"task": "t", "model": "m", "dataset": {"samples": n}, "config": {}}
    return {"version": 2, "status": "success", "eval": ran, "plan": {}, "samples": []}


def inspect_json(folder: Path, n: int) -> None:
    log = {**inspect(n), "samples": [sample(i) for i in range(n)]}
    (folder / "log.json").write_text(json.dumps(log))


def inspect_eval(folder: Path, n: int) -> None:
    with zipfile.ZipFile(folder / "log.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(inspect(n)))
        archive.writestr("summaries.json", json.dumps([sample(i) for i in range(n)]))
        for i in range(n):
            archive.writestr(f"samples/{i}_epoch_1.json", json.dumps(sample(i)))


def overlapping(folder: Path, n: int) -> None:
    """Names of samples that share the packed bytes of one, which unpacks to 60 MB."""
    with zipfile.ZipFile(folder / "log.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(inspect(n)))
        archive.writestr("samples/0_epoch_1.json", json.dumps(sample(0)) + " " * 60_000_000)
        info = archive.infolist()[-1]
        for i in range(1, n):
            twin = zipfile.ZipInfo(f"samples/{i}_epoch_1.json")
            for field in ("header_offset", "compress_type", "CRC", "compress_size", "file_size"):
                setattr(twin, field, getattr(info, field))
            archive.filelist.append(twin)
            archive.NameToInfo[twin.filename] = twin


def document(i: int) -> dict[str, Any]:
    row = {"doc_id": i, "doc": {"q": f"q{i}"}, "target": "a", "resps": [["a"]]}
    return {**row, "filtered_resps": ["a"], "filter": "none", "metrics": ["acc"], "acc": i % 2}


def result(folder: Path, n: int, value: Any = 0.5) -> None:
    metric = {"name": "mean", "type": "mean", "kwargs": {}, "origin": "default", "status": "ok"}
    metric |= {"values": {"mean": value}, "n": {"mean": 1}, "reasons": {}}
    names = ("expected", "found", "unread", "scored", "missing", "errored", "tasks")
    spent = ("n_input_tokens", "n_cache_tokens", "n_output_tokens", "cost_usd")
    group: dict[str, Any] = {
        "agent": None,
        "model": None,
        "dataset": None,
        "evals_key": "a",
        "complete": True,
    }
    group |= {"counts": dict.fromkeys(names, 1), "exceptions": {}, "pass_at_k": {}}
    group |= {"usage": dict.fromkeys(spent), "metrics": [metric]}
    tool = {"name": "harbor-metrics", "version": "1"}
    whole = {"schema_version": "1", "tool": tool, "sources": [], "groups": [group] * n}
    (folder / "result.json").write_text(json.dumps({**whole, "diagnostics": []}, indent=1))


def trial(i: int, **more: Any) -> dict[str, Any]:
    return {"task": f"t{i}", "attempt": 1, "rewards": {"reward": i % 2}, **more}


def fixable(i: int) -> dict[str, Any]:
    return {"typ": "quantile", "q": i / 1e6}


class Case(NamedTuple):
    """What to write into a folder at a size, the smallest size, and the command."""

    make: Callable[[Path, int], None]
    n: int
    command: tuple[str, ...]


VALIDATE = ("validate", "registry.json")
FIX = ("validate", "--fix", "registry.json")
RESULT = ("validate", "result.json")
TRIALS = ("compute", "t.jsonl")
REWARDS = ("compute", "r.jsonl")
CASES = {
    "datasets": Case(registry(lambda n: [dataset(i) for i in range(n)]), 20_000, VALIDATE),
    "datasets, a field unknown": Case(
        registry(lambda n: [dataset(i, metric=[]) for i in range(n)]), 4_000, VALIDATE
    ),
    "a dataset repeated": Case(registry(lambda n: [dataset()] * n), 4_000, VALIDATE),
    "tasks": Case(registry(lambda n: [dataset(tasks=[*map(task, range(n))])]), 40_000, VALIDATE),
    "a task repeated": Case(registry(lambda n: [dataset(tasks=[task(0)] * n)]), 16_000, VALIDATE),
    "tasks, wrong, on one line": Case(
        registry(
            lambda n: [dataset(tasks=[{"name": f"t{i}", "pth": "x"} for i in range(n)])], None
        ),
        4_000,
        VALIDATE,
    ),
    "metrics": Case(
        registry(
            lambda n: [dataset(0, [{"type": "quantile", "kwargs": {"q": i / n}} for i in range(n)])]
        ),
        2_000,
        VALIDATE,
    ),
    "a metric repeated": Case(
        registry(lambda n: [dataset(0, [{"type": "mean"}] * n)]), 2_000, VALIDATE
    ),
    "metrics, of unknown types": Case(
        registry(lambda n: [dataset(0, [{"type": f"meen{i}"} for i in range(n)])]), 1_000, VALIDATE
    ),
    "metrics, of unknown kwargs": Case(
        registry(
            lambda n: [
                dataset(0, [{"type": "mean", "kwargs": {f"missin{i}": 1}} for i in range(n)])
            ]
        ),
        2_000,
        VALIDATE,
    ),
    "unknown fields of one dataset": Case(
        registry(lambda n: [dataset(**{f"field{i}": 1 for i in range(n)})]), 8_000, VALIDATE
    ),
    "comments": Case(text("registry.json", lambda n: "[" + "/**/" * n + "]"), 10_000, VALIDATE),
    "comments on lines": Case(
        text("registry.json", lambda n: "[\n" + "// a\n" * n + "]"), 10_000, VALIDATE
    ),
    "keys twice": Case(
        text(
            "registry.json",
            lambda n: "[{" + ",".join(f'"k{i % (n // 2)}":1' for i in range(n)) + "}]",
        ),
        80_000,
        VALIDATE,
    ),
    "commas missing": Case(
        text("registry.json", lambda n: "[" + "1\n" * n + "]"), 40_000, VALIDATE
    ),
    "result document": Case(result, 4_000, RESULT),
    "result document, wrong": Case(lambda f, n: result(f, n, "x"), 2_000, RESULT),
    "rewards, wrong": Case(
        lines("r.jsonl", lambda i: {"reward": "x"} if i % 2 else {"reward": 1}),
        16_000,
        ("validate", "r.jsonl"),
    ),
    "manifest": Case(
        text(
            "dataset.toml",
            lambda n: '[dataset]\nname = "a/b"\n' + '[[files]]\npath = "metric.py"\n' * n,
        ),
        2_000,
        ("validate", "dataset.toml"),
    ),
    "fix metrics": Case(registry(lambda n: [dataset(0, map(fixable, range(n)))]), 400, FIX),
    "fix datasets": Case(
        registry(lambda n: [dataset(i, [{"typ": "max"}]) for i in range(n)]), 1_000, FIX
    ),
    "fix tasks": Case(
        registry(lambda n: [dataset(tasks=[{**task(i), "pth": "x"} for i in range(n)])]), 2_000, FIX
    ),
    "fix repeated metrics": Case(
        registry(lambda n: [dataset(0, [{"type": "max"}] * n)]), 2_000, FIX
    ),
    "add": Case(
        registry(lambda n: [dataset(i) for i in range(n)]),
        40_000,
        ("add", "registry.json", "dataset-0@1.0", "median"),
    ),
    "remove": Case(
        registry(lambda n: [dataset(i) for i in range(n)]),
        40_000,
        ("remove", "registry.json", "dataset-0@1.0", "max"),
    ),
    "trials": Case(lines("t.jsonl", trial), 100_000, TRIALS),
    "trials of one task": Case(
        lines("t.jsonl", lambda i: {**trial(i), "task": "t", "attempt": i + 1}), 100_000, TRIALS
    ),
    "trials, a label grouped": Case(
        lines("t.jsonl", lambda i: trial(i, labels={"g": f"g{i}"})),
        4_000,
        (*TRIALS, "--metric", '{"type": "grouped", "kwargs": {"metric": "mean", "by": "g"}}'),
    ),
    "trials, a key each": Case(
        lines("t.jsonl", lambda i: {"task": f"t{i}", "rewards": {f"k{i}": 1}}), 4_000, TRIALS
    ),
    "trials, wrong": Case(
        lines("t.jsonl", lambda i: {"task": f"t{i}", "rewards": {"r": "x" if i % 2 else 1}}),
        16_000,
        TRIALS,
    ),
    "trials, repeated": Case(lines("t.jsonl", lambda i: trial(i % 7, id="s")), 60_000, TRIALS),
    "trials, packed": Case(lines("t.jsonl.gz", trial), 40_000, ("compute", "t.jsonl.gz")),
    "rewards": Case(lines("r.jsonl", lambda i: {"reward": i % 1000 / 1000}), 200_000, REWARDS),
    "rewards, 64 keys": Case(
        lines("r.jsonl", lambda i: {f"k{j}": i % 5 / 5 for j in range(64)}), 2_000, REWARDS
    ),
    "rewards, a key each": Case(lines("r.jsonl", lambda i: {f"k{i}": 1}), 4_000, REWARDS),
    "rewards, a key each, 900 in turn": Case(
        lines("r.jsonl", lambda i: {f"k{i % 900}": i % 5}), 100_000, REWARDS
    ),
    "rewards, one line unreadable in two": Case(
        lines("r.jsonl", lambda i: {"reward": "x"} if i % 2 else {"reward": 1}), 16_000, REWARDS
    ),
    "job": Case(job, 4_000, ("compute", "job")),
    "job, unreadable": Case(spoiled_job, 2_000, ("compute", "job")),
    "audit of a job": Case(job, 4_000, ("audit", "job")),
    "convert": Case(lines("t.jsonl", trial), 40_000, ("convert", "t.jsonl", "-o", "o.jsonl")),
    "inspect, json": Case(inspect_json, 10_000, ("compute", "log.json")),
    "inspect, eval": Case(inspect_eval, 16_000, ("convert", "log.eval", "-o", "o.jsonl")),
    "inspect, overlapping": Case(overlapping, 20, ("compute", "log.eval")),
    "lm-eval": Case(lines("samples_t.jsonl", document), 40_000, ("compute", "samples_t.jsonl")),
    "lm-eval, a metric each": Case(
        lines("samples_t.jsonl", lambda i: {**document(i), "metrics": [f"m{i}"], f"m{i}": 1}),
        4_000,
        ("compute", "samples_t.jsonl"),
    ),
    "evsys": Case(
        text("e.json", lambda n: json.dumps([[1.0, 0.0]] * n)), 40_000, ("compute", "e.json")
    ),
    "evsys, wrong": Case(
        text("e.json", lambda n: json.dumps([["x", 0.0]] * n)), 8_000, ("compute", "e.json")
    ),
    "csv": Case(
        text("t.csv", lambda n: "task,reward\n" + "".join(f"t{i},{i % 2}\n" for i in range(n))),
        20_000,
        ("compute", "t.csv"),
    ),
    "csv, many columns": Case(
        text(
            "t.csv",
            lambda n: ",".join(["reward", *(f"c{i}" for i in range(n))]) + "\n" + "1," * n + "1\n",
        ),
        4_000,
        ("compute", "t.csv"),
    ),
    "labels": Case(
        lambda folder, n: (
            lines("t.jsonl", trial)(folder, n),
            text("l.json", lambda n: json.dumps({f"t{i}": {"g": "a"} for i in range(n)}))(
                folder, n
            ),
        )[0],
        80_000,
        (
            *TRIALS,
            "--labels",
            "l.json",
            "--metric",
            '{"type": "grouped", "kwargs": {"metric": "mean", "by": "g"}}',
        ),
    ),
    "bootstrap": Case(
        lines("t.jsonl", lambda i: trial(i, rewards=None) | {"rewards": {"r": i * 7919 % 997}}),
        4_000,
        (*TRIALS, "--metric", "bootstrap-stderr"),
    ),
}


def cost_at(case: Case, n: int) -> Cost:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        case.make(folder, n)
        return cost((*OURS, *case.command), folder)


def slope(small: float, large: float, times: float, noise: float) -> float:
    """The exponent by which a cost grows; 0 where both are noise."""
    return math.log(max(large, noise) / max(small, noise)) / math.log(times)


def measure(name: str, case: Case) -> bool:
    """Print a line of the table; whether both slopes are at most the target."""
    nothing = min(cost_at(case, 2) for _ in range(3))
    costs = [min(cost_at(case, case.n * times) for _ in range(2)) for times in (1, 2, 4)]
    seconds = [c.cpu - nothing.cpu for c in costs]
    peaks = [float(c.peak - nothing.peak) for c in costs]
    of_time = slope(seconds[0], seconds[2], 4, QUIET)
    of_memory = slope(peaks[0], peaks[2], 4, SMALL)
    times = " ".join(f"{c.cpu:7.2f}" for c in costs)
    most = " ".join(f"{c.peak >> 20:5}" for c in costs)
    print(
        f"{name:<38} {case.n:>7} {times}  {of_time:5.2f}  {most}  {of_memory:5.2f}  exit "
        f"{costs[2].code}{'' if max(of_time, of_memory) <= TARGET else '  ABOVE'}",
        flush=True,
    )
    if costs[2].code not in (0, 1, 3) or "Traceback" in costs[2].said:
        print(costs[2].said)
        return False
    return max(of_time, of_memory) <= TARGET


def main(names: Iterable[str]) -> int:
    print(f"{'':<38} {'n':>7} {'seconds at n, 2n, 4n':>23}  slope  {'MB':>17}  slope")
    wanted = list(names) or list(CASES)
    within = [measure(name, CASES[name]) for name in wanted]
    return 0 if all(within) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
