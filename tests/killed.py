"""Writers that are killed at any moment: `python tests/killed.py N` kills each so many times.

A copy of this process writes again and again until it is killed. Then the file must be whole, as
it was before or after a write, and after the next write nothing else may lie beside it.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from conftest import JOBS

import harbor_metrics
from harbor_metrics.documents.files import write_atomically
from harbor_metrics.readers.conversion import convert
from harbor_metrics.registries.change import add, remove
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

    def note(source: str, target: str) -> None:
        replace(source, target)
        seen.append(path.read_bytes())

    os.replace = note
    try:
        write(str(path))
    finally:
        os.replace = replace
    return states | set(seen)


def main() -> None:
    """Kill each writer."""
    for name in WRITERS:
        broken, left = kill(name, int(sys.argv[1]), seed=1)
        said = (
            f"{name}: killed {sys.argv[1]} times: {broken} files broken, {left} times more left\n"
        )
        os.write(1, said.encode())


if __name__ == "__main__":
    main()
