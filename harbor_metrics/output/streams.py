"""The only way out: what goes to standard output and standard error is written whole or fails."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys

from ..documents.wording import printable
from ..errors import OutputError, ReaderGoneError
from . import writer
from .escapes import Line, escaped, escaped_json

_NAMES = {1: "standard output", 2: "standard error"}
_IN_JSON = ("json", "jsonl", "hub-rows", "sarif")
# A word is looked at from its beginning alone. No quote is cut away: what stands between quotes in
# a command would be outside of them.
_LONG_WORD = r"(?<![^\s'\"])([^\s'\"]{1000})[^\s'\"]*\w"


class Stream(io.TextIOBase):
    """Stands for `sys.stdout` or `sys.stderr`, so that other people's code writes as we do.

    Without a descriptor, because the stream was closed by whoever called us, it writes nowhere.
    """

    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor
        self._line = Line()
        self.buffer = _Bytes(self)

    def show(self, text: str, *, styles: bool = False, commands: bool = False) -> None:
        """Write text as `escaped` leaves it.

        Raises:
            ReaderGoneError: the pipe is closed.
            OutputError: it cannot be written for another reason.
        """
        shown = self._line.escaped(text, styles=styles, commands=commands)
        self._put(shown.encode(self.encoding))

    def show_json(self, document: bytes) -> None:
        """Write JSON, or lines of it, as `escaped_json` leaves it; fails as `show` does."""
        self._put(escaped_json(document))

    def _put(self, data: bytes) -> None:
        if self._descriptor is None:
            return
        try:
            writer.write(self._descriptor, data)
        except OSError as error:
            message = f"{_NAMES[self._descriptor]} cannot be written: {error.strerror}"
            # click would take a BrokenPipeError for its own, and exit 1.
            kind = ReaderGoneError if isinstance(error, BrokenPipeError) else OutputError
            raise kind(message) from error

    def write(self, text: str) -> int:  # noqa: D102
        self.show(text)
        return len(text)

    def writable(self) -> bool:  # noqa: D102
        return True

    def fileno(self) -> int:  # noqa: D102
        if self._descriptor is None:
            raise io.UnsupportedOperation("the stream is closed")
        return self._descriptor

    def isatty(self) -> bool:  # noqa: D102
        return self._descriptor is not None and os.isatty(self._descriptor)


class _Bytes(io.RawIOBase):
    """The `buffer` of a stream."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self._stream.write(bytes(data).decode("utf-8", "backslashreplace"))
        return len(data)

    def writable(self) -> bool:
        return True


_out = Stream(1)
_beside = Stream(2)


def take_over() -> None:
    """Let everything that this process prints from now on go through here."""
    global _out, _beside
    _out = Stream(None if sys.stdout is None else 1)
    _beside = Stream(None if sys.stderr is None else 2)
    sys.stdout, sys.stderr = _out, _beside


def print_text(text: str, *, styles: bool = False) -> None:
    """Print text for people, with the styles in it where a terminal shows them; fails as `show`."""
    _out.show(text, styles=styles)


def print_commands(text: str) -> None:
    """Print what a rendering tells GitHub Actions to do; fails as `show`."""
    _out.show(text, commands=True)


def print_error(text: str) -> None:
    """Print why work was not done on standard error, words of any length cut; fails as `show`."""
    _beside.show(re.sub(_LONG_WORD, r"\1…", text))


def print_note(text: str) -> None:
    """Print the same way what is said beside work that is done: lost where it cannot be written.

    The exit code tells of the work, and whether standard output is whole.
    """
    with contextlib.suppress(OutputError):
        print_error(text)


def print_line(sentence: str) -> None:
    """Print a sentence as a note, on one line whatever names it holds."""
    print_note(f"{printable(sentence)}\n")


def print_json(document: str | bytes) -> None:
    """Print JSON, or lines of it; fails as `show`."""
    _out.show_json(document.encode("utf-8") if isinstance(document, str) else document)


def as_printed(text: str | bytes, format_: str) -> bytes:
    """What a file of that format holds: what would be printed, for a file is looked at, too."""
    if format_ in _IN_JSON:
        return escaped_json(text if isinstance(text, bytes) else text.encode())
    plain = text.decode() if isinstance(text, bytes) else text
    return escaped(plain, commands=format_ == "github").encode()
