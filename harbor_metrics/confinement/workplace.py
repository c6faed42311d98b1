"""Run another program below a supervisor: time limit, capped output, nothing left behind.

The only subprocess. See supervisor.py, which does the work in a process of its own.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import signal
import stat
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, BinaryIO, Literal

from .answers import Answers
from .ending import REMAINING
from .finished import Finished
from .homes import homes, is_of_system
from .kernel import real
from .launch import prepare_filter
from .places import LAYERS, NAMESPACES, SHARED_MEMORY
from .removal import permit, remove
from .requests import dump
from .sandbox import adopt_orphans, is_shared_memory, memory_device
from .supervisors import FORKING, SUPERVISORS, end_adopted, end_session, let_end, start
from .usage import KINDS

# Seconds that a supervisor has beside a program's own to say how it went. After it, it was
# stopped, or the disk of its folder does not answer.
_TO_ANSWER = 120.0
# And to end all that runs, and remove the folder.
_TO_CLOSE = 300.0


# A path, and the real one where it leads.
Named = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """What a program may reach: paths to read, to write, to list only, and whether the network.

    Of what it writes, `scratch` are folders that nobody reads afterwards: in namespaces they are
    in memory, and of a size. What is `hidden`, by real paths, is not read though it lies in what is
    `readable`; what of that lies in it is, but for a file that is hidden itself. Of what is
    readable a pair is a name and the real path where it was found to lead; of all others that is
    found when it is run. Who opens them is another process, for which links in what others have
    made can lead elsewhere: where one has come to a real path by then, nothing is read there.

    What is `writable` and `scratch` are real paths, of which nothing is written that is a link by
    then.

    Who has the network and is not `called` reaches others, and nobody reaches it.

    Of `layers` and of what is `filtered` from its calls each is best effort, unless all of it is
    `required`, or one layer with the filter.
    """

    layers: tuple[str, ...] = LAYERS
    filtered: bool = True
    required: Literal["no", "one", "all"] = "no"
    network: bool = False
    called: bool = True
    readable: tuple[str | Named, ...] = ()
    writable: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()
    scratch: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """What all processes of a program may take together, and what may lie in `folders`.

    It is looked at while the program runs, which is ended when it is above; 0 is no limit.
    """

    memory: int = 0
    processes: int = 0
    threads: int = 0
    bytes: int = 0
    files: int = 0
    folders: tuple[str, ...] = ()


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


# Between the paths in a variable or an argument, and before an address of a file.
_SEPARATORS = re.compile(r"[\s:;,=@]+(?://(?=/))?")


class Workplace:
    """An empty temporary folder, and the supervisor that runs programs and removes it at the end.

    With `adopt` this process, which has no children but supervisors, takes in what a supervisor
    leaves that was killed, and ends it: a process that hides from every other search.

    Raises:
        NoPlaceError: there can be no folder or no supervisor, or it is to be where programs share
            memory or are read from.
    """

    def __init__(self, *, adopt: bool = False) -> None:
        wanted = os.environ.get("TMPDIR")
        parent = os.path.realpath(wanted) if wanted else _temporary()
        shared = ("/dev/", f"{os.path.realpath(SHARED_MEMORY)}/")
        if f"{parent}/".startswith(shared) or is_shared_memory(parent):
            raise NoPlaceError(
                OSError(errno.EPERM, "scripts can write there: choose another folder")
            )
        if is_of_system(parent):
            raise NoPlaceError(
                OSError(errno.EPERM, "every program reads there: choose a folder in it")
            )
        # The folders of others lie there, too.
        self._around = parent
        self._folder = os.path.join(parent, f"harbor-metrics-{os.urandom(8).hex()}")
        self.alive = True
        # The folder, where `close` could not wait until it was removed.
        self.left = ""
        # Folders that stay while we are there: what holds each is closed with us.
        self.kept: dict[str, int] = {}
        self._adopt = adopt and sys.platform == "linux"
        if self._adopt:
            adopt_orphans()
        try:
            os.mkdir(self._folder, 0o700)
            try:
                with FORKING:
                    self._pid, requests, answers = start(self._folder)
                    SUPERVISORS.add(self._pid)
            except BaseException:
                os.rmdir(self._folder)
                raise
        except OSError as error:
            raise NoPlaceError(error) from error
        self._requests: BinaryIO = os.fdopen(requests, "wb")
        self._answers = Answers(answers)

    @property
    def folder(self) -> str:
        """The folder, ours to use each time."""
        # Landlock keeps no modes: a script can shut the folder to whoever comes after it, or open
        # it to others.
        with contextlib.suppress(FileNotFoundError):
            if stat.S_IMODE(os.lstat(self._folder).st_mode) != 0o700:
                permit(self._folder)
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
        """End what runs, remove the folder; where that takes too long, it is `left`."""
        self.abandon()
        done = self._answers.are_done(_TO_CLOSE)
        if done is None:
            self._kill()
            end_session(self._pid, self._folder)
            # It may be where no signal reaches it.
            let_end(self._pid)
            self.left = self._folder
        elif done:
            let_end(self._pid)
        else:
            # It was killed, and could tidy nothing up.
            os.waitpid(self._pid, 0)
            end_session(self._pid, self._folder)
            if self._adopt:
                end_adopted()
            remove(self._folder)
            SUPERVISORS.discard(self._pid)
        self._answers.close()
        while self.kept:
            os.close(self.kept.popitem()[1])

    def abandon(self) -> None:
        """Let the supervisor end what runs; who waits for an answer gets none."""
        with contextlib.suppress(BrokenPipeError):
            self._requests.close()

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)

    def prepare(self, layers: Sequence[str], *, network: bool) -> None:
        """Let the supervisor begin with what takes time before a program of such layers starts."""
        if sys.platform == "linux":
            apart = NAMESPACES in layers
            self._ask({"do": "prepare", "network": network, "apart": apart})
            # While it does: copies of us that are made later have it.
            prepare_filter(network=network, apart=apart)

    def _ask(self, request: dict[str, Any]) -> None:
        try:
            self._requests.write(dump(request))
            self._requests.flush()
        except (BrokenPipeError, ValueError):
            pass  # killed or abandoned before it began: there will be no answer

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
        meanwhile: Callable[[], object] | None = None,
    ) -> Finished:
        """Run to the end, or to the limit of `timeout` seconds; nothing that it started goes on.

        `limits` are those of `setrlimit`, by name. The first word of `argv` is a path. `meanwhile`
        is called once while the program runs.

        Raises:
            OSError: the program cannot be started.
            RefusedError: a part of the sandbox is required and missing.
        """
        _ = self.folder
        started = time.monotonic()
        hidden = []
        if confinement.layers:
            hidden = [*homes(), self._around, *_told_of_memory(), *confinement.hidden]
        self._ask(
            {
                "do": "run",
                "argv": list(argv),
                "env": dict(env),
                "cwd": cwd,
                "timeout": timeout,
                "limits": dict(limits or {}),
                "layers": list(confinement.layers),
                "filtered": confinement.filtered and sys.platform == "linux",
                "required": confinement.required,
                "network": confinement.network,
                "called": confinement.called,
                "readable": _shown(confinement.readable, hidden),
                "writable": list(confinement.writable),
                "listed": [place for _, place in _where_they_lead(confinement.listed)],
                "scratch": list(confinement.scratch),
                "hidden": hidden,
                "whole": {kind: getattr(whole, kind) for kind in KINDS},
                "folders": list(whole.folders),
            }
        )
        if meanwhile is not None:
            meanwhile()
        if not self._answers.come(timeout + _TO_ANSWER):
            self._kill()
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
        # Nothing more is run where they could change what it reads.
        self.alive = self.alive and exceeded != REMAINING.encode()
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


def _shown(paths: Sequence[str | Named], hidden: Sequence[str]) -> list[Named]:
    """Where they lead, but for hidden files: what is readable may be a link to one."""
    places = {*hidden}
    return [
        (path, place)
        for path, place in _where_they_lead(paths)
        if place not in places or os.path.isdir(place)
    ]


def _where_they_lead(paths: Sequence[str | Named]) -> list[Named]:
    """Each with the real path where it leads, but those where nothing is, which nobody misses."""
    if sys.platform != "linux":
        return []
    found: list[Named] = []
    for path in paths:
        if isinstance(path, str):
            with contextlib.suppress(OSError):
                found.append((path, real(path)))
        else:
            found.append(path)
    return found


def _number(text: str) -> int:
    return int(text) if re.fullmatch(r"-?\d{1,6}", text, re.ASCII) else -signal.SIGKILL


def _temporary() -> str:
    """The real path of the system's folder for temporary files, of which no script reads anything.

    Raises:
        NoPlaceError: none can be written.
    """
    for folder in ("/tmp", "/var/tmp"):  # noqa: S108  # a folder of our own is made in it
        if os.access(folder, os.W_OK | os.X_OK):
            return os.path.realpath(folder)
    raise NoPlaceError(OSError(errno.EACCES, "no folder for it can be written: set TMPDIR"))


def _told_of_memory() -> list[str]:
    """The place where programs share memory, where we are told of anything there.

    What lies there, or could from now on, would be run or read by us, or by what we start.
    """
    told = (*os.environ.values(), *sys.path)
    paths = {path for text in told for path in _SEPARATORS.split(text) if path.startswith("/")}
    # What an argument names need not be a whole path.
    paths.update(path for text in sys.argv for path in (text, *_SEPARATORS.split(text)) if path)
    memory, device = os.path.realpath(SHARED_MEMORY), memory_device()

    def leads_there(path: str) -> bool:
        if device is not None:
            try:
                return os.stat(path).st_dev == device
            except OSError:
                pass  # it is not there yet
        return f"{os.path.realpath(path)}/".startswith(f"{memory}/")

    found = any(leads_there(path) for path in paths if "\0" not in path)
    return [SHARED_MEMORY] if found else []
