"""The registries and manifests in a folder, as git would list them."""

from __future__ import annotations

import contextlib
import os
import re
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from ..documents.files import open_regular, reason
from ..documents.paths import real_path
from ..documents.sizes import whole
from ..errors import InputError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

# What registries and manifests are called.
NAMES = ("registry.json", "dataset.toml")
_LIKE_REGISTRY = re.compile(r"registr(?:y|ies)(?!.*\.schema\.).*\.json$", re.IGNORECASE)
_IGNORE = ".gitignore"
# Git reads no larger file of patterns either.
_MOST_OF_RULES = 100 << 20
_NO_PATTERN = (ValueError, re.error)


# How much of ignored folders is gone through: environments and jobs are among them.
_MOST_IGNORED = 20_000


class Besides(NamedTuple):
    """What a folder has besides: JSON that is called a registry; what .gitignore leaves out."""

    others: list[str]
    ignored: list[str]


def search(folder: str, unread: list[InputError], besides: Besides | None = None) -> Iterator[str]:
    """The paths of the registries and manifests in and below a folder, in sorted order.

    What a .gitignore, the repository's own exclusions or the user's leave out is left out, and so
    are repositories inside the repository and links to folders. Nothing is run. A folder that
    cannot be read is told of in `unread`; `besides` gets JSON that is called a registry and not
    `registry.json`, and the registries and manifests that patterns leave out: git may have them.
    """
    besides = Besides([], []) if besides is None else besides
    folders: list[str] = []
    top, above = _repository(folder)
    rules = _inherited(top, above) if top else []
    if not any(_is_ignored(path, True, rules) for path in above if path != top):
        yield from _below(os.path.normpath(folder), rules, unread, besides, folders)
        besides.ignored.extend(_in_ignored(folders))


def _below(
    folder: str,
    rules: list[tuple[str, GitIgnoreSpec]],
    unread: list[InputError],
    besides: Besides,
    ignored_folders: list[str],
) -> Iterator[str]:
    try:
        with os.scandir(folder) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
    except OSError as error:
        unread.append(InputError(f"{folder}: {reason(error)}"))
        return
    own = _rules_in(os.path.join(folder, _IGNORE))
    rules = [*rules, (os.path.abspath(folder), own)] if own else rules
    for entry in entries:
        path = entry.name if folder == os.curdir else os.path.join(folder, entry.name)
        is_folder = entry.is_dir(follow_symlinks=False)
        if not is_folder and entry.name not in NAMES:
            # By the name alone: a folder of jobs has thousands of JSON files to look into.
            if not _LIKE_REGISTRY.search(entry.name) or _is_ignored(path, is_folder, rules):
                continue
            besides.others.append(path)
            continue
        if entry.name == ".git":
            continue
        if _is_ignored(path, is_folder, rules):
            (ignored_folders if is_folder else besides.ignored).append(path)
            continue
        if not is_folder and not os.path.isdir(path):
            yield path
        elif is_folder and not os.path.lexists(os.path.join(path, ".git")):
            yield from _below(path, rules, unread, besides, ignored_folders)


def _in_ignored(folders: list[str]) -> Iterator[str]:
    """The registries and manifests in ignored folders, the nearest first, as far as it is quick."""
    left = _MOST_IGNORED
    waiting = deque(folders)
    while waiting and left > 0:
        folder = waiting.popleft()
        with contextlib.suppress(OSError), os.scandir(folder) as scan:
            entries = sorted(islice(scan, left), key=lambda entry: entry.name)
            left -= len(entries)
            if any(entry.name == ".git" for entry in entries):
                continue
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif entry.name in NAMES:
                    yield entry.path


def _repository(folder: str) -> tuple[str | None, list[str]]:
    """The top of the repository that a folder is in, and the folders from there down to it."""
    path = real_path(folder)
    above = [path]
    while not os.path.lexists(os.path.join(path, ".git")):
        if os.path.dirname(path) == path:
            return None, []
        path = os.path.dirname(path)
        above.insert(0, path)
    return path, above


def _inherited(top: str, above: list[str]) -> list[tuple[str, GitIgnoreSpec]]:
    """The rules from above a folder, the weakest first: the user's, the repository's, folders'."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    files = [(top, os.path.join(home, "git", "ignore"))]
    files.append((top, os.path.join(top, ".git", "info", "exclude")))
    files += [(base, os.path.join(base, _IGNORE)) for base in above[:-1]]
    found = [(base, _rules_in(file)) for base, file in files]
    return [(base, rules) for base, rules in found if rules]


def _rules_in(file: str) -> GitIgnoreSpec | None:
    try:
        with open_regular(file) as stream:
            text = whole(stream, _MOST_OF_RULES).decode("utf-8", "surrogateescape")
    except OSError:
        return None
    lines = text.replace("\r\n", "\n").split("\n")
    # Inside, for weight: most folders have no such file, and most commands look for none.
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(lines)
    except _NO_PATTERN:
        return GitIgnoreSpec.from_lines(filter(_is_pattern, lines))


def _is_pattern(line: str) -> bool:
    """Whether it is one; git, too, leaves out nothing because of `!` or `[z-a]`."""
    # For weight: see above.
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except _NO_PATTERN:
        return False
    return True


def _is_ignored(path: str, is_folder: bool, rules: list[tuple[str, GitIgnoreSpec]]) -> bool:
    """What the strongest rule says that has a say."""
    full = os.path.join(real_path(os.path.dirname(path) or "."), os.path.basename(path))
    for base, spec in reversed(rules):
        relative = os.path.relpath(full, real_path(base)).replace(os.sep, "/")
        if relative == os.curdir or relative.startswith(os.pardir):
            continue  # rules of a folder are about what is in it
        entry = f"{relative}/" if is_folder else relative
        for pattern in reversed(spec.patterns):
            found = pattern.match_file(entry) if pattern.include is not None else None
            if found is not None and _is_of_entry(found.match, entry):
                return bool(pattern.include)
    return False


def _is_of_entry(match: re.Match[str], entry: str) -> bool:
    """Whether a pattern fits the entry itself, not a folder above, which was decided before.

    In pathspec's expressions the group `ps_d` is the slash behind a folder; that of `a/**`, which
    is about what is in the folder alone, has none.
    """
    if "ps_d" not in match.re.groupindex:
        return match.end() < len(entry) or not entry.endswith("/")
    return match["ps_d"] is None or match.end() == len(entry)
