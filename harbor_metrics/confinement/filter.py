"""The system calls that a confined program cannot make: a seccomp filter, part of either layer.

Landlock and namespaces say nothing of these calls, or too little where one of them is alone.
"""

from __future__ import annotations

import ctypes
import os
import struct
from itertools import chain

from . import calls
from .kernel import LIBC, checked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Instruction = tuple[int, int, int, int]
    # First and last number of calls with one answer, and the answer.
    Run = tuple[int, int, Sequence[Instruction]]

FILTER = "seccomp"

# include/uapi/linux/seccomp.h, bpf_common.h: instructions, and what a filter returns.
_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_LOAD, _RETURN, _AND = 0x20, 0x06, 0x54
_IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT = 0x15, 0x35, 0x45
_ALLOW, _REFUSE, _UNKNOWN = 0x7FFF0000, 0x00050001, 0x00050026  # EPERM, ENOSYS
_NOT_OF_THIS_FILE = 0x00050019  # ENOTTY, after which programs do without
_NOT_SUPPORTED, _INVALID, _DONE = 0x0005005F, 0x00050016, 0x00050000  # EOPNOTSUPP, EINVAL, 0
_NUMBER, _MACHINE = 0, 4
# Where the halves of an argument lie, the lower first on both machines.
_ARGUMENTS = (16, 24, 32, 40, 48, 56)
_UPPER = 4
# x32 has the numbers of x86-64 with this bit.
_OTHER_NUMBERING = 0x40000000

# That a program runs with the rights of its owner, or of its group.
_SET_RIGHTS = 0o6000
_WRITTEN_BY_OTHERS = 0o022
_OF_DUMPS = 4  # RLIMIT_CORE
_MAKES_A_FILE = 0x40 | 0x400000  # O_CREAT, and the bit of O_TMPFILE that is no other's
# By `ioctl`: what terminals, pipes and files that are open are asked; with the network what any
# socket is, names and addresses of networks, those of wireless ones. What a file system is asked,
# and a device, is not among them, but for the flags of a file; nor what a socket is, but for where
# a mark is in what was received, which is its own.
_OF_WHAT_IS_OPEN, _OF_NETWORKS = 0x5400, (0x8900, 0x8B00)
_KIND_OF_CONTROL, _HARMLESS = 0xFF00, (0x80086601, 0x8905)
# Leases, watches, and hints that stay with a file, by `fcntl`.
_KEPT_FROM_FILES = (1024, 1026, 1036, 1038, 1040)

# To merge pages with equal ones of other processes, and to put out what they read of a file.
_ADVICE_ABOUT_OTHERS = (12, 20, 21)
_MERGE_ALL = 67
# Who counts what a program takes looks into its processes, and takes sockets for of the usual size.
_DUMPABLE = 4
_OF_SOCKETS, _SIZES = 1, (7, 8, 32, 33)

# Mounts, control groups, names, queues, users, processes, network; and time, only of `unshare`.
_NEW_NAMESPACES = 0x7E020000
_NEW_TIME = 0x80
# Of `clone` and `unshare`, and of `close_range`.
_THREAD, _SHARED_FILES, _NO_LONGER_SHARED = 0x10000, 0x400, 2
_UNIX, _INTERNET, _INTERNET_6, _NETLINK = 1, 2, 10, 16
_KIND = 0xF
_STREAM, _DATAGRAM, _RAW, _PACKETS = 1, 2, 3, 5
_TCP, _UDP, _ROUTES = 6, 17, 0
# Options of IP and IPv6.
_OF_ADDRESSES = (0, 41)
# So many calls are gone through one by one.
_FEW = 4
_INSTRUCTION = 8
# To make the instructions takes many times as long as the kernel takes to load them.
_PREPARED: dict[tuple[bool, bool], tuple[bytes, list[int]]] = {}
# Stands in the instructions for the number of the process, which is known last.
_ITSELF = 0xFFFF_FFFF


def deny_calls(*, network: bool, apart: bool = False, process: int) -> None:
    """No such call from here on, by this process and by those that it starts.

    No socket but those of TCP and UDP; without the network they reach nobody, and there are none of
    UDP but `apart`, in a network of one's own. The one process that may be limited and scheduled by
    its number is `process`.

    Raises:
        OSError: of this machine the numbers are not known, or the kernel takes no filter.
    """
    prepared, places = prepare(network=network, apart=apart)
    program = bytearray(prepared)
    for place in places:
        struct.pack_into("=I", program, place, process)
    # A session keyring of its own; where that is not to be had there are no keys to be had.
    column = calls.MACHINES[os.uname().machine][1]
    LIBC.syscall(ctypes.c_long(calls.DENIED["keyctl"][column]), ctypes.c_long(1), None)
    buffer = ctypes.create_string_buffer(bytes(program), len(program))
    header = struct.pack("@HP", len(program) // _INSTRUCTION, ctypes.addressof(buffer))
    checked(LIBC.prctl(_PR_SET_SECCOMP, _MODE_FILTER, header, 0, 0))


def prepare(*, network: bool, apart: bool) -> tuple[bytes, list[int]]:
    """The instructions that `deny_calls` gives to the kernel, which copies of this process have.

    And where in them the number of the process belongs.

    Raises:
        OSError: of this machine the numbers are not known.
    """
    asked = (network, apart)
    if asked not in _PREPARED:
        known = calls.MACHINES.get(os.uname().machine)
        if known is None:
            raise OSError(95, f"the system calls of {os.uname().machine} are not known")
        machine, column = known
        program = _program(machine, column, network=network, apart=apart, process=_ITSELF)
        packed = struct.pack("=" + "HBBI" * len(program), *chain.from_iterable(program))
        places = [i * _INSTRUCTION + 4 for i, (*_, value) in enumerate(program) if value == _ITSELF]
        _PREPARED[asked] = packed, places
    return _PREPARED[asked]


def _program(
    machine: int, column: int, *, network: bool, apart: bool, process: int
) -> list[Instruction]:
    refuse, allow = (_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)
    unknown = (_RETURN, 0, 0, _UNKNOWN)
    answers: dict[int, Sequence[Instruction]] = {
        numbers[column]: [refuse] for numbers in calls.DENIED.values()
    }
    answers |= {numbers[column]: [unknown] for numbers in calls.UNKNOWN.values()}
    answers |= _of_threads(column)
    itself = (0, process)
    for numbers in calls.OF_PROCESS.values():
        answers[numbers[column]] = _by_value(0, itself, allow, refuse)
    answers |= _of_limits(column, process)
    for *both, one in calls.OF_SOMEBODY.values():
        of_one = [(_LOAD, 0, 0, _ARGUMENTS[0]), (_IF_EQUAL, 1, 0, one), refuse]
        answers[both[column]] = [*of_one, *_by_value(1, itself, allow, refuse)]
    answers |= _of_files(column, apart=apart) | _of_memory(column)
    answers[calls.SOCKETPAIR[column]] = _sockets([(_UNIX, (_STREAM, _PACKETS), (0,))])
    # A socket for them has an address, which others can find, as soon as it is used.
    kinds = [(_STREAM, _TCP), *([(_DATAGRAM, _UDP)] if network or apart else [])]
    permitted: list[tuple[int, tuple[int, ...], tuple[int, ...]]] = [
        (family, (kind,), (0, protocol))
        for family in (_INTERNET, _INTERNET_6)
        for kind, protocol in kinds
    ]
    if network:
        # Who looks up names asks for the routes.
        permitted.append((_NETLINK, (_DATAGRAM, _RAW), (_ROUTES,)))
    else:
        answers |= _without_network(column)
    answers[calls.SOCKET[column]] = _sockets(permitted)
    return [
        (_LOAD, 0, 0, _MACHINE),
        (_IF_EQUAL, 1, 0, machine),
        refuse,
        (_LOAD, 0, 0, _NUMBER),
        *((_IF_AT_LEAST, 0, 3, calls.LAST + 1), (_IF_AT_LEAST, 1, 0, _OTHER_NUMBERING)),
        *(unknown, refuse),
        *_search(_runs(answers)),
    ]


def _runs(answers: dict[int, Sequence[Instruction]]) -> list[Run]:
    """The answers in order; of numbers that follow each other one that is the same for all."""
    runs: list[Run] = []
    for number, then in sorted(answers.items()):
        if runs and runs[-1][1:] == (number - 1, then):
            runs[-1] = (runs[-1][0], number, then)
        else:
            runs.append((number, number, then))
    return runs


def _search(answers: Sequence[Run]) -> list[Instruction]:
    """To the answer for the number of the call, which is loaded; a call without one is allowed.

    The kernel asks the program for every number when it takes it, and for some at every call.
    """
    if len(answers) < _FEW:
        parts: list[Instruction] = []
        for first, last, then in answers:
            if first == last:
                parts += [(_IF_EQUAL, 0, len(then), first), *then]
            else:
                within = (_IF_AT_LEAST, len(then), 0, last + 1)
                parts += [(_IF_AT_LEAST, 0, 1 + len(then), first), within, *then]
        return [*parts, (_RETURN, 0, 0, _ALLOW)]
    middle = len(answers) // 2
    lower, upper = _search(answers[:middle]), _search(answers[middle:])
    return [(_IF_AT_LEAST, len(lower), 0, answers[middle][0]), *lower, *upper]


def _of_limits(column: int, process: int) -> dict[int, Sequence[Instruction]]:
    """Limits of no other process; and the size of a core dump stays what it is.

    Any other is none to a system that hands dumps to a program, which runs as root and elsewhere.
    """
    refuse, allow = (_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)
    is_of_dumps = (_IF_EQUAL, 1, 0, _OF_DUMPS)
    new = _ARGUMENTS[2]
    return {
        calls.LIMIT[column]: [(_LOAD, 0, 0, _ARGUMENTS[0]), is_of_dumps, allow, refuse],
        calls.LIMIT_OF_PROCESS[column]: [
            *((_LOAD, 0, 0, _ARGUMENTS[0]), (_IF_EQUAL, 2, 0, 0), (_IF_EQUAL, 1, 0, process)),
            *(refuse, (_LOAD, 0, 0, _ARGUMENTS[1]), is_of_dumps, allow),
            *((_LOAD, 0, 0, new), (_IF_EQUAL, 1, 0, 0), refuse),
            *((_LOAD, 0, 0, new + _UPPER), (_IF_EQUAL, 1, 0, 0), refuse, allow),
        ],
    }


def _of_threads(column: int) -> dict[int, Sequence[Instruction]]:
    """No namespaces, and no thread with open files of its own, which nobody counts."""
    refuse, allow = (_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)
    apart = _NEW_NAMESPACES | _NEW_TIME | _SHARED_FILES
    return {
        calls.CLONE[column]: [
            (_LOAD, 0, 0, _ARGUMENTS[0]),
            (_IF_ANY_BIT, 3, 0, _NEW_NAMESPACES),
            (_IF_ANY_BIT, 0, 1, _THREAD),
            (_IF_ANY_BIT, 0, 1, _SHARED_FILES),
            *(allow, refuse),
        ],
        calls.UNSHARE[column]: [
            *((_LOAD, 0, 0, _ARGUMENTS[0]), (_IF_ANY_BIT, 0, 1, apart), refuse, allow)
        ],
        calls.CLOSE_RANGE[column]: [
            *((_LOAD, 0, 0, _ARGUMENTS[2]), (_IF_ANY_BIT, 0, 1, _NO_LONGER_SHARED), refuse, allow)
        ],
    }


def _of_files(column: int, *, apart: bool) -> dict[int, Sequence[Instruction]]:
    """No file becomes a program with its owner's or group's rights, or is changed by its system.

    Landlock says nothing of modes, attributes, hints and leases; a lease stops who opens the file.
    So where what lies elsewhere is not mounted `apart` to be read only, to let others write a file
    is taken and not followed: who copies a file with its mode goes on.
    """
    refuse, allow = (_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)
    answers: dict[int, Sequence[Instruction]] = {}
    for number, mode, flags in calls.MODES[column]:
        checks = [(_LOAD, 0, 0, _ARGUMENTS[mode]), (_IF_ANY_BIT, 0, 1, _SET_RIGHTS), refuse]
        if number in calls.OF_MODE[column] and not apart:
            checks += [(_IF_ANY_BIT, 0, 1, _WRITTEN_BY_OTHERS), (_RETURN, 0, 0, _DONE)]
        checks.append(allow)
        if flags:
            made = [(_LOAD, 0, 0, _ARGUMENTS[flags]), (_IF_ANY_BIT, 1, 0, _MAKES_A_FILE), allow]
            checks = [*made, *checks]
        answers[number] = checks
    answers[calls.CONTROL[column]] = _controls(network=True)
    answers[calls.FILE_CONTROL[column]] = _by_value(1, _KEPT_FROM_FILES, refuse, allow)
    none = (_RETURN, 0, 0, _NOT_SUPPORTED)
    return answers | {numbers[column]: [none] for numbers in calls.ATTRIBUTES.values()}


def _controls(*, network: bool) -> list[Instruction]:
    """Requests of a few kinds; any other is none that this file knows."""
    allow = (_RETURN, 0, 0, _ALLOW)
    kinds = (_OF_WHAT_IS_OPEN, *(_OF_NETWORKS if network else ()))
    return [
        (_LOAD, 0, 0, _ARGUMENTS[1]),
        *chain.from_iterable(((_IF_EQUAL, 0, 1, request), allow) for request in _HARMLESS),
        (_AND, 0, 0, _KIND_OF_CONTROL),
        *chain.from_iterable(((_IF_EQUAL, 0, 1, kind), allow) for kind in kinds),
        (_RETURN, 0, 0, _NOT_OF_THIS_FILE),
    ]


def _of_memory(column: int) -> dict[int, Sequence[Instruction]]:
    """Nobody learns, or changes, what is in memory of the files and pages of others."""
    allow, done = (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _DONE)
    invalid, not_supported = (_RETURN, 0, 0, _INVALID), (_RETURN, 0, 0, _NOT_SUPPORTED)
    answers: dict[int, Sequence[Instruction]] = {
        numbers[column]: [done] for numbers in calls.PRETENDED.values()
    }
    for numbers in calls.WITH_FLAGS.values():
        answers[numbers[column]] = _by_value(5, (0,), allow, not_supported)
    answers[calls.ADVISE[column]] = _by_value(2, _ADVICE_ABOUT_OTHERS, invalid, allow)
    answers[calls.PROCESS_CONTROL[column]] = [
        *((_LOAD, 0, 0, _ARGUMENTS[0]), (_IF_EQUAL, 0, 1, _DUMPABLE), done),
        *((_IF_EQUAL, 0, 1, _MERGE_ALL), invalid),
        # Filters of all programs share the memory that the kernel has for them.
        *((_IF_EQUAL, 0, 1, _PR_SET_SECCOMP), invalid, allow),
    ]
    answers[calls.SET_OPTION[column]] = _options(())
    return answers


def _options(refused: Iterable[int]) -> list[Instruction]:
    """None of these levels; buffers stay as they are."""
    refuse, allow = (_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)
    levels = [((_IF_EQUAL, 0, 1, level), refuse) for level in refused]
    sizes = _by_value(2, _SIZES, (_RETURN, 0, 0, _DONE), allow)
    level = (_LOAD, 0, 0, _ARGUMENTS[1])
    return [level, *chain.from_iterable(levels), (_IF_EQUAL, 1, 0, _OF_SOCKETS), allow, *sizes]


def _without_network(column: int) -> dict[int, Sequence[Instruction]]:
    refuse, allow = (_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)
    unheard = (*calls.CALLING.values(), *calls.CALLED.values())
    answers: dict[int, Sequence[Instruction]] = {numbers[column]: [refuse] for numbers in unheard}
    address = _ARGUMENTS[4]
    answers[calls.SEND_TO[column]] = [
        *((_LOAD, 0, 0, address), (_IF_EQUAL, 1, 0, 0), refuse),
        *((_LOAD, 0, 0, address + _UPPER), (_IF_EQUAL, 1, 0, 0), refuse, allow),
    ]
    answers[calls.CONTROL[column]] = _controls(network=False)
    # To join a group tells the neighbours of it.
    return answers | {calls.SET_OPTION[column]: _options(_OF_ADDRESSES)}


def _by_value(
    argument: int, values: Sequence[int], among: Instruction, other: Instruction
) -> list[Instruction]:
    """One answer where an argument is among these values, else another."""
    return [
        (_LOAD, 0, 0, _ARGUMENTS[argument]),
        *((_IF_EQUAL, len(values) - i, 0, value) for i, value in enumerate(values)),
        other,
        among,
    ]


def _sockets(
    permitted: Sequence[tuple[int, Sequence[int], Sequence[int]]],
) -> list[Instruction]:
    """Refuse unless family, kind and protocol are together among those permitted."""
    checks: list[Instruction] = []
    for family, kinds, protocols in permitted:
        block: list[Instruction] = [(_LOAD, 0, 0, _ARGUMENTS[1]), (_AND, 0, 0, _KIND)]
        # To the protocol where it is one of the kinds, else over the rest of the block.
        rest = 1 + len(protocols) + 1
        block += [
            (_IF_EQUAL, len(kinds) - i - 1, 0 if i + 1 < len(kinds) else rest, kind)
            for i, kind in enumerate(kinds)
        ]
        block += [(_LOAD, 0, 0, _ARGUMENTS[2])]
        block += [
            (_IF_EQUAL, len(protocols) - i - 1, 0 if i + 1 < len(protocols) else 1, protocol)
            for i, protocol in enumerate(protocols)
        ]
        block += [(_RETURN, 0, 0, _ALLOW)]
        checks += [(_LOAD, 0, 0, _ARGUMENTS[0]), (_IF_EQUAL, 0, len(block), family), *block]
    return [*checks, (_RETURN, 0, 0, _REFUSE)]
