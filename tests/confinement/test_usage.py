"""What a program takes as a whole is counted, wherever it is."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from metric_scripts import linux

from harbor_metrics.confinement import descendants, held, memory, sandbox, usage
from harbor_metrics.confinement.finished import Finished
from harbor_metrics.confinement.removal import remove
from harbor_metrics.confinement.usage import Watch
from harbor_metrics.confinement.workplace import Confinement, Whole, Workplace

# Of what the system tells: it is the same on every Python.
pytestmark = [linux, pytest.mark.one_python]
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


def run(code: str, layers: tuple[str, ...], folder: Path, seconds: float = 20, **most: int):
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


def test_threads_are_counted_before_anything_that_takes_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def processes() -> Iterator[int]:
        yield os.getpid()
        raise AssertionError("to find the next takes longer")

    def asked(pids: Iterable[int]) -> int:
        raise AssertionError("to ask for memory takes longer")

    monkeypatch.setattr(memory, "taken", asked)
    monkeypatch.setattr(usage, "_threads", lambda pid: 10)
    watch = Watch({"threads": 9, "memory": 1 << 40}, (), processes)
    time.sleep(watch.seconds())
    assert watch.exceeded() == "threads"


@pytest.mark.parametrize("kind", ["processes", "threads"])
@pytest.mark.parametrize("when", ["while it is looked", "before it is looked again"])
def test_what_is_started_soon_is_counted_soon(
    when: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Much takes long to look at, so that the next look comes late.
    monkeypatch.setattr(usage, "_PART", 1000)
    running = [os.getpid()]
    monkeypatch.setattr(usage, "_running", lambda: 1000 + len(running))
    monkeypatch.setattr(usage, "_threads", lambda pid: 1)

    def looked(pids: Iterable[int]) -> int:
        time.sleep(0.1)
        if when == "while it is looked":
            running.extend(range(9))
        return 0

    monkeypatch.setattr(held, "_buffer", lambda: looked([]))
    one, other = socket.socketpair()
    with one, other:
        watch = Watch({kind: 5, "memory": 1 << 40}, (), lambda: list(running))
        time.sleep(watch.seconds())
        found = watch.exceeded()
    if when == "before it is looked again":
        assert found == ""
        assert watch.seconds() <= 0.05
        time.sleep(watch.seconds())
        assert watch.exceeded() == ""
        running.extend(range(9))
        time.sleep(watch.seconds())
        found = watch.exceeded()
    assert found == kind


def test_memory_is_looked_at_soon_when_much_has_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "_PART", 1000)
    of_machine = dict.fromkeys(
        (memory.AVAILABLE, memory.OF_KERNEL, memory.IN_MEMORY_ALONE), 1 << 40
    )
    taken = [100 * MIB]

    def looked(pids: Iterable[int]) -> int:
        time.sleep(0.1)
        return taken[0]

    monkeypatch.setattr(memory, "of_machine", lambda kind: of_machine[kind])
    monkeypatch.setattr(memory, "taken", looked)
    monkeypatch.setattr(memory, "shared_out", lambda *_: taken[0])
    watch = Watch({"memory": 400 * MIB, "processes": 9}, (), lambda: {os.getpid()})
    time.sleep(watch.seconds())
    assert watch.exceeded() == ""
    # As long as it may be within the limit nobody looks.
    for gone, of_program, found in ((200, 100, ""), (50, 490, ""), (60, 490, "memory")):
        of_machine[memory.AVAILABLE] -= gone * MIB
        taken[0] = of_program * MIB
        time.sleep(watch.seconds())
        assert watch.exceeded() == found


@pytest.mark.parametrize("closed", [False, True])
def test_of_who_cannot_be_looked_into_all_counts_by_which_the_machine_has_grown(
    closed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def listed(path: str) -> list[str]:
        if closed:
            raise PermissionError
        return []

    of_machine = dict.fromkeys(
        (memory.AVAILABLE, memory.OF_KERNEL, memory.IN_MEMORY_ALONE), 1 << 40
    )
    monkeypatch.setattr(memory, "of_machine", lambda kind: of_machine[kind])
    monkeypatch.setattr(memory, "shared_out", lambda *_: 10 * MIB)
    monkeypatch.setattr(os, "listdir", listed)
    watch = Watch({"memory": 1 << 40}, (), lambda: {os.getpid()})
    time.sleep(watch.seconds())
    assert watch.exceeded() == ""
    of_machine[memory.IN_MEMORY_ALONE] += 1 << 40
    of_machine[memory.OF_KERNEL] += 1 << 20
    time.sleep(watch.seconds())
    assert watch.exceeded() == ("memory" if closed else "")


def test_what_runs_on_the_machine_is_one_number() -> None:
    assert usage._running() > len(os.listdir("/proc/self/task"))


def test_in_namespaces_the_system_starts_no_more_than_twice_as_many_threads(
    layers: tuple[str, ...], tmp_path: Path
) -> None:
    code = "import resource; print(resource.getrlimit(resource.RLIMIT_NPROC))"
    limits = run(code, layers, tmp_path, threads=30).stdout.decode()
    assert (limits == "(60, 60)\n") is ("namespaces" in layers)


@pytest.mark.skipif(sandbox._version() < (6, 14), reason="there is one number for all")
def test_in_namespaces_root_starts_no_more_either(layers: tuple[str, ...], tmp_path: Path) -> None:
    code = "print(open('/proc/sys/kernel/pid_max').read().strip())"
    before = Path("/proc/sys/kernel/pid_max").read_text()
    found = run(code, layers, tmp_path, threads=4096).stdout.decode()
    assert (found == "8192\n") is ("namespaces" in layers)
    assert Path("/proc/sys/kernel/pid_max").read_text() == before


def test_large_pages_are_memory(tmp_path: Path) -> None:
    (tmp_path / "status").write_text("Name:\tit\nVmRSS:\t 8 kB\nHugetlbPages:\t 2048 kB\n")
    assert memory.taken([f"..{tmp_path}"]) == (8 + 2048) * 1024  # type: ignore[list-item]


def test_what_takes_long_to_look_at_is_looked_at_again_within_a_second() -> None:
    def slowly() -> set[int]:
        time.sleep(0.2)
        return set()

    watch = Watch({"processes": 1}, (), slowly)
    time.sleep(watch.seconds())
    assert watch.exceeded() == ""
    assert watch.seconds() <= 1.0


# Pages of one file, so that what two have in memory is to be shared out, mapped in many places.
MAPPED_IN_MANY_PLACES = """
import mmap
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
one = os.memfd_create("one"); os.ftruncate(one, 20 << 20); mapped = mmap.mmap(one, 20 << 20)
at = libc.mmap(None, ctypes.c_size_t(1 << 30), 0, 0x22, -1, ctypes.c_long(0))
for n in range(30_000):
    place = ctypes.c_void_p(at + n * 8192)
    libc.mmap(place, ctypes.c_size_t(4096), 1, 0x11, one, ctypes.c_long(0))
two = os.fork()
for n in range(0, 20 << 20, 4096): mapped[n] = 1
print("ready" if two else "", flush=True)
time.sleep(60)
"""


def test_what_takes_too_long_to_look_at_is_above_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "_OF_PROCESSOR", 0.1)
    with subprocess.Popen(
        [sys.executable, "-c", HEAD + MAPPED_IN_MANY_PLACES],
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as program:
        try:
            assert program.stdout is not None
            while b"ready" not in program.stdout.readline():
                pass
            time.sleep(0.5)
            pids = {program.pid, *descendants.children_of(program.pid)}
            most = memory.taken(pids) - 1
            for deadline, found in ((0.05, ""), (60, "memory")):
                watch = Watch({"memory": most}, (), lambda: pids)
                time.sleep(watch.seconds())
                began = time.process_time()
                assert watch.exceeded(time.monotonic() + deadline) == found
                assert time.process_time() - began < 0.3
        finally:
            os.killpg(program.pid, 9)


def test_who_has_too_much_open_to_look_at_is_above_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(usage, "_OF_PROCESSOR", 0.0)
    for most in ("memory", "bytes", "files"):
        watch = Watch({most: 1 << 40}, (), lambda: {os.getpid()})
        time.sleep(watch.seconds())
        assert watch.exceeded() == most


# Nothing of it is mapped.
MEMFDS = """
held = [os.memfd_create(f"{n}") for n in range(4)]
for n in held:
    for _ in range(20): os.write(n, bytes(1 << 20))
"""
UNLINKED_IN_SHARED_MEMORY = """
held = []
for n in range(4):
    name = f"/dev/shm/psm_held-{os.getpid()}-{n}"
    held.append(os.open(name, os.O_CREAT | os.O_RDWR)); os.unlink(name)
    for _ in range(20): os.write(held[-1], bytes(1 << 20))
"""
SOCKETS = """
pairs = [socket.socketpair() for _ in range(300)]
for one, other in pairs:
    one.setblocking(False)
    try:
        while True: one.send(bytes(1 << 12))
    except BlockingIOError: pass
"""
# Of each GiB one page that is read, and so no memory, but a table and a directory of its own.
TABLES = """
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
for n in range(10_000):
    place = ctypes.c_void_p((1 << 40) + n * (1 << 30))
    if libc.mmap(place, ctypes.c_size_t(4096), 1, 0x100022, -1, ctypes.c_long(0)) == place.value:
        ctypes.string_at(place, 1)
"""


# Every other page of a place that was mapped whole, and none of them is ever there.
MAPPINGS = """
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
at = libc.mmap(None, ctypes.c_size_t(60_000 * 4096), 0, 0x22, -1, ctypes.c_long(0))
for n in range(30_000):
    libc.mprotect(ctypes.c_void_p(at + n * 8192), ctypes.c_size_t(4096), 1)
for n in range(20):
    if not os.fork(): time.sleep(60)
"""


def test_mappings_are_counted(layers: tuple[str, ...], tmp_path: Path) -> None:
    waits = f"{MAPPINGS}\ntime.sleep(9)"
    assert run(waits, layers, tmp_path, memory=200 * MIB).exceeded == "memory"


@pytest.mark.parametrize("held", [MEMFDS, UNLINKED_IN_SHARED_MEMORY, SOCKETS, TABLES])
def test_memory_without_a_mapping_is_counted(
    held: str, layers: tuple[str, ...], tmp_path: Path
) -> None:
    waits = f"{held}\ntime.sleep(60)"
    assert run(waits, layers, tmp_path, memory=60 * MIB).exceeded == "memory"


# Its first thread has ended, and of the process tells nothing any more.
WITHOUT_A_FIRST_THREAD = """
def go_on():
    held = bytearray(100 << 20)
    for at in range(0, len(held), 4096): held[at] = 1
    time.sleep(60)
threading.Thread(target=go_on).start()
libc = ctypes.CDLL(None)
libc.pthread_exit(None)
"""
# The program that it runs is a file without a name, of which nothing is open or mapped.
AS_A_PROGRAM = """
program = os.memfd_create("program")
with open("/bin/sleep", "rb") as file: os.write(program, file.read())
for _ in range(100): os.write(program, bytes(1 << 20))
os.execve(program, ["sleep", "60"], {})
"""
# What was changed in a copy of a file is none of the file's, which has nothing any more.
COPIED = """
import mmap
file = os.memfd_create("file"); os.ftruncate(file, 100 << 20)
mapped = mmap.mmap(file, 100 << 20, mmap.MAP_PRIVATE)
libc = ctypes.CDLL(None, use_errno=True)
for at in range(0, 100 << 20, 4096): mapped[at] = 1
os.ftruncate(file, 100 << 20)
libc.fallocate(file, 3, ctypes.c_long(0), ctypes.c_long(100 << 20))
time.sleep(60)
"""


@pytest.mark.parametrize("held", [WITHOUT_A_FIRST_THREAD, AS_A_PROGRAM, COPIED])
def test_memory_that_is_well_hidden_is_counted(
    held: str, layers: tuple[str, ...], tmp_path: Path
) -> None:
    assert run(held, layers, tmp_path, memory=60 * MIB).exceeded == "memory"


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone can ask for it")
def test_a_page_that_is_mapped_keeps_the_rest(layers: tuple[str, ...], tmp_path: Path) -> None:
    code = """
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
for n in range(4):
    at = libc.mmap(None, ctypes.c_size_t(20 << 20), 3, 0x21, -1, ctypes.c_long(0))
    ctypes.memset(at, 1, 20 << 20)
    libc.munmap(ctypes.c_void_p(at + 4096), ctypes.c_size_t((20 << 20) - 4096))
time.sleep(60)
"""
    assert run(code, layers, tmp_path, memory=60 * MIB).exceeded == "memory"


def test_what_is_held_and_mapped_by_many_counts_once(
    layers: tuple[str, ...], tmp_path: Path
) -> None:
    code = """
import mmap
one = os.memfd_create("one"); os.ftruncate(one, 40 << 20); mapped = mmap.mmap(one, 40 << 20)
for at in range(0, 40 << 20, 4096): mapped[at] = 1
for _ in range(3):
    if os.fork() == 0:
        sum(mapped[at] for at in range(0, 40 << 20, 4096)); time.sleep(0.5); os._exit(0)
for _ in range(3): os.wait()
print("done")
"""
    finished = run(code, layers, tmp_path, memory=80 * MIB)
    assert (finished.exceeded, finished.stdout) == ("", b"done\n")


def test_files_without_a_name_are_counted(layers: tuple[str, ...], tmp_path: Path) -> None:
    code = """
held = []
for n in range(4):
    held.append(os.open("file", os.O_CREAT | os.O_RDWR)); os.unlink("file")
    for _ in range({mib}): os.write(held[-1], bytes(1 << 20))
time.sleep(60)
"""
    big, small = code.format(mib=10), code.format(mib=0)
    assert run(big, layers, tmp_path, bytes=30 * MIB).exceeded == "bytes"
    assert run(small, layers, tmp_path, files=3).exceeded == "files"


def test_what_is_let_go_counts_no_longer(layers: tuple[str, ...], tmp_path: Path) -> None:
    code = f"for _ in range(3):\n{textwrap.indent(MEMFDS, ' ')}\n"
    code += " for n in held: os.close(n)\n time.sleep(0.2)\nprint('done')"
    finished = run(code, layers, tmp_path, memory=160 * MIB)
    assert (finished.exceeded, finished.stdout) == ("", b"done\n")


def test_files_too_deep_for_a_path_are_counted(layers: tuple[str, ...], tmp_path: Path) -> None:
    code = """
for _ in range(50): os.mkdir("m" * 200); os.chdir("m" * 200)
for n in range(30):
    with open(f"{n}", "wb") as file: file.write(bytes(1 << 20))
time.sleep(60)
"""
    assert run(code, layers, tmp_path, files=70).exceeded == "files"
    remove(str(tmp_path))
    tmp_path.mkdir()
    assert run(code, layers, tmp_path, bytes=20 * MIB).exceeded == "bytes"
    remove(str(tmp_path))
