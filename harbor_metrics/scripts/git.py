"""A script in a git repository, at exactly one commit: fetched once, with its folder, and kept."""

from __future__ import annotations

import os
import re
import time
from hashlib import sha256

from ..confinement.supervisor import remove
from ..confinement.workplace import Finished, Workplace, ending
from ..documents.wording import last_lines, printable
from ..errors import MetricFailure
from ..registries.script_file import Script, read
from .environment import cache_folder
from .install import PASSED

FETCH_SECONDS = 300.0
COMMIT = re.compile(r"[0-9a-fA-F]{40}|[0-9a-fA-F]{64}")
_PROTOCOLS = ("https", "ssh")
_LOCAL = ("file", "http", "git")
# git and ssh ask for nothing; what else they need to reach a private repository is the user's.
_PASSED_TO_GIT = (
    *PASSED,
    *("HOME", "USER", "XDG_CONFIG_HOME", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy"),
    *("all_proxy", "no_proxy", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_SSL_CAINFO"),
)
# Files as they were committed: whatever repository or user have set for filters and links.
_NO_ATTRIBUTES = "* -filter -text -eol -ident -working-tree-encoding -export-subst\n"
_SETTINGS = (
    *("core.hooksPath=/dev/null", "core.symlinks=false", "core.autocrlf=false"),
    *("core.fsmonitor=false", "core.sparseCheckout=true", "core.sparseCheckoutCone=false"),
    *("submodule.recurse=false", "fetch.recurseSubmodules=false", "gc.auto=0"),
    *("maintenance.auto=false", "advice.detachedHead=false", "init.templateDir="),
    *("transfer.fsckObjects=true", "http.followRedirects=initial", "credential.interactive=never"),
)


def fetch(
    url: str, commit: str, script_path: str, place: Workplace, *, allow_outside: bool = False
) -> Script:
    """The script of a repository at a full commit, from the cache where it has been fetched before.

    Raises:
        MetricFailure: the address or the commit is not one, or it cannot be fetched.
    """
    _check(url, commit, script_path, allow_outside=allow_outside)
    commit = commit.lower()
    inside = os.path.normpath(script_path)
    folder = os.path.dirname(inside)
    digest = sha256(f"{url}\n{folder}".encode("utf-8", "surrogatepass")).hexdigest()
    name = f"{commit}-{digest[:16]}"
    kept = os.path.join(cache_folder("git"), name)
    if not os.path.isdir(kept):
        kept = _fetched(url, commit, folder, place, kept, allow_outside)
    return _script(
        os.path.join(kept, "tree"), inside, f"{script_path} of {printable(url)} at {commit[:12]}"
    )


def _check(url: str, commit: str, script_path: str, *, allow_outside: bool) -> None:
    if not COMMIT.fullmatch(commit):
        raise MetricFailure(
            "git-script-commit",
            f"git_commit_id {printable(commit)!r} is not a full commit of 40 digits: "
            "a branch, a tag or a short one may mean something else tomorrow",
        )
    protocol = _protocol(url)
    permitted = (*_PROTOCOLS, *(_LOCAL if allow_outside else ()))
    if protocol not in permitted or not url.isprintable():
        hint = " (--allow-outside permits it)" if protocol in _LOCAL else ""
        raise MetricFailure(
            "script-outside",
            f"git_url {printable(url)} is no address that a registry may name: "
            f"write https:// or ssh://{hint}",
        )
    parts = script_path.split("/")
    if os.path.isabs(script_path) or ".." in parts or "\0" in script_path or ".git" in parts:
        raise MetricFailure(
            "script-outside", f"script_path {printable(script_path)!r} leads out of the repository"
        )


def _protocol(url: str) -> str:
    scheme = re.match(r"([a-zA-Z][a-zA-Z0-9+.-]*)://.", url)
    if scheme:
        return scheme[1].lower()
    if re.match(r"[\w.-]+@[\w.-]+:[^:]", url):
        return "ssh"
    return "file" if url.startswith("/") else ""


def _fetched(
    url: str, commit: str, folder: str, place: Workplace, kept: str, allow_outside: bool
) -> str:
    """Fetch beside where it will be kept, and put it there in one step; else into our folder."""
    # For weight: most scripts lie in a file.
    import shutil

    git = shutil.which("git")
    if git is None:
        raise MetricFailure(
            "script-git", "git was not found, which fetches this script: install git"
        )
    try:
        os.makedirs(os.path.dirname(kept), exist_ok=True)
        _tidy(os.path.dirname(kept))
        new = f"{kept}.{os.urandom(4).hex()}.tmp"
        os.mkdir(new)
    except OSError:
        new = kept = os.path.join(place.folder, f"git-{os.urandom(4).hex()}")
        os.mkdir(new)
    tree = os.path.join(new, "tree")
    try:
        _git(place, git, ["init", "--quiet", tree], url, allow_outside)
        info = os.path.join(tree, ".git", "info")
        os.makedirs(info, exist_ok=True)
        with open(os.path.join(info, "attributes"), "w", encoding="utf-8") as file:
            file.write(_NO_ATTRIBUTES)
        with open(os.path.join(info, "sparse-checkout"), "w", encoding="utf-8") as file:
            file.write(f"/{_literal(folder)}/\n" if folder else "/*\n")
        there = ["-C", tree]
        _git(place, git, [*there, "remote", "add", "--", "origin", url], url, allow_outside)
        what = ["--quiet", "--depth=1", "--filter=blob:none", "--no-tags", "--no-write-fetch-head"]
        _git(place, git, [*there, "fetch", *what, "origin", commit], url, allow_outside)
        checkout = ["checkout", "--quiet", "--detach", "--force", commit]
        _git(place, git, [*there, *checkout], url, allow_outside)
        remove(os.path.join(tree, ".git"))
        if new != kept:
            try:
                os.rename(new, kept)
            except OSError:
                # Another run was faster, with the same commit.
                if not os.path.isdir(kept):
                    raise
        return kept
    except OSError as error:
        raise MetricFailure(
            "script-git", f"{printable(url)} could not be fetched: {error}"
        ) from error
    finally:
        if new != kept:
            remove(new)


def _tidy(folder: str) -> None:
    """Remove what was being fetched when somebody was killed."""
    for entry in list(os.scandir(folder)):
        if entry.name.endswith(".tmp") and time.time() - entry.stat().st_mtime > 2 * FETCH_SECONDS:
            remove(entry.path)


def _literal(path: str) -> str:
    return re.sub(r"([\\*?\[\]!# ])", r"\\\1", path)


def _git(
    place: Workplace, git: str, arguments: list[str], url: str, allow_outside: bool
) -> Finished:
    env = {name: os.environ[name] for name in _PASSED_TO_GIT if name in os.environ}
    env |= {
        "GIT_ALLOW_PROTOCOL": ":".join((*_PROTOCOLS, *(_LOCAL if allow_outside else ()))),
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "true",
        "SSH_ASKPASS": "true",
        "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "LC_ALL": "C",
    }
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    argv = [os.path.abspath(git), *settings, *arguments]
    done = place.run(argv, env=env, cwd=place.folder, timeout=FETCH_SECONDS)
    if done.timed_out or done.code != 0:
        raise MetricFailure(
            "script-git",
            f"{printable(url)} could not be fetched: git {ending(done, FETCH_SECONDS)}"
            f"{last_lines(done.stderr)}",
        )
    return done


def _script(tree: str, inside: str, written: str) -> Script:
    path = os.path.realpath(os.path.join(tree, inside))
    if not os.path.lexists(path):
        raise MetricFailure("script-missing", f"there is no script {printable(written)}")
    return read(path, printable(written), path)
