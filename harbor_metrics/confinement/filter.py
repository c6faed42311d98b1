"""The system calls that a confined program cannot make: a seccomp filter, part of either layer."""

from __future__ import annotations

import ctypes
import os
import struct
from itertools import chain

from . import calls
from .denials import instructions
from .kernel import LIBC, checked

# include/uapi/linux/prctl.h, seccomp.h
_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_INSTRUCTION = 8
# To make the instructions takes many times as long as the kernel takes to load them.
_PREPARED: dict[tuple[bool, bool, bool], tuple[bytes, list[int]]] = {}
# Stands in the instructions for the number of the process, which is known last.
_ITSELF = 0xFFFF_FFFF


def deny_calls(*, network: bool, apart: bool = False, process: int, called: bool = True) -> None:
    """No such call from here on, by this process and by those that it starts.

    No socket but those of TCP and UDP; without the network they reach nobody, and there are none of
    UDP but `apart`, in a network of one's own; and who is not `called` waits for nobody with it
    either, such as in the place of an index. The one process that may be limited and scheduled by
    its number is `process`.

    Raises:
        OSError: of this machine the numbers are not known, or the kernel takes no filter.
    """
    prepared, places = prepare(network=network, apart=apart, called=called)
    program = bytearray(prepared)
    for place in places:
        struct.pack_into("=I", program, place, process)
    # A session keyring of its own; where that is not to be had there are no keys to be had.
    column = calls.MACHINES[os.uname().machine][1]
    LIBC.syscall(ctypes.c_long(calls.DENIED["keyctl"][column]), ctypes.c_long(1), None)
    buffer = ctypes.create_string_buffer(bytes(program), len(program))
    header = struct.pack("@HP", len(program) // _INSTRUCTION, ctypes.addressof(buffer))
    checked(LIBC.prctl(_PR_SET_SECCOMP, _MODE_FILTER, header, 0, 0))


def prepare(*, network: bool, apart: bool, called: bool = True) -> tuple[bytes, list[int]]:
    """The instructions that `deny_calls` gives to the kernel, which copies of this process have.

    And where in them the number of the process belongs.

    Raises:
        OSError: of this machine the numbers are not known.
    """
    asked = (network, apart, called)
    if asked not in _PREPARED:
        known = calls.MACHINES.get(os.uname().machine)
        if known is None:
            raise OSError(95, f"the system calls of {os.uname().machine} are not known")
        program = instructions(*known, network=network, apart=apart, process=_ITSELF, called=called)
        packed = struct.pack("=" + "HBBI" * len(program), *chain.from_iterable(program))
        places = [i * _INSTRUCTION + 4 for i, (*_, value) in enumerate(program) if value == _ITSELF]
        _PREPARED[asked] = packed, places
    return _PREPARED[asked]
