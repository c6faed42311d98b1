"""What of a lock uv writes into lines of what is to be installed: the one form of each text.

In such a line an option may follow, `x==1 --hash=sha256:0a -r other.txt`, and what the other file
says is done, with the user's passwords.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_NAME = r"[a-zA-Z0-9][a-zA-Z0-9._-]*"
_VERSION = r"[0-9][a-zA-Z0-9.!+_-]*"
# Of MD5 two files are made in seconds.
_DIGEST = r"(?:sha256|sha384|sha512|blake2b):[0-9a-f]+"
# Within quotes, too, what begins with `-` could be taken for an option.
_QUOTED = r"(?:[a-zA-Z0-9_.,+*!~:/() ]|(?<=[a-zA-Z0-9_])-)*"
_MARKER = rf"(?:[a-z_. ()<>=!~]|'{_QUOTED}'|\"{_QUOTED}\")+"
_PATH = r"[\w./+~!-]+"
_FORMS = {
    "version": re.compile(_VERSION),
    "hash": re.compile(_DIGEST),
    **dict.fromkeys(("name", "extra", "extras", "provides-extras"), re.compile(_NAME)),
    **dict.fromkeys(("marker", "resolution-markers"), re.compile(_MARKER)),
    **dict.fromkeys(("supported-markers", "required-markers"), re.compile(_MARKER)),
}
# What would be more than a part of one line.
_BEYOND_A_LINE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029#\\]|\$\{?\w|^-|\s-")
_ENTRY = re.compile(
    rf"(?:{_NAME}(?:\[{_NAME}(?:,{_NAME})*\])?=={_VERSION}|(?:-e )?\./{_PATH}|-e /{_PATH}"
    rf"|file:///[a-zA-Z0-9_./+~!%-]+)(?: ; {_MARKER})?(?: \\\n    --hash={_DIGEST})*"
)
_ENDS = re.compile(r"\n(?!    --hash=)")


def odd_text(lock: Any) -> str | None:
    """A text of a lock, or a key, that is no part of one line, or has not the form of its kind."""
    for key, text in _texts(lock):
        form = _FORMS.get(key)
        if _BEYOND_A_LINE.search(text) or (form is not None and not form.fullmatch(text)):
            return text
    return None


def odd_entry(lines: bytes) -> str | None:
    """An entry in what uv has written for a lock that is no package of one strict form."""
    entries = _ENDS.split(lines.decode("utf-8", "surrogateescape"))
    return next((each for each in entries if each and not _ENTRY.fullmatch(each)), None)


def _texts(lock: Any) -> Iterator[tuple[str, str]]:
    """All texts in a lock by their keys, and these, but for addresses of files: none is used."""
    pending = [("", lock)]
    while pending:
        key, value = pending.pop()
        if isinstance(value, str):
            yield key, value
        elif isinstance(value, dict):
            pending += (("name", each) for each in value)
            pending += (each for each in value.items() if each[0] != "url")
        elif isinstance(value, list):
            pending += ((key, each) for each in value)
