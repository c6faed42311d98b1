"""A script in a git repository, at exactly one commit: fetched once, with its folder, and kept."""

from __future__ import annotations

import contextlib
import os
import re
import time
from dataclasses import dataclass, replace
from hashlib import sha256

import msgspec

from ..confinement.finished import Finished, ending
from ..confinement.removal import remove
from ..confinement.sandbox import LANDLOCK
from ..confinement.supervisor import KEPT
from ..confinement.workplace import Confinement, Whole, Workplace
from ..documents.contents import File, checked, contents
from ..documents.files import open_regular
from ..documents.paths import real_path
from ..documents.wording import last_lines, printable
from ..errors import MetricFailure, OutputError
from ..registries.script_file import Script, read
from . import cache, owners
from .bounds import GIB, THREADS
from .git_address import (
    INSTEAD,
    LOCAL,
    PROTOCOLS,
    check_address,
    check_rewritten,
    settings_in,
    without_login,
)
from .git_home import Home, home_in, with_password
from .uv_access import certificates, programs
from .variables import CERTIFICATES, PROXIES, TO_ALL, told, which

# For all that git does for a script, and what it may take: its folder is that of a script.
FETCH_SECONDS = 300.0
_WHOLE = Whole(memory=2 * GIB, processes=64, threads=THREADS, bytes=GIB // 2, files=10_000)
_MOST = {
    "memory": f"{_WHOLE.memory >> 20} MiB",
    "processes": f"{_WHOLE.processes}",
    "threads": f"{_WHOLE.threads}",
    "bytes": f"{_WHOLE.bytes >> 20} MiB",
    "files": f"{_WHOLE.files}",
}
_LIMITS = {"RLIMIT_CORE": 1, "RLIMIT_FSIZE": _WHOLE.bytes, "RLIMIT_CPU": int(FETCH_SECONDS)}
_OF_SYSTEM = ("/etc/gitconfig", "/etc/ssh", "/etc/crypto-policies", "/etc/krb5.conf")
_NAMED = ("GIT_CONFIG_GLOBAL", "GIT_SSL_CAINFO")
# git and ssh ask for nothing; what else they need to reach a private repository is the user's.
TO_GIT = (
    *(*TO_ALL, *CERTIFICATES, *PROXIES, "NO_PROXY", "no_proxy", *_NAMED, "GIT_CONFIG_NOSYSTEM"),
    *("HOME", "USER", "XDG_CONFIG_HOME", "SSH_AUTH_SOCK"),
)
# It asks nothing; and whatever the user has set for all hosts, the server that a registry names is
# lent no agent, display or port of his.
_SSH = " -o".join(
    (
        *("ssh", "BatchMode=yes", "ForwardAgent=no", "ForwardX11=no", "ClearAllForwardings=yes"),
        *("Tunnel=no", "GSSAPIDelegateCredentials=no", "PermitLocalCommand=no", "ControlMaster=no"),
    )
)
# Files as they were committed: whatever repository or user have set for filters and links.
_NO_ATTRIBUTES = "* -filter -text -eol -ident -working-tree-encoding -export-subst\n"
_SETTINGS = (
    *("core.hooksPath=/dev/null", "core.symlinks=false", "core.autocrlf=false"),
    *("core.fsmonitor=false", "core.sparseCheckout=true", "core.sparseCheckoutCone=false"),
    *("submodule.recurse=false", "fetch.recurseSubmodules=false", "gc.auto=0"),
    *("maintenance.auto=false", "advice.detachedHead=false", "init.templateDir="),
    *("transfer.fsckObjects=true", "http.followRedirects=initial", "credential.interactive=never"),
    # What the user sends to all hosts, a token perhaps; what they set for a host stays.
    *("http.extraHeader=", "http.cookieFile=", "http.saveCookies=false"),
)


class _Record(msgspec.Struct, frozen=True):
    """What was fetched: the folder that it lies in, and each file."""

    identity: tuple[int, int]
    files: list[File]


def fetch(
    url: str, commit: str, script_path: str, place: Workplace, *, allow_outside: bool = False
) -> Script:
    """The script of a repository at a full commit, from the cache where it has been fetched before.

    Raises:
        MetricFailure: the address or the commit is not one, or it cannot be fetched.
    """
    check_address(url, commit, script_path, allow_outside=allow_outside)
    commit = commit.lower()
    inside = os.path.normpath(script_path)
    folder = os.path.dirname(inside)
    digest = sha256(f"{url}\n{folder}".encode("utf-8", "surrogatepass")).hexdigest()
    name = f"{commit}-{digest[:16]}"
    kept = os.path.join(cache.cache_folder(cache.REPOSITORIES), name)
    record = os.path.join(cache.cache_folder(cache.RECORDS), f"{name}.json")
    if _is_intact(kept, record, place):
        cache.use(record)
    else:
        with cache.alone(record):
            # Another run may have fetched it while we waited.
            if not _is_intact(kept, record, place):
                kept = _fetched(url, commit, folder, place, kept, allow_outside)
                cache.hold(kept, place.kept)
                _note(kept, record)
    return _script(
        os.path.join(kept, "tree"), inside, f"{script_path} of {printable(url)} at {commit[:12]}"
    )


def _is_intact(kept: str, record: str, place: Workplace) -> bool:
    """Whether a repository has been fetched, and each file of it is still what was fetched.

    Nobody removes it then while the workplace is there.
    """
    if not (owners.was_own(record) and cache.hold(kept, place.kept)):
        return False
    if not _is_as_fetched(kept, record):
        cache.release(kept, place.kept)
        return False
    return True


def _is_as_fetched(kept: str, record: str) -> bool:
    try:
        with open_regular(record) as file:
            before = msgspec.json.decode(file.read(), type=_Record)
        if before.identity != owners.identity(kept):
            return False
        now = checked(os.path.join(kept, "tree"), before.files)
    except (OSError, ValueError, RecursionError):
        return False
    if now is not None and now != before.files:
        _write(record, kept, now)
    return now is not None


def _note(kept: str, record: str) -> None:
    """Write down what has been fetched, where the cache can be written."""
    if os.path.dirname(kept) == cache.cache_folder(cache.REPOSITORIES):
        with contextlib.suppress(OSError):
            owners.make_own(os.path.dirname(record))
            _write(record, kept, contents(os.path.join(kept, "tree")))


def _write(record: str, kept: str, files: list[File]) -> None:
    # What has a name that is no text is fetched again.
    with contextlib.suppress(OutputError, UnicodeEncodeError):
        cache.write_record(record, msgspec.json.encode(_Record(owners.identity(kept), files)))


def _fetched(
    url: str, commit: str, folder: str, place: Workplace, kept: str, allow_outside: bool
) -> str:
    """Fetch beside where it will be kept, and put it there in one step; else into our folder."""
    git = which("git")
    if git is None:
        raise MetricFailure(
            "script-git",
            "git was not found, which fetches this script: install git (what PATH names in the "
            "current folder or a checkout is not used, for it may have come with it)",
        )
    try:
        owners.make_own(os.path.dirname(kept))
        cache.remove_unfinished(os.path.dirname(kept))
        # What may be there was changed since it was fetched; somebody may run what is left of it.
        if not cache.remove_unused([kept]):
            raise BlockingIOError
        new = f"{kept}.{os.urandom(4).hex()}.tmp"
        os.mkdir(new, 0o700)
    except OSError:
        new = kept = os.path.join(place.folder, f"git-{os.urandom(4).hex()}")
        os.mkdir(new, 0o700)
    with cache.at_work(new):
        return _into(new, git, url, commit, folder, place, kept, allow_outside)


def _into(
    new: str,
    git: str,
    url: str,
    commit: str,
    folder: str,
    place: Workplace,
    kept: str,
    allow_outside: bool,
) -> str:
    """Fetch into an empty folder, which becomes `kept`."""
    home = Home()
    tree = os.path.join(new, "tree")
    try:
        home = home_in(place.folder)
        run = _Git(place, git, url, new, allow_outside, time.monotonic() + FETCH_SECONDS, home)
        # 64 digits are the name of a tag or a branch, perhaps, where commits have 40.
        form = ["--object-format=sha256"] if len(commit) == 64 else []
        run(["init", "--quiet", *form, tree])
        info = os.path.join(tree, ".git", "info")
        os.makedirs(info, exist_ok=True)
        with open(os.path.join(info, "attributes"), "w", encoding="utf-8") as file:
            file.write(_NO_ATTRIBUTES)
        with open(os.path.join(info, "sparse-checkout"), "w", encoding="utf-8") as file:
            file.write(f"/{_literal(folder)}/\n" if folder else "/*\n")
        there = ["-C", tree]
        run([*there, "remote", "add", "--", "origin", url])
        # The user may have set that it is asked for elsewhere.
        asked = _text(run([*there, "remote", "get-url", "origin"])).strip()
        if asked != url:
            found = _text(run([*there, "config", "--null", "--get-regexp", INSTEAD]))
            check_rewritten(url, asked, settings_in(found))
        run = replace(run, home=with_password(home, asked), asked=asked)
        what = ["--quiet", "--depth=1", "--filter=blob:none", "--no-tags", "--no-write-fetch-head"]
        run([*there, "fetch", *what, "origin", commit])
        checkout = ["checkout", "--quiet", "--detach", "--force", commit]
        run([*there, *checkout])
        head = _text(run([*there, "rev-parse", "--verify", "HEAD"]))
        if head.strip() != commit.lower():
            raise MetricFailure(
                "script-git",
                f"{printable(url)} has something else under the name {printable(commit)}, and no "
                "such commit",
            )
        remove(os.path.join(tree, ".git"))
        if new != kept:
            os.rename(new, kept)
        return kept
    except OSError as error:
        raise MetricFailure(
            "script-git", f"{printable(url)} could not be fetched: {error}"
        ) from error
    finally:
        if home.path is not None:
            remove(home.path)
        if new != kept:
            remove(new)


def _text(done: Finished) -> str:
    return done.stdout.decode("utf-8", "replace")


def _literal(path: str) -> str:
    return re.sub(r"([\\*?\[\]!# ])", r"\\\1", path)


@dataclass(frozen=True, slots=True)
class _Git:
    """git, confined to one folder, and within what a folder with a script may take."""

    place: Workplace
    git: str
    url: str
    folder: str
    allow_outside: bool
    deadline: float
    home: Home
    # The address with what the user's settings have made of it.
    asked: str = ""

    def __call__(self, arguments: list[str]) -> Finished:
        env = told(TO_GIT) | {
            "GIT_ALLOW_PROTOCOL": ":".join((*PROTOCOLS, *(LOCAL if self.allow_outside else ()))),
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "true",
            "SSH_ASKPASS": "true",
            "GIT_SSH_COMMAND": _SSH,
            "GIT_LFS_SKIP_SMUDGE": "1",
            "LC_ALL": "C",
        }
        if self.home.path is not None:
            env["HOME"] = self.home.path
        if self.home.empty:
            env.pop("XDG_CONFIG_HOME", None)
        settings = [part for setting in _SETTINGS for part in ("-c", setting)]
        seconds = max(1.0, self.deadline - time.monotonic())
        done = self.place.run(
            [os.path.abspath(self.git), *settings, *arguments],
            env=env,
            cwd=self.place.folder,
            timeout=seconds,
            limits=_LIMITS,
            confinement=self._confinement(),
            whole=replace(_WHOLE, folders=(self.folder,)),
        )
        if done.timed_out or done.exceeded or done.code != 0:
            most = f": more than {_MOST[done.exceeded]}" if done.exceeded in _MOST else ""
            said = without_login(done.stderr, self.asked, KEPT)
            raise MetricFailure(
                "script-git",
                f"{printable(self.url)} could not be fetched: git {ending(done, FETCH_SECONDS)}"
                f"{most}{self.home.said}{last_lines(said)}",
            )
        return done

    def _confinement(self) -> Confinement:
        local = self.url.removeprefix("file://")
        return Confinement(
            layers=(LANDLOCK,),
            filtered=False,
            network=True,
            readable=(
                *(os.path.dirname(os.path.dirname(real_path(self.git))), *programs()),
                *(*certificates(), *self.home.readable()),
                *told(_NAMED).values(),
                *_OF_SYSTEM,
                *([local] if self.allow_outside and os.path.isabs(local) else []),
            ),
            writable=(self.folder, self.place.folder),
        )


def _script(tree: str, inside: str, written: str) -> Script:
    path = real_path(os.path.join(tree, inside))
    if not os.path.lexists(path):
        raise MetricFailure("script-missing", f"there is no script {printable(written)}")
    return read(path, printable(written), path)
