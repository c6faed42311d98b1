"""Who will watch over a program is started before it is known what to run."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from metric_scripts import linux

from harbor_metrics.confinement.descendants import children_of
from harbor_metrics.confinement.finished import Finished
from harbor_metrics.confinement.workplace import FREE, Confinement, Whole, Workplace

pytestmark = linux

BOTH = ("landlock", "namespaces")
SYSTEM = (sys.prefix, sys.base_prefix)
SAY = """
import os
print(os.getpid())
for path in ("/", "/root", "/tmp", "/dev", "/proc/self/fd"):
    try:
        print(path, len(os.listdir(path)), os.statvfs(path).f_flag)
    except OSError as error:
        print(path, error)
"""


@pytest.fixture(scope="module", autouse=True)
def apart() -> None:
    """Skip where there can be no namespaces."""
    with Workplace() as place:
        finished = run(place)
    if "namespaces" not in finished.layers:
        pytest.skip(f"no namespaces here: {finished.missing}")


@pytest.fixture
def place() -> Iterator[Workplace]:
    with Workplace() as place:
        yield place


@pytest.fixture
def prepared(place: Workplace) -> Workplace:
    place.prepare(BOTH, network=False)
    return place


def run(place: Workplace, code: str = SAY, **more: Any) -> Finished:
    fields = {"env": {}, "cwd": "/", "timeout": 30, **more}
    fields.setdefault("confinement", Confinement(readable=SYSTEM))
    return place.run([sys.executable, "-I", "-S", "-c", code], **fields)


def told(finished: Finished) -> tuple[object, ...]:
    said = finished.stdout.splitlines()
    if "namespaces" not in finished.layers:
        # Its number is another each time, and others come and go in /tmp.
        said = [line for line in said[1:] if not line.startswith(b"/tmp ")]
    return finished.code, said, finished.layers, finished.filtered, finished.missing


def waiting(place: Workplace, count: int) -> set[int]:
    """The supervisor and the processes below it, once there are so many."""
    until = time.monotonic() + 10
    while (
        len(below := {place._pid, *children_of(place._pid)}) != count and time.monotonic() < until
    ):
        time.sleep(0.01)
    assert len(below) == count
    return below


@pytest.mark.parametrize(
    "confinement",
    [
        Confinement(readable=SYSTEM),
        Confinement(readable=SYSTEM, network=True),
        Confinement(readable=SYSTEM, layers=("namespaces",)),
        Confinement(readable=SYSTEM, layers=("landlock",)),
        FREE,
    ],
    ids=["as prepared", "with the network", "namespaces", "Landlock", "free"],
)
def test_program_runs_as_without(confinement: Confinement, place: Workplace) -> None:
    without = told(run(place, confinement=confinement))
    place.prepare(BOTH, network=False)
    first, second = run(place, confinement=confinement), run(place, confinement=confinement)
    assert told(first) == told(second) == without


def test_prepared_process_is_none_of_the_programs(prepared: Workplace) -> None:
    waiting(prepared, 2)
    whole = Whole(processes=1)
    for confinement in (Confinement(readable=SYSTEM), FREE):
        finished = run(
            prepared, "import time; time.sleep(0.2)", confinement=confinement, whole=whole
        )
        assert (finished.code, finished.exceeded) == (0, "")
        prepared.prepare(BOTH, network=False)


def test_nothing_is_prepared_where_nothing_is_apart(place: Workplace) -> None:
    place.prepare(("landlock",), network=False)
    place.prepare((), network=False)
    assert run(place, confinement=FREE).code == 0
    waiting(place, 1)


def test_it_is_prepared_once(prepared: Workplace) -> None:
    for _ in range(3):
        prepared.prepare(BOTH, network=False)
    waiting(prepared, 2)
    assert told(run(prepared)) == told(run(prepared))


@pytest.mark.parametrize("killed", [False, True], ids=["ended", "killed"])
def test_nothing_is_left_of_what_was_not_used(killed: bool) -> None:
    place = Workplace()
    place.prepare(BOTH, network=False)
    below = waiting(place, 2)
    if killed:
        os.kill(place._pid, signal.SIGKILL)
    place.close()
    until = time.monotonic() + 5
    while any(map(alive, below)) and time.monotonic() < until:
        time.sleep(0.01)
    assert not any(map(alive, below))


def alive(pid: int) -> bool:
    """Whether it is a process that has not ended."""
    try:
        os.readlink(f"/proc/{pid}/exe")
    except FileNotFoundError:
        return False
    return True


def test_program_does_not_run_when_it_was_killed(prepared: Workplace) -> None:
    (other,) = waiting(prepared, 2) - {prepared._pid}
    os.kill(other, signal.SIGKILL)
    finished = run(prepared)
    assert (finished.code, finished.stdout) == (-signal.SIGKILL, b"")
    assert run(prepared).code == 0
