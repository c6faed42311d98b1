"""Where a script in a repository may lie: the address, the commit and the path in it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from ..documents.paths import ends_a_line
from ..documents.wording import printable, without_passwords
from ..errors import MetricFailure
from .passwords import whole_lines

# Of git, ssh and those that speak to a server for them: words that hold nothing of anybody's.
_OWN_LINE = re.compile(
    rb"(?:fatal|error|warning|hint|ssh|Host key|Permission denied|Connection|Load key)\b"
    rb"(?!.*(?:remote|protocol|server) (?:error|sent|said))"
)
_WORDS = re.compile(
    rb"(?:Could not resolve (?:host(?:name)?|proxy)|Failed to connect|Couldn't connect to server"
    rb"|Could not connect to server|Connection (?:refused|timed out|reset|closed)"
    rb"|No route to host|Network is unreachable|Operation (?:too slow|timed out)"
    rb"|Host key verification failed|Permission denied|[Aa]uthentication failed"
    rb"|could not read (?:Username|Password)|terminal prompts disabled"
    rb"|The requested URL returned error: [1-5]\d\d|Received HTTP code [1-5]\d\d from proxy"
    rb"|Unsupported proxy syntax|Proxy CONNECT aborted|server certificate verification failed"
    rb"|SSL certificate problem|unable to get local issuer certificate|certificate has expired"
    rb"|self[- ]signed certificate|certificate subject name|no alternative certificate subject name"
    rb"|does not match target host ?name|unable to update url base from redirection"
    rb"|does not appear to be a git repository|repository not found|does not exist|fsck error"
    rb"|detected dubious ownership|couldn't find remote ref|the remote end hung up unexpectedly"
    rb"|unexpected disconnect|early EOF|RPC failed|index-pack failed|unpack-objects failed"
    rb"|not allowed|pack exceeds maximum allowed size|No space left on device|Disk quota exceeded"
    rb"|File ?name too long|[Oo]ut of memory|mmap failed|unable to (?:write|create|read)"
    rb"|not a valid object name|reference is not a tree|bad object|invalid path|Invalid argument"
    rb"|mismatched algorithms|expected 'packfile'|invalid server response|shallow)"
)
# In the current folder git would do as the settings of a checkout there say, a stranger's perhaps.
_NOT_SHOWN = b"what is not shown, since a server has a say in it: try `git -C / ls-remote ADDRESS`"
_COMMIT = re.compile(r"[0-9a-fA-F]{40}|[0-9a-fA-F]{64}")
PROTOCOLS = ("https", "ssh")
LOCAL = ("file", "http", "git")
_LONGEST = 1_000
# As a URL and as scp writes it; git decodes %XX, and ssh puts what it is told into commands.
_PLAIN_LOGIN = re.compile(
    r"(?:(?i:ssh)://(?:[\w.+-]+(?::[\w.+-]*)?@)?(?:[\w.-]+|\[[\da-fA-F:.]+\])"
    r"(?::[0-9]*)?(?:/|$)"
    r"|[\w.-]+@[\w.-]+:)",
    re.ASCII,
)
# An address from its beginning to the end of its host, as a URL and as scp writes it; or a folder.
_WITH_HOST = re.compile(r"[a-zA-Z0-9+.-]+://[^/?#]*[^/?#@]/|[^/:]+:(?!/)|/")


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
    # git cuts what it says, in the middle of a login perhaps.
    if len(url) > _LONGEST:
        raise MetricFailure(
            "script-outside", f"git_url has {len(url):,} characters; an address has {_LONGEST:,}"
        )
    if not url.isascii():
        raise MetricFailure(
            "script-outside",
            f"git_url {printable(url)} holds other letters than an address has: write them as %XX",
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
    if protocol == "ssh" and not _PLAIN_LOGIN.match(url):
        raise MetricFailure(
            "script-outside",
            f"git_url {printable(url)} has a login or a host that holds other signs than letters, "
            "digits and . _ + -, which a setting of ssh could take for a command",
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


def settings_in(found: str, end: str) -> Iterator[tuple[str, str]]:
    """The middle part of each name that ends so, and the value, as `git config --null` lists them.

    `url.https://a.example/.insteadOf`: what is written for an address, and that address.
    """
    for setting in found.split("\0")[:-1]:
        name, _, value = setting.partition("\n")
        if name.endswith(f".{end}") and name.count(".") > 1:
            yield name.partition(".")[2][: -len(end) - 1], value


def check_rewritten(url: str, asked: str, settings: Iterable[tuple[str, str]]) -> None:
    """No login of the user's goes to a host that his `insteadOf` does not name.

    git compares letters: what is meant for `https://a.example` it does for `https://a.example.org`.

    Args:
        url: what the registry names.
        asked: what git makes of it.
        settings: of each `insteadOf` what is written for it, and its value.

    Raises:
        MetricFailure: the name of the host that is asked is in part the registry's.
    """
    for written, value in settings:
        rest = url[len(value) :]
        if not url.startswith(value) or written + rest != asked:
            continue
        has_login = "@" in written and _protocol(f"{written}x") != "ssh"
        ends = rest[:1] in ("", "/")
        if has_login and not _WITH_HOST.match(f"{written}/" if ends else written):
            raise MetricFailure(
                "script-git",
                f"{printable(url)} is not fetched: by a setting of yours for git, "
                f"`insteadOf = {printable(without_passwords(value))}`, it would get a login, and "
                "may be of another host: end both addresses of the setting in `/`",
            )


def said_by_git(said: bytes) -> bytes:
    """What went wrong, in the words of git that are known, which hold nothing of anybody's.

    Of all else a stranger's server can have a say in it, or one of the inside that a stranger
    names: addresses, names in a certificate, where it leads, what it answers. And in addresses
    stand logins of the user's.
    """
    lines = (line.removesuffix(b"\r") for line in whole_lines(said).split(b"\n"))
    own = [line for line in lines if _OWN_LINE.match(line) and b"\r" not in line]
    words = dict.fromkeys(found for line in own for found in _WORDS.findall(line))
    return b"\n".join(words) or (_NOT_SHOWN if said else b"")


def _protocol(url: str) -> str:
    scheme = re.match(r"([a-zA-Z][a-zA-Z0-9+.-]*)://.", url)
    if scheme:
        return scheme[1].lower()
    if re.match(r"[\w.-]+@[\w.-]+:[^:]", url):
        return "ssh"
    return "file" if url.startswith("/") else ""
