"""`[tool.harbor-metrics]` in pyproject.toml: which rules, and why some are ignored."""

from __future__ import annotations

import errno
import os
from typing import Any

import msgspec

from ..documents.files import open_regular, reason
from ..documents.paths import check_stays, is_shut
from ..documents.sizes import MOST_SETTINGS, MOST_WRITTEN, whole
from ..errors import InputError, UsageError

FILE = "pyproject.toml"


class Configuration(msgspec.Struct, frozen=True):
    """`ignore` is rule -> reason; the reason is shown where the rule would have spoken.

    `path` is the file that says it.
    """

    select: tuple[str, ...] = ()
    ignore: dict[str, str] = {}
    path: str = FILE


def read(folder: str) -> Configuration:
    """The table of the nearest pyproject.toml that has one, from the folder upwards.

    Raises:
        UsageError: the table holds anything but `select` and `ignore` with reasons, or
            the file is a link out of its folder, too large, not to be read or not TOML.
    """
    folder = os.path.abspath(folder)
    owners = {0, os.geteuid(), *_owner(folder)}
    while True:
        path = os.path.join(folder, FILE)
        # Above what we look at may lie what anybody has put there, as in /tmp.
        table = _table(path) if owners >= _owner(path) else None
        if table is not None:
            return _configuration(table, path)
        above = os.path.dirname(folder)
        if above == folder:
            return Configuration()
        folder = above


def _owner(path: str) -> set[int]:
    try:
        return {os.stat(path).st_uid}
    except OSError:
        return set()


def _table(path: str) -> dict[str, Any] | None:
    try:
        with open_regular(path) as file:
            data = whole(file, MOST_WRITTEN)
    except OSError as error:
        if error.errno == errno.EFBIG or (is_shut(error) and os.path.lexists(path)):
            raise UsageError(f"{path}: {reason(error)}") from error
        return None
    if b"harbor-metrics" not in data:
        return None
    try:
        check_stays(path)
    except InputError as error:
        raise UsageError(
            f"{path} is a link out of its folder, and no settings are read there",
            "put the file itself there",
        ) from error
    # For weight: most have no such table.
    from ..documents.toml import loads

    try:
        tools = loads(data.decode(), MOST_SETTINGS).get("tool", {})
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} cannot be read as TOML: {error}") from error
    table = tools.get("harbor-metrics") if isinstance(tools, dict) else None
    if table is not None and not isinstance(table, dict):
        raise UsageError(f"{path}: tool.harbor-metrics must be a table")
    return table


def _configuration(table: dict[str, Any], path: str) -> Configuration:
    select, ignore = table.get("select", []), table.get("ignore", {})
    unknown = sorted(table.keys() - {"select", "ignore"})
    if unknown:
        raise UsageError(
            f"{path}: [tool.harbor-metrics] takes no `{unknown[0]}`", "it takes `select`, `ignore`"
        )
    if not isinstance(select, list) or not all(isinstance(rule, str) for rule in select):
        raise UsageError(f"{path}: `select` must be an array of rules")
    reasons = ignore.values() if isinstance(ignore, dict) else [None]
    if not all(isinstance(reason, str) and reason.strip() for reason in reasons):
        raise UsageError(
            f"{path}: `ignore` must give a reason for each rule",
            'write `ignore = { "not-in-harbor" = "we run our own resolver" }`',
        )
    return Configuration(tuple(select), dict(ignore), path)
