"""What is said of what a link leads to: its reader's secret may lie there, so nothing is quoted."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from .diagnostics import Diagnostic
from .paths import strayed
from .wording import shown_path

_WORDLESS: dict[str, Any] = {
    "span": None,
    "pointer": None,
    "subject": "",
    "label": "",
    "notes": (),
}


def rules_alone(said: Sequence[Diagnostic], path: str, where: str) -> list[Diagnostic]:
    """The rules alone of what is wrong at a path, which is a link to `where`."""
    return [
        msgspec.structs.replace(
            one,
            message=f"of what is wrong nothing is shown, for the path is a link to {where}",
            help="name the file itself, if it is yours",
            path=path,
            **_WORDLESS,
        )
        for one in {(each.rule, each.severity): each for each in said}.values()
    ]


def without_quotes(said: Iterable[Diagnostic], named: Iterable[str]) -> list[Diagnostic]:
    """The same, with the rules alone of what lies at a path that leads out by a link.

    What lies below a path that somebody has named is as that is: in it links out are not followed.
    """
    known = {shown_path(path).rstrip("/"): path for path in named}
    led: dict[str, str | None] = {}
    kept: dict[Diagnostic, None] = {}
    for one in said:
        path = one.path
        if path is not None:
            path = _named(path, known) or path
            if path not in led:
                led[path] = strayed(known.get(path, path))
            if (where := led[path]) is not None:
                (one,) = rules_alone([one], path, where)
        kept[one] = None
    return [*kept]


def _named(path: str, known: Iterable[str]) -> str | None:
    """The path or the folder above it that was named."""
    while path not in known:
        above = os.path.dirname(path)
        if above == path:
            return None
        path = above
    return path
