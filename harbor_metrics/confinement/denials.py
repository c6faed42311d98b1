"""What each system call of a confined program gets: made, refused, or answered without being made.

Landlock and namespaces say nothing of these calls, or too little where one of them is alone. It
runs in the process that starts the program, so it imports next to nothing.
"""

from __future__ import annotations

from . import calls
from .instructions import (
    ALLOW,
    ANY_BIT,
    AT_LEAST,
    DONE,
    EQUAL,
    INVALID,
    NO_SUCH_OPTION,
    NOT_OF_THIS_FILE,
    NOT_SUPPORTED,
    REFUSE,
    UNKNOWN,
    argument,
    by_value,
    only_bits,
    other_bits,
    program,
    unless,
    upper,
    where,
    where_among,
    without_lowest,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .instructions import Instruction

    Answers = dict[int, Sequence[Instruction]]

# That a program runs with the rights of its owner, or of its group.
_SET_RIGHTS = 0o6000
_MODE, _SHUT_TO_NOBODY = 0o7777, 0o755
_OF_DUMPS = 4  # RLIMIT_CORE
_MAKES_A_FILE = 0x40 | 0x400000  # O_CREAT, and the bit of O_TMPFILE that is no other's
# By `ioctl`: what terminals, pipes and files that are open are asked; with the network what any
# socket is, names and addresses of networks, those of wireless ones. What a file system is asked,
# and a device, is not among them, but for the flags of a file; nor what a socket is, but for where
# a mark is in what was received, which is its own.
_OF_WHAT_IS_OPEN, _OF_NETWORKS = 0x5400, (0x8900, 0x8B00)
_KIND_OF_CONTROL, _HARMLESS = 0xFF00, (0x80086601, 0x8905)
# Leases, watches, and hints that stay with a file, by `fcntl`; and the size of a pipe, whose pages
# a user has so many of for all programs.
_KEPT_FROM_FILES = (1024, 1026, 1031, 1036, 1038, 1040)

# To merge pages with equal ones of other processes, and to put out what they read of a file.
_ADVICE_ABOUT_OTHERS = (12, 20, 21)
# Who counts what a program takes looks into its processes.
_DUMPABLE = 4
# By `prctl`: filters, for those of all programs share the memory that the kernel has for them;
# where a process says that its memory lies; who computes on its core; that its pages are merged.
# Of what is younger than the last nobody has thought here.
_NOT_OF_A_PROGRAM, _YOUNGEST_KNOWN = (22, 35, 62, 67), 76

# Mounts, control groups, names, queues, users, processes, network; and time, only of `unshare`.
_NEW_NAMESPACES = 0x7E020000
_NEW_TIME = 0x80
# Of `clone` and `unshare`, and of `close_range`.
_THREAD, _SHARED_FILES, _NO_LONGER_SHARED = 0x10000, 0x400, 2
_UNIX, _INTERNET, _INTERNET_6, _NETLINK = 1, 2, 10, 16
_KIND = 0xF
_STREAM, _DATAGRAM, _RAW, _PACKETS = 1, 2, 3, 5
_TCP, _UDP, _ROUTES = 6, 17, 0
# Bytes of an address of netlink; those of the internet have 16 and 24 or more.
_OF_ROUTES = 12
# Options of sockets: addresses used again, broadcasts, keeping alive, data out of band, lingering,
# credentials, low marks, times. No filters, of which a few thousand stop the kernel for good.
_OF_SOCKETS, _IP, _IPV6 = 1, 0, 41
_OPTIONS: dict[int, Sequence[int]] = {
    _OF_SOCKETS: (2, 4, 6, 9, 10, 13, 15, 16, 18, 19, 20, 21, 66, 67),
    # Sent at once, corked, kept alive, tried again, lingering, deferred, acknowledged, given up,
    # and how much waits unsent. Nothing that another part of the kernel would take over.
    _TCP: (1, 3, 4, 5, 6, 7, 8, 9, 12, 18, 25),
}
# With the network: service, hops, sizes of packets, errors, and what is told of what was received.
_OPTIONS_OF_ADDRESSES: dict[int, Sequence[int]] = {
    _IP: (1, 2, 8, 10, 11, 12, 13, 24),
    _IPV6: (16, 23, 24, 25, 26, 49, 51, 66, 67),
}
# Who counts what a program takes takes its sockets for of the usual size.
_SIZES = (7, 8, 32, 33)

# Clocks by their numbers, and below 0 what a process or a thread has taken of a processor, or what
# a device tells that is open. Of threads the kernel tells only those of the caller.
_CLOCKS, _BELOW_0 = 12, 1 << 31
_KIND_OF_CLOCK, _OF_A_DEVICE, _OF_A_THREAD = 0b111, 0b011, 0b100
_BITS_OF_KIND, _BITS_OF_PROCESS = 3, (1 << 29) - 1


def instructions(
    machine: int, column: int, *, network: bool, apart: bool, process: int, called: bool = True
) -> list[Instruction]:
    """A filter for a machine, by its number and its column in the table of calls.

    The rest as in `filter.deny_calls`.
    """
    answers: Answers = {numbers[column]: [REFUSE] for numbers in calls.DENIED.values()}
    answers |= {numbers[column]: [UNKNOWN] for numbers in calls.UNKNOWN.values()}
    answers |= _of_threads(column) | _of_processes(column, process)
    answers |= _of_files(column, apart=apart) | _of_memory(column)
    answers |= _of_sockets(column, network=network, apart=apart, called=called)
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
    return answers | {numbers[column]: _clocks(itself) for numbers in calls.CLOCKS.values()}


def _clocks(processes: Sequence[int]) -> list[Instruction]:
    """No device, and no other process: its time tells what it does."""
    whose = [without_lowest(_BITS_OF_KIND), other_bits(_BITS_OF_PROCESS)]
    return [
        *(argument(0), *unless(AT_LEAST, _CLOCKS, [ALLOW]), *unless(ANY_BIT, _BELOW_0, [INVALID])),
        *(only_bits(_KIND_OF_CLOCK), *where(EQUAL, _OF_A_DEVICE, [INVALID])),
        *where(ANY_BIT, _OF_A_THREAD, [ALLOW]),
        *(argument(0), *whose, *where_among(processes, [ALLOW]), INVALID),
    ]


def _of_files(column: int, *, apart: bool) -> Answers:
    """No file becomes a program with its owner's or group's rights, or is changed by its system.

    Landlock says nothing of modes, attributes, hints and leases; a lease stops who opens the file.
    So where what lies elsewhere is not mounted `apart` to be read only, a mode that lets others
    write a file, or keeps anybody from it, is taken and not followed: who copies a file with its
    mode goes on. Which of them are folders, that could be shut, no filter sees. Nor are times, by
    which others tell whether a file is another one.
    """
    answers: Answers = {}
    for number, mode, flags in calls.MODES[column]:
        checks = [argument(mode), *where(ANY_BIT, _SET_RIGHTS, [REFUSE])]
        if number in calls.OF_MODE[column] and not apart:
            checks += [only_bits(_MODE), *unless(EQUAL, _SHUT_TO_NOBODY, [DONE])]
        if flags:
            checks = [argument(flags), *where(ANY_BIT, _MAKES_A_FILE, checks)]
        answers[number] = [*checks, ALLOW]
    if not apart:
        answers |= {number: [DONE] for number in calls.TIMES[column]}
    answers[calls.FILE_CONTROL[column]] = by_value(1, _KEPT_FROM_FILES, REFUSE, ALLOW)
    # In a few milliseconds it takes the whole disk; by writing it is taken while somebody looks.
    answers[calls.MAKE_ROOM[column]] = [NOT_SUPPORTED]
    return answers | {numbers[column]: [NOT_SUPPORTED] for numbers in calls.ATTRIBUTES.values()}


def _of_memory(column: int) -> Answers:
    """Nobody learns, or changes, what is in memory of the files and pages of others."""
    answers: Answers = {numbers[column]: [DONE] for numbers in calls.PRETENDED.values()}
    for numbers in calls.WITH_FLAGS.values():
        answers[numbers[column]] = by_value(5, (0,), ALLOW, NOT_SUPPORTED)
    answers[calls.ADVISE[column]] = by_value(2, _ADVICE_ABOUT_OTHERS, INVALID, ALLOW)
    answers[calls.PROCESS_CONTROL[column]] = [
        *(argument(0), *where(EQUAL, _DUMPABLE, [DONE])),
        *(
            *where_among(_NOT_OF_A_PROGRAM, [INVALID]),
            *where(AT_LEAST, _YOUNGEST_KNOWN + 1, [INVALID]),
        ),
        ALLOW,
    ]
    return answers


def _of_sockets(column: int, *, network: bool, apart: bool, called: bool) -> Answers:
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
        calls.SET_OPTION[column]: _options(network=network),
    }
    unheard = {} if called else calls.SERVING
    if not network:
        unheard = calls.CALLING | calls.CALLED
    elif not called:
        # Who calls from a port of its choice meets who calls it there at that moment. Some ask for
        # the names of hosts from what is bound, to whatever port; and glibc for the routes, by an
        # address that is too short to be one of the internet.
        answers[calls.BIND[column]] = [argument(2), *where(EQUAL, _OF_ROUTES, [ALLOW]), DONE]
    answers |= {numbers[column]: [REFUSE] for numbers in unheard.values()}
    if not network:
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


def _options(*, network: bool) -> list[Instruction]:
    """Those that are known; buffers stay as they are."""
    checks = [argument(1)]
    # To join a group tells the neighbours of it.
    known, refused = (_OPTIONS | _OPTIONS_OF_ADDRESSES, ()) if network else (_OPTIONS, (_IP, _IPV6))
    for level in refused:
        checks += where(EQUAL, level, [REFUSE])
    for level, options in known.items():
        of_level = [argument(2), *where_among(options, [ALLOW])]
        if level == _OF_SOCKETS:
            of_level += where_among(_SIZES, [DONE])
        checks += where(EQUAL, level, [*of_level, NO_SUCH_OPTION])
    return [*checks, NO_SUCH_OPTION]
