"""A user's metric script: find it, make its environment, run it, check what it answers."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import msgspec

from .document import parse, reason
from .errors import InputError, OutputError
from .exact import Number
from .process import Finished, ending, run
from .rewards import article
from .syntax import printable
from .table import Table
from .trial import Rewards

RESOLVE_SECONDS = 300.0
MAX_ANSWER = 1 << 20
MAX_KEYS = 1_000
STDERR_LINES = 12

# The block format and this expression are those of PEP 723.
_BLOCK = re.compile(r"(?m)^# /// (?P<type>[a-zA-Z0-9-]+)$\s(?P<content>(^#(| .*)$\s)+)^# ///$")
_SCRIPT_ENV = ("PATH", "LANG", "LANGUAGE", "TZ", "SYSTEMROOT")
_UV_ENV = (
    *_SCRIPT_ENV,
    *("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "NETRC"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy"),
    *("all_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "SSL_CLIENT_CERT"),
)
_encode_lines = msgspec.json.Encoder().encode_lines


class ScriptError(Exception):
    """A script that gave no answer that can be used; the message says why, in full."""

    def __init__(self, message: str, rule: str = "script-failed") -> None:
        super().__init__(message)
        self.rule = rule


@dataclass(frozen=True, slots=True)
class Script:
    """A script file as it was when it was found."""

    path: str
    text: bytes

    @property
    def sha256(self) -> str:
        """The digest of the file's bytes."""
        return sha256(self.text).hexdigest()


def find(script_path: str, registry: str | None, *, allow_outside: bool = False) -> Script:
    """The file that `script_path` means: beside the registry first, then in the current directory.

    Without a registry the path is the user's word and is taken as it is.

    Raises:
        ScriptError: there is none, or the path leads where a registry may not point.
    """
    if "\0" in script_path:
        raise ScriptError(f"script_path {printable(script_path)!r} holds a NUL", "script-missing")
    free = registry is None or allow_outside
    if os.path.isabs(script_path) and not free:
        raise ScriptError(
            f"script_path {script_path} is absolute; a registry names scripts relative to itself "
            "(--allow-outside permits it)",
            "script-outside",
        )
    folders = [os.getcwd()] if registry is None else [_folder(registry), os.getcwd()]
    tried = [os.path.join(folder, script_path) for folder in dict.fromkeys(folders)]
    for folder, path in zip(folders, tried, strict=False):
        if not os.path.lexists(path):
            continue
        real = os.path.realpath(path)
        inside = any(_is_within(real, os.path.realpath(other)) for other in folders)
        if not (free or inside):
            raise ScriptError(
                f"script_path {script_path} leads outside {folder} (--allow-outside permits it)",
                "script-outside",
            )
        return _read(real, script_path)
    raise ScriptError(
        f"script {printable(script_path)} not found; looked for {' and '.join(tried)}",
        "script-missing",
    )


def other_copy(script_path: str, registry: str) -> bool:
    """Whether both places where a script is looked for have one, and they differ."""
    paths = [os.path.join(folder, script_path) for folder in (_folder(registry), os.getcwd())]
    if "\0" in script_path or not all(map(os.path.isfile, paths)):
        return False
    try:
        first, second = (_read(path, script_path).text for path in paths)
    except ScriptError:
        return False
    return first != second


def _folder(registry: str) -> str:
    return os.path.dirname(os.path.abspath(registry))


def _is_within(path: str, folder: str) -> bool:
    return os.path.commonpath([path, folder]) == folder


def _read(path: str, written: str) -> Script:
    if os.path.isdir(path):
        raise ScriptError(f"script {written} is a directory", "script-missing")
    if not os.path.isfile(path):
        raise ScriptError(f"script {written} is not a regular file", "script-missing")
    try:
        with open(path, "rb") as file:
            return Script(path, file.read())
    except OSError as error:
        raise ScriptError(f"script {written}: {reason(error)}", "script-missing") from error


def metadata(script: Script) -> dict[str, Any] | None:
    """The PEP 723 block of a script as a table, None if it has no block.

    Raises:
        ScriptError: the block stands there twice or is not TOML.
    """
    text = script.text.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    blocks = [match for match in _BLOCK.finditer(text) if match["type"] == "script"]
    if not blocks:
        return None
    if len(blocks) > 1:
        line = text.count("\n", 0, blocks[1].start()) + 1
        raise ScriptError(
            f"the script has more than one PEP 723 block, the second on line {line}",
            "script-metadata",
        )
    lines = blocks[0]["content"].splitlines()
    content = "\n".join(line[2:] if line.startswith("# ") else line[1:] for line in lines)
    try:
        return tomllib.loads(content)
    except (ValueError, RecursionError) as error:
        why = "nested too deep" if isinstance(error, RecursionError) else str(error)
        raise ScriptError(
            f"the PEP 723 block of the script is not TOML: {why}", "script-metadata"
        ) from error


def compute(script: Script, table: Table, *, timeout: float) -> dict[str, Number]:
    """What the script answers for the rewards of the table.

    Raises:
        ScriptError: it failed, took too long, or answered something else than numbers.
        OutputError: there is no place for temporary files.
    """
    folder = _temporary_folder()
    try:
        with_source = os.path.join(folder, "rewards.jsonl")
        answer = os.path.join(folder, "metric.json")
        with open(with_source, "wb") as file:
            file.write(rewards_lines(table.rewards()))
        home = os.path.join(folder, "home")
        work = os.path.join(folder, "work")
        os.mkdir(home)
        os.mkdir(work)
        argv = [*_interpreter(script), script.path, "-i", with_source, "-o", answer]
        finished = run(argv, env=_script_env(home, work), cwd=work, timeout=timeout)
        if finished.timed_out or finished.code != 0:
            raise ScriptError(_failure(finished, timeout))
        return _answer(answer, finished)
    except OSError as error:
        raise ScriptError(f"the script could not be run: {error}") from error
    finally:
        _remove(folder)


def rewards_lines(rewards: Iterable[Rewards | None]) -> bytes:
    """What Harbor writes for `-i`: an object or `null` a line."""
    return _encode_lines(list(rewards))


def _temporary_folder() -> str:
    wanted = os.environ.get("TMPDIR")
    try:
        return tempfile.mkdtemp(prefix="harbor-metrics-", dir=wanted or None)
    except OSError as error:
        where = f"TMPDIR {wanted}" if wanted else "the temporary directory"
        raise OutputError(
            f"{where}: {reason(error)}; a metric script needs a place for its input",
            "set TMPDIR to a directory that can be written",
        ) from error


def _remove(folder: str) -> None:
    """Delete what the script may have made unreadable, too."""
    for root, names, _ in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                os.chmod(os.path.join(root, name), 0o700, follow_symlinks=False) if not (
                    os.path.islink(os.path.join(root, name))
                ) else None
    shutil.rmtree(folder, ignore_errors=True)


def _interpreter(script: Script) -> list[str]:
    """The command that runs the script's own Python, which uv makes where the script asks."""
    wants = metadata(script)
    if wants is None:
        # Isolated: the standard library and the files beside the script, nothing installed.
        return [getattr(sys, "_base_executable", sys.executable), "-E", "-s", "-S", "-B"]
    uv = _uv()
    env = _uv_env()
    sync = [uv, "sync", "--no-config", "--quiet", *_python(wants), "--script", script.path]
    _uv_step(script, sync, env)
    found = _uv_step(script, [uv, "python", "find", "--no-config", "--script", script.path], env)
    return [found.stdout.decode().strip(), "-B"]


def _uv() -> str:
    from uv import find_uv_bin

    try:
        return str(find_uv_bin())
    except FileNotFoundError:
        found = shutil.which("uv")
        if found is None:
            raise InputError(
                "uv was not found; it makes the environments of metric scripts",
                "python -m pip install uv",
            ) from None
        return found


def _python(wants: dict[str, Any]) -> list[str]:
    """Our own interpreter where the script admits it, so that uv need not look for one."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        admitted = SpecifierSet(str(wants.get("requires-python", "")))
    except InvalidSpecifier as error:
        raise ScriptError(f"requires-python of the script: {error}", "script-metadata") from error
    ours = ".".join(map(str, sys.version_info[:3]))
    base = getattr(sys, "_base_executable", sys.executable)
    return ["--python", base] if admitted.contains(ours, prereleases=True) else []


def _uv_step(script: Script, argv: list[str], env: Mapping[str, str]) -> Finished:
    finished = run(argv, env=env, cwd=os.path.dirname(script.path), timeout=RESOLVE_SECONDS)
    if finished.timed_out or finished.code != 0:
        raise ScriptError(
            f"the environment of the script could not be made: uv "
            f"{ending(finished, RESOLVE_SECONDS)}{_tail(finished.stderr)}",
            "script-environment",
        )
    return finished


def _script_env(home: str, work: str) -> dict[str, str]:
    env = {name: os.environ[name] for name in _SCRIPT_ENV if name in os.environ}
    env |= {name: value for name, value in os.environ.items() if name.startswith("LC_")}
    return env | {"HOME": home, "TMPDIR": work, "PYTHONUTF8": "1", "PYTHONNOUSERSITE": "1"}


def _uv_env() -> dict[str, str]:
    env = {name: os.environ[name] for name in _UV_ENV if name in os.environ}
    env |= {n: v for n, v in os.environ.items() if n.startswith(("LC_", "UV_"))}
    for name in ("UV_PROJECT", "UV_WORKING_DIRECTORY", "UV_PROJECT_ENVIRONMENT", "UV_ENV_FILE"):
        env.pop(name, None)
    home = env.get("HOME")
    if home is not None and not os.access(home, os.W_OK | os.X_OK):
        # uv fails when it cannot write to HOME, and does without one when there is none.
        del env["HOME"]
    return {"UV_PYTHON_DOWNLOADS": "never", **env, "UV_NO_PROGRESS": "1"}


def _failure(finished: Finished, timeout: float) -> str:
    return f"the script {ending(finished, timeout)}{_tail(finished.stderr)}"


def _tail(stderr: bytes) -> str:
    lines = stderr.decode("utf-8", "backslashreplace").strip().splitlines()[-STDERR_LINES:]
    return (
        ": " + "\n".join(["it said", *(f"  {printable(line)}" for line in lines)]) if lines else ""
    )


def _answer(path: str, finished: Finished) -> dict[str, Number]:
    data = _answer_bytes(path, finished)
    document, found = parse(data, "answer")
    if found or document is None:
        place = found[0].span
        at = f" (line {place.line}, column {place.column})" if place else ""
        raise ScriptError(f"the script's answer is not JSON: {found[0].message}{at}")
    value = document.value
    if not isinstance(value, dict):
        raise ScriptError(f"the script's answer must be an object of numbers, not {article(value)}")
    if not value:
        raise ScriptError("the script's answer is an empty object, without any number")
    if len(value) > MAX_KEYS:
        raise ScriptError(
            f"the script's answer has {len(value)} keys; at most {MAX_KEYS} are taken"
        )
    for key, number in value.items():
        if type(number) not in (int, float):
            raise ScriptError(
                f"`{printable(key)}` in the script's answer must be a number, not {article(number)}"
            )
    return value


def _answer_bytes(path: str, finished: Finished) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise ScriptError(f"the script wrote no answer to -o{_tail(finished.stderr)}") from None
    except OSError as error:
        raise ScriptError(f"the script's answer cannot be read: {reason(error)}") from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
            raise ScriptError("the script's answer is not a regular file of its own")
        if status.st_size > MAX_ANSWER:
            raise ScriptError(f"the script's answer is larger than {MAX_ANSWER} bytes")
        return os.read(descriptor, MAX_ANSWER + 1)
    finally:
        os.close(descriptor)
