"""Where a script in a repository may lie: the address, the commit and the path in it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from ..documents.paths import ends_a_line
from ..documents.wording import printable, without_passwords
from ..errors import MetricFailure
from .passwords import TOKEN, whole_lines, without

# Of git and of ssh, but for what they quote of a server's answer.
_OWN_WORDS = re.compile(
    rb"(?:fatal|error|warning|hint|ssh|Host key|Permission denied|Connection|Load key)\b"
    rb"(?!.*(?:remote|protocol|server) (?:error|sent|said)|.*bad line|.*unexpected)"
)
_COMMIT = re.compile(r"[0-9a-fA-F]{40}|[0-9a-fA-F]{64}")
PROTOCOLS = ("https", "ssh")
LOCAL = ("file", "http", "git")
_LONGEST = 1_000
_LOGIN = re.compile(r"[^/?#]+://([^/?#]*)@")
# An address from its beginning to the end of its host, as a URL and as scp writes it; or a folder.
# What git, and who speaks to the server for it, puts names into.
_NAMES = re.compile(
    rb"(?<!\w)'[^'\n]*'|\([^()\n]*\)|\"[^\"\n]*\"|(?<!\w)\w+://[^\s']+"
    rb"|(?<=host: )\S+|(?<=hostname )[^\s:]+|(?<=connect to )\S+(?= port)|(?<=host )\S+(?= port)"
    rb"|(?<![\w-])[\w-]+(?:\.[\w-]+)+"
)
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


def _of_ours(said: bytes, known: str) -> bytes:
    """What git said without the names that are not of these addresses: a server told them.

    That of its certificate, and of the host to which it sends.
    """
    known_names = known.lower().encode()

    def keep(found: re.Match[bytes]) -> bytes:
        name = found[0].strip(b"'\"()").rstrip(b"/").lower()
        if name in known_names or not found[0].strip(b"*'\"()"):
            return found[0]
        return found[0][:1] + b"***" + found[0][-1:] if found[0][:1] in b"'\"(" else b"***"

    return _NAMES.sub(keep, said)


def said_by_git(said: bytes, asked: str, url: str) -> bytes:
    """What git itself said last, without the login in the address that it asked.

    Nor what an `insteadOf` of the user's has put into the path of the `url`, which can be a token.
    What a server answers is not repeated: a stranger can name a server that he cannot reach.
    """
    match = _LOGIN.match(asked)
    login = match[1] if match else ""
    lines = (line.removesuffix(b"\r") for line in whole_lines(said).split(b"\n"))
    own = b"\n".join(line for line in lines if _OWN_WORDS.match(line) and b"\r" not in line)
    own = _of_ours(own, f"{asked} {url}")
    # Behind the host: `https://host/path`, `user@host:path`.
    path = asked.partition("://")[2].partition("/")[2] or asked.partition(":")[2]
    tokens = {part for part in re.split("[/?#]", path) if len(part) >= TOKEN and part not in url}
    said = without({login, login.partition(":")[2], *tokens}, own, str.encode)
    # It quotes what it takes for the host of a proxy, half of a password perhaps.
    said = re.sub(rb"(?<=proxy syntax in ').*(?=')", b"***", said)
    begun = login.encode()

    def hide(found: re.Match[bytes]) -> bytes:
        return b"://***" if begun.startswith(found[1]) else found[0]

    # Who writes it may be cut, too.
    return re.sub(rb"://([^/\r\n]+)(?=\r?$)", hide, said, flags=re.MULTILINE)


def _protocol(url: str) -> str:
    scheme = re.match(r"([a-zA-Z][a-zA-Z0-9+.-]*)://.", url)
    if scheme:
        return scheme[1].lower()
    if re.match(r"[\w.-]+@[\w.-]+:[^:]", url):
        return "ssh"
    return "file" if url.startswith("/") else ""
