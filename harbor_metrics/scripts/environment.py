"""The Python and the packages that a script asks for: made by uv, once while it is unchanged."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import msgspec

from ..atomic import write_atomically
from ..errors import OutputError
from ..process import FREE, Confinement, Finished, Workplace, ending
from ..sandbox import LANDLOCK
from ..supervisor import remove
from . import cache
from .file import Script, ScriptError
from .metadata import metadata
from .said import said

RESOLVE_SECONDS = 300.0

PASSED = ("PATH", "LANG", "LANGUAGE", "TZ", "SYSTEMROOT", "LD_LIBRARY_PATH")
_PASSED_TO_UV = (
    *PASSED,
    *("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "NETRC"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy"),
    *("all_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "SSL_CLIENT_CERT"),
)
# What would lead uv to another environment, project or file than the script's.
_KEPT_FROM_UV = (
    *("UV_PROJECT", "UV_WORKING_DIRECTORY", "UV_WORKING_DIR", "UV_PROJECT_ENVIRONMENT"),
    *("UV_ENV_FILE", "UV_CONFIG_FILE", "UV_FROZEN", "UV_NO_SYNC"),
)
_ASKING = threading.Lock()
# Without `site`, so that no package of the environment has a word in it.
_ABOUT = (
    "import json, platform, sys, sysconfig; prefix = {'base': sys.argv[1]};"
    "print(json.dumps([platform.python_version(), sys.base_prefix,"
    " sysconfig.get_path('purelib', 'posix_prefix', prefix)]))"
)


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """How to run a script's Python: the command, where it reads, and what made it.

    `state` tells whether somebody has changed the packages since.
    """

    command: list[str]
    readable: list[str]
    python: str
    uv: str | None = None
    lock: str | None = None
    state: list[int] = []
    watched: list[str] = []


class _Kept(msgspec.Struct, frozen=True):
    """The environment of the script at one path, and what it was made from."""

    key: str
    environment: Environment


@dataclass(frozen=True, slots=True)
class _Wanted:
    script: Script
    wants: dict[str, Any]
    lock: str | None
    allow_build: bool

    @property
    def key(self) -> str:
        """Changes whenever uv has to be asked again."""
        asked = (self.script.path, self.wants, self.lock, self.allow_build, _our_python())
        return sha256(repr(asked).encode("utf-8", "surrogatepass")).hexdigest()


def environment(script: Script, place: Workplace, *, allow_build: bool = False) -> Environment:
    """The script's own environment; without a PEP 723 block the standard library alone.

    Raises:
        ScriptError: the block is wrong, there is no uv, or it cannot make what is asked for.
    """
    wants = metadata(script)
    if wants is None:
        python = ".".join(map(str, sys.version_info[:3]))
        command = [_our_python(), "-E", "-s", "-S", "-B"]
        readable = [*_of(sys.base_prefix), command[0], *_behind(command[0])]
        return Environment(command=command, readable=readable, python=python)
    wanted = _Wanted(script, wants, _lock(script), allow_build)
    kept = os.path.join(
        cache.folder("environments"), f"{sha256(os.fsencode(script.path)).hexdigest()[:32]}.json"
    )
    if (known := _known(kept, wanted)) is not None:
        return known
    with _alone(kept):
        # Another run may have made it while we waited.
        if (known := _known(kept, wanted)) is not None:
            return known
        made = _made(wanted, place)
        with contextlib.suppress(OutputError):
            write_atomically(kept, msgspec.json.encode(_Kept(wanted.key, made)))
        return made


@contextlib.contextmanager
def _alone(kept: str) -> Iterator[None]:
    """One run at a time makes the environment of a script, where that can be agreed upon."""
    try:
        os.makedirs(os.path.dirname(kept), exist_ok=True)
        file = open(f"{kept}.lock", "wb")  # noqa: SIM115
    except OSError:
        yield
        return
    with file:
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _known(kept: str, wanted: _Wanted) -> Environment | None:
    before = _read(kept)
    if before is None:
        return None
    unchanged = _state(before.environment.watched) == before.environment.state
    if unchanged and before.key == wanted.key:
        return before.environment
    if not unchanged:
        _discard(before.environment)
    return None


def _our_python() -> str:
    return str(getattr(sys, "_base_executable", None) or sys.executable)


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


def _lock(script: Script) -> str | None:
    try:
        with open(f"{script.path}.lock", "rb") as file:
            return sha256(file.read()).hexdigest()
    except OSError:
        return None


def _read(path: str) -> _Kept | None:
    try:
        with open(path, "rb") as file:
            return msgspec.json.decode(file.read(), type=_Kept)
    except (OSError, msgspec.DecodeError):
        return None


def _state(paths: Sequence[str]) -> list[int]:
    try:
        return [os.stat(path).st_mtime_ns for path in paths]
    except OSError:
        return []


def _discard(environment: Environment) -> None:
    """Whoever has changed it, what it holds now is not what uv put there."""
    prefix = os.path.dirname(os.path.dirname(environment.command[0]))
    if os.path.basename(os.path.dirname(prefix)).startswith("environments-v"):
        remove(prefix)


def _made(wanted: _Wanted, place: Workplace) -> Environment:
    uv, script = _uv(), wanted.script
    kept = _uv_cache(place)
    # What packages ask of uv in the script's own table may not lead it elsewhere.
    common = ["--quiet", "--no-config", "--cache-dir", kept]
    arguments = [*common, "--link-mode", "copy", "--keyring-provider", _keyring()]
    arguments += _python(wanted.wants)
    arguments += [] if wanted.allow_build else ["--no-build"]
    arguments += ["--locked"] if wanted.lock else []
    confined = FREE if wanted.allow_build else _confined(uv, script.path, kept, place)
    _step(place, [uv, "sync", *arguments, "--script", script.path], confined)
    asked = [uv, "python", "find", "--no-config", "--cache-dir", kept, "--script", script.path]
    found = _step(place, asked, confined)
    python = os.fsdecode(found.stdout.rstrip(b"\r\n"))
    prefix = os.path.dirname(os.path.dirname(python))
    about = _step(place, [python, "-I", "-S", "-c", _ABOUT, prefix], confined)
    version, base, packages = json.loads(about.stdout)
    # Nothing is imported for it, and the script's own environment is read-only to it later.
    _step(place, [python, "-I", "-S", "-m", "compileall", "-q", packages], confined, may_fail=True)
    watched = [packages, os.path.dirname(python), prefix, os.path.join(prefix, "pyvenv.cfg")]
    return Environment(
        command=[python, "-B"],
        readable=[prefix, *_of(base), *_behind(python)],
        python=version,
        uv=_step(place, [uv, "--version"]).stdout.decode().split()[1],
        lock=wanted.lock,
        state=_state(watched),
        watched=watched,
    )


def _uv_cache(place: Workplace) -> str:
    """Where uv keeps packages and environments; for this run alone where that cannot be written."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(home):
        home = os.path.join(os.path.expanduser("~"), ".cache")
    kept = os.path.abspath(os.environ.get("UV_CACHE_DIR") or os.path.join(home, "uv"))
    try:
        os.makedirs(kept, exist_ok=True)
    except OSError:
        return os.path.join(place.folder, "uv")
    return kept


def _keyring() -> str:
    """Programs that hand out passwords are asked only where the user says so."""
    return os.environ.get("UV_KEYRING_PROVIDER") or "disabled"


def _confined(uv: str, script: str, kept: str, place: Workplace) -> Confinement:
    """What uv and the interpreters that it asks may reach: a package can bring code that those run.

    The network, its cache, Pythons, the script's folder, and what says how hosts are reached.
    """
    home = os.path.expanduser("~")
    of_user = [".netrc", ".local/share/uv", ".local/bin", ".pyenv", ".gitconfig"]
    certificates = ("NETRC", "SSL_CERT_FILE", "SSL_CERT_DIR", "SSL_CLIENT_CERT", "UV_CACHE_DIR")
    python = _our_python()
    pythons = [*_of(sys.base_prefix), *_of(sys.prefix), python, *_behind(python)]
    installed = os.environ.get("UV_PYTHON_INSTALL_DIR")
    named = [os.environ[name] for name in certificates if os.environ.get(name)]
    readable = [uv, os.path.dirname(script), *pythons, *named, *([installed] if installed else [])]
    readable += [os.path.join(home, part) for part in of_user]
    # uv looks for Pythons there; a folder that is a whole home or more is none for programs.
    readable += [
        folder
        for folder in os.environ.get("PATH", "").split(os.pathsep)
        if os.path.isabs(folder) and not f"{home}/".startswith(f"{os.path.realpath(folder)}/")
    ]
    return Confinement(
        layers=(LANDLOCK,),
        network=True,
        readable=tuple(readable),
        writable=(kept, place.folder),
    )


def _uv() -> str:
    import shutil

    from uv import find_uv_bin

    try:
        # It asks sysconfig, which two threads must not ask for the first time at once.
        with _ASKING:
            return str(find_uv_bin())
    except FileNotFoundError:
        found = shutil.which("uv")
        if found is None:
            raise ScriptError(
                "uv was not found, which makes the environments of metric scripts: "
                "python -m pip install uv",
                "script-environment",
            ) from None
        return os.path.abspath(found)


def _python(wants: dict[str, Any]) -> list[str]:
    """Our own interpreter where the script admits it, so that uv need not look for one."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        admitted = SpecifierSet(str(wants.get("requires-python", "")))
    except InvalidSpecifier as error:
        raise ScriptError(f"requires-python of the script: {error}", "script-metadata") from error
    ours = ".".join(map(str, sys.version_info[:3]))
    return ["--python", _our_python()] if admitted.contains(ours, prereleases=True) else []


def _step(
    place: Workplace, argv: list[str], confined: Confinement = FREE, *, may_fail: bool = False
) -> Finished:
    # In an empty folder: uv looks around where it is started, and leaves its locks in TMPDIR.
    env = {**_uv_env(), "TMPDIR": place.folder}
    finished = place.run(
        argv, env=env, cwd=place.folder, timeout=RESOLVE_SECONDS, confinement=confined
    )
    if not may_fail and (finished.timed_out or finished.code != 0):
        raise ScriptError(
            f"the environment of the script could not be made: uv "
            f"{ending(finished, RESOLVE_SECONDS)}{_advice(finished.stderr)}{said(finished.stderr)}",
            "script-environment",
        )
    return finished


def _advice(stderr: bytes) -> str:
    if b"Building source distributions is disabled" in stderr:
        return " (--allow-build lets packages run their build code)"
    if b"`--locked` was provided" in stderr:
        return " (the lock beside the script is older than its dependencies: uv lock --script)"
    if b"No interpreter found" in stderr:
        return " (no Python is downloaded unless UV_PYTHON_DOWNLOADS=automatic)"
    return ""


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
