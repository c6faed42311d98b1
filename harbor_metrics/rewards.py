"""What a trial's rewards may be, and the words for what they may not be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .document import Document, Path
from .syntax import printable, shown

HARBOR_WRITES_NULL = (
    "Harbor writes null where a reward was NaN or infinite, and cannot read the trial again"
)


def kind(value: Any) -> str:
    """What JSON calls the type of a value."""
    names = {bool: "boolean", str: "string", list: "array", dict: "object", type(None): "null"}
    return names.get(type(value), "number")


def mistakes(rewards: Any, path: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Each thing wrong with a rewards value: where, and the fields of a diagnostic."""
    if rewards is None:
        return
    if not isinstance(rewards, dict):
        yield (
            path,
            {
                "rule": "invalid-rewards",
                "message": f"rewards must be an object of numbers or null, not {article(rewards)}",
                "label": f"this is {article(rewards)}",
                "help": 'write `{"reward": 0.5}`',
            },
        )
        return
    for key, value in rewards.items():
        if type(value) in (int, float):
            continue
        name = printable(key)
        yield (
            [*path, key],
            {
                "rule": "invalid-reward",
                "message": f"reward `{name}` must be a number, not {article(value)} {shown(value)}"
                if isinstance(value, bool | str)
                else f"reward `{name}` must be a number, not {article(value)}",
                "label": f"this is {article(value)}",
                "notes": _notes(value),
                "help": _help(key, value),
            },
        )


def article(value: Any) -> str:
    """The JSON type of a value with its article."""
    name = kind(value)
    return name if name == "null" else f"an {name}" if name[0] in "ao" else f"a {name}"


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


def check(document: Document, path: Path, subject: str) -> list[Any]:
    """The diagnostics for the rewards that stand at `path` of a document."""
    value = document.value
    for step in path:
        value = value[step]
    return [
        document.find(place, subject=subject, **fields) for place, fields in mistakes(value, path)
    ]
