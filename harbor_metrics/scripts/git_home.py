"""The home that git has: the user's, but of the passwords in `~/.netrc` those of one host alone.

git tells the host of whatever address a registry names what stands there for it, or by `default`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import msgspec

from ..confinement.homes import own_home
from ..documents.files import open_regular
from ..documents.work import is_among_work
from .variables import told

# Where the user says how hosts are reached and who he is there; git may read nothing else of his.
_OF_HOME = (
    *(".gitconfig", ".config/git", ".ssh", ".git-credentials", ".config/gh", ".config/glab-cli"),
    ".local/bin",
)
_NETRC = ".netrc"
_MOST_BYTES = 1 << 20
_LONGEST_LINE = 10_000
_WORD = re.compile(r"(?:\"(?:[^\"\\]|\\.)*+\"|[^\s\"]\S*+)(?!\S)", re.ASCII)
_KEYS = ("machine", "default", "login", "password", "account", "macdef")
_ODD = "what stands there could be read in more than one way"


class Home(msgspec.Struct, frozen=True):
    """The folder to set as HOME, None for that of the user; why a password may be missing."""

    path: str | None = None
    said: str = ""
    # Nothing of the user's settings is told; nor who he is, in any other way.
    empty: bool = False
    nobodys: bool = False

    def readable(self) -> list[str]:
        """What git may read of the user's home."""
        own = _own()
        if self.nobodys or is_among_work(own):
            return []
        return [os.path.join(own, part) for part in _OF_HOME]


def home_in(folder: str) -> Home:
    """A home for git without the passwords of hosts, made in the folder where there are any.

    An empty one where settings may have come with what we work on, and name programs.

    Raises:
        OSError: it cannot be made.
    """
    own = _own()
    if any(map(is_among_work, (own, *_settings(own)))):
        return Home(
            _new(folder),
            "; git was told nothing of ~, for its settings lie in the current folder or a checkout",
            empty=True,
        )
    if not os.path.lexists(os.path.join(own, _NETRC)):
        return Home()
    home = _new(folder)
    for name in os.listdir(own):
        if name != _NETRC:
            os.symlink(os.path.join(own, name), os.path.join(home, name))
    return Home(home)


def nobodys_home(folder: str) -> Home:
    """A home without settings and logins of the user's.

    Raises:
        OSError: it cannot be made.
    """
    return Home(_new(folder), empty=True, nobodys=True)


def _new(folder: str) -> str:
    home = os.path.join(folder, f"home-{os.urandom(4).hex()}")
    os.mkdir(home, 0o700)
    return home


def with_password(home: Home, url: str) -> Home:
    """The home with the passwords for that address.

    Raises:
        OSError: they cannot be written.
    """
    if home.path is None or home.empty:
        return home
    try:
        with open_regular(os.path.join(_own(), _NETRC)) as file:
            text = file.read(_MOST_BYTES + 1).decode()
        lines = of_host(text, _host(url))
    except (OSError, ValueError):
        why = "; git was told nothing of ~/.netrc, which cannot be read strictly"
        return Home(home.path, why)
    if lines:
        to = os.open(os.path.join(home.path, _NETRC), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(to, "w", encoding="utf-8") as copy:
            copy.write(lines)
    return home


def _own() -> str:
    return os.path.abspath(own_home())


def _settings(own: str) -> list[str]:
    """The files in which git looks for what the user has set."""
    above = told(["XDG_CONFIG_HOME"]).get("XDG_CONFIG_HOME") or os.path.join(own, ".config")
    return [os.path.join(own, ".gitconfig"), os.path.join(above, "git", "config")]


def of_host(text: str, host: str) -> str:
    """What a `.netrc` says of exactly this host, a line an entry; nothing of its `default`.

    Raises:
        ValueError: something in it could be read in more than one way.
    """
    return "".join(
        " ".join(["machine", host, *words]) + "\n"
        for name, words in _entries(text)
        if host and name == host
    )


def _host(url: str) -> str:
    parts = urlsplit(url)
    return (parts.hostname or "") if parts.scheme in ("https", "http") else ""


def _entries(text: str) -> list[tuple[str | None, list[str]]]:
    """The host of each entry, None of `default`, and the words that follow, as they stand there."""
    found: list[tuple[str | None, list[str]]] = []
    in_macro = False
    for line in text.split("\n"):
        if in_macro:
            # Up to an empty line.
            in_macro = bool(line.strip())
            continue
        for key, value in _pairs(line):
            if key in ("machine", "default"):
                found.append((value.strip('"').lower() or None, []))
            elif key == "macdef":
                in_macro = True
            elif found:
                found[-1][1].extend([key, value])
            else:
                raise ValueError(_ODD)
    return found


def _pairs(line: str) -> Iterator[tuple[str, str]]:
    if line.lstrip().startswith("#"):
        return
    # Between words is nothing else: no quotation that does not end.
    if "\0" in line or len(line) > _LONGEST_LINE or _WORD.sub("", line).strip():
        raise ValueError(_ODD)
    each = iter(_WORD.findall(line))
    for key in each:
        value = "" if key == "default" else next(each, None)
        if key not in _KEYS or value is None:
            raise ValueError(_ODD)
        yield key, value
