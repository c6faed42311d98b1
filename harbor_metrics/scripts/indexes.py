"""The indexes that the user has set, and whether an address that a script writes is one of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from glob import escape, iglob
from itertools import chain
from typing import Any

from ..documents.paths import holds_everything, is_below, lies_inside, real_path, strayed
from ..documents.work import is_among_work
from ..registries.local_packages import path_of

INDEXES = ("UV_INDEX", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL")
_OF_USER = (*INDEXES, "UV_FIND_LINKS")
# What uv takes for one value, spaces and all, and what stands between those of the others.
_SINGLE = ("UV_INDEX_URL", "UV_DEFAULT_INDEX")
# The one form: whatever else parsers of addresses take they do not all take for the same.
_ADDRESS = re.compile(
    r"(https?)://([a-z0-9.-]+(?::[0-9]{1,5})?)((?:/[a-z0-9._~+-]+)*)/?", re.ASCII | re.IGNORECASE
)
_FOLDER = re.compile(r"(?:file://)?((?:/[a-z0-9._~+-]+)+)/?", re.ASCII | re.IGNORECASE)
# An index can have a name, and the user's can say who he is.
_SET = re.compile(r"(?:([\w.-]+)=)?(https?://)?(?:(?<=://)[^@/\\?#]*@)?(.*)", re.IGNORECASE)
# A wheel, the source of a package, and the list that a folder of an index has.
_PACKAGE = re.compile(
    r"[\w.]+(?:-[\w.!+]+){4,5}\.whl|[\w.-]+-[0-9][\w.!+]*\.(?:tar\.gz|zip)|index\.html", re.ASCII
)
# What a script may say of an index that is the user's.
_SAID = {"name", "url", "explicit", "default"}

Known = Mapping[str, set[str]]


def known(*, pages: bool = False) -> Known:
    """The addresses that the user has set, each with the names that it has.

    `pages`: those that uv reads pages of, which lead to other addresses. A folder of UV_FIND_LINKS
    is none of them: read as an index it has pages, and they may have come with what we work on.
    """
    found: dict[str, set[str]] = {}
    for variable in _OF_USER:
        for text in map(str.strip, words_of(variable)):
            match = _SET.fullmatch(text)
            address = plain((match[2] or "") + match[3]) if match else None
            if pages and variable == "UV_FIND_LINKS" and (address or "").startswith("file:"):
                continue
            if match and address is not None:
                found.setdefault(address, set()).update([match[1]] if match[1] else [])
    return found


def words_of(variable: str, value: str | None = None) -> list[str]:
    """The values that uv takes a variable of indexes or folders for packages to hold."""
    value = os.environ.get(variable, "") if value is None else value
    if variable in _SINGLE:
        return [value]
    return value.split("," if variable == "UV_FIND_LINKS" else None)


def separator_of(variable: str) -> str:
    """What is put between them."""
    return "," if variable == "UV_FIND_LINKS" else " "


def packages_of_user() -> tuple[dict[str, str], list[str]]:
    """Where the user says that packages lie: the variables, wherever uv is started, and folders.

    None that a link leads to out of what we work on: then uv is told of it, since it would ask
    another index, and cannot read it.
    """
    env: dict[str, str] = {}
    folders: list[str] = []
    for name in _OF_USER:
        words = words_of(name)
        for at, word in enumerate(words):
            start = word.partition("=")[0] + "=" if "=" in word else ""
            place = word.removeprefix(start).strip()
            path = os.path.abspath(place.removeprefix("file://"))
            if place and os.path.isdir(path):
                if "://" not in place:
                    words[at] = start + path
                brought = strayed(path) is not None and is_among_work(path)
                if not (brought or holds_everything(real_path(path))):
                    folders.append(path)
        if any(words):
            env[name] = separator_of(name).join(words)
    return env, folders


def lie_among_work(beside: str, *, pages: bool = False) -> bool:
    """Whether a place where the user says that packages lie came with what we work on.

    Or with the script, `beside` which it lies: a real path. Another branch may lie there by now.
    `pages` lead to addresses, which a folder of packages does not: whether there are any of them.
    """
    for name in _OF_USER:
        of_folders = name == "UV_FIND_LINKS"
        for word in words_of(name):
            for place in filter(str.strip, (word, word.partition("=")[2])):
                path = os.path.abspath(path_of(place))
                leads_on = not (of_folders and os.path.isdir(path))
                came_along = is_among_work(path) or is_below(real_path(path), beside)
                if os.path.lexists(path) and came_along and (leads_on or not pages):
                    return True
    return False


def packages_in(folders: Iterable[str]) -> list[tuple[str, str]]:
    """The packages in folders, and a folder below as an index has them, whatever else is there.

    By name, and where each leads: none that a link leads out of its folder to, or to what is called
    otherwise, and none of a folder that is such a link.
    """
    found: list[tuple[str, str]] = []
    for folder in folders:
        if strayed(folder) is not None:
            continue
        inside = real_path(folder)
        for path in chain(*(iglob(os.path.join(escape(folder), p)) for p in ("*", "*/*"))):
            # Of what else lies there nobody asks where it leads.
            if _is_called_a_package(path):
                real = real_path(path)
                if (
                    _is_called_a_package(real)
                    and lies_inside(real, inside)
                    and os.path.isfile(real)
                ):
                    found.append((path, real))
    return found


def _is_called_a_package(path: str) -> bool:
    return _PACKAGE.fullmatch(os.path.basename(path)) is not None


def plain(text: str) -> str | None:
    """An address, or an absolute folder, as it is compared; None for what is not strictly one."""
    if match := _ADDRESS.fullmatch(text):
        start, path = f"{match[1]}://{match[2]}".lower(), match[3]
    elif match := _FOLDER.fullmatch(text):
        start, path = "file://", match[1]
    else:
        return None
    return None if {".", ".."} & {*path.split("/")} else start + path


def is_of_user(entry: Any, known: Known) -> bool:
    """Whether what a script says of an index is the address of one of the user's, or its table.

    A name for which the user has set a password is that of no other address.
    """
    if isinstance(entry, dict):
        name, url = entry.get("name", ""), entry.get("url")
        if not isinstance(name, str) or not entry.keys() <= _SAID:
            return False
    else:
        name, url = "", entry
    address = plain(url) if isinstance(url, str) else None
    if address is None or address not in known:
        return False
    return name in known[address] or not _has_password(name)


def _has_password(name: str) -> bool:
    of_name = f"UV_INDEX_{re.sub('[^A-Z0-9]', '_', name.upper())}_"
    return any(f"{of_name}{what}" in os.environ for what in ("USERNAME", "PASSWORD"))
