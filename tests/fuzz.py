"""Mutants of every kind of document, given to the commands that read it, all in this process.

`python tests/fuzz.py KIND|all N [SEED]` makes a long run. Whatever ends in an exception, takes
longer than the limit, or exits with anything but 0, 1, 2 and 3 is printed and kept in `fuzzed/`.
"""

from __future__ import annotations

import gc
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import traceback
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from harbor_metrics.readers.files.archive import Archive
from harbor_metrics.readers.files.file import File

HERE = Path(__file__).parent
SECONDS = 20
TOKENS = (
    *('{"a":1}', "[]", "{", "}", "[", "]", ",", ":", '"', "null", "true", "NaN", "-Infinity"),
    *("1e309", "1" * 320, "-0", "1e-400", "0.1", "9007199254740993", '"\\ud800"', '"\\u0000"'),
    *("[" * 250, '{"a":' * 250, "\\", "//x", "\n", "\r\n", "\t", "\0", "\ufeff", "é", "😀"),
    *('"a"', '"type"', '"metrics"', '"rewards"', '"task"', "'", "#", "<<<<<<< a\n", "=", "[["),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**63, 2**64, 10**308, -(10**320), 0.5, 1e308, -1e308, 5e-324),
    *(float("nan"), float("inf"), "", " ", "a", "NaN", "1", "../x", "/", "-", "\0", "\ud800"),
    *("a" * 300, "2026-01-01T00:00:00Z", "mean", "uv-script", "x.py", "ssh://a", "\x1b[31m", "::"),
    *([], [[]], [None], [0, "a"], {}, {"": {}}, {"a": None}, {"type": 0}, {"type": "mean"}),
)
# No text: brackets that nobody closes, deeper than any decoder goes, some before a wrong byte.
UNCLOSED = (
    *(b"[" * 1_200 + b"\xff", b'{"a":' * 2_000 + b"\xff", b"[" * 100_000, b'{"a":' * 2_000),
    *(b'{"a": ' + b"[" * 1_200 + b"\xff", b"a = " + b"[" * 2_000, b"- " * 2_000 + b"\xff"),
)
# One of each kind of value, and of what holds others.
KINDS: tuple[Any, ...] = (None, 0.5, "a", [{}], {"a": []})


class Kind(NamedTuple):
    """The seeds of a kind of document, a folder each, and the commands that read one."""

    seeds: list[dict[str, bytes]]
    commands: tuple[tuple[str, ...], ...]


def _files(*paths: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in paths}


def _tree(folder: Path, top: str) -> dict[str, bytes]:
    wanted = (p for p in sorted(folder.rglob("*.json")) if p.name in ("config.json", "result.json"))
    return {f"{top}/{path.relative_to(folder)}": path.read_bytes() for path in wanted}


def _registries() -> list[dict[str, bytes]]:
    folders = sorted((HERE / "validation" / "registries").iterdir())
    return [
        {"x.json": (f / "registry.json").read_bytes()}
        for f in folders
        if (f / "registry.json").exists()
    ]


def _small(paths: Iterator[Path], name: str, most: int = 60_000) -> list[dict[str, bytes]]:
    return [{name: path.read_bytes()} for path in sorted(paths) if path.stat().st_size < most]


# A configuration and a lock with everything in them that is read.
_CONFIG: dict[str, Any] = {
    "job_name": "x",
    "n_attempts": 1,
    "agents": [{"name": "oracle", "model_name": "acme/sail-1"}, {"name": "oracle"}],
    "metrics": [{"type": "mean", "kwargs": {"key": "reward"}}],
    "orchestrator": {"retry": {"max_retries": 1}},
    "retry": {"max_retries": 1},
    "tasks": [{"path": "x"}],
    "datasets": [
        {
            "name": "local-single",
            "version": "1.0",
            "path": "x",
            "registry_path": "x.json",
            "registry": {"path": "x.json", "url": "https://a.example"},
            "task_names": ["task-000"],
            "n_tasks": 1,
        }
    ],
}
_SNAPSHOT: dict[str, Any] = {
    "schema_version": "1",
    "datasets": [
        {
            "name": "local-single",
            "version": "1.0",
            "entry": {"name": "local-single", "version": "1.0", "metrics": [{"type": "mean"}]},
            "tasks": {"task-000": {"category": "a"}},
        }
    ],
    "scripts": {},
}


def full_job() -> dict[str, bytes]:
    """A job of two trials whose documents have all that is read of them."""
    whole = _tree(HERE / "jobs" / "two-models", "x")
    trials = [p for p in whole if p.count("/") > 1 and p.endswith("result.json")][:2]
    return {
        "x/result.json": whole["x/result.json"],
        "x/config.json": json.dumps(_CONFIG).encode(),
        "x/lock.json": json.dumps({"trials": [{}, {}]}).encode(),
        "x/harbor-metrics.snapshot.json": json.dumps(_SNAPSHOT).encode(),
        **{path: whole[path] for path in trials},
    }


def _jobs() -> list[dict[str, bytes]]:
    seeds = [full_job()]
    for name in ("single", "multi", "graded", "interrupted"):
        whole = _tree(HERE / "jobs" / name, "x")
        own = {p: data for p, data in whole.items() if p.count("/") == 1}
        trials = [p for p in whole if p.count("/") > 1 and p.endswith("result.json")]
        seeds.append({**own, **{p: whole[p] for p in trials[:3]}})
    return seeds


_TRIALS = b"""{"task": "a", "attempt": 1, "rewards": {"reward": 1}, "labels": {"g": "x"}}
{"task": "a", "attempt": 2, "rewards": {"reward": 0.5, "b": 2}, "usage": {"cost_usd": 0.1}}
{"task": "b", "rewards": null, "texts": {"prediction": "a", "reference": ["a", "b"]}, "id": "1"}
{"task": "b", "attempt": 1, "trial": "b__1", "agent": "o", "error": "E", "rewards": {}}
"""
_REWARDS = b'{"reward": 1, "b": 0}\nnull\n{"reward": 0.25}\n{}\n{"b": 1e3, "reward": -2}\n'
_MANIFEST = b"""[dataset]
name = "org/name"
description = "d"

[[files]]
path = "metric.py"
digest = "sha256:00"

[[tasks]]
name = "a/b"
"""
_TASK = b"""task: x
output_type: generate_until
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
    ignore_case: true
  - metric: !function utils.f
filter_list:
  - name: n
    filter: [{function: take_first}]
repeats: 2
metadata: {version: 1.0}
"""
_COMPUTE = ("compute", "x.jsonl", "--metric", "pass-at-k", "--metric", "stderr", "--metric", "ci")


def kinds() -> dict[str, Kind]:
    """Every kind by its name."""
    registry = b'[{"name": "a", "version": "1", "metrics": [{"type": "max"}], "tasks": []}]'
    logs = HERE / "logs"
    results = _small((HERE / "recorded").rglob("*.json"), "x.json")
    results = [seed for seed in results if b"schema_version" in seed["x.json"]]
    return {
        "registry": Kind(
            _registries(),
            (
                ("validate", "x.json"),
                ("validate", "--fix", "x.json"),
                ("add", "x.json", "a", "max", "-k", "key=b"),
                ("remove", "x.json", "a", "0"),
                ("compute", "r.jsonl", "--registry", "x.json", "--dataset", "a", "--dry-run"),
            ),
        ),
        "job": Kind(_jobs(), (("compute", "x"), ("audit", "x"), ("convert", "x", "-o", "o.jsonl"))),
        "trials": Kind(
            [{"x.jsonl": _TRIALS}], (("validate", "x.jsonl"), _COMPUTE, ("compute", "x.jsonl"))
        ),
        "rewards": Kind([{"x.jsonl": _REWARDS}], (("validate", "x.jsonl"), _COMPUTE)),
        "lm-eval": Kind(
            _small(logs.glob("lm_eval/*/samples_*.jsonl"), "samples_x.jsonl"),
            (("compute", "samples_x.jsonl"), ("audit", "samples_x.jsonl")),
        ),
        "inspect": Kind(
            [
                *_small(logs.glob("inspect/*.eval"), "x.eval"),
                *_small(logs.glob("inspect/*.json"), "x.eval", 200_000),
            ],
            (("compute", "x.eval"), ("audit", "x.eval"), ("convert", "x.eval", "-o", "o.jsonl")),
        ),
        "result": Kind(results, (("validate", "x.json"),)),
        "manifest": Kind([{"dataset.toml": _MANIFEST}], (("validate", "dataset.toml"),)),
        "csv": Kind(
            [{"x.csv": b'task,reward,b,attempt\na,1,"x ""y",1\nb,0.5,,2\nc,,z,3\n'}],
            (("compute", "x.csv"), ("compute", "r.jsonl", "--labels", "x.csv")),
        ),
        "evsys": Kind(
            [
                {"x.json": b"[[1, 0.5], [0, null]]"},
                {"x.json": b'{"task_rewards": [[1], [0]], "tasks": ["a", "b"]}'},
            ],
            (("compute", "x.json"), ("convert", "x.json", "-o", "o.jsonl")),
        ),
        "task": Kind(
            [{"x.yaml": _TASK, "x.json": registry}],
            (("add", "x.json", "a", "--from-lm-eval", "x.yaml"),),
        ),
    }


class Stuck(BaseException):
    """A command took longer than the limit."""


def mutate(data: bytes, rng: random.Random) -> bytes:
    """One to three changes of a text, most of them in what its JSON says."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        changed = _restructured(data, rng) if rng.random() < 0.6 else None
        data = _cut_up(data, rng) if changed is None else changed
    return data


def _restructured(data: bytes, rng: random.Random) -> bytes | None:
    """The text with one value of its JSON, or of one of its lines, changed."""
    rows = [data] if _loads(data) is not None else data.split(b"\n")
    at = rng.randrange(len(rows))
    value = _loads(rows[at])
    if not isinstance(value, dict | list):
        return None
    places = list(_places(value))
    if not places:
        return None
    holder, step = rng.choice(places)
    match rng.randrange(5):
        case 0:
            del holder[step]
        case 1 if isinstance(holder, dict):
            name = str(rng.choice(("", "a", "type", "name", "task", "\0", "value", "a/b", "1")))
            holder[name] = holder.pop(step)
        case 2:
            other, key = rng.choice(places)
            holder[step] = other[key] if key in other or isinstance(other, list) else None
            if len(repr(holder)) > 1 << 20:
                return None
        case _:
            holder[step] = rng.choice(VALUES)
    try:
        rows[at] = json.dumps(value).encode()
    except (ValueError, RecursionError):
        return None
    return b"\n".join(rows)


def each_kind_at_each_place(data: bytes) -> Iterator[tuple[str, bytes]]:
    """What was done, and the JSON with it: each kind of value at each place, one at a time."""
    value = _loads(data)
    for at, (holder, step) in enumerate(list(_places(value))):
        before = holder[step]
        for other in KINDS:
            if other != before:
                holder[step] = other
                yield f"{other!r} at place {at}, {step}", json.dumps(value).encode()
        holder[step] = before


def _loads(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    steps = list(value) if isinstance(value, dict) else range(len(value))
    for step in steps:
        yield value, step
        if isinstance(value[step], dict | list):
            yield from _places(value[step])


def _cut_up(data: bytes, rng: random.Random) -> bytes:
    a = rng.randrange(len(data) + 1)
    b = min(len(data), a + rng.choice((1, 1, 2, 8, 64)))
    rows = data.split(b"\n")
    match rng.randrange(8):
        case 0:
            return data[:a] + data[b:]
        case 1:
            return data[:a]
        case 2:
            return data[:a] + bytes([rng.randrange(256)]) + data[b:]
        case 3:
            i, j = rng.randrange(len(rows)), rng.randrange(len(rows))
            rows[i], rows[j] = rows[j], rows[i]
            return b"\n".join(rows)
        case 4:
            i = rng.randrange(len(rows))
            return b"\n".join([*rows[: i + 1], *rows[i:]])
        case 5:
            return data[:a] + data[b : b + 200] + data[a:]
        case _:
            token = rng.choice(TOKENS).encode("utf-8", "surrogatepass")
            return data[:a] + token + data[rng.choice((a, b)) :]


def _mutate_archive(data: bytes, rng: random.Random, folder: Path) -> bytes:
    """The archive with a member mutated; sometimes its own bytes."""
    if rng.random() < 0.3:
        return _cut_up(data, rng)
    (folder / "seed.zip").write_bytes(data)
    seed_file = str(folder / "seed.zip")
    with Archive(File(seed_file, seed_file)) as seed:
        members = {name: seed.read(name) for name in seed.names}
    (folder / "seed.zip").unlink()
    name = rng.choice(list(members))
    members[name] = mutate(members[name], rng)
    if rng.random() < 0.1:
        del members[rng.choice(list(members))]
    with zipfile.ZipFile(folder / "mutant.zip", "w") as mutant:
        for name, member in members.items():
            mutant.writestr(name, member)
    return (folder / "mutant.zip").read_bytes()


def put(seed: dict[str, bytes], rng: random.Random, folder: Path) -> None:
    """Write a seed with one of its files mutated."""
    (folder / "r.jsonl").write_bytes(b'{"reward": 1}\n')
    changed = rng.choice(list(seed))
    for name, content in seed.items():
        data = content
        if name == changed:
            is_zip = data.startswith(b"PK\3\4")
            data = _mutate_archive(data, rng, folder) if is_zip else mutate(data, rng)
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def with_each_replaced(seed: dict[str, bytes], data: bytes, folder: Path) -> Iterator[str]:
    """Write a seed with one of its files, or one member of an archive, replaced; which it is."""
    (folder / "r.jsonl").write_bytes(b'{"reward": 1}\n')
    for changed, content in seed.items():
        for name, whole in seed.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data if name == changed else whole)
        yield changed
        if not content.startswith(b"PK\3\4"):
            continue
        (folder / "seed.zip").write_bytes(content)
        with Archive(File(str(folder / "seed.zip"), "seed.zip")) as archive:
            members = {name: archive.read(name) for name in archive.names}
        for member in members:
            with zipfile.ZipFile(folder / changed, "w") as written:
                for name, whole in members.items():
                    written.writestr(name, data if name == member else whole)
            yield member


def call(arguments: tuple[str, ...]) -> str:
    """What is wrong with how a command ends; empty where it ends as it should."""
    from harbor_metrics import cli
    from harbor_metrics.output import streams

    quiet = streams.Stream(None)
    kept = sys.argv, sys.stdout, sys.stderr, streams._out, streams._beside
    sys.argv = ["harbor-metrics", *arguments]
    sys.stdout = sys.stderr = streams._out = streams._beside = quiet  # type: ignore[assignment]

    def ring(*_: object) -> None:
        raise Stuck

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        code = cli._call()
    except Stuck:
        return f"took longer than {SECONDS} s"
    except Exception:  # noqa: BLE001  # whatever it is, it is what is looked for
        return traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        sys.argv, sys.stdout, sys.stderr, streams._out, streams._beside = kept
        gc.enable()
    return "" if code in (0, 1, 2, 3) else f"exit {code}"


def fuzz(kind: Kind, n: int, seed: int, keep: Callable[[Path, tuple[str, ...], str], None]) -> int:
    """Try so many mutants; how many of them ended badly, each of which is handed to `keep`."""
    bad = 0
    home = Path.cwd()
    for i in range(n):
        rng = random.Random(f"{seed}/{i}")
        with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
            folder = Path(name)
            put(rng.choice(kind.seeds), rng, folder)
            os.chdir(folder)
            try:
                for arguments in kind.commands:
                    if said := call(arguments):
                        bad += 1
                        keep(folder, arguments, said)
                        break
            finally:
                os.chdir(home)
    return bad


def _say(text: str) -> None:
    os.write(1, f"{text}\n".encode("utf-8", "backslashreplace"))


def main(arguments: list[str]) -> int:
    """Fuzz one kind or all; 1 where something ended badly."""
    which, n = arguments[0], int(arguments[1])
    seed = int(arguments[2]) if len(arguments) > 2 else 0
    seen: dict[str, int] = {}
    home = Path.cwd() / "fuzzed"

    def keep(folder: Path, command: tuple[str, ...], said: str) -> None:
        last = [line for line in said.splitlines() if line.strip().startswith("File")][-1:]
        key = f"{' '.join(command[:2])} {said.splitlines()[-1][:80]} {last}"
        seen[key] = seen.get(key, 0) + 1
        if seen[key] == 1:
            place = home / str(len(list(home.glob("*"))))
            shutil.copytree(folder, place)
            _say(f"{place}: {' '.join(command)}\n{said}")

    home.mkdir(exist_ok=True)
    total = 0
    for name, kind in kinds().items():
        if which in ("all", name):
            bad = fuzz(kind, n, seed, keep)
            total += bad
            _say(f"{name}: {n} mutants of {len(kind.seeds)} seeds, {bad} ended badly")
    for key, times in seen.items():
        _say(f"{times:6} {key}")
    return int(total > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
