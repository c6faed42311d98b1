"""What uv does for a script: packages from the network, without a line of their code run.

No Python is started that would see what is installed: the script's own is started first when the
script is, confined. Only what a package is built by runs before, where the user says so.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from dataclasses import dataclass
from typing import Any

from ..confinement.sandbox import LANDLOCK
from ..confinement.workplace import (
    FREE,
    Confinement,
    Finished,
    RefusedError,
    Workplace,
    ending,
)
from ..documents.wording import last_lines
from ..errors import MetricFailure
from ..registries.script_file import Script
from .bounds import GIB, Required, confinement, limits, refusal
from .cache import cache_home
from .options import ScriptOptions

# A step has as long as the script has, but not less.
LEAST_SECONDS = 10.0
# What uv may take, whose wheels are larger than what a script writes.
_FILE_SIZE, _OPEN_FILES, _MEMORY = 16 * GIB, 16_384, 4 * GIB

PASSED = ("PATH", "LANG", "LANGUAGE", "TZ", "SYSTEMROOT", "LD_LIBRARY_PATH")
_PASSED_TO_UV = (
    *PASSED,
    *("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "NETRC"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy"),
    *("all_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "SSL_CLIENT_CERT"),
)
# What would lead uv to another environment, project or file than the script's, or let it start
# the Python that it has installed packages for.
_KEPT_FROM_UV = (
    *("UV_PROJECT", "UV_WORKING_DIRECTORY", "UV_WORKING_DIR", "UV_PROJECT_ENVIRONMENT"),
    *("UV_ENV_FILE", "UV_CONFIG_FILE", "UV_FROZEN", "UV_NO_SYNC", "UV_COMPILE_BYTECODE"),
    *("UV_PREVIEW", "UV_PREVIEW_FEATURES", "UV_NO_BUILD_ISOLATION", "UV_PYTHON"),
)
# How packages are found, and nothing that opens a door.
_WITHOUT_PASSWORDS = (
    *("UV_INDEX", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_INDEX_STRATEGY"),
    *("UV_FIND_LINKS", "UV_NO_INDEX", "UV_OFFLINE", "UV_HTTP_TIMEOUT", "UV_EXCLUDE_NEWER"),
    *("UV_NATIVE_TLS", "UV_SYSTEM_CERTS", "UV_INSECURE_HOST", "UV_PRERELEASE", "UV_RESOLUTION"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy"),
    *("all_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"),
)
_UNBUILT = "(--allow-build lets packages run their build code, where one has no wheel)"
_STALE = "(the lock beside the script is older than its dependencies: uv lock --script)"
_NO_PYTHON = "(no Python is downloaded unless UV_PYTHON_DOWNLOADS=automatic)"
_CREDENTIALS = re.compile(r"(?<=://)[^/\s]*@")
_ASKING = threading.Lock()
_ABOUT = (
    "import json, platform, sys; print(json.dumps([platform.python_version(), sys.base_prefix,"
    " getattr(sys, '_base_executable', None) or sys.executable]))"
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A script, the table of its PEP 723 block, and the digest of the lock beside it.

    They lead `elsewhere`: to addresses that the user has not set, which get no password.
    """

    script: Script
    wants: dict[str, Any]
    lock: str | None
    elsewhere: bool


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
    uv = _uv()
    work = _Work(place, options)
    base = _base(wanted, uv, work)
    build = options.allow_build
    cache = os.path.join(place.folder, "uv-of-builds") if build else _uv_cache(place)
    arguments = ["--quiet", "--active", "--no-config", "--cache-dir", cache]
    # What packages ask of uv in the script's own table may not lead it elsewhere.
    arguments += ["--link-mode", "copy", "--no-compile-bytecode", "--no-python-downloads"]
    arguments += ["--keyring-provider", "disabled" if build or wanted.elsewhere else _keyring()]
    arguments += ["--python", base.path, *([] if build else ["--no-build"])]
    arguments += ["--locked"] if wanted.lock else []
    command = [uv, "sync", *arguments, "--script", wanted.script.path]
    # A place that is not there yet: of one that is uv would ask the Python.
    if build:
        env = _env_without_passwords(place)
        reached = confinement(
            options,
            required,
            readable=[
                *(uv, os.path.dirname(wanted.script.path)),
                *(*_pythons(), *certificates(), *programs()),
                *readable_of(base.path, base.prefix),
            ],
            writable=[cache, os.path.dirname(prefix), place.folder],
            network=True,
        )
        os.makedirs(cache, exist_ok=True)
    else:
        env = _env_without_passwords(place) if wanted.elsewhere else _uv_env()
        writable = [cache, os.path.dirname(prefix)]
        reached = _confined(uv, wanted.script.path, place, writable, passwords=not wanted.elsewhere)
    env |= {"VIRTUAL_ENV": prefix}
    made = work.step(command, env, reached, may_fail=True)
    if made.timed_out or made.code != 0:
        anew = [part for part in command if part != "--locked"]
        # Without the lock it can be done: so it is the lock's fault, whatever uv calls it.
        stale = (
            wanted.lock is not None
            and not made.timed_out
            and (work.step([*anew, "--dry-run"], env, reached, may_fail=True).code == 0)
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
    """Nothing is imported for it, and later the environment is read-only to the script."""
    library = os.path.join(prefix, "lib")
    work.step(
        [base.path, "-I", "-S", "-m", "compileall", "-q", library],
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
    env, cache = _uv_env(), _uv_cache(work.place)
    common = ["--quiet", "--no-config", "--cache-dir", cache]
    find = [uv, "python", "find", *common, "--system", "--no-project", "--", str(admitted)]
    reached = _confined(uv, wanted.script.path, work.place, [cache])
    automatic = env["UV_PYTHON_DOWNLOADS"] == "automatic"
    found = work.step(find, env, reached, may_fail=automatic, advice=_NO_PYTHON)
    if found.code != 0:
        # Nothing of the script's but the version that it wants has a say in it.
        work.step([uv, "python", "install", *common, "--", str(admitted)], env, FREE)
        found = work.step(find, env, reached)
    python = os.fsdecode(found.stdout.rstrip(b"\r\n"))
    # Of the user's Python, which knows of no package of the script's; without `site` all the same.
    about = work.step([python, "-I", "-S", "-c", _ABOUT], {}, reached)
    version, prefix, path = json.loads(about.stdout)
    return Base(path, prefix, version)


def our_python() -> str:
    """The interpreter that runs us, and no environment of it."""
    return str(getattr(sys, "_base_executable", None) or sys.executable)


def readable_of(python: str, prefix: str) -> list[str]:
    """What an interpreter reads of itself: its installation, and each Python on the way to it."""
    return [python, *_of(prefix), *_behind(python)]


def _of(prefix: str) -> list[str]:
    """An installed Python; only what is Python of one that fills somebody's home directory."""
    home = os.path.realpath(os.path.expanduser("~"))
    if os.path.commonpath([os.path.realpath(prefix), home]) != os.path.realpath(prefix):
        return [prefix]
    return [os.path.join(prefix, part) for part in ("bin", "lib", "lib64", "include", "share")]


def _behind(python: str) -> list[str]:
    """What the link to an interpreter leads through: the path of each Python on the way."""
    found: list[str] = []
    while os.path.islink(python) and len(found) < 200:
        python = os.path.join(os.path.dirname(python), os.readlink(python))
        found += [python, *_of(os.path.dirname(os.path.dirname(python)))]
    return found


def _uv_cache(place: Workplace) -> str:
    """Where uv keeps packages and environments; for this run alone where that cannot be written."""
    kept = os.path.abspath(os.environ.get("UV_CACHE_DIR") or os.path.join(cache_home(), "uv"))
    try:
        os.makedirs(kept, exist_ok=True)
    except OSError:
        return os.path.join(place.folder, "uv")
    return kept


def _keyring() -> str:
    """Programs that hand out passwords are asked only where the user says so."""
    return os.environ.get("UV_KEYRING_PROVIDER") or "disabled"


def _confined(
    uv: str, script: str, place: Workplace, writable: list[str], *, passwords: bool = True
) -> Confinement:
    """What uv may reach, none of whose work is a stranger's code.

    The network, its cache, Pythons, the script's folder, and what says how hosts are reached.
    """
    home = os.path.expanduser("~")
    of_user = [".local/share/uv", ".local/bin", ".pyenv"]
    named = []
    if passwords:
        of_user += [".netrc", ".gitconfig"]
        named = [os.environ[name] for name in ("NETRC", "SSL_CLIENT_CERT") if os.environ.get(name)]
    readable = [uv, os.path.dirname(script), *_pythons(), *certificates(), *programs(), *named]
    readable += [os.path.join(home, part) for part in of_user]
    return Confinement(
        layers=(LANDLOCK,),
        filtered=False,
        network=True,
        readable=tuple(readable),
        writable=(*writable, place.folder),
    )


def certificates() -> list[str]:
    """Where the user says that certificates of authorities lie."""
    names = ("SSL_CERT_FILE", "SSL_CERT_DIR")
    return [os.environ[name] for name in names if os.environ.get(name)]


def _pythons() -> list[str]:
    installed = os.environ.get("UV_PYTHON_INSTALL_DIR")
    ours = readable_of(our_python(), sys.base_prefix)
    return [*ours, *_of(sys.prefix), *([installed] if installed else [])]


def programs() -> list[str]:
    """Where programs are looked for; a folder that is a whole home or more is none for programs."""
    home = os.path.expanduser("~")
    return [
        folder
        for folder in os.environ.get("PATH", "").split(os.pathsep)
        if os.path.isabs(folder) and not f"{home}/".startswith(f"{os.path.realpath(folder)}/")
    ]


def _uv() -> str:
    # For weight: a kept environment needs none of it.
    import shutil

    from uv import find_uv_bin

    try:
        # It asks sysconfig, which two threads must not ask for the first time at once.
        with _ASKING:
            return str(find_uv_bin())
    except FileNotFoundError:
        found = shutil.which("uv")
        if found is None:
            raise MetricFailure(
                "script-environment",
                "uv was not found, which makes the environments of metric scripts: "
                "python -m pip install uv",
            ) from None
        return os.path.abspath(found)


def _uv_env() -> dict[str, str]:
    env = {name: os.environ[name] for name in _PASSED_TO_UV if name in os.environ}
    env |= {n: v for n, v in os.environ.items() if n.startswith(("LC_", "UV_"))}
    for name in _KEPT_FROM_UV:
        env.pop(name, None)
    if "UV_CACHE_DIR" in env:
        env["UV_CACHE_DIR"] = os.path.abspath(env["UV_CACHE_DIR"])
    home = env.get("HOME")
    if home is not None and not os.access(home, os.W_OK | os.X_OK):
        # uv fails when it cannot write to HOME, and does without one when there is none.
        del env["HOME"]
    return {"UV_PYTHON_DOWNLOADS": "never", **env, "UV_NO_PROGRESS": "1"}


def _env_without_passwords(place: Workplace) -> dict[str, str]:
    """The environment of what may log in nowhere, with another home: a stranger's code, or uv."""
    home = os.path.join(place.folder, "home-without-passwords")
    os.makedirs(home, exist_ok=True)
    env = {name: os.environ[name] for name in (*PASSED, *_WITHOUT_PASSWORDS) if name in os.environ}
    env = {name: _CREDENTIALS.sub("", value) for name, value in env.items()}
    return {"UV_PYTHON_DOWNLOADS": "never", **env, "UV_NO_PROGRESS": "1", "HOME": home}
