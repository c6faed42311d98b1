"""System calls by their numbers, for those of which Python and libc know nothing."""

from __future__ import annotations

import ctypes
import os
import struct

LIBC = ctypes.CDLL(None, use_errno=True)
# Python goes on holding its lock while it calls.
_HOLDING = ctypes.PyDLL(None, use_errno=True)
# macOS has none, and this module is imported there, too.
O_PATH: int = getattr(os, "O_PATH", 0)
# include/uapi/linux/stat.h
_KIND, _FOLDER = 0o170000, 0o040000
# ENOSYS, EOPNOTSUPP, EINVAL; EPERM and EACCES where a container filters the calls.
_LACKING = (38, 95, 22, 1, 13)
# The same number on every machine.
_CLONE3, _CHILD_ENDED = 435, 17


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


def lacking(error: OSError) -> str:
    """What is said of a part of the sandbox that this system has not.

    Raises:
        OSError: the error, which is one of the moment: too little memory, too many open files.
    """
    if error.errno not in _LACKING:
        raise error
    return error.strerror or str(error)


def fork(namespaces: int = 0) -> int:
    """As `os.fork`, for a process of one thread on Linux; the copy begins new namespaces.

    Nothing is run in the copy that modules have registered, which takes as long as to make it.

    Raises:
        OSError: there can be no process, or none in namespaces of its own.
    """
    arguments = struct.pack("=8Q", namespaces, 0, 0, 0, _CHILD_ENDED, 0, 0, 0)
    try:
        return checked(_HOLDING.syscall(_CLONE3, arguments, len(arguments)))
    except OSError:
        if namespaces:
            raise
        # In containers that know nothing of this call, too.
        return os.fork()


def real(path: str) -> str:
    """Where links lead, in a tenth of the time of `os.path.realpath`.

    Raises:
        OSError: nothing is there, or it cannot be told.
    """
    descriptor = os.open(path, O_PATH | os.O_CLOEXEC)
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)


def is_folder(descriptor: int) -> bool:
    """Whether it is a folder that is open."""
    return os.fstat(descriptor).st_mode & _KIND == _FOLDER
