"""Run a script over rewards: its input, its limits, its sandbox, and what it answered."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from ..document import reason
from ..exact import Number
from ..process import Confinement, Finished, RefusedError, Workplace, ending
from ..table import Table
from ..trial import Rewards
from . import answer
from .environment import PASSED, Environment, environment
from .file import Script, ScriptError
from .metadata import metadata
from .options import ScriptOptions
from .said import first_line, said

FILE_SIZE = 256 << 20
OPEN_FILES = 1024
GIB = 1 << 30
_ANSWER, _LOG = "metric.json", "refused"
_WATCHER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "refusals.py")
_encode_line = json.JSONEncoder().encode
_encode_lines = msgspec.json.Encoder().encode_lines


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a script reads: the lines of `-i`, and those of HARBOR_METRICS_TRIALS."""

    rewards: bytes
    trials: bytes

    @classmethod
    def of(cls, table: Table) -> Inputs:
        """The trials of a table, in canonical order."""
        trials = list(table)
        return cls(rewards_lines(trial.rewards for trial in trials), _encode_lines(trials))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """The numbers that a script gave, and what there is to tell about its run."""

    values: dict[str, Number]
    environment: Environment
    finished: Finished


class RunError(ScriptError):
    """A script that ran and gave no answer that can be used; in what environment it ran."""

    def __init__(self, message: str, made: Environment, finished: Finished) -> None:
        super().__init__(message)
        self.environment = made
        self.finished = finished


def rewards_lines(rewards: Iterable[Rewards | None]) -> bytes:
    """The rewards.jsonl that Harbor writes for `-i`, to the byte: an object or `null` a line."""
    return "".join(f"{_encode_line(each)}\n" for each in rewards).encode()


def execute(script: Script, inputs: Inputs, options: ScriptOptions, place: Workplace) -> Ran:
    """Run a script to its end and read its answer.

    Raises:
        ScriptError: its environment could not be made, or the sandbox is required and missing.
        RunError: it failed, took too long, or answered something else than numbers.
    """
    made = environment(script, place, allow_build=options.allow_build)
    return run(script, made, inputs, options, place)


def run(
    script: Script,
    made: Environment,
    inputs: Inputs,
    options: ScriptOptions,
    place: Workplace,
    *,
    refused: list[str] | None = None,
) -> Ran:
    """Run a script in an environment that has been made; raises as `execute`.

    What the script is refused is added to `refused`; to see it, the script is not run as it is but
    by a program that watches its calls.
    """
    folder = os.path.join(place.folder, f"run-{os.urandom(4).hex()}")
    files = _files(folder, inputs)
    descriptor = os.open(files["answer"], os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            finished = place.run(
                [
                    *made.command,
                    *([] if refused is None else [_WATCHER, os.path.join(files["answer"], _LOG)]),
                    script.path,
                    *("-i", files["rewards"]),
                    *("-o", os.path.join(files["answer"], _ANSWER)),
                ],
                env=_env(script, files, options),
                cwd=files["work"],
                timeout=options.timeout,
                limits=_limits(options),
                confinement=_confinement(script, made, files, options),
            )
        except RefusedError as error:
            raise ScriptError(
                f"the sandbox is required and not there: {error} (--sandbox auto runs without)",
                "script-sandbox",
            ) from error
        except OSError as error:
            raise ScriptError(f"the script could not be run: {error}") from error
        try:
            if finished.timed_out or finished.code != 0:
                raise ScriptError(f"the script {_ending(finished, options)}")
            values = answer.read(descriptor, _ANSWER)
        except FileNotFoundError:
            line = first_line(finished.stdout)
            printed = f", and printed {line!r}" if line else ""
            message = f"the script wrote no output to the file of -o{printed}"
            raise RunError(_with_words(message, script, finished), made, finished) from None
        except ScriptError as error:
            message = _with_words(str(error), script, finished)
            raise RunError(message, made, finished) from error
        _unchanged(script, made, finished)
        return Ran(values=values, environment=made, finished=finished)
    finally:
        if refused is not None:
            with contextlib.suppress(FileNotFoundError, ScriptError):
                refused += answer.content(descriptor, _LOG).decode("ascii", "replace").splitlines()
        os.close(descriptor)


def _unchanged(script: Script, made: Environment, finished: Finished) -> None:
    """The digest in the result is that of what ran."""
    try:
        with open(script.path, "rb") as file:
            same = file.read() == script.text
    except OSError:
        same = False
    if not same:
        raise RunError("the script was changed while it ran", made, finished)


def _files(folder: str, inputs: Inputs) -> dict[str, str]:
    """Everything that the script is given, by what it is for."""
    places = {name: os.path.join(folder, name) for name in ("work", "home", "answer")}
    try:
        for path in (folder, *places.values()):
            os.mkdir(path, 0o700)
        for name, data in (("rewards", inputs.rewards), ("trials", inputs.trials)):
            places[name] = os.path.join(folder, f"{name}.jsonl")
            with open(places[name], "wb") as file:
                file.write(data)
                os.fchmod(file.fileno(), 0o444)
    except OSError as error:
        raise ScriptError(
            f"the script's input could not be written: {reason(error)} (set TMPDIR)"
        ) from error
    return places


def _env(script: Script, files: dict[str, str], options: ScriptOptions) -> dict[str, str]:
    env = {name: os.environ[name] for name in PASSED if name in os.environ}
    env |= {name: value for name, value in os.environ.items() if name.startswith("LC_")}
    env |= {name: os.environ[name] for name in options.environment if name in os.environ}
    return env | {
        "HOME": files["home"],
        "TMPDIR": files["work"],
        "PYTHONUTF8": "1",
        "PYTHONNOUSERSITE": "1",
        "HARBOR_METRICS_TRIALS": files["trials"],
        "HARBOR_METRICS_SCRIPT_DIR": os.path.dirname(script.path),
    }


def _limits(options: ScriptOptions) -> dict[str, int]:
    cores = os.cpu_count() or 1
    limits = {
        "RLIMIT_CORE": 0,
        "RLIMIT_CPU": int(options.timeout * cores) + 1,
        "RLIMIT_FSIZE": FILE_SIZE,
        "RLIMIT_NOFILE": OPEN_FILES,
    }
    if options.memory:
        limits["RLIMIT_AS"] = int(options.memory * GIB)
    return limits


def _confinement(
    script: Script, made: Environment, files: dict[str, str], options: ScriptOptions
) -> Confinement:
    libraries = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    beside, listed = _beside(script.path)
    readable = [*made.readable, _WATCHER, *filter(None, libraries), os.path.dirname(files["work"])]
    return Confinement(
        layers=() if options.sandbox == "off" else options.layers,
        required=options.sandbox == "require",
        network=options.allow_network,
        readable=(*readable, *beside),
        writable=tuple(files[name] for name in ("work", "home", "answer")),
        listed=listed,
    )


def _beside(path: str) -> tuple[list[str], tuple[str, ...]]:
    """The script's folder to read; one that holds everything a person has only to list.

    Of such a one the files are read that lie beside the script and are not hidden.
    """
    folder = os.path.dirname(path)
    shared = os.environ.get("TMPDIR") or "/tmp"  # noqa: S108
    everything = {os.path.realpath(p) for p in (os.path.expanduser("~"), shared)}
    if not any(os.path.commonpath([folder, home]) == folder for home in everything):
        return [folder], ()
    with os.scandir(folder) as entries:
        files = [e.path for e in entries if e.is_file() and not e.name.startswith(".")]
    return [path, *files], (folder,)


def _ending(finished: Finished, options: ScriptOptions) -> str:
    words = ending(finished, options.timeout)
    if finished.timed_out:
        return f"{words} (--script-timeout)"
    if finished.code == -signal.SIGXCPU:
        return f"{words}: it used the processor for longer than its time limit on all cores"
    if b"MemoryError" in finished.stderr or b"std::bad_alloc" in finished.stderr:
        return f"{words}: out of memory, of which it gets {options.memory:g} GiB (--script-memory)"
    if finished.code == -signal.SIGXFSZ or b"[Errno 27]" in finished.stderr:
        return f"{words}: it wrote a file of more than {FILE_SIZE >> 20} MiB"
    return words


def _with_words(message: str, script: Script, finished: Finished) -> str:
    """The message with what the script said last, and what may be behind it."""
    advice = ""
    if b"ModuleNotFoundError" in finished.stderr and metadata(script) is None:
        advice = (
            "; it has no PEP 723 block, so it gets the standard library alone: "
            "declare what it imports (`uv add --script`)"
        )
    elif finished.layers and any(words in finished.stderr for words in _REFUSALS):
        advice = "; the sandbox may have stopped it (`harbor-metrics script check` tells)"
    return f"{message}{advice}{said(finished.stderr)}"


_REFUSALS = (b"PermissionError", b"Permission denied", b"Network is unreachable", b"not permitted")
