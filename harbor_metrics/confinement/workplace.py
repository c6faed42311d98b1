"""Run another program below a supervisor: time limit, capped output, nothing left behind.

The only subprocess. See supervisor.py, which does the work in a process of its own.
"""

from __future__ import annotations

import contextlib
import gc
import marshal
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import BinaryIO, Literal, NoReturn

from .kernel import fork
from .sandbox import LAYERS, adopt_orphans
from .supervisor import remove, serve
from .usage import KINDS

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Our package without its __init__, which takes longer to import than the supervisor.
_SERVE = (
    "import sys; package = sys.modules['harbor_metrics'] = type(sys)('harbor_metrics');"
    f"package.__path__ = [{_HERE!r}]; from harbor_metrics.confinement.supervisor import serve;"
    "serve(sys.argv[1])"
)
# What an interpreter may need to start at all.
_SUPERVISOR_ENV = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended: exit code (negative: the signal), and the tails of what it printed.

    `layers` of the sandbox were whole, and `filtered` the calls; `missing` says of each part that
    was wanted and was not there why. `exceeded` is the limit of `Whole` that it was ended for.
    `lost`: the supervisor was killed, so all that is known is that the program was, too.
    """

    code: int
    stdout: bytes
    stderr: bytes
    timed_out: bool
    seconds: float
    layers: tuple[str, ...] = ()
    filtered: bool = False
    missing: tuple[str, ...] = ()
    lost: bool = False
    exceeded: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """What a program may reach: paths to read, to write, to list only, and whether the network.

    Of what it writes, `scratch` are folders that nobody reads afterwards: in namespaces they are
    in memory, and of a size.

    Of `layers` and of what is `filtered` from its calls each is best effort, unless all of it is
    `required`, or one layer with the filter.
    """

    layers: tuple[str, ...] = LAYERS
    filtered: bool = True
    required: Literal["no", "one", "all"] = "no"
    network: bool = False
    readable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()
    scratch: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """What all processes of a program may take together, and what may lie in `folders`.

    It is looked at while the program runs, which is ended when it is above; 0 is no limit.
    """

    memory: int = 0
    processes: int = 0
    bytes: int = 0
    files: int = 0
    folders: tuple[str, ...] = ()


# Who is a child of ours on purpose; none is made while others are looked for.
_SUPERVISORS: set[int] = set()
_FORKING = threading.Lock()

FREE = Confinement(layers=(), filtered=False)
UNBOUNDED = Whole()


class RefusedError(Exception):
    """The sandbox was required and is not there; says what is missing."""


class NoPlaceError(Exception):
    """There is no place for temporary files, or no process for who looks after them."""

    def __init__(self, error: OSError) -> None:
        wanted = os.environ.get("TMPDIR")
        where = f"TMPDIR {wanted}" if wanted else "the temporary directory"
        super().__init__(f"{where}: {error.strerror or error}")


class Workplace:
    """An empty temporary folder, and the supervisor that runs programs and removes it at the end.

    With `adopt` this process, which has no children but supervisors, takes in what a supervisor
    leaves that was killed, and ends it: a process that hides from every other search.

    Raises:
        NoPlaceError: there can be no supervisor.
    """

    def __init__(self, *, adopt: bool = False) -> None:
        wanted = os.environ.get("TMPDIR")
        parent = os.path.realpath(wanted or _temporary())
        self._folder = os.path.join(parent, f"harbor-metrics-{os.urandom(8).hex()}")
        self._ready = False
        self.alive = True
        self._adopt = adopt and sys.platform == "linux"
        if self._adopt:
            adopt_orphans()
        try:
            with _FORKING:
                self._pid, requests, answers = _started(self._folder)
                _SUPERVISORS.add(self._pid)
        except OSError as error:
            raise NoPlaceError(error) from error
        self._requests: BinaryIO = os.fdopen(requests, "wb")
        self._answers: BinaryIO = os.fdopen(answers, "rb")

    @property
    def folder(self) -> str:
        """The folder, made by the supervisor while we did something else.

        Raises:
            NoPlaceError: there is no place for temporary files.
        """
        if not self._ready:
            number = int(self._answers.readline() or b"5")
            if number:
                raise NoPlaceError(OSError(number, os.strerror(number)))
            self._ready = True
        return self._folder

    def __enter__(self) -> Workplace:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End what runs, remove the folder."""
        self.abandon()
        _, status = os.waitpid(self._pid, 0)
        self._answers.close()
        if status != 0:
            # It was killed, and could tidy nothing up.
            _end_session(self._pid, self._folder)
            if self._adopt:
                _end_adopted()
            remove(self._folder)
        _SUPERVISORS.discard(self._pid)

    def abandon(self) -> None:
        """Let the supervisor end what runs; who waits for an answer gets none."""
        with contextlib.suppress(BrokenPipeError):
            self._requests.close()

    def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: str,
        timeout: float,
        limits: Mapping[str, int] | None = None,
        confinement: Confinement = FREE,
        whole: Whole = UNBOUNDED,
    ) -> Finished:
        """Run to the end, or to the limit of `timeout` seconds; nothing that it started goes on.

        `limits` are those of `setrlimit`, by name. The first word of `argv` is a path.

        Raises:
            NoPlaceError: there is no place for temporary files.
            OSError: the program cannot be started.
            RefusedError: a part of the sandbox is required and missing.
        """
        _ = self.folder
        started = time.monotonic()
        request = marshal.dumps(
            {
                "argv": list(argv),
                "env": dict(env),
                "cwd": cwd,
                "timeout": timeout,
                "limits": dict(limits or {}),
                "layers": list(confinement.layers),
                "filtered": confinement.filtered and sys.platform == "linux",
                "required": confinement.required,
                "network": confinement.network,
                "readable": list(confinement.readable),
                "writable": list(confinement.writable),
                "listed": list(confinement.listed),
                "scratch": list(confinement.scratch),
                "whole": {kind: getattr(whole, kind) for kind in KINDS},
                "folders": list(whole.folders),
            }
        )
        try:
            self._requests.write(len(request).to_bytes(4, "big") + request)
            self._requests.flush()
        except (BrokenPipeError, ValueError):
            pass  # killed or abandoned before it began: there will be no answer
        exceeded, *numbers = self._answers.readline().split() or (b"-",)
        timed_out, *sizes = map(int, numbers or (0,))
        parts = [self._answers.read(size) for size in sizes]
        if [len(part) for part in parts] != sizes or not parts:
            self.alive = False
            took = time.monotonic() - started
            return Finished(-signal.SIGKILL, b"", b"", False, took, lost=True)
        report: dict[str, list[str]] = {}
        for line in parts[0].decode(errors="replace").splitlines():
            subject, _, rest = line.partition(" ")
            # A program that is not confined can write the report as well, once it has started:
            # what confines it was told before, and of itself it can say that it failed.
            if subject in ("ended", "failed") or "started" not in report:
                report.setdefault(subject, []).append(rest)
        _, out, err = parts
        missing = tuple(report.get("missing", ()))
        if "refused" in report:
            raise RefusedError("; ".join(missing))
        if "failed" in report:
            number = _number(report["failed"][0])
            raise OSError(number, os.strerror(number), argv[0])
        return Finished(
            # Who watched over it was killed, and it with it.
            code=_number(report["ended"][0]) if "ended" in report else -signal.SIGKILL,
            stdout=out,
            stderr=err,
            timed_out=bool(timed_out),
            seconds=time.monotonic() - started,
            layers=tuple(report.get("layer", ())),
            filtered="filtered" in report,
            missing=missing,
            exceeded="" if exceeded == b"-" else exceeded.decode(),
        )


def _number(text: str) -> int:
    return int(text) if re.fullmatch(r"-?\d{1,6}", text, re.ASCII) else -signal.SIGKILL


def _temporary() -> str:
    if os.access("/tmp", os.W_OK | os.X_OK):  # noqa: S108
        return "/tmp"  # noqa: S108  # a folder of our own is made in it
    # For weight: nearly every system has /tmp.
    import tempfile

    return tempfile.gettempdir()


def _started(folder: str) -> tuple[int, int, int]:
    """A supervisor's process, where to write requests, and where to read answers.

    A copy of us is one in a tenth of the time that a new Python takes. But only a process without
    other threads can be copied, and only on Linux is it sure that nothing of the system's has any.
    """
    reading, requests = os.pipe()
    answers, writing = os.pipe()
    try:
        if sys.platform == "linux" and len(os.listdir("/proc/self/task")) == 1:
            pid = fork()
            if pid == 0:
                _serve(folder, reading, writing)
        else:
            pid = _new(folder, reading, writing)
    except OSError:
        os.close(requests)
        os.close(answers)
        raise
    finally:
        os.close(reading)
        os.close(writing)
    return pid, requests, answers


def _serve(folder: str, reading: int, writing: int) -> NoReturn:
    """In the copy: let go of everything that is ours, and be a supervisor."""
    try:
        gc.disable()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        os.chdir("/")
        nothing = os.open(os.devnull, os.O_RDWR)
        for old, new in ((reading, 0), (writing, 1), (nothing, 2)):
            os.dup2(old, new)
        most = os.sysconf("SC_OPEN_MAX")
        os.closerange(3, most if most > 0 else 1 << 16)
        serve(folder)
    finally:
        os._exit(1)


def _new(folder: str, reading: int, writing: int) -> int:
    # For weight: on Linux a copy of this process is the supervisor.
    import subprocess

    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-B", "-c", _SERVE, folder],
        env={name: os.environ[name] for name in _SUPERVISOR_ENV if name in os.environ},
        cwd="/",
        stdin=reading,
        stdout=writing,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    # We await it ourselves.
    process.returncode = 0
    return process.pid


def _end_session(leader: int, folder: str) -> None:
    """Kill what a killed supervisor leaves: its session, and whatever has its folder for a home."""
    for pid in _with_home(folder) | {leader}:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
    until = time.monotonic() + 5
    while (left := _with_home(folder)) and time.monotonic() < until:
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)


def _end_adopted() -> None:
    """Kill the children that are no supervisors, and theirs, which become ours by that."""
    until = time.monotonic() + 5
    with _FORKING:
        # Not for ever: where /proc is that of other processes, it names as ours who is not.
        while (strangers := _children() - _SUPERVISORS) and time.monotonic() < until:
            for pid in strangers:
                with contextlib.suppress(ProcessLookupError, ChildProcessError):
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)


def _children() -> set[int]:
    children = set()
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
            # After the name, which may hold anything: state, parent.
            state, parent, *_ = file.read().rpartition(b")")[2].split()
            if int(parent) == os.getpid() and state != b"Z":
                children.add(int(name))
    return children


def _with_home(folder: str) -> set[int]:
    processes = set()
    mark = os.fsencode(folder)
    for name in os.listdir("/proc") if sys.platform == "linux" else ():
        if name.isdigit():
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    if mark in file.read():
                        processes.add(int(name))
            except OSError:
                continue
    return processes


_TOO_MUCH = {
    "memory": "the memory that all its processes took together",
    "processes": "the number of its processes",
    "bytes": "all that it wrote into its temporary folder or into shared memory",
    "files": "the number of files in its temporary folder",
}


def ending(finished: Finished, timeout: float) -> str:
    """How the program ended, in words."""
    if finished.timed_out:
        return f"timed out: it did not end within {timeout:g} s"
    if finished.exceeded:
        return f"was ended for {_TOO_MUCH[finished.exceeded]}"
    if finished.code < 0:
        try:
            name = signal.Signals(-finished.code).name
        except ValueError:
            name = f"signal {-finished.code}"
        return f"was ended by {name}"
    return f"ended with exit code {finished.code}"
