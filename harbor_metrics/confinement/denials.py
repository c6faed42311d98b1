"""What each system call of a confined program gets: made, refused, or answered without being made.

Landlock and namespaces say nothing of these calls, or too little where one of them is alone. It
runs in the process that starts the program, so it imports next to nothing.
"""

from __future__ import annotations

from itertools import chain

from . import calls
from .instructions import (
    ALLOW,
    ANY_BIT,
    DONE,
    EQUAL,
    INVALID,
    NOT_OF_THIS_FILE,
    NOT_SUPPORTED,
    REFUSE,
    UNKNOWN,
    argument,
    by_value,
    only_bits,
    program,
    unless,
    upper,
    where,
    where_among,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .instructions import Instruction

    Answers = dict[int, Sequence[Instruction]]

_PR_SET_SECCOMP = 22
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


def instructions(
    machine: int, column: int, *, network: bool, apart: bool, process: int
) -> list[Instruction]:
    """A filter for a machine, by its number and its column in the table of calls.

    The rest as in `filter.deny_calls`.
    """
    answers: Answers = {numbers[column]: [REFUSE] for numbers in calls.DENIED.values()}
    answers |= {numbers[column]: [UNKNOWN] for numbers in calls.UNKNOWN.values()}
    answers |= _of_threads(column) | _of_processes(column, process)
    answers |= _of_files(column, apart=apart) | _of_memory(column)
    answers |= _of_sockets(column, network=network, apart=apart)
    return program(machine, answers, last=calls.LAST)


def _of_threads(column: int) -> Answers:
    """No namespaces, and no thread with open files of its own, which nobody counts."""
    apart = _NEW_NAMESPACES | _NEW_TIME | _SHARED_FILES
    return {
        calls.CLONE[column]: [
            argument(0),
            *where(ANY_BIT, _NEW_NAMESPACES, [REFUSE]),
            *where(ANY_BIT, _THREAD, unless(ANY_BIT, _SHARED_FILES, [REFUSE])),
            ALLOW,
        ],
        calls.UNSHARE[column]: [argument(0), *where(ANY_BIT, apart, [REFUSE]), ALLOW],
        calls.CLOSE_RANGE[column]: [
            *(argument(2), *where(ANY_BIT, _NO_LONGER_SHARED, [REFUSE]), ALLOW)
        ],
    }


def _of_processes(column: int, process: int) -> Answers:
    """No other process is limited or scheduled; and the size of a core dump stays what it is.

    Any other is none to a system that hands dumps to a program, which runs as root and elsewhere.
    """
    itself = (0, process)
    answers: Answers = {
        numbers[column]: by_value(0, itself, ALLOW, REFUSE) for numbers in calls.OF_PROCESS.values()
    }
    for *both, one in calls.OF_SOMEBODY.values():
        of_one = [argument(0), *unless(EQUAL, one, [REFUSE])]
        answers[both[column]] = [*of_one, *by_value(1, itself, ALLOW, REFUSE)]
    answers[calls.LIMIT[column]] = by_value(0, (_OF_DUMPS,), REFUSE, ALLOW)
    new = [part for half in (argument(2), upper(2)) for part in (half, *unless(EQUAL, 0, [REFUSE]))]
    answers[calls.LIMIT_OF_PROCESS[column]] = [
        *(argument(0), *where_among(itself, [argument(1), *where(EQUAL, _OF_DUMPS, new), ALLOW])),
        REFUSE,
    ]
    return answers


def _of_files(column: int, *, apart: bool) -> Answers:
    """No file becomes a program with its owner's or group's rights, or is changed by its system.

    Landlock says nothing of modes, attributes, hints and leases; a lease stops who opens the file.
    So where what lies elsewhere is not mounted `apart` to be read only, to let others write a file
    is taken and not followed: who copies a file with its mode goes on.
    """
    answers: Answers = {}
    for number, mode, flags in calls.MODES[column]:
        checks = [argument(mode), *where(ANY_BIT, _SET_RIGHTS, [REFUSE])]
        if number in calls.OF_MODE[column] and not apart:
            checks += where(ANY_BIT, _WRITTEN_BY_OTHERS, [DONE])
        if flags:
            checks = [argument(flags), *where(ANY_BIT, _MAKES_A_FILE, checks)]
        answers[number] = [*checks, ALLOW]
    answers[calls.FILE_CONTROL[column]] = by_value(1, _KEPT_FROM_FILES, REFUSE, ALLOW)
    return answers | {numbers[column]: [NOT_SUPPORTED] for numbers in calls.ATTRIBUTES.values()}


def _of_memory(column: int) -> Answers:
    """Nobody learns, or changes, what is in memory of the files and pages of others."""
    answers: Answers = {numbers[column]: [DONE] for numbers in calls.PRETENDED.values()}
    for numbers in calls.WITH_FLAGS.values():
        answers[numbers[column]] = by_value(5, (0,), ALLOW, NOT_SUPPORTED)
    answers[calls.ADVISE[column]] = by_value(2, _ADVICE_ABOUT_OTHERS, INVALID, ALLOW)
    answers[calls.PROCESS_CONTROL[column]] = [
        *(argument(0), *where(EQUAL, _DUMPABLE, [DONE])),
        # Filters of all programs share the memory that the kernel has for them.
        *(*where_among((_MERGE_ALL, _PR_SET_SECCOMP), [INVALID]), ALLOW),
    ]
    return answers


def _of_sockets(column: int, *, network: bool, apart: bool) -> Answers:
    """No socket but pairs and those of TCP and UDP, which without the network reach nobody."""
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
    answers: Answers = {
        calls.SOCKET[column]: _sockets(permitted),
        calls.SOCKETPAIR[column]: _sockets([(_UNIX, (_STREAM, _PACKETS), (0,))]),
        calls.CONTROL[column]: _controls(network=network),
        # To join a group tells the neighbours of it.
        calls.SET_OPTION[column]: _options(() if network else _OF_ADDRESSES),
    }
    if not network:
        unheard = (*calls.CALLING.values(), *calls.CALLED.values())
        answers |= {numbers[column]: [REFUSE] for numbers in unheard}
        answers[calls.SEND_TO[column]] = [
            *(argument(4), *unless(EQUAL, 0, [REFUSE])),
            *(upper(4), *unless(EQUAL, 0, [REFUSE]), ALLOW),
        ]
    return answers


def _sockets(permitted: Iterable[tuple[int, Sequence[int], Sequence[int]]]) -> list[Instruction]:
    """Refuse unless family, kind and protocol are together among those permitted."""
    checks: list[Instruction] = []
    for family, kinds, protocols in permitted:
        of_kind = [argument(2), *where_among(protocols, [ALLOW])]
        of_family = [argument(1), only_bits(_KIND), *where_among(kinds, of_kind)]
        checks += [argument(0), *where(EQUAL, family, of_family)]
    return [*checks, REFUSE]


def _controls(*, network: bool) -> list[Instruction]:
    """Requests of a few kinds; any other is none that this file knows."""
    kinds = (_OF_WHAT_IS_OPEN, *(_OF_NETWORKS if network else ()))
    return [
        *(argument(1), *where_among(_HARMLESS, [ALLOW])),
        *(only_bits(_KIND_OF_CONTROL), *where_among(kinds, [ALLOW]), NOT_OF_THIS_FILE),
    ]


def _options(refused: Iterable[int]) -> list[Instruction]:
    """None of these levels; buffers stay as they are."""
    levels = chain.from_iterable(where(EQUAL, level, [REFUSE]) for level in refused)
    sizes = [argument(2), *where_among(_SIZES, [DONE])]
    return [argument(1), *levels, *where(EQUAL, _OF_SOCKETS, sizes), ALLOW]
