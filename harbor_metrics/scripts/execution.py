"""Run a script over rewards: its input, its limits, its sandbox, and what it answered."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

import msgspec

from ..confinement.finished import Finished
from ..confinement.removal import remove
from ..confinement.workplace import Confinement, RefusedError, Workplace
from ..documents.files import reason
from ..documents.wording import first_line
from ..errors import MetricFailure
from ..numbers.exact import Number
from ..registries.modules import copy, is_metadata
from ..registries.script_file import Script
from ..trials.table import Table
from ..trials.trial import Rewards
from . import answer
from .beside import beside, private_around
from .bounds import Required, confinement, limits, refusal, whole
from .environment import environment, unchecked
from .failures import ended, said
from .kept import Environment
from .options import ScriptOptions
from .uv_access import libraries
from .variables import TO_ALL, told

_ANSWER, _LOG = "metric.json", "refused"
# As many as the watcher writes; the script itself can write there, too.
_MOST_REFUSED = 100
_WATCHER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "refusals.py")
# As `python FILE` does, which would read the file again; no name of its own is left behind.
_BE_THE_SCRIPT = """\
__file__ = __import__("sys").argv[2]
__import__("sys").path[0] = {folder}
exec(
    compile(open(__import__("sys").argv[1], "rb").read(), __file__, "exec", dont_inherit=True),
    (__import__("sys").argv.__delitem__(slice(0, 2)), globals())[1],
)
"""
_ITS_FOLDER = '__file__.rpartition("/")[0]'
# Where packages seem to be installed beside it, who asks which there are looks into the copy, too.
_THE_COPY = '__import__("sys").argv[1].rpartition("/")[0] + "/modules"'
# What is imported from the script's folder is looked for among the modules that were hashed: those
# are files there, and all else is linked. A folder of data alone would be a package, or stand in
# for a part of one that an import tries.
_FROM_THE_COPY = """\
def _(sys, os):
    copy = sys.argv[1].rpartition("/")[0] + "/modules"
    find_in = sys.path_hooks[-1]
    def has_modules(folder):
        files = (os.path.join(at, name) for at, _, names in os.walk(folder) for name in names)
        return not os.path.islink(folder) and not all(map(os.path.islink, files))
    def hashed_in(path):
        if not (path + "/").startswith(copy + "/"):
            raise ImportError
        finder = find_in(path)
        find = finder.find_spec
        def find_spec(name, target=None):
            spec = find(name, target)
            folders = spec.submodule_search_locations if spec and not spec.loader else None
            return spec if folders is None or any(map(has_modules, folders)) else None
        finder.find_spec = find_spec
        return finder
    sys.path_hooks.insert(0, hashed_in)
    for folder in (copy, sys.argv[2].rpartition("/")[0]):
        sys.path_importer_cache[folder] = hashed_in(copy)
_(__import__("sys"), __import__("os"))
del _
"""
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


class RunError(MetricFailure):
    """A script that ran and gave no answer that can be used; in what environment it ran.

    `plain` is the message without what the script said and wrote.
    """

    def __init__(self, message: str, plain: str, made: Environment, finished: Finished) -> None:
        super().__init__("script-failed", message)
        self.plain = plain
        self.environment = made
        self.finished = finished


def rewards_lines(rewards: Iterable[Rewards | None]) -> bytes:
    """The rewards.jsonl that Harbor writes for `-i`, to the byte: an object or `null` a line."""
    return "".join(f"{_encode_line(each)}\n" for each in rewards).encode()


def execute(
    script: Script,
    inputs: Inputs,
    options: ScriptOptions,
    place: Workplace,
    required: Required = "no",
) -> Ran:
    """Run a script to its end and read its answer.

    Raises:
        MetricFailure: its environment could not be made, or the sandbox is required and missing.
        RunError: it failed, took too long, or answered something else than numbers.
    """
    if options.sandbox != "off" and sys.platform == "linux":
        place.prepare(options.layers, network=options.allow_network)
        if (ran := _run_at_once(script, inputs, options, place, required)) is not None:
            return ran
    made = environment(script, place, options, required)
    return run(script, made, inputs, options, place, required=required)


def _run_at_once(
    script: Script, inputs: Inputs, options: ScriptOptions, place: Workplace, required: Required
) -> Ran | None:
    """A run in the environment of before, whose files are looked at meanwhile.

    None where there is none, or nothing to confine it, or a file was changed: what it answered then
    is nobody's answer.
    """
    before = unchecked(script, place, options)
    if before is None:
        return None
    made, is_unchanged = before
    check = cache(is_unchanged)
    # Without a layer to confine it nothing runs of which nobody knows what it is.
    least: Required = "one" if required == "no" else required
    try:
        ran = run(script, made, inputs, options, place, required=least, meanwhile=check)
    except MetricFailure as error:
        if check() and not isinstance(error.__cause__, RefusedError):
            raise
        return None
    return ran if check() else None


def run(
    script: Script,
    made: Environment,
    inputs: Inputs,
    options: ScriptOptions,
    place: Workplace,
    *,
    required: Required = "no",
    refused: list[str] | None = None,
    meanwhile: Callable[[], object] | None = None,
) -> Ran:
    """Run a script in an environment that has been made; raises as `execute`.

    What the script is refused is added to `refused`; to see it, the script is not run as it is but
    by a program that watches its calls. `meanwhile` is called while it runs.
    """
    name = f"run-{os.urandom(4).hex()}"
    folder = os.path.join(place.folder, name)
    files = _files(folder, inputs, script)
    descriptor = os.open(files["answer"], os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            finished = place.run(
                [
                    *made.command,
                    *_started(script, files, watched=refused is not None),
                    *("-i", files["rewards"]),
                    *("-o", os.path.join(files["answer"], _ANSWER)),
                ],
                env=_env(script, files, options),
                cwd=files["work"],
                timeout=options.timeout,
                limits=limits(options, seconds=options.timeout),
                confinement=_confinement(
                    script, made, files, options, required, watched=refused is not None
                ),
                whole=whole(options, [folder]),
                meanwhile=meanwhile,
            )
        except RefusedError as error:
            raise refusal(error, options) from error
        except OSError as error:
            raise MetricFailure("script-failed", f"the script could not be run: {error}") from error
        if finished.timed_out or finished.exceeded or finished.code != 0:
            plain = f"the script {ended(finished, options)}"
            raise RunError(plain + said(script, finished), plain, made, finished)
        try:
            values = answer.read(descriptor, _ANSWER)
        except FileNotFoundError:
            line = first_line(finished.stdout)
            printed = f", and printed {line!r}" if line else ""
            plain = "the script wrote no output to the file of -o"
            message = f"{plain}{printed}{said(script, finished)}"
            raise RunError(message, plain, made, finished) from None
        except MetricFailure as error:
            message = f"{error}{said(script, finished)}"
            raise RunError(message, "the script's output is no answer", made, finished) from error
        return Ran(values=values, environment=made, finished=finished)
    finally:
        if refused is not None:
            with contextlib.suppress(FileNotFoundError, MetricFailure):
                lines = answer.content(descriptor, _LOG).decode("ascii", "replace").splitlines()
                refused += lines[:_MOST_REFUSED]
        os.close(descriptor)
        # What scripts leave has a limit for each of them, and they can be many. The place may be
        # shut by now: it is asked for anew.
        remove(os.path.join(place.folder, name))


def _started(script: Script, files: dict[str, str], *, watched: bool) -> list[str]:
    """How the interpreter is told to be the script: its own copy of it, under the script's path.

    So that the bytes whose digest stands in the result are those that run, whatever becomes of
    the file meanwhile, and of the modules in its folder.
    """
    if watched:
        return [_WATCHER, os.path.join(files["answer"], _LOG), files["script"], script.path]
    redirected = "" if script.modules is None else _FROM_THE_COPY
    folder = _THE_COPY if "metadata" in files else _ITS_FOLDER
    code = redirected + _BE_THE_SCRIPT.format(folder=folder)
    return ["-c", code, files["script"], script.path]


def _files(folder: str, inputs: Inputs, script: Script) -> dict[str, str]:
    """Everything that the script is given, by what it is for."""
    places = {name: os.path.join(folder, name) for name in ("work", "home", "answer")}
    try:
        for path in (folder, *places.values()):
            os.mkdir(path, 0o700)
        if script.modules is not None:
            modules, beside_it = os.path.join(folder, "modules"), os.path.dirname(script.path)
            os.mkdir(modules, 0o700)
            if metadata := any(map(is_metadata, os.listdir(beside_it))):
                places["metadata"] = beside_it
            if script.modules or metadata:
                copy(script.modules, beside_it, modules)
        given = (("rewards.jsonl", inputs.rewards), ("trials.jsonl", inputs.trials))
        for name, data in (*given, ("script.py", script.text)):
            path = places[name.partition(".")[0]] = os.path.join(folder, name)
            with open(path, "wb") as file:
                file.write(data)
                os.fchmod(file.fileno(), 0o444)
    except OSError as error:
        raise MetricFailure(
            "script-failed",
            f"the script's input could not be written: {reason(error)} (set TMPDIR)",
        ) from error
    return places


def _env(script: Script, files: dict[str, str], options: ScriptOptions) -> dict[str, str]:
    env = told(TO_ALL)
    env |= {name: os.environ[name] for name in options.environment if name in os.environ}
    return env | {
        "HOME": files["home"],
        "TMPDIR": files["work"],
        "PYTHONUTF8": "1",
        "PYTHONNOUSERSITE": "1",
        "HARBOR_METRICS_TRIALS": files["trials"],
        "HARBOR_METRICS_SCRIPT_DIR": os.path.dirname(script.path),
    }


def _confinement(
    script: Script,
    made: Environment,
    files: dict[str, str],
    options: ScriptOptions,
    required: Required,
    *,
    watched: bool,
) -> Confinement:
    beside_it, listed = beside(script.path)
    readable = [*made.readable, *libraries(), os.path.dirname(files["work"])]
    readable += [_WATCHER] if watched else []
    return confinement(
        options,
        required,
        readable=[*readable, *beside_it],
        writable=[files[name] for name in ("work", "home", "answer")],
        listed=listed,
        scratch=[files["work"], files["home"]],
        hidden=[*made.hidden, *private_around(script.path)],
        network=options.allow_network,
    )
