"""Passwords in the variables of the user: who is not told them, and that none is printed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection
from urllib.parse import unquote

from .indexes import INDEXES, packages_of_user
from .variables import PROXIES, TO_ANY_UV, told

# An index can have a name, and a proxy no scheme.
_LOGIN = re.compile(r"((?:[\w.-]+=)?(?:[a-z][a-z0-9+.-]*://)?)([^@/\\?#]*)@([^@]*)", re.IGNORECASE)
_USUAL = {"simple", "pypi/simple", "root/pypi/+simple"}
_SECRET = re.compile(r"UV_.*(?:PASSWORD|TOKEN)")


def environ_without_passwords(folder: str) -> dict[str, str]:
    """The environment of what may log in nowhere, at home in that folder: build code, or uv."""
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


def without_our_passwords(text: bytes) -> bytes:
    """What a program said, without the passwords that it was told in any variable.

    Nor the paths of indexes, which can be tokens.
    """
    secrets = {value for name, value in os.environ.items() if _SECRET.fullmatch(name)}
    for _, _, texts in _addresses():
        for one in texts:
            login = one.rpartition("@")[0].rpartition("://")[2]
            secrets |= {login, login.partition(":")[2]}
            place = one.rpartition("@")[2].rpartition("://")[2] if "://" in one else ""
            path, _, query = place.partition("/")[2].rstrip("/").partition("?")
            secrets |= {*({path} - _USUAL), query}
    return without(secrets, text, os.fsencode)


def without(secrets: Collection[str], text: bytes, encode: Callable[[str], bytes]) -> bytes:
    """A text without these parts of addresses, as they stand there and as they are meant."""
    spelled = {*secrets, *map(unquote, secrets)}
    # The longest first: one can hold another.
    for secret in sorted(filter(None, spelled), key=len, reverse=True):
        text = text.replace(encode(secret), b"***")
    return text


def _addresses() -> list[tuple[str, str, list[str]]]:
    """The variables that hold addresses, what stands between these, and each of them."""
    places, _ = packages_of_user()
    found = [(name, " ", places.get(name, "").split()) for name in INDEXES]
    found += [(name, "", [os.environ.get(name, "").strip()]) for name in PROXIES]
    found.append(("UV_FIND_LINKS", ",", places.get("UV_FIND_LINKS", "").split(",")))
    return [one for one in found if one[0] in os.environ]
