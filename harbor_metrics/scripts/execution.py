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
from ..registries.modules import provide
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
from .startup import startup_code
from .uv_access import libraries
from .variables import TO_ALL, told

_ANSWER, _LOG = "metric.json", "refused"
# As many as the watcher writes; the script itself can write there, too.
_MOST_REFUSED = 100
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


class RunError(MetricFailure):
    """A script that ran and gave no answer that can be used; in what environment it ran.

    `plain` is the message without what the script said and wrote.
    """

    def __init__(
        self, message: str, said: str, plain: str, made: Environment, finished: Finished
    ) -> None:
        super().__init__("script-failed", message, said=said)
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
    *,
    logins: bool = True,
) -> Ran:
    """Run a script to its end and read its answer.

    Indexes are told the user's `logins` for its packages, or none.

    Raises:
        MetricFailure: its environment could not be made, or the sandbox is required and missing.
        RunError: it failed, took too long, or answered something else than numbers.
    """
    if options.sandbox != "off" and sys.platform == "linux":
        place.prepare(options.layers, network=options.allow_network)
        before = unchecked(script, place, options, logins=logins)
        ran = before and _run_at_once(script, before, inputs, options, place, required)
        if ran is not None:
            return ran
    made = environment(script, place, options, required, logins=logins)
    return run(script, made, inputs, options, place, required=required)


def _run_at_once(
    script: Script,
    before: tuple[Environment, Callable[[], bool]],
    inputs: Inputs,
    options: ScriptOptions,
    place: Workplace,
    required: Required,
) -> Ran | None:
    """A run in the environment of before, whose files are looked at meanwhile.

    None where there is nothing to confine it, or a file was changed: what it answered then is
    nobody's answer.
    """
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
    files, is_shown_the_copy = _files(folder, inputs, script)
    log = None if refused is None else os.path.join(files["answer"], _LOG)
    code = startup_code(script, is_shown_the_copy=is_shown_the_copy)
    descriptor = os.open(files["answer"], os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            finished = place.run(
                [
                    *made.command,
                    *(["-c", code] if log is None else [_WATCHER, log, code]),
                    *(files["script"], script.path),
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
            raise RunError(plain, said(script, finished), plain, made, finished)
        try:
            values = answer.read(descriptor, _ANSWER)
        except FileNotFoundError:
            line = first_line(finished.stdout)
            printed = f", and printed {line!r}" if line else ""
            plain = "the script wrote no output to the file of -o"
            its = said(script, finished)
            raise RunError(f"{plain}{printed}", its, plain, made, finished) from None
        except MetricFailure as error:
            plain = "the script's output is no answer"
            its = said(script, finished)
            raise RunError(str(error), its, plain, made, finished) from error
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


def _files(folder: str, inputs: Inputs, script: Script) -> tuple[dict[str, str], bool]:
    """Everything that the script is given, by what it is for.

    And whether what it imports from is the copy of its modules, since there is more in its folder:
    processes that it starts import from there, too, and ask there which packages are installed.
    """
    is_shown_the_copy = False
    places = {name: os.path.join(folder, name) for name in ("work", "home", "answer")}
    try:
        for path in (folder, *places.values()):
            os.mkdir(path, 0o700)
        if script.modules is not None:
            modules = os.path.join(folder, "modules")
            os.mkdir(modules, 0o700)
            is_shown_the_copy = provide(script.modules, script.path, modules)
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
    return places, is_shown_the_copy


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
    beside_it, listed = beside(script.path, options.environment)
    readable = [*made.readable, *libraries(), os.path.dirname(files["work"])]
    readable += [_WATCHER] if watched else []
    return confinement(
        options,
        required,
        readable=[*readable, *beside_it],
        writable=[files[name] for name in ("work", "home", "answer")],
        listed=listed,
        scratch=[files["work"], files["home"]],
        hidden=[*made.hidden, *private_around(script.path, options.environment)],
        network=options.allow_network,
    )
