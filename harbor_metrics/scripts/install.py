"""What uv does for a script: packages from the network, without a line of their code run.

No Python is started that would see what is installed: the script's own is started first when the
script is, confined. Only what a package is built by runs before, where the user says so.
"""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import dataclass
from typing import Any

from ..confinement.finished import Finished, ending
from ..confinement.removal import remove
from ..confinement.workplace import FREE, Confinement, RefusedError, Workplace
from ..documents.wording import last_lines
from ..errors import MetricFailure
from ..registries.script_file import Script
from .beside import beside
from .bounds import GIB, Required, confinement, limits, refusal
from .options import ScriptOptions
from .uv_access import (
    PASSED,
    certificates,
    environ_of_uv,
    environ_without_passwords,
    find_uv,
    keyring,
    our_python,
    programs,
    pythons,
    reach,
    readable_of,
    uv_cache,
)

# A step has as long as the script has, but not less.
LEAST_SECONDS = 10.0
# What uv may take, whose wheels are larger than what a script writes.
_FILE_SIZE, _OPEN_FILES, _MEMORY = 16 * GIB, 16_384, 4 * GIB

_UNBUILT = "(--allow-build lets packages run their build code, where one has no wheel)"
_STALE = "(the lock beside the script is older than its dependencies: uv lock --script)"
_NO_PYTHON = "(no Python is downloaded unless UV_PYTHON_DOWNLOADS=automatic)"
_ABOUT = (
    "import json, platform, sys; print(json.dumps([platform.python_version(), sys.base_prefix,"
    " getattr(sys, '_base_executable', None) or sys.executable]))"
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A script, the table of its PEP 723 block, and the digests of lock and `local` packages.

    They lead `elsewhere`: to addresses that the user has not set, which get no password.
    """

    script: Script
    wants: dict[str, Any]
    lock: str | None
    elsewhere: bool
    local: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Base:
    """An interpreter of the user's, which has seen nothing of what a script asks for."""

    path: str
    prefix: str
    version: str


def install(
    wanted: Wanted, prefix: str, place: Workplace, options: ScriptOptions, required: Required
) -> tuple[Base, str]:
    """Make the environment of a script at `prefix`; the Python it is based on, and uv's path.

    Raises:
        MetricFailure: there is no uv, no such Python or package, or not in the time.
    """
    uv = find_uv()
    work = _Work(place, options)
    base = _base(wanted, uv, work)
    build = options.allow_build
    # Of its own for each environment: what is built writes to it, and uv believes what is there.
    of_builds = f"uv-of-builds-{os.urandom(4).hex()}"
    cache = os.path.join(place.folder, of_builds) if build else uv_cache(place)
    common = ["--quiet", "--no-config", "--cache-dir", cache, "--no-python-downloads"]
    # What packages ask of uv in the script's own table may not lead it elsewhere.
    choices = ["--link-mode", "copy", *([] if build else ["--no-build"])]
    choices += ["--keyring-provider", "disabled" if build or wanted.elsewhere else keyring()]
    if build:
        env = environ_without_passwords(place)
        files, listed = beside(wanted.script.path)
        reached = confinement(
            options,
            required,
            readable=[
                *(uv, *files),
                *(*pythons(), *certificates(), *programs()),
                *readable_of(base.path, base.prefix),
            ],
            writable=[cache, os.path.dirname(prefix), place.folder],
            listed=listed,
            network=True,
        )
        os.makedirs(cache, exist_ok=True)
    else:
        env = environ_without_passwords(place) if wanted.elsewhere else environ_of_uv()
        writable = [cache, os.path.dirname(prefix)]
        reached = reach(uv, wanted.script.path, place, writable, passwords=not wanted.elsewhere)
    env |= {"VIRTUAL_ENV": prefix}
    script, python = ["--script", wanted.script.path], ["--python", base.path]
    # A place that is not there yet: of one that is uv would ask the Python.
    sync = [uv, "sync", *common, *choices, "--no-compile-bytecode", "--active", *python, *script]
    if wanted.lock is None:
        commands = [sync]
    elif wanted.elsewhere:
        commands = [[*sync, "--locked"]]
    else:
        # Names, versions and digests of the lock, and none of its addresses.
        pins = os.path.join(os.path.dirname(prefix), "pins")
        # Files of the lock are named from the script's folder.
        into = ["--python", prefix, "--directory", os.path.dirname(wanted.script.path)]
        commands = [
            [uv, "export", *common, "--locked", "--offline", *python, *script, "-o", pins],
            [uv, "venv", *common, *python, prefix],
            [uv, "pip", "install", *common, *choices, "--no-deps", *into, "-r", pins],
        ]
    for command in commands:
        made = work.step(command, env, reached, may_fail=True)
        if made.timed_out or made.code != 0:
            # Of what is installed by now no code may run, and uv asks the Python of what is there.
            remove(prefix)
            nowhere = env | {"VIRTUAL_ENV": f"{prefix}-{os.urandom(4).hex()}"}
            # Without the lock it can be done: so it is the lock's fault, whatever uv calls it.
            stale = (
                wanted.lock is not None
                and not made.timed_out
                and (work.step([*sync, "--dry-run"], nowhere, reached, may_fail=True).code == 0)
            )
            raise work.failure(made, _STALE if stale else "" if build else _UNBUILT)
    _start_of_its_own(prefix, base)
    _compile(prefix, base, work, required)
    return base, uv


def version(uv: str, place: Workplace) -> str:
    """The version of uv."""
    step = _Work(place, ScriptOptions()).step([uv, "--version"], {}, FREE)
    number = re.search(rb"\d+(?:\.\d+)+[\w.+-]*", step.stdout)
    return number[0].decode() if number else "unknown"


def _start_of_its_own(prefix: str, base: Base) -> None:
    """The interpreter of the environment is the one that is known, whatever was installed."""
    folder = os.path.join(prefix, "bin")
    settings = os.path.join(prefix, "pyvenv.cfg")
    try:
        if os.path.islink(prefix) or os.path.islink(folder):
            raise OSError(20, os.strerror(20))
        for name in ("python", "python3", f"python{'.'.join(base.version.split('.')[:2])}"):
            path = os.path.join(folder, name)
            if os.path.lexists(path):
                os.unlink(path)
            os.symlink(base.path if name == "python" else "python", path)
        os.unlink(settings)
        with open(settings, "x", encoding="utf-8") as file:
            file.write(f"home = {os.path.dirname(base.path)}\n")
            file.write("include-system-site-packages = false\n")
            file.write(f"version_info = {base.version}\n")
    except OSError as error:
        raise MetricFailure(
            "script-environment", f"the environment of the script could not be made: {error}"
        ) from error


def _compile(prefix: str, base: Base, work: _Work, required: Required) -> None:
    """Nothing is imported for it, and later the environment is read-only to the script.

    Not the tests of packages: a quarter of the files of pandas would be theirs, which are looked
    at in each run.
    """
    library = os.path.join(prefix, "lib")
    tests = f"^{re.escape(library)}/.*/tests?/"
    work.step(
        [base.path, "-I", "-S", "-m", "compileall", "-q", "-x", tests, library],
        {name: os.environ[name] for name in PASSED if name in os.environ},
        confinement(
            work.options,
            required,
            readable=readable_of(base.path, base.prefix),
            writable=[prefix, work.place.folder],
        ),
        may_fail=True,
    )


@dataclass(frozen=True, slots=True)
class _Work:
    """Where steps are taken, and what each may take."""

    place: Workplace
    options: ScriptOptions

    def step(
        self,
        argv: list[str],
        env: dict[str, str],
        confined: Confinement,
        *,
        may_fail: bool = False,
        advice: str = "",
    ) -> Finished:
        seconds = max(LEAST_SECONDS, self.options.timeout)
        most = limits(self.options, seconds=seconds)
        most |= {"RLIMIT_FSIZE": _FILE_SIZE, "RLIMIT_NOFILE": _OPEN_FILES}
        if "RLIMIT_AS" in most:
            most["RLIMIT_AS"] = max(most["RLIMIT_AS"], _MEMORY)
        folder = self.place.folder
        try:
            # In an empty folder: uv looks around where it is started, and has locks in TMPDIR.
            finished = self.place.run(
                argv,
                env={**env, "TMPDIR": folder},
                cwd=folder,
                timeout=seconds,
                limits=most,
                confinement=confined,
            )
        except RefusedError as error:
            raise refusal(error, self.options) from error
        except OSError as error:
            raise MetricFailure(
                "script-environment", f"the environment of the script could not be made: {error}"
            ) from error
        if not may_fail and (finished.timed_out or finished.code != 0):
            raise self.failure(finished, advice)
        return finished

    def failure(self, finished: Finished, advice: str) -> MetricFailure:
        """What uv said when it failed, and what to do about it."""
        seconds = max(LEAST_SECONDS, self.options.timeout)
        late = "(--script-timeout)" if finished.timed_out else advice
        return MetricFailure(
            "script-environment",
            "the environment of the script could not be made: uv "
            f"{ending(finished, seconds)}{f' {late}' if late else ''}{last_lines(finished.stderr)}",
        )


def _base(wanted: Wanted, uv: str, work: _Work) -> Base:
    """Our own interpreter where the script admits it, else the first that uv finds."""
    # For weight: a kept environment needs none of it.
    import platform

    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    asked = str(wanted.wants.get("requires-python", ""))
    try:
        admitted = SpecifierSet(asked)
    except InvalidSpecifier as error:
        raise MetricFailure("script-metadata", f"requires-python of the script: {error}") from error
    ours = ".".join(map(str, sys.version_info[:3]))
    if admitted.contains(ours, prereleases=True):
        return Base(our_python(), sys.base_prefix, platform.python_version())
    env, cache = environ_of_uv(), uv_cache(work.place)
    # Asked to be quiet, it would not say which it has found.
    common = ["--no-config", "--cache-dir", cache]
    find = [uv, "python", "find", *common, "--system", "--no-project", "--", str(admitted)]
    reached = reach(uv, wanted.script.path, work.place, [cache])
    automatic = env["UV_PYTHON_DOWNLOADS"] == "automatic"
    found = work.step(find, env, reached, may_fail=automatic, advice=_NO_PYTHON)
    if found.code != 0:
        # Nothing of the script's but the version that it wants has a say in it.
        work.step([uv, "python", "install", *common, "--", str(admitted)], env, FREE)
        found = work.step(find, env, reached)
    python = os.fsdecode(found.stdout.rstrip(b"\r\n"))
    if not os.path.isabs(python):
        raise work.failure(found, _NO_PYTHON)
    # Of the user's Python, which knows of no package of the script's; without `site` all the same.
    about = work.step([python, "-I", "-S", "-c", _ABOUT], {}, reached)
    version, prefix, path = json.loads(about.stdout)
    return Base(path, prefix, version)
