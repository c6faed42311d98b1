"""A small process between us and what we run: its limits, the end of all it started, its folder.

It lives as long as its standard input is open: whatever becomes of us, nothing that it started
goes on, and its temporary folder goes. It is started for every script, so it imports no more than
it takes: `typing` and `contextlib` alone would double its start.
"""

# ruff: noqa: SIM105

from __future__ import annotations

import os
import select
import time

from . import launch, namespaces, places, sandbox
from .descendants import descendants, end_descendants, forget_the_ended, signal, walk_descendants
from .ending import REMAINING
from .removal import remove
from .requests import DONE, dump, load
from .usage import Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from .requests import Request

# How much of what a program prints is kept, from its end.
KEPT = 65_536
# Seconds between asking processes to end and ending them.
GRACE = 2.0
# Seconds to read on when a program has ended but something that escaped holds its output.
LINGER = 0.2
# Seconds for who watches over a program to end all that it started.
REACH = 5.0
# Seconds to go on ending processes that make new ones all the time.
PERSEVERANCE = 10.0
# Seconds to wait for namespaces: those of who has ended are there for a while.
PATIENCE = 2.0
_TERMINATE, _KILL = 15, 9
_NOT_NOW = 11


class Orphaned(Exception):
    """Standard input was closed: nobody waits for an answer any more."""


def serve(folder: str) -> None:
    """Do what is asked for, remove the folder; and exit."""
    ready: Program | None = None
    try:
        if launch.LINUX:
            sandbox.adopt_orphans()
        while (request := load(0)) is not None:
            if request["do"] == "prepare":
                ready = ready or _prepared(request)
            else:
                program, ready = ready, None
                _answer(_run(request, program))
    except (Orphaned, BrokenPipeError):
        pass
    finally:
        if ready is not None:
            ready.close()
        # Who is left could put something else into the way of what is removed.
        if not Program.remaining or end_descendants(PERSEVERANCE):
            remove(folder)
    _leave()


def _leave() -> NoReturn:
    """End; who waits for it need not wait until our memory is given back."""
    try:
        _answer(DONE)
    except BrokenPipeError:
        pass
    os.close(1)
    # The end of a process takes longer than all that who waits for it has left to do.
    os.sched_yield()
    os._exit(0)


def _answer(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


class Lacking(Exception):
    """The system has no namespaces that can be used; says why."""


class Program:
    """One program, from its start to the end of everything that it started.

    Raises:
        Lacking: there can be no process in namespaces of its own.
        OSError: there can be no process for it now.
    """

    # Whether of any program some are left that could not be ended; whether any had namespaces.
    remaining = had = False

    def __init__(self, *, apart: bool, network: bool) -> None:
        pipes = [os.pipe() for _ in range(4)]
        (self.out, out), (self.err, err), (self.report, report), (go, self.go) = pipes
        ours = (self.out, self.err, self.report, self.go)
        self.apart, self.network = apart, network
        try:
            self.pid = launch.start(ours, (out, err, report, go), apart=apart, network=network)
        except OSError as error:
            for descriptor in ours:
                os.close(descriptor)
            raise _why(error) if apart else error from None
        finally:
            for descriptor in (out, err, report, go):
                os.close(descriptor)
        self.tails = {self.out: bytearray(), self.err: bytearray(), self.report: bytearray()}
        for descriptor in self.tails:
            os.set_blocking(descriptor, False)
        self.open = set(self.tails)
        self.watch = Watch({}, (), set)
        self.exceeded = ""
        self.poll = select.poll()
        for descriptor in (0, *self.tails):
            self.poll.register(descriptor, select.POLLIN)
        if apart:
            try:
                namespaces.map_users(self.pid)
            except OSError as error:
                self.close()
                raise _why(error) from None
            self._tell(b"!")

    def begin(self, request: Request) -> None:
        """Say what the program is."""
        self.watch = Watch(
            request["whole"],
            request["folders"],
            lambda: (pid for pid in walk_descendants() if pid != self.pid),
            # In namespaces it is of a size; without any layer there are other places to fill, too.
            places.SHARED_MEMORY if request["layers"] == [places.LANDLOCK] else "",
        )
        self._tell(dump(request))

    def _tell(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self.go, data) :]
        except BrokenPipeError:
            pass  # it has ended, and has said why

    @property
    def reported(self) -> bytes:
        """What the processes between us and the program have reported, a line each."""
        return bytes(self.tails[self.report])

    @property
    def ended(self) -> bool:
        """Whether the program has, as who awaited it has reported."""
        return any(line.startswith(b"ended ") for line in self.reported.splitlines())

    def attend(self, deadline: float) -> bool:
        """Take what is printed until the program has ended; whether it did within its limits.

        Raises:
            Orphaned: nobody waits any more.
            Lacking: its namespaces were made, and cannot be used.
        """
        while self.report in self.open and not self.ended:
            left = deadline - time.monotonic()
            self.exceeded = self.exceeded or self.watch.exceeded(deadline)
            if left <= 0 or self.exceeded:
                return False
            self.take(min(left, self.watch.seconds()))
            if self.reported.startswith(b"unusable "):
                raise Lacking(self.reported[9:].decode().strip())
        return True

    def take(self, seconds: float) -> None:
        """Wait for something to read, and read it.

        Raises:
            Orphaned: nobody waits any more.
        """
        for descriptor, _ in self.poll.poll(max(1, min(seconds, 86_400) * 1000)):
            if descriptor == 0:
                raise Orphaned
            try:
                data = os.read(descriptor, KEPT)
            except BlockingIOError:
                continue  # a program can open what it prints to, and read it before us
            tail = self.tails[descriptor]
            tail += data
            del tail[:-KEPT]
            if not data:
                self.poll.unregister(descriptor)
                self.open.remove(descriptor)

    def ask_to_end(self) -> None:
        """Tell all its processes to end, and give them time to."""
        for pid in descendants() - {self.pid}:
            signal(pid, _TERMINATE)
        self.attend(time.monotonic() + GRACE)

    def close(self) -> None:
        """End every process that is left, take the rest of what was printed, close the pipes."""
        self.poll.unregister(0)
        os.close(self.go)
        if launch.LINUX and not self.apart:
            # It was told by that to end them all, and its end is that of its report.
            self._take_rest({self.report}, REACH)
        try:
            os.killpg(self.pid, _KILL)
        except (ProcessLookupError, PermissionError):
            pass
        if self.apart and self.ended:
            # They have ended, and to await the end of namespaces takes milliseconds.
            forget_the_ended()
        elif not end_descendants(PERSEVERANCE):
            self.exceeded, Program.remaining = REMAINING, True
        # Who watched over the program has said all, and ends without being waited for.
        self._take_rest({self.out, self.err}, LINGER)
        for descriptor in self.tails:
            os.close(descriptor)

    def _take_rest(self, descriptors: set[int], seconds: float) -> None:
        until = time.monotonic() + seconds
        while self.open & descriptors and (left := until - time.monotonic()) > 0:
            self.take(left)


def _why(error: OSError) -> Exception:
    return Lacking(error.strerror or str(error)) if namespaces.lacking(error) else error


def _prepared(request: Request) -> Program | None:
    """A program in namespaces, but for what it is; without them there is its filter to prepare."""
    if not request["apart"]:
        launch.prepare_filter(network=request["network"], apart=False)
        return None
    try:
        return Program(apart=True, network=request["network"])
    except (Lacking, OSError):
        return None  # it is said when there is something to run


def _begun(*, apart: bool, network: bool) -> Program:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return Program(apart=apart, network=network)
        except OSError as error:
            if error.errno not in namespaces.USED_UP or time.monotonic() > until:
                raise
        time.sleep(0.05)


def _run(request: Request, ready: Program | None = None) -> bytes:
    """Run one program and tell how it went: a line of words, what was reported and printed."""
    timed_out = False
    apart = launch.LINUX and places.NAMESPACES in request["layers"]
    network: bool = request["network"]
    if ready is not None and (ready.apart, ready.network) != (apart, network):
        ready.close()
        ready = None
    try:
        try:
            program = ready or _begun(apart=apart, network=network)
        except OSError as error:
            return _answered(b"failed %d\n" % (error.errno or 1))
        try:
            program.begin(request)
            within = program.attend(time.monotonic() + request["timeout"])
            Program.had = Program.had or apart
            timed_out = not within and not program.exceeded
            if timed_out:
                program.ask_to_end()
        finally:
            program.close()
    except Lacking as error:
        if Program.had:
            # The system has them: a program before has seen to it that they cannot be had.
            return _answered(b"failed %d\n" % _NOT_NOW)
        why = f"{places.NAMESPACES}: {error}"
        others = [layer for layer in request["layers"] if layer != places.NAMESPACES]
        return _run(request | {"layers": others, "missing": [why]})
    printed = [bytes(program.tails[stream]) for stream in (program.out, program.err)]
    return _answered(
        program.reported, *printed, exceeded=program.exceeded or "-", timed_out=timed_out
    )


def _answered(
    reported: bytes,
    out: bytes = b"",
    err: bytes = b"",
    *,
    exceeded: str = "-",
    timed_out: bool = False,
) -> bytes:
    words = f"{exceeded} {timed_out:d} {len(reported)} {len(out)} {len(err)}\n"
    return words.encode() + reported + out + err
