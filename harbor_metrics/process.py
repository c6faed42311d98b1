"""Run another program below a supervisor: time limit, capped output, nothing left behind.

The only subprocess. See supervisor.py, which does the work in a process of its own.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import BinaryIO

from .document import reason
from .errors import OutputError
from .sandbox import LAYERS
from .supervisor import remove

_HERE = os.path.dirname(os.path.abspath(__file__))
# Our package without its __init__, which takes longer to import than the supervisor.
_SERVE = (
    "import sys; package = sys.modules['harbor_metrics'] = type(sys)('harbor_metrics');"
    f"package.__path__ = [{_HERE!r}]; from harbor_metrics.supervisor import serve; serve()"
)
# What an interpreter may need to start at all.
_SUPERVISOR_ENV = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended: exit code (negative: the signal), and the tails of what it printed.

    `layers` of the sandbox were there, `missing` says of each that was wanted and was not why.
    `lost`: the supervisor was killed, so all that is known is that the program was, too.
    """

    code: int
    stdout: bytes
    stderr: bytes
    timed_out: bool
    seconds: float
    layers: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    lost: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """What a program may reach: paths to read and to write, and whether TCP and UDP.

    Of `layers` each is best effort unless all are `required`.
    """

    layers: tuple[str, ...] = LAYERS
    required: bool = False
    network: bool = False
    readable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()


FREE = Confinement(layers=())


class RefusedError(Exception):
    """The sandbox was required and is not there; says what is missing."""


class Workplace:
    """An empty temporary folder, and the supervisor that runs programs and removes it at the end.

    Raises:
        OutputError: there is no place for temporary files.
    """

    def __init__(self) -> None:
        wanted = os.environ.get("TMPDIR")
        try:
            parent = os.path.realpath(wanted or tempfile.gettempdir())
            self.folder = os.path.join(parent, f"harbor-metrics-{os.urandom(8).hex()}")
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-B", "-c", _SERVE, self.folder],
                env={name: os.environ[name] for name in _SUPERVISOR_ENV if name in os.environ},
                cwd="/",
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise _no_place(wanted, error) from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests: BinaryIO = self._process.stdin  # type: ignore[assignment]
        self._answers: BinaryIO = self._process.stdout  # type: ignore[assignment]
        try:
            number = int(self._answers.readline() or b"5")
            if number:
                raise _no_place(wanted, OSError(number, os.strerror(number)))
        except BaseException:
            self.close()
            raise

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
        self._process.wait()
        self._answers.close()
        if self._process.returncode != 0:
            # It was killed, and could tidy nothing up.
            _end_session(self._process.pid, self.folder)
            remove(self.folder)

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
    ) -> Finished:
        """Run to the end, or to the limit of `timeout` seconds; nothing that it started goes on.

        `limits` are those of `setrlimit`, by name. The first word of `argv` is a path.

        Raises:
            OSError: the program cannot be started.
            RefusedError: a layer of the sandbox is required and missing.
        """
        started = time.monotonic()
        request = marshal.dumps(
            {
                "argv": list(argv),
                "env": dict(env),
                "cwd": cwd,
                "timeout": timeout,
                "limits": dict(limits or {}),
                "layers": list(confinement.layers),
                "required": confinement.required,
                "network": confinement.network,
                "readable": list(confinement.readable),
                "writable": list(confinement.writable),
            }
        )
        try:
            self._requests.write(len(request).to_bytes(4, "big") + request)
            self._requests.flush()
        except (BrokenPipeError, ValueError):
            pass  # killed or abandoned before it began: there will be no answer
        timed_out, *sizes = map(int, self._answers.readline().split() or (0,))
        parts = [self._answers.read(size) for size in sizes]
        if [len(part) for part in parts] != sizes or not parts:
            took = time.monotonic() - started
            return Finished(-signal.SIGKILL, b"", b"", False, took, lost=True)
        report, out, err = parts
        said = [line.partition(" ") for line in report.decode().splitlines()]
        told = {word: [rest for other, _, rest in said if other == word] for word, _, _ in said}
        missing = tuple(told.get("missing", ()))
        if "refused" in told:
            raise RefusedError("; ".join(missing))
        if "failed" in told:
            number = int(told["failed"][0])
            raise OSError(number, os.strerror(number), argv[0])
        return Finished(
            # Who watched over it was killed, and it with it.
            code=int(told["ended"][0]) if "ended" in told else -signal.SIGKILL,
            stdout=out,
            stderr=err,
            timed_out=bool(timed_out),
            seconds=time.monotonic() - started,
            layers=tuple(told.get("layer", ())),
            missing=missing,
        )


def _no_place(wanted: str | None, error: OSError) -> OutputError:
    where = f"TMPDIR {wanted}" if wanted else "the temporary directory"
    return OutputError(
        f"{where}: {reason(error)}; a metric script needs a place for its input",
        "set TMPDIR to a directory that can be written",
    )


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


def _with_home(folder: str) -> set[int]:
    found = set()
    mark = os.fsencode(folder)
    for name in os.listdir("/proc") if sys.platform == "linux" else ():
        if name.isdigit():
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    if mark in file.read():
                        found.add(int(name))
            except OSError:
                continue
    return found


def ending(finished: Finished, timeout: float) -> str:
    """How the program ended, in words."""
    if finished.timed_out:
        return f"timed out: it did not end within {timeout:g} s"
    if finished.code < 0:
        try:
            name = signal.Signals(-finished.code).name
        except ValueError:
            name = f"signal {-finished.code}"
        return f"was ended by {name}"
    return f"ended with exit code {finished.code}"
