"""The PEP 723 block of a script: where it stands in the text, and its table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import MetricFailure

_OPENING, _MARK = "# /// ", "# ///"
# To read a row of dotted keys takes its square.
_MOST_OF_A_BLOCK, _MOST_DOTS = 256 << 10, 500
_DEEPEST = 50
_TYPE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")


def blocks(text: str) -> Iterator[tuple[str, int, list[str]]]:
    """The type, the index of the first line and the lines inside of what PEP 723 takes for a block.

    It takes time in proportion to the text.
    """
    if _OPENING not in text:
        return
    lines = text.split("\n")
    first: int | None = None
    last = 0
    for n, line in enumerate((*lines, "")):
        if line == "#" or line.startswith("# "):
            if line == "# ///" and first is not None and n >= first + 2:
                last = n
            elif first is None and line.startswith(_OPENING):
                kind = line[len(_OPENING) :]
                if kind and _TYPE.issuperset(kind):
                    first = n
        elif first is not None:
            # Of the lines that are comments without a gap the last that ends a block does.
            if last > first:
                yield lines[first][len(_OPENING) :], first, lines[first + 1 : last]
            first = None
            last = 0


def may_have_a_block(text: bytes) -> bool:
    """Whether a block may begin in a text."""
    return _OPENING.encode() in text


def table(script: bytes) -> dict[str, Any] | None:
    """The PEP 723 block of a script's text as a table, None if it has none.

    Raises:
        MetricFailure: the block is not TOML, or others could take something else for it.
    """
    # Inside, for weight: most computations run no script.
    from ..documents.toml import loads

    found = _only_block(script)
    if found is None:
        return None
    n, content = found
    try:
        return loads(content)
    except (ValueError, RecursionError) as error:
        why = "nested too deep" if isinstance(error, RecursionError) else str(error)
        raise MetricFailure(
            "script-metadata",
            f"the PEP 723 block of the script, on line {n + 1}, is not TOML: {why}",
        ) from error


def content_of(script: bytes) -> str | None:
    """What stands in the PEP 723 block of a script's text; raises as `table`, but for the TOML."""
    found = _only_block(script)
    return None if found is None else found[1]


def _only_block(script: bytes) -> tuple[int, str] | None:
    """The index of its first line, and what stands in it."""
    text = script.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    found = [(n, lines) for kind, n, lines in blocks(text) if kind == "script"]
    if not found:
        return None
    if len(found) > 1:
        raise MetricFailure(
            "script-metadata",
            f"the script has more than one PEP 723 block, the second on line {found[1][0] + 1}",
        )
    (n, lines) = found[0]
    marks = sum(line.startswith(_MARK) for line in text.replace("\r", "\n").split("\n"))
    if marks != 2:
        # uv takes a block within a block of another type for one, for example.
        raise MetricFailure(
            "script-metadata",
            f"{marks} lines of the script begin with `{_MARK}`, but its PEP 723 block, on line "
            f"{n + 1}, needs two, and what the others begin or end is read otherwise by other "
            f"programs: write them otherwise (`#{_MARK}`)",
        )
    # At line feeds alone, as uv does: a line with another separator of Unicode goes on.
    content = "\n".join(line[2:] if line.startswith("# ") else line[1:] for line in lines)
    if len(content) > _MOST_OF_A_BLOCK or any(line.count(".") > _MOST_DOTS for line in lines):
        raise MetricFailure(
            "script-metadata",
            f"the PEP 723 block of the script, on line {n + 1}, has more than "
            f"{_MOST_OF_A_BLOCK >> 10} KiB, or a line with more than {_MOST_DOTS} dots",
        )
    return n, content


def check_depth(wants: Mapping[str, Any]) -> None:
    """The table of a block is no deeper than what any reader of it follows.

    Raises:
        MetricFailure: it is deeper.
    """
    level: list[Any] = [wants]
    for _ in range(_DEEPEST):
        level = [
            inner
            for value in level
            for inner in (value.values() if isinstance(value, dict) else value)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return
    raise MetricFailure(
        "script-metadata",
        f"the PEP 723 block of the script is nested deeper than {_DEEPEST} levels",
    )
