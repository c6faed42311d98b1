"""What uv does for a script: packages from the network, without a line of their code run.

No Python is started that would see what is installed: the script's own is started first when the
script is, confined. Only what a package is built by runs before, where the user says so.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from typing import Any

from ..confinement.finished import Finished
from ..confinement.homes import not_of_system
from ..confinement.removal import remove
from ..confinement.workplace import FREE, Workplace
from ..documents.files import open_real, reason
from ..documents.wording import in_command, printable
from ..errors import MetricFailure
from ..registries.pins import odd_entry
from ..registries.script_file import Script
from .beside import beside, private_around
from .bounds import Required, confinement
from .indexes import lie_among_work, packages_in, packages_of_user
from .interpreter import Base, interpreter
from .options import ScriptOptions
from .passwords import environ_without_passwords
from .steps import Work, not_made
from .uv_access import (
    certificates,
    environ_of_uv,
    find_uv,
    has_logins,
    keyring,
    packages_of,
    programs_of_all,
    reach,
    readable_of,
    uv_cache,
)
from .variables import TO_ALL, told

# Older ones write entry points of packages outside the environment.
LEAST = (0, 11, 15)
_UNBUILT = "(--allow-build lets packages run their build code, where one has no wheel)"
# A lock has a quarter of it, and each part of that stands there once, but for markers.
_MOST_PINS = 16 << 20
_STALE = "(the lock beside the script is older than its dependencies: uv lock --script)"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A script, the table of its PEP 723 block, and the digests of lock and `local` packages.

    They lead `elsewhere`: to addresses that the user has not set. Those get no password, nor does
    any where the user has not named the script: then there are no `logins`.
    """

    script: Script
    wants: dict[str, Any]
    lock: str | None
    elsewhere: bool
    logins: bool
    local: tuple[tuple[str, str], ...] = ()
    # The paths of these by their names in block and lock, and of folders where others are.
    named: dict[str, str] = field(default_factory=dict)
    folders: dict[str, str] = field(default_factory=dict)


def install(
    wanted: Wanted,
    path: str,
    prefix: str,
    place: Workplace,
    options: ScriptOptions,
    required: Required,
) -> tuple[Base, str]:
    """Make the environment of a script at `prefix`; the Python it is based on, and uv's version.

    uv is shown the script at `path`, a copy with copies of all that is asked for beside it.

    Raises:
        MetricFailure: there is no uv, it is too old, no such Python or package, or not in the time.
    """
    uv = find_uv()
    number = version(uv, place)
    _check_version(uv, number)
    base = interpreter(wanted.wants, path, uv, Work.of(place, options))
    # It looks for packages as we do, and runs nothing of theirs: without a Python uv would look for
    # one in the current folder.
    told = f"--script {in_command(wanted.script.shown)} --python {in_command(base.path)}"
    again = f"uv lock --no-config --dry-run --no-build {told}"
    work = Work.of(place, options, again=again)
    build = options.allow_build
    # Of its own for each environment where packages are built or lie beside the script: uv believes
    # what is there, and knows those by their paths and times.
    # What an index shows to nobody in particular is not what it shows to the user. And who leads uv
    # elsewhere can say what stands between it and the user's indexes (a proxy, no certificates).
    private = not wanted.logins and has_logins()
    # Of a folder it takes what it has for what lies there.
    of_user = bool(packages_of_user()[1]) or lie_among_work(os.path.dirname(wanted.script.path))
    apart = build or bool(wanted.local) or wanted.elsewhere or private or of_user
    cache = os.path.join(work.folder, "cache") if apart else uv_cache(place)
    common = ["--quiet", "--no-config", "--cache-dir", cache, "--no-python-downloads"]
    # What packages ask of uv in the script's own table may not lead it elsewhere.
    still = [] if build else ["--no-build"]
    choices = ["--link-mode", "copy", *still]
    # Of copies nothing would be there any more that an environment leads to.
    whole = ["--no-editable"] if wanted.local else []
    choices += ["--keyring-provider", keyring() if wanted.logins and not build else "disabled"]
    if build:
        env = environ_without_passwords(work.folder)
        files, listed = beside(path)
        folders = packages_of_user()[1]
        reached = confinement(
            options,
            required,
            readable=[
                uv,
                *files,
                *certificates(),
                *programs_of_all(),
                *packages_in(folders),
                *readable_of(base.path, base.prefix),
            ],
            hidden=[
                *packages_of(base.prefix),
                *private_around(wanted.script.path),
                # uv lists them; what else lies there has names, too.
                *not_of_system(folders),
            ],
            writable=[cache, os.path.dirname(prefix), work.folder],
            listed=[*listed, *folders],
            network=True,
            # Where the user's index is `localhost`, it could wait for who asks that.
            called=False,
        )
        os.makedirs(cache, exist_ok=True)
    else:
        env = environ_of_uv() if wanted.logins else environ_without_passwords(work.folder)
        writable = [cache, os.path.dirname(prefix), work.folder]
        read = readable_of(base.path, base.prefix)
        reached = reach(uv, path, writable, read, passwords=wanted.logins)
    env |= {"VIRTUAL_ENV": prefix}
    pins = os.path.join(work.folder, "pins")
    script, python = ["--script", path], ["--python", base.path]
    # A place that is not there yet: of one that is uv would ask the Python.
    sync = [
        uv,
        "sync",
        *common,
        *choices,
        "--no-compile-bytecode",
        "--active",
        *whole,
        *python,
        *script,
    ]
    if wanted.lock is None:
        commands = [sync]
    elif wanted.elsewhere:
        commands = [[*sync, "--locked"]]
    else:
        # Names, versions and digests of the lock, and none of its addresses.
        plain = [*python, "--no-header", "--no-annotate"]
        # Files of the lock are named from the script's folder.
        into = ["--python", prefix, "--directory", os.path.dirname(path)]
        commands = [
            [
                uv,
                "export",
                *common,
                *still,
                *plain,
                *whole,
                "--locked",
                "--offline",
                *script,
                "-o",
                pins,
            ],
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
            made = _as_written(made, path, wanted.script.path)
            raise work.failure(made, env, _STALE if stale else "" if build else _UNBUILT)
        if command[1] == "export":
            _check_pins(pins)
    _start_of_its_own(prefix, base)
    _compile(prefix, base, Work.of(place, options), required)
    return base, number


def _as_written(made: Finished, path: str, written: str) -> Finished:
    """What uv said, of the folder that the user knows."""
    shown, known = (os.fsencode(os.path.dirname(each)) for each in (path, written))
    return replace(made, stderr=made.stderr.replace(shown, known))


def _check_pins(path: str) -> None:
    """What uv has written of a lock holds nothing but packages: it does all that stands there."""
    try:
        # What builds a package for it can have put a link there.
        with open_real(path) as file:
            pins = file.read(_MOST_PINS + 1)
    except OSError as error:
        raise not_made(reason(error)) from error
    odd = odd_entry(pins) if len(pins) <= _MOST_PINS else "too much"
    if odd is not None:
        raise not_made(
            f"of the lock uv makes {printable(odd[:200])!r}, which is no package in a form that is "
            "known (make it anew: uv lock --script)"
        )


def version(uv: str, place: Workplace) -> str:
    """The version of uv."""
    step = Work.of(place, ScriptOptions()).step([uv, "--version"], {}, FREE)
    number = re.search(rb"(?<!\d)\d+(?:\.\d+)+[\w.+-]*", step.stdout)
    return number[0].decode() if number else "unknown"


def _check_version(uv: str, number: str) -> None:
    if tuple(map(int, re.findall(r"\d+", number)[:3])) < LEAST:
        least = ".".join(map(str, LEAST))
        raise MetricFailure(
            "script-environment",
            f"{printable(uv)} is of version {number}, and metric scripts need uv {least} or newer: "
            "python -m pip install --upgrade uv",
        )


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
        with open(settings, "x", encoding="utf-8", errors="surrogateescape") as file:
            file.write(f"home = {os.path.dirname(base.path)}\n")
            file.write("include-system-site-packages = false\n")
            file.write(f"version_info = {base.version}\n")
    except OSError as error:
        raise not_made(str(error)) from error


def _compile(prefix: str, base: Base, work: Work, required: Required) -> None:
    """Nothing is imported for it, and later the environment is read-only to the script.

    Not the tests of packages: a quarter of the files of pandas would be theirs, which are looked
    at in each run.
    """
    library = os.path.join(prefix, "lib")
    tests = f"^{re.escape(library)}/.*/tests?/"
    work.step(
        [base.path, "-I", "-S", "-m", "compileall", "-q", "-x", tests, library],
        told(TO_ALL),
        confinement(
            work.options,
            required,
            readable=readable_of(base.path, base.prefix),
            hidden=packages_of(base.prefix),
            writable=[prefix, work.folder],
        ),
        may_fail=True,
    )
