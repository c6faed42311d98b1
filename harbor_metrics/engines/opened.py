"""What an engine holds, for whoever asks it; and what is said of what it cannot read."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from ..documents.diagnostics import Diagnostic
from ..documents.unchanged import Unchanged
from ..documents.wording import printable
from ..errors import InputError
from .asked import first_line
from .united import United


class Opened(NamedTuple):
    """A frame that an engine holds, what it is called, and the engine with its version.

    While `frugal` is entered, the engine takes little memory and more time. `united` are the files
    that it is of, where they could differ, and `unchanged` those that lie on this machine.
    """

    native: Any
    path: str
    engine: str
    version: str
    frugal: Callable[[], AbstractContextManager[None]] = nullcontext
    diagnostics: Sequence[Diagnostic] = ()
    united: United = United()
    unchanged: Unchanged = Unchanged()


def without_protocol(path: str) -> str:
    """The path so that what stands before a colon is not taken for a protocol."""
    return os.path.abspath(path) if ":" in path else path


def unreadable(shown: str, error: Exception) -> InputError:
    """What is said of an error that an engine had with what is shown."""
    text = first_line(error)
    if "redential" in text or "Forbidden" in text or "403" in text or "AccessDenied" in text:
        return InputError(
            f"{printable(shown)} cannot be read: {text}",
            "give credentials as the storage's own tools take them (AWS_PROFILE, "
            "AWS_ACCESS_KEY_ID, a role of the machine)",
        )
    if "conversion error" in text or "Invalid unicode" in text or isinstance(error, UnicodeError):
        return InputError(
            f"{printable(shown)} cannot be read: the name of one of its columns is not UTF-8",
            "write the file anew, with other names",
        )
    return InputError(f"{printable(shown)} cannot be read: {text}")
