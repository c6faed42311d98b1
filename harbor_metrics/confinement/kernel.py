"""System calls by their numbers, for those of which Python and libc know nothing."""

from __future__ import annotations

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)


def checked(result: int) -> int:
    """The result of a call.

    Raises:
        OSError: it failed.
    """
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def call(number: int, *arguments: int | bytes | None) -> int:
    """A system call by its number; raises as `checked`."""
    numbers = (ctypes.c_long(a) if isinstance(a, int) else a for a in arguments)
    return checked(LIBC.syscall(ctypes.c_long(number), *numbers))
