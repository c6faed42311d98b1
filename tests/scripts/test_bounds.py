"""What a script may take and reach, from the options."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from conftest import ROOT
from metric_scripts import HEAD, linux

from harbor_metrics.confinement.finished import Finished
from harbor_metrics.confinement.places import SCRATCH_BYTES, SCRATCH_FILES
from harbor_metrics.confinement.usage import KINDS
from harbor_metrics.confinement.workplace import RefusedError, Workplace
from harbor_metrics.errors import MetricFailure
from harbor_metrics.registries.script_file import find
from harbor_metrics.scripts import answer, bounds, failures, git_program
from harbor_metrics.scripts.bounds import GIB, confinement, limits, refusal, whole
from harbor_metrics.scripts.execution import Inputs, execute
from harbor_metrics.scripts.options import ScriptOptions
from harbor_metrics.trials.table import Table


def test_contributing_has_the_numbers_of_the_program() -> None:
    text = " ".join((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split())
    of_git, of_git_seconds = git_program._WHOLE, git_program.FETCH_SECONDS
    for words in (
        f"a script has {ScriptOptions().memory:g} GiB of memory (`--script-memory`)",
        f"{bounds.PROCESSES:,} processes and {bounds._MIN_THREADS:,} threads",
        f"({bounds._THREADS_A_CORE} a processor where that is more) together",
        f"{SCRATCH_BYTES // GIB} GiB and {SCRATCH_FILES:,} files in its folders",
        f"{bounds.FILE_SIZE >> 20} MiB a file, {bounds.OPEN_FILES:,} open files a process",
        f"{bounds.SIGNALS:,} signals that wait",
        f"{answer.MAX_BYTES >> 20} MiB and {answer.MAX_KEYS:,} keys for its answer",
        f"git has {of_git_seconds:g} s, {of_git.bytes >> 20} MiB and {of_git.files:,} files",
        f"{of_git.memory // GIB} GiB of memory and {of_git.processes} processes",
    ):
        assert words in text, words


def test_limits_follow_from_seconds_and_memory() -> None:
    found = limits(ScriptOptions(memory=0.5), seconds=2)
    assert found["RLIMIT_AS"] == 1 << 29
    assert found["RLIMIT_CPU"] == 2 * (os.cpu_count() or 1) + 1
    assert found["RLIMIT_CORE"] == 1
    assert found["RLIMIT_SIGPENDING"] == bounds.SIGNALS
    assert found["RLIMIT_RTPRIO"] == found["RLIMIT_NICE"] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_every_limit_is_told_with_its_number(kind: str) -> None:
    finished = Finished(-9, b"", b"", False, 1.0, exceeded=kind)
    assert re.search(r"was ended for .*: more than \d", failures.ended(finished, ScriptOptions()))
    assert re.match(r"\d", git_program._MOST[kind])


def test_memory_of_0_is_not_limited() -> None:
    assert "RLIMIT_AS" not in limits(ScriptOptions(memory=0), seconds=1)


@pytest.mark.parametrize(
    ("sandbox", "asked", "layers", "filtered", "required"),
    [
        ("auto", "no", ScriptOptions().layers, True, "no"),
        ("auto", "one", ScriptOptions().layers, True, "one"),
        ("require", "no", ScriptOptions().layers, True, "all"),
        ("off", "no", (), False, "no"),
    ],
)
def test_confinement_is_what_the_user_wants_and_the_work_requires(
    sandbox: str, asked: str, layers: tuple[str, ...], filtered: bool, required: str
) -> None:
    options = ScriptOptions(sandbox=sandbox)
    found = confinement(options, asked, readable=["/r"], writable=["/w"])
    assert (found.layers, found.filtered, found.required) == (layers, filtered, required)
    assert (found.readable, found.writable, found.network) == (("/r",), ("/w",), False)


def test_refusal_says_what_is_missing() -> None:
    required = refusal(RefusedError("landlock: no"), ScriptOptions(sandbox="require"))
    assert required.rule == "script-sandbox"
    assert "not there: landlock: no (--sandbox auto runs without)" in str(required)
    of_a_job = refusal(RefusedError(""), ScriptOptions(sandbox="off"))
    assert of_a_job.rule == "script-not-confined"
    assert "--sandbox off" in str(of_a_job)


def test_the_whole_is_what_a_process_is_and_more() -> None:
    found = whole(ScriptOptions(memory=0.5), ["/x"])
    assert (found.memory, found.folders) == (1 << 29, ("/x",))
    assert min(found.processes, found.threads, found.bytes, found.files) > 0
    assert whole(ScriptOptions(memory=0), []).memory == 0


CONFINEMENTS = {
    "both": ScriptOptions(memory=0.25, timeout=30).layers,
    "landlock": ("landlock",),
    "namespaces": ("namespaces",),
    "off": (),
}
MANY = """
children = []
for _ in range(4):
    if os.fork() == 0:
        held = bytearray(os.urandom(1 << 20) * 120)
        time.sleep(60)
        os._exit(0)
time.sleep(60)
"""
FORKS = "while True:\n    if os.fork() == 0: time.sleep(60); os._exit(0)\n"
HOARD = """
for n in range(10_000):
    with open(f"{n}", "wb") as file: file.write(bytes(1 << 24))
"""
FILES = """
for n in range(1_000_000):
    open(f"{n}", "wb").close()
"""
PIPES = """
held = [os.pipe() for _ in range(257)]
if os.fork() == 0:
    os.closerange(3, 1024)
    held = [os.pipe() for _ in range(257)]
time.sleep(60)
"""
EPOLLS = """
import select
held = [select.epoll() for _ in range(257)]
time.sleep(60)
"""
FEW = """
import select
held = [os.pipe() for _ in range(400)] + [select.epoll() for _ in range(120)]
if os.fork() == 0:
    time.sleep(0.7)
    os._exit(0)
os.wait()
answer(n=len(held))
"""
SHARED = """
held = os.urandom(1 << 20) * 150
for _ in range(6):
    if os.fork() == 0:
        held[0], time.sleep(0.7)
        os._exit(0)
while True:
    try: os.wait()
    except ChildProcessError: break
answer(n=len(held))
"""


def ran(tmp_path: Path, text: str, layers: str, memory: float = 0.25) -> dict[str, int]:
    (tmp_path / "m.py").write_text(HEAD + text)
    sandbox = "off" if layers == "off" else "auto"
    options = ScriptOptions(
        memory=memory, timeout=30, sandbox=sandbox, layers=CONFINEMENTS[layers] or ("landlock",)
    )
    with Workplace() as place:
        inputs = Inputs.of(Table([]))
        return dict(execute(find(str(tmp_path / "m.py"), None), inputs, options, place).values)


@linux
@pytest.mark.one_python
@pytest.mark.parametrize("layers", CONFINEMENTS)
@pytest.mark.parametrize(
    ("text", "why"),
    [
        (MANY, "all its processes took together: more than 0.25 GiB"),
        (FORKS, "the number of its processes: more than 1024"),
        (HOARD, "(temporary folder or into shared memory: more than 1024 MiB)|No space left"),
        (FILES, "(the number of files in its temporary folder: more than 20000)|No space left"),
        (PIPES, "all its processes took together: more than 0.25 GiB"),
        (EPOLLS, "all its processes took together: more than 0.25 GiB"),
    ],
    ids=["memory", "processes", "bytes", "files", "pipes", "epolls"],
)
def test_a_script_is_bounded_as_a_whole(
    tmp_path: Path, text: str, why: str, layers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with pytest.raises(MetricFailure, match=why):
        # A thousand processes have tables of their own, which are memory.
        ran(tmp_path, text, layers, memory=0 if text == FORKS else 0.25)
    assert os.listdir(tmp_path) == ["m.py"]


@linux
@pytest.mark.parametrize("layers", CONFINEMENTS)
def test_what_processes_share_counts_once(tmp_path: Path, layers: str) -> None:
    assert ran(tmp_path, SHARED, layers) == {"n": 150 << 20}


@linux
@pytest.mark.parametrize("layers", CONFINEMENTS)
def test_pipes_and_descriptors_of_epoll_that_processes_share_count_once_and_for_each(
    tmp_path: Path, layers: str
) -> None:
    assert ran(tmp_path, FEW, layers) == {"n": 520}
