"""The processes below this one are found from parent to child, or among all that there are."""

from __future__ import annotations

import subprocess
import sys

import pytest
from metric_scripts import linux

from harbor_metrics.confinement import descendants as module

# Starts others, in a session of their own too; each names itself when it is there.
TREE = """
import os, threading, time
def tree():
    pids = [os.fork() for _ in range(2)]
    if pids[0] == 0: os.setsid()
    os.write(1, f"{os.getpid()}\\n".encode())
    time.sleep(600)
thread = threading.Thread(target=tree)
thread.start()
thread.join()
"""


@linux
def test_descendants_are_the_same_however_they_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    before = module.descendants()
    with subprocess.Popen([sys.executable, "-c", TREE], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            # The first starts a second, too.
            below = {int(process.stdout.readline()) for _ in range(4)}
            found = module.descendants()
            assert below <= found
            assert process.pid in below
            assert found == module._among_all()

            def lists_none(pid: int) -> list[int]:
                raise FileNotFoundError

            monkeypatch.setattr(module, "children_of", lists_none)
            assert module.descendants() == found
        finally:
            for pid in module._among_all() - before:
                subprocess.run(["kill", "-9", str(pid)], stderr=subprocess.DEVNULL)


@linux
def test_a_process_that_has_ended_has_no_children() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert module.children_of(process.pid) == []


@linux
def test_children_are_found_beside_threads_that_have_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As they are when they end between the list of them and the look at each."""
    listdir = module.os.listdir
    process = subprocess.Popen([sys.executable, "-c", TREE], stdout=subprocess.PIPE)
    assert process.stdout is not None
    below = {process.pid}
    try:
        below |= {int(process.stdout.readline()) for _ in range(4)}
        there = module.children_of(process.pid)
        assert there
        monkeypatch.setattr(module.os, "listdir", lambda path: ["999999", *listdir(path)])
        assert module.children_of(process.pid) == there
    finally:
        for pid in below:
            subprocess.run(["kill", "-9", str(pid)], stderr=subprocess.DEVNULL)
        process.wait(10)
        process.stdout.close()


@linux
def test_of_siblings_the_youngest_is_found_first() -> None:
    before = module.descendants()
    started = [subprocess.Popen(["sleep", "60"]) for _ in range(5)]
    try:
        found = [pid for pid in module.walk_descendants() if pid not in before]
    finally:
        for process in started:
            process.kill()
            process.wait()
    assert found == [process.pid for process in reversed(started)]
