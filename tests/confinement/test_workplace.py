"""Programs below a supervisor: how they end, what they print, and what is left of them."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from metric_scripts import linux

from harbor_metrics.confinement import workplace
from harbor_metrics.confinement.ending import REMAINING
from harbor_metrics.confinement.finished import Finished, ending
from harbor_metrics.confinement.workplace import (
    Confinement,
    NoPlaceError,
    RefusedError,
    Whole,
    Workplace,
)

PRINT = "import os, sys, time\n"


@pytest.fixture
def place() -> Iterator[Workplace]:
    with Workplace() as place:
        yield place


def python(place: Workplace, code: str, **more: Any) -> Finished:
    fields = {"env": {}, "cwd": "/", "timeout": 30, **more}
    return place.run([sys.executable, "-I", "-S", "-c", PRINT + code], **fields)


def gone(pid: int) -> bool:
    """Whether a process has ended, which takes a moment to be known."""
    for _ in range(200):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


@linux
def test_program_that_takes_back_what_it_prints_keeps_nobody_waiting() -> None:
    """Between the moment that something is there to read and the reading."""
    code = (
        "import os, select\n"
        "from harbor_metrics.confinement.supervisor import Program\n"
        "class Ready:\n"
        "    def __init__(self, *descriptors): self.ready = descriptors\n"
        "    def poll(self, wait): return [(each, select.POLLIN) for each in self.ready]\n"
        "program = Program(apart=False, network=False)\n"
        "program.poll = Ready(program.out, program.err, program.report)\n"
        "program.take(0.01)\n"
        "print(len(program.open))\n"
        "os.kill(program.pid, 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20)
    assert (done.stdout, done.stderr) == ("3\n", "")


def test_exit_code_and_both_streams_are_kept(place: Workplace) -> None:
    finished = python(place, "print('out'); sys.stderr.write('err'); sys.exit(3)")
    assert (finished.code, finished.stdout, finished.stderr) == (3, b"out\n", b"err")
    assert not finished.timed_out


def test_folder_that_a_program_shut_is_open_to_the_next(place: Workplace) -> None:
    assert python(place, f"os.chmod({place.folder!r}, 0)").code == 0
    assert os.stat(place.folder).st_mode & 0o777 == 0o700


def test_link_in_place_of_the_folder_opens_nothing(place: Workplace, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    os.rename(place.folder, f"{place.folder}-gone")
    os.symlink(tmp_path, place.folder)
    _ = place.folder
    assert tmp_path.stat().st_mode & 0o777 == 0o500
    os.unlink(place.folder)
    os.rename(f"{place._folder}-gone", place._folder)


@linux
def test_supervisors_are_not_awaited_and_not_left() -> None:
    with Workplace() as one, Workplace() as other:
        pids = [one._pid, other._pid]
        folders = [one.folder, other.folder]
    assert not any(map(os.path.exists, folders))
    # Who awaits one himself takes nothing from us.
    assert os.waitpid(pids[0], 0) == (pids[0], 0)
    for pid in pids[1:]:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    with Workplace() as place:
        assert python(place, "print('out')").code == 0
        assert all(map(gone, pids))


def test_one_place_runs_several_programs(place: Workplace) -> None:
    assert [python(place, f"sys.exit({code})").code for code in (0, 1, 2)] == [0, 1, 2]


def test_programs_before_a_program_are_no_processes_of_it(place: Workplace) -> None:
    def exceeded() -> str:
        confined = Confinement(readable=(sys.prefix, sys.base_prefix))
        return python(
            place, "time.sleep(0.15)", confinement=confined, whole=Whole(processes=3)
        ).exceeded

    assert [exceeded() for _ in range(6)] == [""] * 6


@linux
@pytest.mark.parametrize("unlinked", [False, True])
def test_shared_memory_counts_as_written_where_landlock_is_alone(
    place: Workplace, unlinked: bool
) -> None:
    name = f"/dev/shm/psm_harbor-metrics-test-{os.getpid()}"
    code = f"file = open({name!r}, 'wb')\n"
    code += f"os.unlink({name!r})\n" if unlinked else ""
    code += "file.write(bytes(32 << 20)); file.flush(); print(1, flush=True); time.sleep(5)"
    confined = Confinement(layers=("landlock",), readable=(sys.prefix, sys.base_prefix))
    try:
        for _ in range(3):
            finished = python(place, code, confinement=confined, whole=Whole(bytes=8 << 20))
            # Who is there besides, another test perhaps, can have freed as much meanwhile.
            if finished.exceeded:
                break
    finally:
        Path(name).unlink(missing_ok=True)
    assert finished.layers == ("landlock",)
    assert (finished.exceeded, finished.stdout) in (("bytes", b"1\n"), ("bytes", b""))


@linux
def test_files_in_shared_memory_count_where_landlock_is_alone(place: Workplace) -> None:
    name = f"/dev/shm/psm_harbor-metrics-test-{os.getpid()}"
    code = f"for n in range(300): open(f'{name}-{{n}}', 'x').close()\ntime.sleep(20)"
    confined = Confinement(layers=("landlock",), readable=(sys.prefix, sys.base_prefix))
    try:
        finished = python(place, code, confinement=confined, whole=Whole(files=200))
    finally:
        for n in range(300):
            Path(f"{name}-{n}").unlink(missing_ok=True)
    assert (finished.layers, finished.exceeded) == (("landlock",), "files")


def test_signal_that_ends_a_program_is_its_code(place: Workplace) -> None:
    assert python(place, "os.kill(os.getpid(), 11)").code == -signal.SIGSEGV


def test_program_has_the_given_environment_and_folder_and_no_input(
    place: Workplace, tmp_path: Path
) -> None:
    code = "print(os.environ.get('A'), os.environ.get('HOME'), os.getcwd(), repr(sys.stdin.read()))"
    finished = python(place, code, env={"A": "1"}, cwd=str(tmp_path))
    assert finished.stdout.decode() == f"1 None {tmp_path} ''\n"


def test_end_of_a_long_output_is_kept(place: Workplace) -> None:
    finished = python(place, "sys.stdout.write('x' * 1_000_000 + 'end')")
    assert len(finished.stdout) == 65_536
    assert finished.stdout.endswith(b"xend")


def test_program_over_its_time_is_ended(place: Workplace) -> None:
    began = time.monotonic()
    finished = python(place, "time.sleep(60)", timeout=0.3)
    assert finished.timed_out
    assert time.monotonic() - began < 20
    assert python(place, "").code == 0


def test_process_that_a_program_leaves_is_ended(place: Workplace) -> None:
    leaves = "pid = os.fork()\nif pid == 0:\n    os.setsid(); time.sleep(60)\nprint(pid)"
    assert gone(int(python(place, leaves).stdout))


def test_limit_holds_for_the_program(place: Workplace) -> None:
    code = "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE))"
    assert python(place, code, limits={"RLIMIT_NOFILE": 64}).stdout == b"(64, 64)\n"
    assert python(place, code, limits={"RLIMIT_NONE": 1}).code == 0


@linux
@pytest.mark.parametrize("layers", [(), ("landlock",), ("namespaces",)])
def test_limit_below_what_we_have_ourselves_holds_for_the_program(
    place: Workplace, layers: tuple[str, ...]
) -> None:
    """The supervisor, which is a copy of us, is above the limit that the program can be below."""
    confinement = Confinement(layers=layers, readable=(sys.prefix, sys.base_prefix))
    with open("/proc/self/statm") as file:
        ours = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    limits = {"RLIMIT_AS": 48 << 20}
    assert ours > limits["RLIMIT_AS"]
    code = (
        "import resource, signal; assert not signal.pthread_sigmask(0, ())\n"
        "print(resource.getrlimit(resource.RLIMIT_AS)[0] >> 20)"
    )
    finished = python(place, code, limits=limits, confinement=confinement)
    assert (finished.code, finished.stdout) == (0, b"48\n"), finished


@linux
@pytest.mark.parametrize("layers", [("namespaces",), ("landlock", "namespaces")])
def test_who_watches_in_namespaces_is_not_looked_into_nor_ended(
    place: Workplace, layers: tuple[str, ...]
) -> None:
    """It is confined as the program is, and a copy of us: only itself keeps what it has."""
    code = f"""
import resource
seen = []
def tried(what, call):
    try: call()
    except OSError: pass
    else: seen.append(what)
assert os.getppid() == 1
for name in {list(_OF_ITSELF)}:
    tried(name, lambda: open(f"/proc/1/{{name}}", "rb").read(1))
for name in {list(_LEADING_ELSEWHERE)}:
    tried(name, lambda: os.readlink(f"/proc/1/{{name}}"))
for number in range(64):
    tried(f"fd/{{number}}", lambda: os.open(f"/proc/1/fd/{{number}}", os.O_RDWR))
for name in ("comm", "oom_score_adj", "clear_refs", "mem"):
    tried(f"to {{name}}", lambda: os.open(f"/proc/1/{{name}}", os.O_WRONLY))
tried("group", lambda: os.setpriority(os.PRIO_PGRP, 0, 5))
os.setpriority(os.PRIO_PROCESS, 0, 5)
tried("limit", lambda: resource.prlimit(1, resource.RLIMIT_CPU))
tried("schedule", lambda: os.sched_setaffinity(1, {{0}}))
print(seen)
assert not __import__("signal").pthread_sigmask(0, ())
for number in range(1, 65):
    tried("end", lambda: os.kill(1, number))
time.sleep(0.1)
print("still here")
"""
    confinement = Confinement(layers=layers, readable=(sys.prefix, sys.base_prefix))
    finished = python(place, code, confinement=confinement)
    if "namespaces" not in finished.layers:
        pytest.skip(f"no namespaces here: {finished.missing}")
    assert (finished.code, finished.stdout) == (0, b"[]\nstill here\n"), finished


_OF_ITSELF = (
    *("mem", "environ", "cmdline", "maps", "smaps", "auxv", "stack", "syscall", "io", "pagemap"),
    *("numa_maps", "personality"),
)
_LEADING_ELSEWHERE = ("cwd", "root", "exe")


@linux
def test_no_open_file_of_ours_is_the_programs(tmp_path: Path) -> None:
    """Whatever its number, which may be above what may be opened now."""
    (tmp_path / "secret").write_text("secret")
    code = f"""
import os, resource, sys
from harbor_metrics.confinement.workplace import Workplace
os.dup2(os.open({str(tmp_path / "secret")!r}, os.O_RDONLY), 700)
os.set_inheritable(700, True)
resource.setrlimit(resource.RLIMIT_NOFILE, (256, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
code = "import os; print(*(n for n in os.listdir('/proc/self/fd') if int(n) > 9))"
with Workplace() as place:
    print(place.run([sys.executable, "-c", code], env={{}}, cwd="/", timeout=30).stdout)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("b'\\n'\n", "")


@linux
@pytest.mark.parametrize("version", [2, 4])
def test_program_goes_on_where_landlock_is_not_whole(version: int) -> None:
    """Before Linux 6.12; what a report says of it ends nothing."""
    code = f"""
import sys
from harbor_metrics.confinement import landlock
from harbor_metrics.confinement.workplace import Confinement, Workplace
landlock.version = lambda: {version}
landlock.restrict = lambda *paths, **how: None
code = "import time; time.sleep(0.3); print('done')"
with Workplace() as place:
    alone = Confinement(layers=("landlock",))
    done = place.run(
        [sys.executable, "-c", code], env={{}}, cwd="/", timeout=30, confinement=alone
    )
    print(done.code, done.stdout, len(done.missing), done.layers)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("0 b'done\\n' 1 ()\n", "")


def test_program_that_is_not_there_is_an_error_of_the_system(place: Workplace) -> None:
    with pytest.raises(FileNotFoundError):
        place.run(["/nowhere"], env={}, cwd="/", timeout=1)


def test_program_that_cannot_be_started_is_an_error_with_every_layer(place: Workplace) -> None:
    with pytest.raises(PermissionError):
        place.run(["/etc/passwd"], env={}, cwd="/", timeout=1, confinement=Confinement())
    # Whoever was to start it has ended, and what comes next is run.
    assert python(place, "print(1)").stdout == b"1\n"


@linux
@pytest.mark.parametrize("forged", ["ended x", "ended ", "failed x", "failed 99999999999"])
def test_what_a_program_forges_of_itself_ends_in_no_traceback(forged: str) -> None:
    """Where the system keeps nobody from writing what another process reports."""
    code = (
        "import os, glob\n"
        "for pipe in glob.glob(f'/proc/{os.getppid()}/fd/*'):\n"
        "    try:\n"
        f"        os.write(os.open(pipe, os.O_WRONLY), b'\\n{forged}\\n')\n"
        "    except OSError: pass\n"
    )
    run = f"""
import sys
from harbor_metrics.confinement import ending, sandbox
from harbor_metrics.confinement.workplace import Workplace
ending.keep_together = lambda **how: False
sandbox.close_to_others = lambda: None
with Workplace() as place:
    try:
        print(place.run([sys.executable, "-c", {code!r}], env={{}}, cwd="/", timeout=30).code)
    except OSError as error:
        print("error" if error.errno else "none")
"""
    done = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, timeout=60)
    wanted = "error\n" if forged.startswith("failed") else "-9\n"
    assert (done.stdout, done.stderr) == (wanted, "")


@pytest.mark.parametrize("layers", [(), ("landlock", "namespaces")])
def test_program_that_has_no_name_ends_as_one_that_failed(
    place: Workplace, layers: tuple[str, ...]
) -> None:
    confinement = Confinement(layers=layers)
    argv = [sys.executable, "a\0b"]
    assert place.run(argv, env={}, cwd="/", timeout=9, confinement=confinement).code == 127


def test_folder_that_is_not_there_is_an_error_of_the_system(place: Workplace) -> None:
    with pytest.raises(NotADirectoryError):
        python(place, "", cwd=sys.executable)


def test_nothing_starts_without_a_part_that_is_required(place: Workplace, tmp_path: Path) -> None:
    nothing = Confinement(layers=(), filtered=False, required="one")
    with pytest.raises(RefusedError):
        python(place, f"open({str(tmp_path / 'ran')!r}, 'w')", confinement=nothing)
    assert not (tmp_path / "ran").exists()


def test_folder_is_empty_and_private_and_goes_with_the_place() -> None:
    with Workplace() as place:
        folder = Path(place.folder)
        assert (list(folder.iterdir()), folder.stat().st_mode & 0o777) == ([], 0o700)
        (folder / "deep").mkdir()
        (folder / "deep" / "file").write_text("x")
        (folder / "deep").chmod(0)
    assert not folder.exists()


def test_missing_place_for_temporary_files_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "gone"))
    with pytest.raises(NoPlaceError, match=r"TMPDIR .*gone: No such file"):
        Workplace()


@linux
@pytest.mark.parametrize(
    ("wanted", "advice"),
    [
        *((place, "choose another folder") for place in ("/dev/shm", "/dev/shm/below", "/dev")),
        *((place, "choose a folder in it") for place in ("/", "/usr", "/etc")),
    ],
)
def test_place_is_not_where_programs_share_memory_or_are_read_from(
    wanted: str, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", wanted)
    with pytest.raises(NoPlaceError, match=f"TMPDIR {wanted}: .* {advice}"):
        Workplace()


@linux
def test_program_is_ended_with_its_supervisor(place: Workplace) -> None:
    assert place.folder
    threading.Timer(0.5, os.kill, (place._pid, signal.SIGKILL)).start()
    finished = python(place, "time.sleep(60)")
    assert (finished.lost, finished.code, place.alive) == (True, -signal.SIGKILL, False)


def test_supervisor_that_is_stopped_is_not_awaited_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script that nothing confines can stop it."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(workplace, "_TO_CLOSE", 0.1)
    place = Workplace()
    folder = place.folder
    os.kill(place._pid, signal.SIGSTOP)
    place.close()
    assert place.left == folder
    assert os.listdir(tmp_path) == [os.path.basename(folder)]


def test_answer_that_does_not_come_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workplace, "_TO_ANSWER", 0.1)
    place = Workplace()
    folder = place.folder
    os.kill(place._pid, signal.SIGSTOP)
    finished = place.run(["/bin/true"], env={}, cwd="/", timeout=0.1)
    assert (finished.lost, place.alive) == (True, False)
    place.close()
    assert place.left == ""
    assert not os.path.exists(folder)


def test_abandoned_place_runs_nothing_more(place: Workplace) -> None:
    place.abandon()
    assert python(place, "").lost


@pytest.mark.parametrize(
    ("finished", "words"),
    [
        (Finished(3, b"", b"", False, 1.0), "ended with exit code 3"),
        (Finished(-9, b"", b"", False, 1.0), "was ended by SIGKILL"),
        (Finished(-99, b"", b"", False, 1.0), "was ended by signal 99"),
        (
            Finished(-9, b"", b"", True, 1.0, exceeded=REMAINING),
            "left processes that could not be ended",
        ),
        (Finished(-9, b"", b"", True, 1.0), "timed out: it did not end within 0.5 s"),
    ],
)
def test_end_is_described_in_words(finished: Finished, words: str) -> None:
    assert ending(finished, 0.5) == words


@pytest.mark.parametrize("mode", [0, 0o500, 0o755, 0o777, 0o1777])
def test_folder_is_ours_alone_each_time(mode: int) -> None:
    with Workplace() as place:
        os.chmod(place.folder, mode)
        assert stat.S_IMODE(os.stat(place.folder).st_mode) == 0o700


def test_no_place_is_where_a_script_may_read_but_where_the_user_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script reads what lies in its folder: a password that is there for git, too."""
    monkeypatch.chdir(tmp_path)
    for name in ("TMP", "TEMP"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.setattr(os, "access", lambda path, _mode: path == "/var/tmp")
    with Workplace() as place:
        assert os.path.dirname(place.folder) == os.path.realpath("/var/tmp")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(NoPlaceError, match="set TMPDIR"):
        Workplace()
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with Workplace() as place:
        assert os.path.dirname(place.folder) == str(tmp_path)


@pytest.mark.parametrize("layers", [(), ("landlock",), ("namespaces",)])
def test_what_a_program_makes_is_nobody_elses(layers: tuple[str, ...], place: Workplace) -> None:
    code = "import os; print(oct(os.umask(0)))"
    confined = Confinement(layers=layers, readable=(sys.prefix, sys.base_prefix))
    argv = [sys.executable, "-I", "-S", "-c", code]
    finished = place.run(argv, env={}, cwd="/", timeout=30, confinement=confined)
    assert finished.stdout == b"0o77\n", finished.stderr


@linux
@pytest.mark.parametrize("layers", [("landlock",), ("namespaces",), ("landlock", "namespaces")])
def test_a_name_leads_a_program_where_it_led_us(
    layers: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who opens it is another process, for which some links lead elsewhere."""
    folder, secret = tmp_path / "f", tmp_path / "own" / "secret"
    beside = folder / secret.relative_to("/")
    for path, text in ((secret, "s3cret"), (beside, "given")):
        path.parent.mkdir(parents=True)
        path.write_text(text)
    for name, place in (("x", secret), ("all", secret.parent)):
        (folder / name).symlink_to(f"/proc/self/cwd{place}")
    monkeypatch.chdir(folder)
    paths = [str(beside), str(folder / "x"), str(folder / "all" / "secret"), str(secret)]
    code = f"""for path in {paths}:
    try: print(open(path).read())
    except OSError: print('no')
try: print(os.listdir({str(secret.parent)!r}))
except OSError: print('no')
"""
    with Workplace() as place:
        confinement = Confinement(
            layers=layers,
            readable=(*map(str, [folder / "x", folder / "all"]), sys.base_prefix, sys.prefix),
            listed=(str(folder / "all"),),
        )
        done = python(place, code, confinement=confinement)
    if done.layers != layers:
        pytest.skip(f"not here: {done.missing}")
    words = done.stdout.decode().split()
    assert words[0] == "given"
    assert not {"s3cret", "['secret']"} & {*words}


@linux
@pytest.mark.parametrize("layers", [("landlock",), ("namespaces",), ("landlock", "namespaces")])
def test_what_is_readable_shows_no_file_that_is_hidden(
    layers: tuple[str, ...], tmp_path: Path
) -> None:
    """A link may have come to be among what a program reads; of a hidden folder a part may be."""
    folder, password, other = tmp_path / "f", tmp_path / "f" / "password", tmp_path / "x"
    folder.mkdir()
    password.write_text("s3cret")
    (folder / "data").write_text("given")
    other.symlink_to(password)
    paths = [*map(str, (folder / "data", other, password))]
    code = f"""for path in {paths}:
    try: print(open(path).read())
    except OSError: print('no')
"""
    with Workplace() as place:
        confinement = Confinement(
            layers=layers,
            readable=(*paths, sys.base_prefix, sys.prefix),
            hidden=(str(folder), str(password)),
        )
        done = python(place, code, confinement=confinement)
    if done.layers != layers:
        pytest.skip(f"not here: {done.missing}")
    assert done.stdout.split() == [b"given", b"no", b"no"]


@linux
@pytest.mark.parametrize("layers", [("landlock",), ("namespaces",), ("landlock", "namespaces")])
def test_link_in_place_of_a_folder_to_write_to_is_not_followed(
    layers: tuple[str, ...], tmp_path: Path
) -> None:
    """What builds a package wrote around it in the step before."""
    home, work = tmp_path / "home", tmp_path / "work"
    (home / "sub").mkdir(parents=True)
    work.mkdir()
    (home / "secret").write_text("s3cret")
    (work / "cache").symlink_to(home)
    (work / "sub").symlink_to(home)
    code = f"""for path in {[str(home / "secret"), str(work / "cache" / "secret")]}:
    try: print(open(path).read())
    except OSError: print("no")
for path in {[str(home / "new"), str(work / "cache" / "new"), str(work / "sub" / "sub" / "x")]}:
    try: open(path, "w"); print("wrote")
    except OSError: print("no")
open({str(work / "own")!r}, "w"); print("wrote")
"""
    with Workplace() as place:
        writable = map(str, (work / "cache", work, work / "sub" / "sub"))
        confinement = Confinement(
            layers=layers, readable=(sys.base_prefix, sys.prefix), writable=tuple(writable)
        )
        done = python(place, code, confinement=confinement)
    if done.layers != layers:
        pytest.skip(f"not here: {done.missing}")
    assert done.stdout.split() == [*[b"no"] * 5, b"wrote"]
    assert sorted(path.name for path in home.iterdir()) == ["secret", "sub"]


@linux
@pytest.mark.parametrize("layers", [("landlock",), ("namespaces",), ("landlock", "namespaces")])
def test_folders_of_other_places_are_hidden_wherever_they_lie(
    layers: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one lay the password of a host, where temporary files are kept in no private place."""
    (tmp_path / "given").write_text("given")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    with Workplace() as other, Workplace() as place:
        (secret := Path(other.folder) / ".netrc").write_text("s3cret")
        (Path(place.folder) / "own").write_text("own")
        paths = [str(tmp_path / "given"), f"{place.folder}/own", str(secret)]
        code = f"""for path in {paths}:
    try: print(open(path).read())
    except OSError: print("no")
"""
        readable = (str(tmp_path), f"{place.folder}/own", sys.base_prefix, sys.prefix)
        confinement = Confinement(layers=layers, readable=readable)
        done = python(place, code, confinement=confinement)
    if done.layers != layers:
        pytest.skip(f"not here: {done.missing}")
    assert done.stdout.split() == [b"given", b"own", b"no"]
