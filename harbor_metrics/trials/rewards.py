"""What rewards may be, and the diagnostics for what is something else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..documents.diagnostics import Diagnostic
from ..documents.document import Document, Finding
from ..documents.wording import article, printable, shown

if TYPE_CHECKING:
    from ..documents.places import Path

HARBOR_WRITES_NULL = (
    "Harbor writes null where a reward was NaN or infinite, and cannot read the trial again"
)


def mistakes(rewards: Any, path: Path, subject: str) -> Iterator[Finding]:
    """What is wrong with the rewards that stand at `path`."""
    if rewards is None:
        return
    if not isinstance(rewards, dict):
        yield Finding(
            tuple(path),
            f"rewards must be an object of numbers or null, not {article(rewards)}",
            subject=subject,
            label=f"this is {article(rewards)}",
            help='write `{"reward": 0.5}`',
            rule="invalid-rewards",
        )
        return
    for key, value in rewards.items():
        if type(value) in (int, float):
            continue
        example = f" {shown(value)}" if isinstance(value, bool | str) else ""
        yield Finding(
            (*path, key),
            f"reward `{printable(key)}` must be a number, not {article(value)}{example}",
            subject=subject,
            label=f"this is {article(value)}",
            notes=_notes(value),
            help=_help(key, value),
            rule="invalid-reward",
        )


def _notes(value: Any) -> tuple[str, ...]:
    if isinstance(value, bool):
        return (f"Harbor would count it as {float(value)}",)
    if value is None:
        return (HARBOR_WRITES_NULL,)
    return ()


def _help(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return f'write `"{printable(key)}": {int(value)}`'
    if isinstance(value, str):
        try:
            return f'write `"{printable(key)}": {float(value):g}`, without quotes'
        except ValueError:
            return "text belongs in `texts` of a trials file"
    if value is None:
        return "write a finite number, or leave the key out"
    return "rewards are flat: give each number a key of its own"


def check(document: Document, path: Path, subject: str) -> list[Diagnostic]:
    """The diagnostics for the rewards that stand at `path` of a document."""
    value = document.value
    for step in path:
        value = value[step]
    return document.resolve(list(mistakes(value, path, subject)))
