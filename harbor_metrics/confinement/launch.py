"""From a copy of the supervisor to the program: apart, confined and limited, and awaited.

Like the supervisor it imports no more than it takes, and nothing once files are out of sight.
"""

from __future__ import annotations

import os
import resource
import sys

from . import ending, landlock, namespaces, places, sandbox
from .filter import deny_calls, prepare
from .kernel import fork, lacking
from .requests import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NoReturn

    from .requests import Request

LINUX = sys.platform == "linux"
# The number of the process that the first in namespaces starts; an error.
_NEXT, _NO_MEMORY = 2, 12
# Who ends a program with too many threads says why: the system, which does not, comes later.
_TIMES_THREADS = 2


def start(
    ours: Iterable[int], pipes: tuple[int, int, int, int], *, apart: bool, network: bool
) -> int:
    """Start the process that starts a program, awaits it and reports how it ended.

    Its ends of `pipes` are for output, errors, reports, and for the request that says what to run.
    `apart`, it is the first in namespaces of its own, and expects a byte before the request: that
    `namespaces.map_users` has let it in.

    Raises:
        OSError: there can be no process, or none in namespaces of its own.
    """
    pid = namespaces.fork_apart(network=network) if apart else _fork()
    if pid == 0:
        try:
            for descriptor in ours:
                os.close(descriptor)
            _watch(*pipes, apart=apart, network=network)
        finally:
            os._exit(1)
    return pid


def _fork() -> int:
    return fork() if LINUX else os.fork()


def _watch(out: int, err: int, report: int, go: int, *, apart: bool, network: bool) -> NoReturn:
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    if LINUX:
        sandbox.end_with_parent()
    request = _in_namespaces(report, go, network=network) if apart else load(go)
    if request is None:
        os._exit(1)
    missing: list[str] = list(request.get("missing", ()))
    layers: list[str] = list(request["layers"])
    if not LINUX:
        missing += [f"{layer}: only Linux has it" for layer in (*layers, places.FILTER)]
        layers = []
    if apart:
        program = _spawn(request, layers, missing, report, (out, err))
        os.close(out)
        os.close(err)
        _await_apart(program, report)
    _watch_over(request, layers, missing, report, go, (out, err))


def _await_apart(program: int, report: int) -> NoReturn:
    """As the first of a set of processes: await it, and whoever is left of the set is gone."""
    while True:
        ended, status = os.wait()
        if ended == program:
            ending.end_all()
            _say(report, f"ended {os.waitstatus_to_exitcode(status)}")
            # The end of namespaces takes longer than what is left to do for who reads it.
            os.sched_yield()
            os._exit(0)


def _watch_over(
    request: Request,
    layers: list[str],
    missing: list[str],
    report: int,
    go: int,
    streams: tuple[int, int],
) -> NoReturn:
    """As an ordinary process: start it, and end all that is left of it, as far as that goes.

    That is asked for by closing `go`, which is so, too, when the supervisor was killed.
    """
    together = False
    if LINUX:
        sandbox.close_to_others()
        sandbox.block_signals(True)
        together = ending.keep_together(moving=places.LANDLOCK in layers)
        if together:
            sandbox.end_with_parent(False)
    program = _fork()
    if program == 0:
        _become(request, layers, missing, report, streams, together=together)
    for descriptor in streams:
        os.close(descriptor)
    status = ending.attend(program, go) if LINUX else os.waitpid(program, 0)[1]
    if status is not None:
        _say(report, f"ended {os.waitstatus_to_exitcode(status)}")
    if together:
        ending.end_all()
    elif status is None:
        os.killpg(0, 9)
    os._exit(0)


def _in_namespaces(report: int, go: int, *, network: bool) -> Request | None:
    """Once we are let in: what to run, when all else is out of sight.

    The supervisor begins without namespaces where it shows that they cannot be used before anything
    of the program is known, which could see to it otherwise.
    """
    if not os.read(go, 1):
        return None
    try:
        namespaces.enter()
    except OSError as error:
        if namespaces.lacking(error):
            _say(report, f"unusable of files: {error.strerror}")
            os._exit(0)
        _fail(report, error)
    prepare_filter(network=network, apart=True)
    try:
        if (request := load(go)) is not None:
            sandbox.limit_processes(_TIMES_THREADS * request["whole"]["threads"])
            paths = (request[name] for name in ("readable", "writable", "scratch", "hidden"))
            namespaces.hide(*paths, network=network)
    except (OSError, MemoryError, ValueError) as error:
        _fail(report, error)
    return request


def _fail(report: int, error: Exception) -> NoReturn:
    """As the first in namespaces: nothing is started."""
    failed = f"failed {error.errno}\n" if isinstance(error, OSError) else ""
    _say(report, f"{failed}ended 127")
    os._exit(0)


def prepare_filter(*, network: bool, apart: bool) -> None:
    """The filter that a program takes on, in namespaces or not, for copies of this process, too."""
    try:  # noqa: SIM105  # contextlib is not imported here
        prepare(network=network, apart=apart)
    except OSError:
        pass  # said when the filter is to be taken on


def _spawn(
    request: Request, layers: list[str], missing: list[str], report: int, streams: tuple[int, int]
) -> int:
    """As the first in namespaces: take on all that confines the program, and start it.

    Another copy of this process, which would become the program, takes half as long as all of that.
    The program can neither look into this process nor end it.
    """
    try:
        sandbox.close_to_others()
        sandbox.block_signals(True)
        _confine(request, layers, missing, report, program=_NEXT)
        argv, env = request["argv"], request["env"]
        to = [(os.POSIX_SPAWN_DUP2, old, new) for new, old in enumerate(streams, start=1)]
        try:
            return os.posix_spawn(argv[0], argv, env, file_actions=to, setsigmask=())
        except OSError as error:
            if error.errno != _NO_MEMORY:
                raise
        # This process is above the limit of the program's memory, and has none to spawn with.
        program = fork()
        if program == 0:
            sandbox.block_signals(False)
            _execute(request, report, streams)
        return program
    except (OSError, MemoryError, ValueError) as error:
        _fail(report, error)  # too little memory to ask for it, a NUL in its name


def _become(
    request: Request,
    layers: list[str],
    missing: list[str],
    report: int,
    streams: tuple[int, int],
    *,
    together: bool,
) -> NoReturn:
    """In a copy: take on all that confines the program, and be it."""
    try:
        if LINUX:
            sandbox.end_with_parent()
            sandbox.block_signals(False)
        if together:
            # Who watches over it is not of this domain: it cannot end or trace it.
            landlock.keep_signals_in(moving=places.LANDLOCK in layers)
        _confine(request, layers, missing, report, program=os.getpid())
        _execute(request, report, streams)
    except OSError as error:
        _say(report, f"failed {error.errno}")
    finally:
        os._exit(127)


def _execute(request: Request, report: int, streams: tuple[int, int]) -> NoReturn:
    try:
        for new, old in enumerate(streams, start=1):
            os.dup2(old, new)
        os.execve(request["argv"][0], request["argv"], request["env"])  # noqa: S606
    except OSError as error:
        _say(report, f"failed {error.errno}")
    finally:
        os._exit(127)


def _confine(
    request: Request, layers: list[str], missing: list[str], report: int, *, program: int
) -> None:
    """Take on the sandbox and the limits, and report them; ends where they are not all required.

    Raises:
        OSError: a part that has to be there is not.
    """
    os.chdir(request["cwd"])
    # What is kept of what a program makes, uv's cache above all, is nobody else's to change.
    os.umask(0o077)
    # With the filter it stays what it is.
    _limit({name: limit for name, limit in request["limits"].items() if name == "RLIMIT_CORE"})
    filtered = _take_on(request, layers, missing, program)
    for layer in layers:
        _say(report, f"layer {layer}")
    if filtered:
        _say(report, "filtered")
    for why in missing:
        _say(report, f"missing {why}")
    required = request["required"]
    if (required == "all" and missing) or (required == "one" and not (layers and filtered)):
        _say(report, "refused")
        os._exit(127)
    # What is said after it may be the program's own word.
    _say(report, "started")
    limits = request["limits"]
    if places.NAMESPACES in layers and request["whole"]["threads"]:
        # Where they have no numbers of their own: of a user there, and of nobody else's, but root.
        limits |= {"RLIMIT_NPROC": _TIMES_THREADS * request["whole"]["threads"]}
    # Last, for this process may be above them.
    _limit(limits)


def _take_on(request: Request, layers: list[str], missing: list[str], program: int) -> bool:
    """Take on what of the sandbox concerns this process alone; whether its calls are filtered."""
    if layers or request["filtered"]:
        sandbox.drop_privileges()
    if places.LANDLOCK in layers and (why := _landlock(request, layers)):
        layers.remove(places.LANDLOCK)
        missing.append(f"{places.LANDLOCK}: {why}")
    if not request["filtered"]:
        return False
    try:
        apart = places.NAMESPACES in layers
        deny_calls(
            network=request["network"],
            apart=apart,
            process=program,
            called=request["called"],
        )
    except OSError as error:
        missing.append(f"{places.FILTER}: {lacking(error)}")
        return False
    return True


def _landlock(request: Request, layers: list[str]) -> str:
    """Take it on as far as it goes; why it is not whole, or nothing."""
    try:
        version = landlock.version()
    except OSError as error:
        return lacking(error)
    alone = places.NAMESPACES not in layers
    # What namespaces cover with all around it is seen by no other name. To permit hundreds of names
    # around it, as of the modules of a Python, takes milliseconds.
    covered = () if alone else tuple(f"{place}/" for place in places.PRIVATE)
    hidden = [place for place in request["hidden"] if not place.startswith(covered)]
    landlock.restrict(
        request["readable"],
        request["writable"],
        request["listed"],
        hidden,
        network=request["network"],
        alone=alone,
    )
    if version < landlock.TRUNCATION:
        return f"version {version} lets files be cut short; Linux 6.2 has what is missing"
    if version < landlock.SIGNALS and alone:
        return f"version {version} lets processes be ended; Linux 6.12 has what is missing"
    return ""


def _limit(limits: dict[str, int]) -> None:
    for name, value in limits.items():
        # A limit that is lower already stays.
        try:
            kind = getattr(resource, name)
            hard = resource.getrlimit(kind)[1]
            limit = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (limit, limit))
        except (OSError, ValueError, OverflowError, AttributeError):
            pass  # not every system has every limit


def _say(report: int, line: str) -> None:
    os.write(report, f"{line}\n".encode())
