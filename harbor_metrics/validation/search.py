"""The registries and manifests in a folder, as git would list them."""

from __future__ import annotations

import contextlib
import os
import re
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import msgspec

from ..confinement.homes import own_home
from ..documents.files import open_regular, reason
from ..documents.paths import leads_out, real_path
from ..documents.sizes import whole
from ..documents.wording import printable
from ..errors import InputError
from .patterns import Patterns, patterns_in
from .repositories import is_repository, repository
from .tracked import Tracked

# What registries and manifests are called.
_REGISTRY = "registry.json"
NAMES = (_REGISTRY, "dataset.toml")
_LIKE_REGISTRY = re.compile(r"registr(?:y|ies)(?!.*\.schema\.).*\.json$", re.IGNORECASE)
_IGNORE = ".gitignore"
# Git reads no larger file of patterns either.
_MOST_OF_RULES = 100 << 20
# Of those that hold in a folder: each file, and each pattern with a sign, is tried at each name.
_MOST_WITH_SIGNS, _MOST_FILES = 10_000, 100


# How much of what is left out is gone through: environments and jobs are among it.
MOST_LEFT_OUT = 20_000


# The real path of a folder, and what its .gitignore says of all below; the strongest last.
Rules = list[tuple[str, Patterns]]


class _LeftOut(NamedTuple):
    """What is left out for one reason: documents, and folders that are gone through at the end."""

    documents: list[str]
    folders: list[str]


# A path as it was asked for, its real one, the rules that hold there, and, where the folder is
# left out of which git has something all the same, to what all else in it is added.
_Found = tuple[str, str, os.DirEntry[str], Rules, _LeftOut | None]


class Besides(msgspec.Struct):
    """What a folder has besides the documents that are looked at."""

    # JSON that is called a registry, and not `registry.json`.
    others: list[str] = []
    # Documents that .gitignore leaves out, and those in repositories of their own.
    ignored: list[str] = []
    in_repositories: list[str] = []
    # Whether more lies in what is left out than is gone through.
    is_cut: bool = False
    # What git's index has of each repository, by the repository's top.
    tracked: dict[str | None, Tracked] = {}


def is_called_registry(path: str) -> bool:
    """Whether a file is a registry by its name, whatever is in it."""
    return os.path.basename(path) == _REGISTRY


def search(folder: str, unread: list[InputError], besides: Besides | None = None) -> Iterator[str]:
    """The paths of the registries and manifests in and below a folder, in sorted order.

    What a .gitignore, the repository's own exclusions or the user's leave out is left out, and so
    are repositories inside the folder, unless git's index has it; and links to folders. Nothing is
    run. A folder that cannot be read is told of in `unread`; `besides` gets JSON that is called a
    registry and not `registry.json`, and the registries and manifests that are left out.

    Raises:
        InputError: there are more patterns than any repository needs.
    """
    besides = Besides() if besides is None else besides
    ignored, apart = _LeftOut(besides.ignored, []), _LeftOut(besides.in_repositories, [])
    top, above = repository(folder)
    rules = _inherited(top, above) if top else []
    tracked = besides.tracked.setdefault(top, Tracked(top, _is_of_interest))
    is_left_out = any(_is_ignored(path, True, rules) for path in above if path != top)
    if not is_left_out or tracked.has(above[-1], is_folder=True):
        whose = ignored if is_left_out else None
        waiting = _in_folder(os.path.normpath(folder), real_path(folder), rules, whose, unread)
        yield from _below(waiting, tracked, unread, besides, ignored, apart)
        for left_out in (ignored, apart):
            left_out.documents.extend(_in_left_out(left_out.folders, besides))


def _is_of_interest(name: str) -> bool:
    return name in NAMES or _LIKE_REGISTRY.search(name) is not None


def _below(
    waiting: list[_Found],
    tracked: Tracked,
    unread: list[InputError],
    besides: Besides,
    ignored: _LeftOut,
    apart: _LeftOut,
) -> Iterator[str]:
    # Not by calling itself: a stranger's folders may be nested deeper than Python calls.
    while waiting:
        path, real, entry, rules, whose = waiting.pop()
        is_folder = entry.is_dir(follow_symlinks=False)
        # By the name alone: a folder of jobs has thousands of JSON files to look into.
        if entry.name == ".git" or not (is_folder or _is_of_interest(entry.name)):
            continue
        if whose is None:
            is_ignored = _is_ignored(real, is_folder, rules)
            is_apart = not is_ignored and is_folder and is_repository(path)
            whose = ignored if is_ignored else apart if is_apart else None
        if whose is not None and not tracked.has(real, is_folder=is_folder):
            if is_folder:
                whose.folders.append(path)
            elif entry.name in NAMES:
                whose.documents.append(path)
        elif is_folder and entry.name not in NAMES:
            waiting += _in_folder(path, real, rules, whose, unread)
        elif entry.name not in NAMES:
            besides.others.append(path)
        else:
            yield path  # a folder, too: whoever reads it says that it is none


def _in_folder(
    path: str, real: str, rules: Rules, whose: _LeftOut | None, unread: list[InputError]
) -> list[_Found]:
    """What lies in a folder, the last first, and the rules for it."""
    try:
        with os.scandir(path) as scan:
            entries = sorted(scan, key=lambda entry: entry.name, reverse=True)
    except OSError as error:
        unread.append(InputError(f"{path}: {reason(error)}"))
        return []
    own = _rules_in(os.path.join(path, _IGNORE), follow=False)
    rules = _with(rules, real, own)
    before = "" if path == os.curdir else os.path.join(path, "")
    return [
        (f"{before}{entry.name}", os.path.join(real, entry.name), entry, rules, whose)
        for entry in entries
    ]


def _in_left_out(folders: list[str], besides: Besides) -> Iterator[str]:
    """The registries and manifests in these folders, the nearest first, as far as it is quick."""
    left = MOST_LEFT_OUT
    waiting = deque(folders)
    while waiting and left > 0:
        folder = waiting.popleft()
        with contextlib.suppress(OSError), os.scandir(folder) as scan:
            entries = sorted(islice(scan, left), key=lambda entry: entry.name)
            left -= len(entries)
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.extend([entry.path] if entry.name != ".git" else [])
                elif entry.name in NAMES:
                    yield entry.path
    besides.is_cut |= left <= 0


def _inherited(top: str, above: list[str]) -> Rules:
    """The rules from above a folder, the weakest first: the user's, the repository's, folders'."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(own_home(), ".config")
    rules = _with([], top, _rules_in(os.path.join(home, "git", "ignore")))
    excluding = os.path.join(top, ".git", "info", "exclude")
    if not leads_out(excluding, top):
        rules = _with(rules, top, _rules_in(excluding))
    # As git, through no link: the patterns would be the lines of any file of the user's, and what
    # is left out because of them is said.
    for base in above[:-1]:
        rules = _with(rules, base, _rules_in(os.path.join(base, _IGNORE), follow=False))
    return rules


def _with(rules: Rules, base: str, own: Patterns | None) -> Rules:
    """The rules, and those of one more file.

    Raises:
        InputError: they are more than any repository needs.
    """
    if own is None:
        return rules
    rules = [*rules, (base, own)]
    too_many = ""
    if sum(len(patterns.others) for _, patterns in rules) > _MOST_WITH_SIGNS:
        too_many = f"{_MOST_WITH_SIGNS:,} patterns with signs such as `*`"
    elif len(rules) > _MOST_FILES:
        too_many = f"{_MOST_FILES} files in one another"
    if too_many:
        raise InputError(
            f"{printable(os.path.join(base, _IGNORE))}: more than {too_many} hold there",
            "name the files that are to be looked at",
        )
    return rules


def _rules_in(file: str, *, follow: bool = True) -> Patterns | None:
    """The patterns in a file; None where it has none, or cannot be read."""
    try:
        with open_regular(file, follow=follow) as stream:
            patterns = patterns_in(whole(stream, _MOST_OF_RULES))
    except OSError:
        return None
    return Patterns(patterns) if patterns else None


def _is_ignored(path: str, is_folder: bool, rules: Rules) -> bool:
    """What the strongest rule says that has a say of a real path."""
    for base, patterns in reversed(rules):
        inside = os.path.join(base, "")
        if not path.startswith(inside):
            continue  # rules of a folder are about what is in it
        names = os.fsencode(path.removeprefix(inside)).split(b"/")
        leaves_out = patterns.leave_out(names, is_folder=is_folder)
        if leaves_out is not None:
            return leaves_out
    return False
