"""A trials file: one trial a line with its task, and whatever else is known about it."""

from __future__ import annotations

from hashlib import sha256

import msgspec

from ..diagnostics import Diagnostic
from ..document import Document
from ..rewards import check
from ..trial import GroupKey, Trial, group_key, in_canonical_order
from .file import File
from .lines import blocks, salvage
from .recognition import FITS, Fit, Head
from .source import REFUSED, Source

KIND = "trials"
_decoder = msgspec.json.Decoder(Trial)


def fit(head: Head) -> Fit:
    """A first line with a task's name."""
    if isinstance(head.line, dict) and isinstance(head.line.get("task"), str):
        return FITS
    near = head.share(*Trial.__struct_fields__[:2], "attempt", "labels")
    return Fit(near, "a line has no `task`" if "task" not in head.keys else "`task` is no string")


def read(file: File) -> list[Source]:
    """One source, its trials in canonical order."""
    path = file.path
    trials: list[Trial] = []
    unread: list[GroupKey | None] = []
    found: list[Diagnostic] = []
    digest = sha256()
    first_line = 1
    for block in blocks(file.local):
        digest.update(block)
        try:
            trials += _decoder.decode_lines(block)
        except REFUSED:
            for _, row, reasons in salvage(block, first_line, path, _decode, _explain):
                if reasons:
                    unread.append(None)
                    found += reasons
                else:
                    trials.append(row)
        first_line += block.count(b"\n")
    trials = in_canonical_order(trials)
    groups = set(map(group_key, trials))
    if len(groups) == 1:
        unread = [*groups] * len(unread)
    return [
        Source(
            path=path,
            kind=KIND,
            trials=trials,
            sha256=digest.hexdigest(),
            unread=unread,
            diagnostics=found,
        )
    ]


def _decode(line: bytes) -> Trial:
    """The trial of a line; a `reward` alone stands for rewards with that one key."""
    try:
        return _decoder.decode(line)
    except msgspec.ValidationError:
        value = msgspec.json.decode(line)
        if not isinstance(value, dict) or "reward" not in value or "rewards" in value:
            raise
        reward = value.pop("reward")
        rewards = None if reward is None else {"reward": reward}
        return msgspec.convert({**value, "rewards": rewards}, Trial)


def _in_words(message: str) -> str:
    words = (("`int | float`", "a number"), ("`str`", "a string"), ("$.rewards[...]", "rewards"))
    for theirs, ours in words:
        message = message.replace(theirs, ours)
    return message[:1].lower() + message[1:]


def _explain(document: Document, number: int) -> list[Diagnostic]:
    value = document.value
    if isinstance(value, dict) and "rewards" in value:
        found = check(document, ["rewards"], f"line {number}")
        if found:
            return found
    try:
        _decode(document.text.encode())
    except msgspec.ValidationError as error:
        return [
            document.find(
                [],
                rule="invalid-trial",
                message=f"not a trial: {_in_words(str(error))}",
                subject=f"line {number}",
                help='a trial has at least `{"task": "…", "rewards": {"reward": 0.5}}`',
            )
        ]
    return []
