"""Why a line is not a trial, and a name none: one explanation, whoever has refused it."""

from __future__ import annotations

from ..documents import mismatch
from ..documents.diagnostics import Diagnostic
from ..documents.document import Document
from ..documents.wording import with_article
from ..errors import InputError
from . import rewards
from .trial import GroupKey

# What a source says once is written into each row of what is made of it.
_LONGEST_NAME = 16_384


def check_trial(document: Document, subject: str) -> list[Diagnostic]:
    """What is wrong with a line of a trials file, first with its rewards; or nothing."""
    value = document.value
    if isinstance(value, dict) and "rewards" in value:
        wrong = rewards.check(document, ["rewards"], subject)
        if wrong:
            return wrong
    return document.resolve(list(mismatch.findings(value, "trial", subject=subject)))


def check_group(group: GroupKey, path: str = "") -> GroupKey:
    """The group, whose names are no longer than names are.

    Raises:
        InputError: one of them is.
    """
    for what, name in zip(group._fields, group, strict=True):
        check_name(name, what, path)
    return group


def check_name(name: str | None, what: str, path: str = "") -> None:
    """Refuse a name that no harness gives; `path` is where it stands.

    Raises:
        InputError: it is too long.
    """
    if name is not None and len(name) > _LONGEST_NAME:
        where = f"{path}: " if path else ""
        raise InputError(
            f"{where}the name of {with_article(what)} has {len(name):,} characters; at most "
            f"{_LONGEST_NAME:,} are read"
        )
