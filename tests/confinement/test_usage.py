"""What a program takes as a whole is counted, wherever it is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from metric_scripts import linux

from harbor_metrics.confinement.finished import Finished
from harbor_metrics.confinement.workplace import Confinement, Whole, Workplace

pytestmark = linux
LAYERS = {
    "both": ("landlock", "namespaces"),
    "landlock": ("landlock",),
    "namespaces": ("namespaces",),
    "off": (),
}
MIB = 1 << 20
HEAD = "import ctypes, os, socket, sys, threading, time\n"


@pytest.fixture(params=LAYERS)
def layers(request: pytest.FixtureRequest) -> tuple[str, ...]:
    return LAYERS[str(request.param)]


def run(code: str, layers: tuple[str, ...], folder: Path, seconds: float = 30, **most: int):
    """A program that writes into a folder, within limits."""
    with Workplace() as place:
        finished: Finished = place.run(
            [sys.executable, "-I", "-S", "-c", HEAD + code],
            env={},
            cwd=str(folder),
            timeout=seconds,
            whole=Whole(**most, folders=(str(folder),)),
            confinement=Confinement(
                layers=layers,
                filtered=bool(layers),
                readable=(sys.prefix, sys.base_prefix),
                writable=(str(folder),),
            ),
        )
    assert not finished.timed_out
    return finished


THREADS = """
stop = threading.Event()
threading.stack_size(1 << 16)
threads = [threading.Thread(target=stop.wait) for _ in range(40)]
for thread in threads: thread.start()
"""


def test_threads_are_counted(layers: tuple[str, ...], tmp_path: Path) -> None:
    waits = THREADS + "time.sleep(60)"
    assert run(waits, layers, tmp_path, threads=30, processes=9).exceeded == "threads"
    # The threads of all processes together.
    forks = f"os.fork(), os.fork()\n{waits}"
    assert run(forks, layers, tmp_path, threads=120, processes=9).exceeded == "threads"


def test_threads_within_the_limit_go_on(layers: tuple[str, ...], tmp_path: Path) -> None:
    ends = THREADS + "time.sleep(0.3); stop.set(); print(len(threads))"
    finished = run(ends, layers, tmp_path, threads=41, processes=1)
    assert (finished.exceeded, finished.stdout) == ("", b"40\n")
