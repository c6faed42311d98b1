"""The words that messages share: counts, lists, near names, JSON types, text made safe to print."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from ..errors import inert

SHOWN = 40
# So many things are named where all of them are asked for; of more it is said how many.
MOST_LISTED = 100
_LINES = 12
_LONGEST_NAME = 100
_WIDTH = 300
_COLOUR = r"\x1b\[[0-9;]*m"
# Where an address may say who logs in, up to the beginning of the next one; a user of ssh opens
# nothing. What was looked at for an `@` in vain is not looked at again.
_USER = (
    r"(?i)((?:(?<!ssh)|(?=://[^/\s:@]*:)):[/\\]{2})"
    # What quotes an address is a part of it where it goes on behind: a password can hold it.
    r"((?:[^/:\s?#\"'<>]|:(?!/[/\\]|\\/)|[\"'<>](?=[\w%@\"'<>]))*+)"
)
_IN_QUERY = (
    r"(?i)([?&]\]?(?:[\w-]{0,30}?(?:token|key|secret|passw|credential|jwt|sig)[\w-]{0,10}|"
    r"(?:[\w-]{0,30}[_-])?(?:pat|pass|pwd|auth|authorization|bearer|code))=)([^&\s\"'#]+)"
)
_ESCAPE = r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)"
# Every character before it takes a column, and so do the signs of our own tables.
_FIRST_ODD, _NARROW = "\u0300", "—…─→"
_KINDS = {bool: "boolean", str: "string", list: "array", dict: "object", type(None): "null"}


def plural(n: int, noun: str) -> str:
    """A number with its noun: `1 trial`, `2 trials`."""
    return f"{n} {noun}{'' if n == 1 else 's'}"


def listed(names: Sequence[str], most: int = 3, *, counted: bool = True) -> str:
    """The first names, safe to print, and how many others there are: `a, b, c and 2 more`.

    Where the message counts them all the others need not be `counted`: `a, b, c, …`.
    """
    more = len(names) - most
    rest = "" if more <= 0 else f" and {more} more" if counted else ", …"
    return ", ".join(map(printable, names[:most])) + rest


def nearest(name: str, known: Iterable[str], *, most: int = 1, cutoff: float = 0.6) -> list[str]:
    """The known names that look like `name`, best first; case and `_` for `-` make no difference.

    `cutoff` is how alike they must be, from 0 to 1, as in `difflib`.
    """
    # Inside, for weight: only a mistake needs it, and it loads longer than most commands read.
    from difflib import get_close_matches

    plain = {_plain(other): other for other in known}
    return [plain[near] for near in get_close_matches(_plain(name), plain, n=most, cutoff=cutoff)]


def _plain(name: str) -> str:
    # How alike two are takes as long as both are long together; no name of ours is as long.
    return name[:_LONGEST_NAME].lower().replace("_", "-")


def did_you_mean(near: Collection[str]) -> str:
    """The end of a message about a name that is not known; empty where nothing is near."""
    return f"; did you mean {' or '.join(f'`{name}`' for name in near)}?" if near else ""


def kind(value: Any) -> str:
    """What JSON calls the type of a value; TOML has dates and times, too."""
    return _KINDS.get(type(value), "number" if isinstance(value, int | float) else "date")


def article(value: Any) -> str:
    """What JSON calls the type of a value, with its article: `an array`, `null`."""
    return with_article(kind(value))


def with_article(noun: str) -> str:
    """The noun with `a` or `an`; `null` has neither."""
    return noun if noun == "null" else f"an {noun}" if noun[0] in "aeio" else f"a {noun}"


def shown(value: Any) -> str:
    """A value as JSON on one line, shortened, safe to print."""
    # Inside, for weight: only messages about a value need it.
    import json

    # Hidden before it is cut: what tells a password may stand behind.
    text = without_passwords(json.dumps(value, ensure_ascii=False))
    return printable(text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…")


def without_passwords(text: str, hidden: str = "***") -> str:
    """The text with whatever opens a door `hidden` in its addresses: users, passwords, tokens.

    A `hidden` of one character takes the place of each one that it hides.
    """
    if "://" not in text and ":\\\\" not in text:
        return text

    def instead(secret: str) -> str:
        return hidden * len(secret) if len(hidden) == 1 else hidden

    def hide_user(found: re.Match[str]) -> str:
        user, at, rest = found[2].rpartition("@")
        return found[1] + instead(user) + at + rest if at else found[0]

    text = re.sub(_USER, hide_user, text)
    return re.sub(_IN_QUERY, lambda found: found[1] + instead(found[2]), text)


def quoted_line(line: str) -> str:
    """A line of a document, a sign for each of its own, without passwords.

    All of it is hidden where escapes stand for what tells that one follows: `https:\\/\\/u:p@h`.
    """
    if "\\" in line:
        meant = re.sub(_ESCAPE, lambda found: _meant(found[1]), line)
        if without_passwords(meant) != meant:
            return "*" * len(line)
    return without_passwords(line, "*")


def _meant(escaped: str) -> str:
    code = escaped[1:] if escaped[:1] in "uU" else ""
    return chr(int(code, 16)) if code and int(code, 16) <= 0x10FFFF else escaped


def printable(text: str) -> str:
    """The text with control characters and lone surrogates escaped, and without passwords."""
    return inert(without_passwords(text))


def in_command(*names: str) -> str:
    """Names as a command to copy has them: words of a shell, and none of them an option.

    They are safe to print, and stay what they are where they are made so once more.
    """
    # For weight: only a few messages hold a command.
    import shlex

    words = map(printable, names)
    return shlex.join(f"./{word}" if word.startswith("-") else word for word in words)


def shown_path(path: str) -> str:
    """The path as text that can be written anywhere; bytes that are not UTF-8 are escaped."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def without_passwords_in(value: Any) -> Any:
    """A JSON value, its texts as `without_passwords` leaves them."""
    if isinstance(value, str):
        return without_passwords(value)
    if isinstance(value, list):
        return [without_passwords_in(item) for item in value]
    if isinstance(value, dict):
        return {key: without_passwords_in(item) for key, item in value.items()}
    return value


def encodable(value: Any, errors: str = "backslashreplace") -> Any:
    """A text, or the JSON that holds it, so that it can be written as UTF-8.

    Halves of surrogate pairs become what `errors`, as of `str.encode`, makes of them.
    """
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", errors).decode()
    if isinstance(value, list):
        return [encodable(item, errors) for item in value]
    if isinstance(value, dict):
        return {encodable(key, errors): encodable(item, errors) for key, item in value.items()}
    return value


def columns(text: str) -> int:
    """How many columns of a terminal the text takes; colours take none."""
    if "\x1b" in text:
        text = re.sub(_COLOUR, "", text)
    if text.isascii():
        return len(text)
    odd = [c for c in text if c >= _FIRST_ODD and c not in _NARROW]
    if not odd:
        return len(text)
    # Inside, for weight: most texts have nothing but letters and our own signs.
    from unicodedata import combining, east_asian_width

    wide = sum(-1 if combining(c) else east_asian_width(c) in "WF" for c in odd)
    return len(text) + wide


def last_lines(stderr: bytes) -> str:
    """The last lines that a program said, quoted; empty where it said nothing."""
    lines = stderr.decode("utf-8", "backslashreplace").strip().splitlines()[-_LINES:]
    if not lines:
        return ""
    return ": it said\n" + "\n".join(f"  | {printable(_cut(li))}" for li in lines)


def _cut(line: str) -> str:
    # First what hides: half an address does not show what of it is a password.
    return without_passwords(line)[:_WIDTH]


def first_line(stdout: bytes) -> str:
    """The first line of what a program printed, shortened."""
    lines = stdout.decode("utf-8", "backslashreplace").strip().splitlines()
    return printable(_cut(lines[0])[:80]) if lines else ""
