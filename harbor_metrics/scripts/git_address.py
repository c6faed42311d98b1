"""Where a script in a repository may lie: the address, the commit and the path in it."""

from __future__ import annotations

import os
import re

from ..documents.paths import ends_a_line
from ..documents.wording import printable
from ..errors import MetricFailure

_COMMIT = re.compile(r"[0-9a-fA-F]{40}|[0-9a-fA-F]{64}")
PROTOCOLS = ("https", "ssh")
LOCAL = ("file", "http", "git")


def check_address(url: str, commit: str, script_path: str, *, allow_outside: bool) -> None:
    """A registry may name this repository, this commit of it, and this file there.

    Raises:
        MetricFailure: it may not; what it may write instead.
    """
    if not _COMMIT.fullmatch(commit):
        raise MetricFailure(
            "git-script-commit",
            f"git_commit_id {printable(commit)!r} is not a full commit of 40 digits: "
            "a branch, a tag or a short one may mean something else tomorrow",
        )
    protocol = _protocol(url)
    permitted = (*PROTOCOLS, *(LOCAL if allow_outside else ()))
    if protocol not in permitted or not url.isprintable():
        hint = " (--allow-outside permits it)" if protocol in LOCAL else ""
        raise MetricFailure(
            "script-outside",
            f"git_url {printable(url)} is no address that a registry may name: "
            f"write https:// or ssh://{hint}",
        )
    parts = script_path.split("/")
    if os.path.isabs(script_path) or {"..", ".git"} & {*parts} or ends_a_line(script_path):
        raise MetricFailure(
            "script-outside", f"script_path {printable(script_path)!r} leads out of the repository"
        )
    if not script_path.endswith(".py") or any(part[:1] == "." and part != "." for part in parts):
        # What is no Python is quoted where it does not run, a password perhaps.
        raise MetricFailure(
            "script-outside",
            f"script_path {printable(script_path)!r} is hidden, or does not end in .py, as the "
            "name of a script must in a repository",
        )


def _protocol(url: str) -> str:
    scheme = re.match(r"([a-zA-Z][a-zA-Z0-9+.-]*)://.", url)
    if scheme:
        return scheme[1].lower()
    if re.match(r"[\w.-]+@[\w.-]+:[^:]", url):
        return "ssh"
    return "file" if url.startswith("/") else ""
