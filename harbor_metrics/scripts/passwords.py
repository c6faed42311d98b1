"""Passwords in the variables of the user: who is not told them, and that none is printed."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from urllib.parse import unquote

from ..confinement.supervisor import KEPT
from ..documents.wording import without_passwords
from ..errors import MetricFailure
from .indexes import INDEXES, packages_of_user, separator_of, words_of
from .variables import OF_PYTHONS, PROXIES, TO_ANY_UV, told

# An index can have a name, and a proxy no scheme.
_LOGIN = re.compile(r"((?:[\w.-]+=)?(?:[a-z][a-z0-9+.-]*://)?)([^@/\\?#]*)@([^@]*)", re.IGNORECASE)
_USUAL = {"simple", "pypi/simple", "root/pypi/+simple"}
# What is as long as tokens are.
_TOKEN = 12
_SECRET = re.compile(r"UV_.*(?:PASSWORD|TOKEN)")
# One who logs in by a token has it as his name.
_OF_LOGIN = re.compile(r"UV_INDEX_.*_USERNAME")


def environ_without_passwords(folder: str) -> dict[str, str]:
    """The environment of what may log in nowhere, at home in that folder: build code, or uv.

    Raises:
        MetricFailure: of an address it cannot be told who logs in; without it another is asked.
    """
    for name, _, texts in _addresses():
        if any(text and not _without_login(text) for text in texts):
            raise MetricFailure(
                "script-environment",
                f"{name} holds an address of which it cannot be told who logs in there, and no "
                "login may be told: write `@`, `/`, `?` and `#` in a name, password or path as %XX",
            )
    home = os.path.join(folder, "home-without-passwords")
    os.mkdir(home, 0o700)
    env = told(TO_ANY_UV) | addresses_without_logins()
    return {"UV_PYTHON_DOWNLOADS": "never", **env, "UV_NO_PROGRESS": "1", "HOME": home}


def addresses_without_logins() -> dict[str, str]:
    """The variables that hold addresses of indexes and proxies, without who logs in there."""
    return {
        name: separator.join(filter(None, map(_without_login, texts)))
        for name, separator, texts in _addresses()
    }


def _without_login(text: str) -> str:
    """An address without who logs in there; empty where it cannot be told who does."""
    if "@" in text:
        match = _LOGIN.fullmatch(text)
        text = match[1] + match[3] if match else ""
    # What is asked for can be a token.
    return re.split("[?#]", text, maxsplit=1)[0]


def with_passwords(env: Mapping[str, str]) -> list[str]:
    """Those of these variables that tell a program a password.

    uv puts variables into the addresses that a package's metadata hold, and prints these: with
    other letters, encoded or in part, so that no password can be found in what it says.
    """
    addresses = (*INDEXES, *PROXIES, "UV_FIND_LINKS")
    return [
        name
        for name, value in env.items()
        if value
        and (
            _SECRET.fullmatch(name)
            or _OF_LOGIN.fullmatch(name)
            # A proxy needs no scheme, and what is asked for can be a token.
            or (name in addresses and {"@", "?"} & {*value})
            or without_passwords(value) != value
        )
    ]


def whole_lines(said: bytes) -> bytes:
    """What a program said last, and nothing of a line whose beginning is not known."""
    return said if len(said) < KEPT else said.partition(b"\n")[2]


def without_our_passwords(said: bytes) -> bytes:
    """What a program said last, without the passwords that are in any variable.

    Nor the paths of indexes and mirrors, which can be tokens.
    """
    secrets = {value for name, value in os.environ.items() if _SECRET.fullmatch(name)}
    mirrors = [os.environ.get(name, "") for name in OF_PYTHONS]
    for texts in (*(texts for _, _, texts in _addresses()), mirrors):
        for one in texts:
            login = one.rpartition("@")[0].rpartition("://")[2]
            secrets |= {login, login.partition(":")[2]}
            place = one.rpartition("@")[2].rpartition("://")[2] if "://" in one else ""
            path, _, query = place.partition("/")[2].rstrip("/").partition("?")
            # uv strikes out what stands before `..`, of an address with this one in it, too.
            parts = {part for part in path.split("/") if len(part) >= _TOKEN}
            secrets |= {*({path} - _USUAL), *parts, query}
    return without(secrets, whole_lines(said))


def without(secrets: Collection[str], text: bytes) -> bytes:
    """A text without these parts of addresses, as they stand there and as they are meant.

    Nor with other letters, or with whichever of them as %XX: a host is written small, and what
    stands in an address is encoded.
    """
    spelled = {*secrets, *map(unquote, secrets)}
    # The longest first: one can hold another.
    for secret in sorted(filter(None, spelled), key=len, reverse=True):
        text = re.sub(_spelled(os.fsencode(secret)), b"***", text, flags=re.IGNORECASE)
    return text


def _spelled(secret: bytes) -> bytes:
    """A pattern for a secret: each letter large or small, as itself or as %XX."""
    each = (secret[n : n + 1] for n in range(len(secret)))
    return b"".join(
        b"(?:%s|%%(?:25)*(?:%02x|%02x))" % (_as_itself(one), one.lower()[0], one.upper()[0])
        for one in each
    )


def _as_itself(one: bytes) -> bytes:
    # In the name of a package they are the same.
    return b"[-_.]" if one in b"-_." else re.escape(one)


def _addresses() -> list[tuple[str, str, list[str]]]:
    """The variables that hold addresses, what stands between these, and each of them."""
    places, _ = packages_of_user()
    found = [(name, "", [os.environ.get(name, "").strip()]) for name in PROXIES]
    found += [
        (name, separator_of(name), words_of(name, places.get(name, "")))
        for name in (*INDEXES, "UV_FIND_LINKS")
    ]
    return [one for one in found if one[0] in os.environ]
