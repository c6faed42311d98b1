"""What a script wrote to `-o`: an object of finite numbers in a file of its own, or refused."""

from __future__ import annotations

import errno
import json
import os
import stat

from ..documents.diagnostics import Diagnostic
from ..documents.document import parse
from ..documents.files import reason
from ..documents.wording import article, printable
from ..errors import MetricFailure
from ..numbers.exact import Number

MAX_BYTES = 1 << 20
MAX_KEYS = 1_000
MAX_NAME = 1_000
# To explain a slip takes as long as to read thousands of bytes, and one is told.
_MOST_SLIPS = 1_000


def read(folder: int, name: str) -> dict[str, Number]:
    """The numbers in the file of that name, relative to an open directory.

    Raises:
        FileNotFoundError: there is no such file.
        MetricFailure: it is something else than a file with an object of finite numbers.
    """
    document, found = parse(_to_the_first_slip(content(folder, name)), "output")
    if found or document is None:
        raise MetricFailure("script-failed", f"the script's output is not JSON: {_slip(found[0])}")
    value = document.value
    if not isinstance(value, dict):
        raise MetricFailure(
            "script-failed",
            f"the script's output must be an object of numbers, not {article(value)}",
        )
    if not value:
        raise MetricFailure(
            "script-failed", "the script's output is an empty object, without any number"
        )
    if len(value) > MAX_KEYS:
        raise MetricFailure(
            "script-failed",
            f"the script's output has {len(value)} keys; at most {MAX_KEYS} are taken",
        )
    for key, number in value.items():
        if len(key) > MAX_NAME:
            raise MetricFailure(
                "script-failed",
                f"a key in the script's output has {len(key)} characters; at most {MAX_NAME} "
                "are taken",
            )
        if not key:
            raise MetricFailure(
                "script-failed", "a key in the script's output is empty; it must name a number"
            )
        if type(number) not in (int, float):
            raise MetricFailure(
                "script-failed",
                f"`{printable(key[:200])}` in the script's output must be a number, "
                f"not {article(number)}; the output is a flat object",
            )
    return value


def _to_the_first_slip(data: bytes) -> bytes:
    """The bytes, or as many of them as it takes to tell what is wrong with them first."""
    slips = 0

    def count(pairs: list[tuple[str, object]]) -> None:
        nonlocal slips
        slips += len(pairs) - len({key for key, _ in pairs})
        if slips > _MOST_SLIPS or len(pairs) > _MOST_SLIPS + MAX_KEYS:
            raise MetricFailure(
                "script-failed",
                f"the script's output has more than {MAX_KEYS} keys; at most {MAX_KEYS} are taken",
            )

    def constant(name: str) -> None:
        nonlocal slips
        slips += 1
        if slips > _MOST_SLIPS:
            raise MetricFailure(
                "script-failed", f"the script's output holds {name}, which is no number of JSON"
            )

    try:
        json.loads(data, object_pairs_hook=count, parse_constant=constant)
    except json.JSONDecodeError as error:
        return error.doc[: error.pos + _MOST_SLIPS].encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        pass  # of a kind that stops whoever reads on
    return data


def _slip(slip: Diagnostic) -> str:
    place = slip.span
    if slip.rule == "lone-surrogate":
        return f"{printable(slip.message)}, in a key or in a value"
    if place is None:
        return printable(slip.message)
    length = place.end_column - place.column
    digits = f", with {length} digits" if slip.rule == "number-out-of-range" and length > 40 else ""
    return f"{printable(slip.message)}{digits} (line {place.line}, column {place.column})"


def content(folder: int, name: str) -> bytes:
    """The bytes of a small regular file; raises as `read`."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(name, flags, dir_fd=folder)
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            raise MetricFailure(
                "script-failed", "the script's output is a symbolic link, not a file"
            ) from error
        if error.errno == errno.ENXIO:
            raise MetricFailure(
                "script-failed", "the script's output is a socket, not a regular file"
            ) from error
        raise MetricFailure(
            "script-failed", f"the script's output cannot be read: {reason(error)}"
        ) from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise MetricFailure("script-failed", "the script's output is not a regular file")
        if status.st_nlink != 1:
            raise MetricFailure(
                "script-failed", "the script's output is a hard link to another file"
            )
        if status.st_size > MAX_BYTES:
            raise MetricFailure(
                "script-failed",
                f"the script's output is larger than {MAX_BYTES} bytes; "
                f"at most {MAX_KEYS} keys are taken",
            )
        return os.read(descriptor, MAX_BYTES + 1)
    except OSError as error:
        raise MetricFailure(
            "script-failed", f"the script's output cannot be read: {reason(error)}"
        ) from error
    finally:
        os.close(descriptor)
