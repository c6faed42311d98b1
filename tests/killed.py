"""Writers, and runs of scripts, killed at any moment: `python tests/killed.py N [NAME]`.

A copy of this process writes again and again until it is killed, each so many times. Then the file
must be whole, as it was before or after a write, and after the next write nothing else may lie
beside it. Another makes the environment of a script, or fetches a repository; after the next run,
which must give the number, there may be nothing in the cache but what it uses, no temporary file
and no process.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from conftest import JOBS
from metric_scripts import COUNT, metric, wheel_with_a_start_file

import harbor_metrics
from harbor_metrics.documents.files import write_atomically
from harbor_metrics.readers.conversion import convert
from harbor_metrics.registries.change import add, remove
from harbor_metrics.scripts.options import ScriptOptions
from harbor_metrics.validation.fix import fix

DATASET = b'"name": "a", "version": "1", "description": "", "tasks": [%s]'
PLAIN = b'[{"metrics": [{"type": "mean"}], ' + DATASET % (b'{"name": "t"}, ' * 500)[:-2] + b"}]\n"
WRONG = PLAIN.replace(b'"metrics"', b'"metrcs"')


def _add(path: str) -> None:
    add(path, "a", "max", {})
    remove(path, "a", "max")


def _fix(path: str) -> None:
    write_atomically(path, WRONG)
    fix(path)


def _result() -> Callable[[str], None]:
    result = harbor_metrics.compute(JOBS / "single")
    return lambda path: result.write(path)


def _convert() -> Callable[[str], None]:
    lines = convert(str(JOBS / "single")).lines()
    return lambda path: write_atomically(path, lines)


# What is written again and again, from which text on.
WRITERS: dict[str, tuple[Callable[[], Callable[[str], None]], bytes]] = {
    "add": (lambda: _add, PLAIN),
    "fix": (lambda: _fix, WRONG),
    "result": (_result, b""),
    "convert": (_convert, b""),
}


def kill(name: str, times: int, seed: int = 0) -> tuple[int, int]:
    """How often something was lost or half written, and how often something was left."""
    rng = random.Random(seed)
    make, first = WRITERS[name]
    write = make()
    broken = left = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.json"
        states = _states(path, first, write)
        for _ in range(times):
            child = os.fork()
            if child == 0:
                while True:
                    write(str(path))
            time.sleep(rng.random() * 0.02)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            broken += path.read_bytes() not in states
            path.write_bytes(first or path.read_bytes())
            write(str(path))
            left += [other.name for other in Path(folder).iterdir()] != ["x.json"]
    return broken, left


def _states(path: Path, first: bytes, write: Callable[[str], None]) -> set[bytes]:
    """Every text that the file has between two writes."""
    states = {first} if first else set()
    if first:
        path.write_bytes(first)
    replace, seen = os.replace, []

    def note(source: str, target: str, **folders: int) -> None:
        replace(source, target, **folders)
        seen.append(path.read_bytes())

    os.replace = note  # type: ignore[assignment]
    try:
        write(str(path))
    finally:
        os.replace = replace
    return states | set(seen)


def _environment(folder: Path) -> str:
    wheel_with_a_start_file(folder, "pass", body="N = 1\n")
    table = "# /// script\n# dependencies = ['eager']\n# [tool.uv.sources]\n"
    table += "# eager = {path = 'eager-1-py3-none-any.whl'}\n# ///\nimport eager\n"
    (folder / "m.py").write_text(table + COUNT)
    return metric(str(folder / "m.py"))


def _repository(folder: Path) -> str:
    (folder / "m.py").write_text(COUNT)
    git = ("git", "-C", str(folder), "-c", "user.name=n", "-c", "user.email=e")
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *arguments], check=True, capture_output=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    return metric("m.py", git_url=f"file://{folder}", git_commit_id=head.stdout.strip())


# What a run makes before it runs a script, and how many entries each folder of the cache has then.
RUNS: dict[str, tuple[Callable[[Path], str], dict[str, int]]] = {
    "environment": (_environment, {"environments": 3}),
    "repository": (_repository, {"git": 1, "git-contents": 2}),
}


def kill_run(name: str, times: int, seed: int = 0) -> tuple[int, int]:
    """How often the run after one that was killed gave no number, and how often more was left."""
    rng = random.Random(seed)
    make, kept = RUNS[name]
    broken = left = 0
    with tempfile.TemporaryDirectory() as whole:
        home = Path(whole)
        (home / "of script").mkdir()
        (home / "r.jsonl").write_text("null\n" * 7)
        asked = make(home / "of script")
        started = time.monotonic()
        assert _run(home, asked) == {"n": 7}
        longest = time.monotonic() - started
        for _ in range(times):
            shutil.rmtree(home / "cache")
            child = _started(home, asked)
            time.sleep(rng.random() * longest)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            broken += _run(home, asked) != {"n": 7}
            left += not _tidy(home, kept)
    return broken, left


def _started(home: Path, asked: str) -> int:
    """A copy of this process that computes the metric into a file."""
    child = os.fork()
    if child == 0:
        try:
            caches = {"XDG_CACHE_HOME": home / "cache", "UV_CACHE_DIR": home / "cache" / "uv"}
            (home / "tmp").mkdir(exist_ok=True)
            os.environ |= {n: str(path) for n, path in {**caches, "TMPDIR": home / "tmp"}.items()}
            scripts = ScriptOptions(allow_outside=True, timeout=60)
            result = harbor_metrics.compute(home / "r.jsonl", metrics=asked, scripts=scripts)
            (home / "n.json").write_text(json.dumps(result.groups[0].metrics[-1].values))
        finally:
            os._exit(0)
    return child


def _run(home: Path, asked: str) -> object:
    (home / "n.json").write_text("null")
    os.waitpid(_started(home, asked), 0)
    return json.loads((home / "n.json").read_text())


def _tidy(home: Path, kept: dict[str, int]) -> bool:
    """Whether, a moment later, nothing is left of the runs but what the next one uses."""
    ours = home / "cache" / "harbor-metrics"
    until = time.monotonic() + 10
    while time.monotonic() < until:
        found = {f.name: len(os.listdir(f)) for f in ours.iterdir() if f.is_dir()}
        if found == kept and not os.listdir(home / "tmp") and not _processes(str(home)):
            return True
        time.sleep(0.02)
    return False


def _processes(mark: str) -> list[int]:
    """The processes that have been told of a folder."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if mark.encode() in Path(f"/proc/{name}/environ").read_bytes():
                found.append(int(name))
        except OSError:
            continue
    return found


def main() -> None:
    """Kill each, or the one that is named."""
    times = int(sys.argv[1])
    for name in sys.argv[2:] or [*WRITERS, *RUNS]:
        broken, left = (kill if name in WRITERS else kill_run)(name, times, seed=1)
        said = f"{name}: killed {times} times: {broken} broken, {left} times more left\n"
        os.write(1, said.encode())


if __name__ == "__main__":
    main()
