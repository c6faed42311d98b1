"""The file of a user's metric script: where it lies, its PEP 723 block, its digest."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec

from ..contract.spec import UV_SCRIPT
from ..documents.files import open_real, reason
from ..documents.paths import (
    check_stays,
    ends_a_line,
    folder_of,
    holds_everything,
    is_below,
    may_be_there,
    real_path,
)
from ..documents.wording import plural, printable
from ..errors import InputError, MetricFailure
from .modules import (
    MOST_BYTES,
    Content,
    Folders,
    Modules,
    TooManyError,
    importable,
    is_manifest,
    manifest,
)
from .private import check_holds_no_passwords
from .script_block import may_have_a_block, table

if TYPE_CHECKING:
    from .local_packages import Packages

_ELSEWHERE = "leads outside"


class Script(msgspec.Struct, frozen=True):
    """A script file with the bytes that it had when it was read, and those of its modules.

    `modules` lie in its folder, where it imports any from there; None where there are too many.
    """

    path: str
    text: Content
    # The path to run it by hand, as the registry and the user wrote it.
    shown: str = ""
    modules: Modules | None = ()
    # What uv installs from its folder, by paths in it, and the lock: their digests.
    packages: Packages | None = ()
    lock: str | None = None

    @property
    def sha256(self) -> str:
        """The digest of the file's bytes."""
        return self.text.sha256

    @property
    def identity(self) -> str:
        """What two scripts that are one have in common: the pin, if it is of all they import."""
        known = self.modules is not None and self.packages is not None
        return self.pin if known else f"{self.pin} {self.path}"

    @property
    def modules_sha256(self) -> str | None:
        """The digest of the manifest of the script and its modules, None where it has none."""
        return _digest_of(self.modules, self._own) if self.modules else None

    @property
    def packages_sha256(self) -> str | None:
        """The digest of the manifest of the packages in its folder, None where it has none."""
        return _digest_of(self._there) if self._there else None

    @property
    def pin(self) -> str:
        """The digest of all that runs from its folder; that of a manifest where others do."""
        more: list[tuple[str, Content | str]] = [*(self.modules or ()), *self._there]
        if self.lock is not None:
            more.append((f"{self._own[0]}.lock", self.lock))
        # A text that is a manifest would else have the pin of what that is of.
        return _digest_of(more, self._own) if more or is_manifest(self.text) else self.sha256

    @property
    def company(self) -> str:
        """What its pin is of beside the script itself, in words; empty where there is nothing."""
        parts = [plural(len(self.modules), "module")] if self.modules else []
        parts += [plural(len(self._there), "package")] if self._there else []
        parts += ["lock"] if self.lock is not None else []
        return f"the {' and the '.join(parts)} beside it" if parts else ""

    @property
    def _own(self) -> tuple[str, Content]:
        return os.path.basename(self.path), self.text

    @property
    def _there(self) -> list[tuple[str, str]]:
        return [package for package in self.packages or () if package[1]]


def find(
    script_path: str,
    registry: str | None,
    *,
    allow_outside: bool = False,
    read: Callable[[str, str, str], Script] | None = None,
) -> Script:
    """The file that `script_path` means: beside the registry first, then in the current directory.

    Without a registry the path is the user's word and is taken as it is. `read` is what reads it.

    Raises:
        MetricFailure: no file is there, or the path leads where a registry may not point.
    """
    if "\0" in script_path:
        raise MetricFailure("script-missing", f"script_path {printable(script_path)!r} holds a NUL")
    free = registry is None or allow_outside
    if os.path.isabs(script_path) and not free:
        raise MetricFailure(
            "script-outside",
            f"script_path {printable(script_path)} is absolute; a registry names scripts relative "
            "to itself (--allow-outside permits it)",
        )
    folders = [os.getcwd()] if registry is None else [folder_of(registry), os.getcwd()]
    as_written = ["" if registry is None else os.path.dirname(registry), ""]
    tried = [os.path.join(folder, script_path) for folder in dict.fromkeys(folders)]
    outside = None
    for folder, written, path in zip(folders, as_written, tried, strict=False):
        real = real_path(path)
        why = "" if free else _not_its_own(real, script_path, folders)
        # Whether something lies elsewhere is not for those to know who wrote the registry.
        is_apart = why == _ELSEWHERE
        if not is_apart and not may_be_there(path):
            continue
        if why:
            failure = MetricFailure(
                "script-outside",
                f"script_path {printable(script_path)} {why} {printable(folder)} "
                "(--allow-outside permits it)",
            )
            if not is_apart:
                raise failure
            outside = outside or failure
            continue
        if registry is None and not allow_outside:
            _check_stays(script_path)
        return (read or _read)(real, script_path, os.path.join(written, script_path))
    raise outside or MetricFailure(
        "script-missing",
        f"script {printable(script_path)} not found; looked for {printable(' and '.join(tried))}",
    )


def is_at_home(real: str, folder: str) -> bool:
    """Whether a registry in that folder may name a file, whose path is real.

    It lies there or in the current directory, which is not the registry's to name where it holds
    all that a person has.
    """
    own, here = real_path(folder), real_path(os.getcwd())
    return is_below(real, own) or (is_below(real, here) and not holds_everything(here))


def is_script_by_name(real: str, folder: str) -> bool:
    """Whether a registry in that folder may name a file, whose path is real, as a script.

    Its name ends in `.py`, for what is no Python is quoted where it does not run, a password
    perhaps. Only in a folder of the registry's own, where nobody works, may it have any name.
    """
    own, here = real_path(folder), real_path(os.getcwd())
    apart = is_below(real, own) and not is_below(here, own) and not holds_everything(own)
    return apart or real.endswith(".py") or not os.path.isfile(real)


def _not_its_own(real: str, script_path: str, folders: Sequence[str]) -> str:
    """Why a registry in the first of these folders may not name a file; empty where it may."""
    if not is_at_home(real, folders[0]):
        return _ELSEWHERE
    if _is_hidden(real, script_path, map(real_path, folders)):
        # What runs is quoted where it fails, and `.env` is no script.
        return "leads to what is hidden in"
    if not is_script_by_name(real, folders[0]):
        return "does not end in .py, as the name of a script must in"
    return ""


def _check_stays(script_path: str) -> None:
    """What does not run is quoted, and where a link leads may be its reader's secret."""
    try:
        check_stays(script_path)
    except InputError as error:
        why = printable(str(error).removeprefix(f"{script_path}: "))
        message = f"script {printable(script_path)}: {why} ({error.help})"
        raise MetricFailure("script-outside", message) from error


def named_from(registry: str, script_path: str, *, new: bool = False) -> str:
    """The path of a script as its registry has it, of one that may be named from where one stands.

    A registry names scripts from its own folder. What lies only where the path leads from here, or
    is `new` and named through the registry's folder as it is seen from here, is named anew.
    """
    folder, here = folder_of(registry), os.path.abspath(script_path)
    if os.path.isabs(script_path) or not is_below(here, folder):
        return script_path
    beside = os.path.join(folder, script_path)
    if new:
        below = folder != os.getcwd() and is_below(folder, os.getcwd())
        meant = below and not os.path.isdir(os.path.join(folder, script_path.split(os.sep)[0]))
    else:
        meant = os.path.exists(here) and not os.path.lexists(beside)
    return os.path.relpath(here, folder) if meant else script_path


def is_elsewhere(real: str, registry: str) -> bool:
    """Whether a script, whose path is real, lies in the current folder, and the registry does not.

    Nor does it lie beside the registry: whoever has made the current folder may have put it there.
    """
    own, here = folder_of(registry), real_path(os.getcwd())
    return is_below(real, here) and not is_below(real, own) and not is_below(own, here)


def other_copy(script_path: str, registry: str) -> bool:
    """Whether the registry's folder and the current one have different scripts of that path."""
    paths = [os.path.join(folder, script_path) for folder in (folder_of(registry), os.getcwd())]
    if "\0" in script_path or not all(map(os.path.isfile, paths)):
        return False
    first, second = map(real_path, paths)
    try:
        return first != second and _text(first, script_path) != _text(second, script_path)
    except (MetricFailure, OSError):
        return False


def _digest_of(
    files: Iterable[tuple[str, Content | str]], first: tuple[str, Content | str] | None = None
) -> str:
    return sha256(os.fsencode(manifest(files, first))).hexdigest()


def _is_hidden(real: str, script_path: str, folders: Iterable[str]) -> bool:
    """Whether a file is hidden, or lies in a hidden folder that neither a registry is in nor names.

    What is no Python by its name is hidden in a folder that is only named.
    """
    around = {part for path in folders for part in path.split(os.sep)}
    *parents, name = real.split(os.sep)
    hidden = {part for part in parents if part.startswith(".")} - around
    named = name.endswith(".py") and hidden <= {*script_path.split(os.sep)}
    return name.startswith(".") or bool(hidden and not named)


def read(path: str, written: str, shown: str = "", folders: Folders | None = None) -> Script:
    """The script at a real path; messages call it as it was `written`.

    The `folders` are those that modules beside other scripts were read from.

    Raises:
        MetricFailure: it is not a regular file, is too large, cannot be read, or holds passwords,
            or what is called a module beside it may.
    """
    try:
        text = _text(path, written)
        try:
            modules = importable(path, text, folders)
        except TooManyError:
            modules = None
        packages, lock = _installed(path, text, folders)
        return Script(path, text, shown or path, modules, packages, lock)
    except OSError as error:
        raise MetricFailure(
            "script-missing", f"script {printable(written)}: {reason(error)}"
        ) from error


def _text(path: str, written: str) -> Content:
    written = printable(written)
    if ends_a_line(path):
        raise MetricFailure(
            "script-missing",
            f"script {written}: its path holds a control character, or what ends a line, which "
            "others could take for more than a path",
        )
    if os.path.isdir(path):
        raise MetricFailure("script-missing", f"script {written} is a directory")
    if not os.path.isfile(path):
        raise MetricFailure("script-missing", f"script {written} is not a regular file")
    check_holds_no_passwords(path)
    # It was judged by where it lies.
    with open_real(path) as file:
        text = Content(file.read(MOST_BYTES + 1))
    if len(text) > MOST_BYTES:
        raise MetricFailure(
            "script-missing", f"script {written} has more than {MOST_BYTES >> 20} MiB"
        )
    return text


def _installed(
    path: str, text: bytes, folders: Folders | None
) -> tuple[Packages | None, str | None]:
    if not may_have_a_block(text):
        return (), None
    # For weight: most scripts need the standard library alone.
    from .local_packages import installed

    return installed(path, text, folders.packages if folders is not None else None)


_read = read


class ScriptFiles:
    """Script files by their real paths, each read once at most, with the modules beside them."""

    def __init__(self) -> None:
        self._known: dict[str, Script | MetricFailure] = {}
        self._folders = Folders()

    def read(self, path: str, written: str, shown: str) -> Script:
        """The script at a real path, as it was read first.

        Raises:
            MetricFailure: as `read` raises it, in the words of who asked first.
        """
        if path not in self._known:
            try:
                self._known[path] = read(path, written, shown, self._folders)
            except MetricFailure as failure:
                self._known[path] = failure
        known = self._known[path]
        if isinstance(known, MetricFailure):
            raise known
        return msgspec.structs.replace(known, shown=shown or path)


def metadata(script: Script) -> dict[str, Any] | None:
    """The PEP 723 block of a script as a table, None if it has none.

    Raises:
        MetricFailure: the block is not TOML, or others could take something else for it.
    """
    return table(script.text)


def digest_of(entry: dict[str, Any], registry: str, folders: Folders | None = None) -> str | None:
    """The pin of the script file that a metric names, None where it names no file that is there.

    A script in a git repository has none: its commit is its pin. The `folders` are as in `read`.
    """
    kwargs = entry.get("kwargs")
    if entry.get("type") != UV_SCRIPT or not isinstance(kwargs, dict) or kwargs.get("git_url"):
        return None
    path = kwargs.get("script_path")
    if not isinstance(path, str) or not path:
        return None
    try:
        return find(path, registry, read=partial(read, folders=folders)).pin
    except (MetricFailure, OSError):
        return None


def differs(entry: dict[str, Any], digest: str) -> bool:
    """Whether the metric is pinned to another digest than this."""
    pin = entry.get("sha256")
    return isinstance(pin, str) and pin.lower() != digest
