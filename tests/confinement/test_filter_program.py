"""The filter as the kernel would run it, for both machines that it is made for.

`calls.json` has the numbers of all calls on x86-64 and on arm64, out of the headers of Linux.
"""

from __future__ import annotations

import json
from functools import cache

import pytest
from conftest import HERE

from harbor_metrics.confinement import calls
from harbor_metrics.confinement.denials import instructions
from harbor_metrics.confinement.instructions import program

CALLS = json.loads((HERE / "confinement" / "calls.json").read_text())
MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOWED, REFUSED, UNKNOWN, NOT_OF_THIS_FILE = 0x7FFF0000, 0x00050001, 0x00050026, 0x00050019
DONE, INVALID, NOT_SUPPORTED = 0x00050000, 0x00050016, 0x0005005F
NO_SUCH_OPTION = 0x0005005C
CREATE, READ_WRITE = 0o100, 2
UNIX, INTERNET, PACKET = 1, 2, 17
STREAM, DATAGRAM, CLOSE_ON_EXEC = 1, 2, 0o2000000


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def run(program, machine: int, number: int, *arguments: int) -> int:
    """What the program returns for a call: the instructions of classic BPF that it is made of."""
    data = {0: number, 4: machine}
    for i, argument in enumerate([*arguments, *[0] * (6 - len(arguments))]):
        data |= {16 + 8 * i: argument & 0xFFFFFFFF, 20 + 8 * i: argument >> 32}
    at = loaded = 0
    while True:
        code, yes, no, value = program[at]
        at += 1
        if code == 0x06:
            return int(value)
        if code == 0x20:
            loaded = data[value]
        elif code == 0x05:
            at += value
        elif code == 0x54:
            loaded &= value
        elif code == 0xA4:
            loaded ^= value
        elif code == 0x74:
            loaded >>= value
        else:
            tests = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}
            at += yes if tests[code] else no


@cache
def made(machine: str, network: bool, apart: bool):
    numbered, column = calls.MACHINES[machine]
    return instructions(numbered, column, network=network, apart=apart, process=7)


def asked(machine: str, name: str, *arguments: int, network: bool = False, apart: bool = False):
    _, column = calls.MACHINES[machine]
    program = made(machine, network, apart)
    return run(program, MACHINES[machine], CALLS[name][column], *arguments)


def test_numbers_are_those_of_the_headers() -> None:
    # arm64 has the second of these alone.
    alone = {"chown": "fchownat", "lchown": "fchownat", "inotify_init": "inotify_init1"}
    for name, numbers in {
        **calls.DENIED,
        **calls.UNKNOWN,
        **calls.PRETENDED,
        **calls.ATTRIBUTES,
        **calls.WITH_FLAGS,
        **calls.CLOCKS,
        "fallocate": calls.MAKE_ROOM,
        "madvise": calls.ADVISE,
        "prctl": calls.PROCESS_CONTROL,
    }.items():
        assert list(numbers) == [CALLS[name][0], CALLS[alone.get(name, name)][1]], name


def test_every_call_but_those_denied_can_be_made(machine: str) -> None:
    column = calls.MACHINES[machine][1]
    numbers = {name: n[column] for name, n in CALLS.items() if n[column] is not None}
    refused = {name for name in numbers if asked(machine, name) != ALLOWED}
    denied = {n[column] for n in [*calls.DENIED.values(), *calls.UNKNOWN.values()]}
    more = {"bind", "listen", "accept", "accept4", "connect", "sendmsg", "sendmmsg"}
    more |= {"socket", "socketpair", "fadvise64", "readahead", *calls.ATTRIBUTES}
    # Of IP, which is level 0; of no kind, which for these begin with 1.
    more |= {"setsockopt", "ioprio_set"}
    # Of no kind that is known.
    more |= {"ioctl"}
    # Of whatever file.
    more |= {"fallocate"}
    # Of mode 0, which its owner could not read.
    more |= {"chmod", "fchmod", "fchmodat"} & {*numbers}
    # Of whatever file, where it does not lie apart.
    more |= {"utime", "utimes", "futimesat", "utimensat"} & {*numbers}
    # Of process 0, which is the caller to some of them.
    expected = {name for name, n in numbers.items() if n in denied} | more
    assert refused == expected


def test_another_machine_or_numbering_is_refused(machine: str) -> None:
    numbered, column = calls.MACHINES[machine]
    program = instructions(numbered, column, network=True, apart=False, process=7)
    getpid = CALLS["getpid"][column]
    assert run(program, MACHINES[machine], getpid) == ALLOWED
    assert run(program, 0x40000003, getpid) == REFUSED
    assert run(program, MACHINES[machine], getpid | 0x40000000) == REFUSED


@pytest.mark.parametrize("network", [False, True])
@pytest.mark.parametrize("apart", [False, True])
def test_program_is_one_that_the_kernel_takes(machine: str, network: bool, apart: bool) -> None:
    numbered, column = calls.MACHINES[machine]
    program = instructions(numbered, column, network=network, apart=apart, process=7)
    assert len(program) <= 4096
    check(program)


@pytest.mark.parametrize("n_answers", [3, 200, 3000])
def test_jumps_reach_as_far_as_they_have_to(n_answers: int) -> None:
    # Each call with an answer of its own, one of them longer than a jump of a test.
    answers = {number: [(0x06, 0, 0, number)] for number in range(1, 2 * n_answers, 2)}
    answers[1] = [(0x20, 0, 0, 0)] * 300 + answers[1]
    machine = MACHINES["x86_64"]
    found = program(machine, answers, last=2 * n_answers)
    check(found)
    for number in range(2 * n_answers):
        assert run(found, machine, number) == (number if number % 2 else ALLOWED)


def check(program) -> None:
    for at, (code, yes, no, value) in enumerate(program):
        # A jump of a test has a byte, goes forward, and not beyond the end.
        assert max(yes, no) < 256
        assert code == 0x06 or at + 1 + max(yes, no, value if code == 0x05 else 0) < len(program)


def test_process_named_is_limited_and_no_other(machine: str) -> None:
    for process, answer in ((0, ALLOWED), (7, ALLOWED), (1, REFUSED), (8, REFUSED)):
        assert asked(machine, "prlimit64", process) == answer
        assert asked(machine, "setpriority", 0, process) == answer
        assert asked(machine, "ioprio_set", 1, process) == answer
    for kind in (1, 2):
        assert asked(machine, "setpriority", kind, 0) == REFUSED
        assert asked(machine, "ioprio_set", kind + 1, 0) == REFUSED


@pytest.mark.parametrize("new", [1, 1 << 32])
def test_the_size_of_a_core_dump_stays(machine: str, new: int) -> None:
    core, files = 4, 7
    for process in (0, 7):
        assert asked(machine, "prlimit64", process, core, new) == REFUSED
        assert asked(machine, "prlimit64", process, core, 0) == ALLOWED
        assert asked(machine, "prlimit64", process, files, new) == ALLOWED
    assert asked(machine, "prlimit64", 8, core, 0) == REFUSED
    assert asked(machine, "setrlimit", core, new) == REFUSED
    assert asked(machine, "setrlimit", files, new) == ALLOWED


def test_calls_that_programs_can_do_without_are_unknown(machine: str) -> None:
    column = calls.MACHINES[machine][1]
    for name in calls.UNKNOWN:
        if CALLS[name][column] is not None:
            assert asked(machine, name) == UNKNOWN, name


@pytest.mark.parametrize("network", [False, True])
def test_calls_younger_than_the_table_are_unknown(machine: str, network: bool) -> None:
    numbered, column = calls.MACHINES[machine]
    program = instructions(numbered, column, network=network, apart=False, process=7)
    last = max(n[column] or 0 for n in CALLS.values())
    for number in [*range(last + 1, 2000), 1 << 29, 0x3FFFFFFF]:
        assert run(program, MACHINES[machine], number) == UNKNOWN
    assert run(program, MACHINES[machine], last) == ALLOWED
    for number in (0x40000000, 0x7FFFFFFF, 0xFFFFFFFF):
        assert run(program, MACHINES[machine], number) == REFUSED


def test_nobody_asks_what_is_in_memory_of_the_files_of_others(machine: str) -> None:
    for name in ("preadv2", "pwritev2"):
        assert asked(machine, name, 3, 4, 1, 0, 0, 0) == ALLOWED
        for flag in (1, 2, 4, 8, 16, 32, 64, 128):
            assert asked(machine, name, 3, 4, 1, 0, 0, flag) == NOT_SUPPORTED
    for advice in range(8):
        assert asked(machine, "fadvise64", 3, 0, 0, advice) == DONE
    assert asked(machine, "readahead", 3) == DONE


def test_advice_is_given_about_pages_of_ones_own(machine: str) -> None:
    others = {12, 20, 21}
    for advice in range(30):
        answer = INVALID if advice in others else ALLOWED
        assert asked(machine, "madvise", 4096, 4096, advice) == answer


def test_process_says_of_itself_what_is_its_own(machine: str) -> None:
    # Who counts what it takes looks into it.
    assert asked(machine, "prctl", 4, 0) == DONE
    # Filters, where its memory lies, who computes on its core, that its pages are merged.
    not_its_own = {22, 35, 62, 67}
    for request in {*range(1, 77)} - {4}:
        answer = INVALID if request in not_its_own else ALLOWED
        assert asked(machine, "prctl", request) == answer, request
    # Tables of futexes, names of mappings, who may trace it.
    for request in (77, 78, 79, 1000, 0x53564D41, 0x59616D61, 2**32 - 2):
        assert asked(machine, "prctl", request) == INVALID, request


def clock(process: int, kind: int) -> int:
    return ~process << 3 & 0xFFFFFFFF | kind


def test_clocks_are_the_systems_and_ones_own(machine: str) -> None:
    for name in calls.CLOCKS:
        for number in range(12):
            assert asked(machine, name, number) == ALLOWED
        for number in (12, 16, 23, 1 << 30):
            assert asked(machine, name, number) == INVALID
        for kind in range(3):
            for process, answer in ((0, ALLOWED), (7, ALLOWED), (1, INVALID), (8, INVALID)):
                assert asked(machine, name, clock(process, kind)) == answer
            # Of a thread of another process the kernel tells nothing.
            assert asked(machine, name, clock(8, kind | 4)) == ALLOWED
            assert asked(machine, name, 0xFFFFFFFF << 32 | clock(8, kind)) == INVALID
        # What a device tells, by the number of an open file.
        for file in (0, 3, 7):
            assert asked(machine, name, clock(file, 3)) == INVALID


def test_threads_are_made_and_namespaces_are_not(machine: str) -> None:
    assert asked(machine, "clone", 0x3D0F00) == ALLOWED
    for flag in (0x10000000, 0x20000000, 0x40000000, 0x08000000, 0x20000, 0x04000000, 0x02000000):
        assert asked(machine, "clone", flag | 17) == asked(machine, "unshare", flag) == REFUSED
    assert asked(machine, "unshare", 0x80) == REFUSED


def test_sockets_by_family_kind_and_protocol(machine: str) -> None:
    assert asked(machine, "socket", INTERNET, STREAM | CLOSE_ON_EXEC, 6) == ALLOWED
    for protocol in (132, 136, 262):
        assert asked(machine, "socket", INTERNET, STREAM, protocol, network=True) == REFUSED
    for network, apart in ((False, False), (True, False), (False, True)):
        answer = asked(machine, "socket", INTERNET, DATAGRAM, 0, network=network, apart=apart)
        assert answer == (ALLOWED if network or apart else REFUSED)
    for family in (UNIX, PACKET, 38, 40):
        assert asked(machine, "socket", family, STREAM, 0, network=True) == REFUSED
    assert asked(machine, "socketpair", UNIX, STREAM | CLOSE_ON_EXEC, 0) == ALLOWED
    assert asked(machine, "socketpair", UNIX, DATAGRAM, 0) == REFUSED


@pytest.mark.parametrize("network", [False, True])
def test_options_of_sockets_are_those_that_are_known(machine: str, network: bool) -> None:
    known = {1: {2, 4, 6, 9, 10, 13, 15, 16, 18, 19, 20, 21, 66, 67}}
    known[6] = {1, 3, 4, 5, 6, 7, 8, 9, 12, 18, 25}
    if network:
        known |= {0: {1, 2, 8, 10, 11, 12, 13, 24}, 41: {16, 23, 24, 25, 26, 49, 51, 66, 67}}
    for level in (0, 1, 2, 6, 17, 41, 58, 132, 255, 263, 270, 282, 284):
        for option in (*range(100), 2**32 - 1):
            answer = ALLOWED if option in known.get(level, ()) else NO_SUCH_OPTION
            if level == 1 and option in {7, 8, 32, 33}:
                answer = DONE  # buffers stay as they are
            elif level in (0, 41) and not network:
                answer = REFUSED
            assert asked(machine, "setsockopt", 3, level, option, network=network) == answer
    filters = {"attach": 26, "attach bpf": 50, "of a port": 51, "bpf of a port": 52}
    assert not known[1] & {*filters.values()}
    protocols = {"another": 13, "signed": 14, "repaired": 19, "wrapped": 31}
    assert not known[6] & {*protocols.values()}


def test_room_for_files_is_not_taken_without_writing(machine: str) -> None:
    for how in (0, 1, 2, 3, 8, 16, 32, 64):
        assert asked(machine, "fallocate", 3, how, 0, 1 << 40) == NOT_SUPPORTED


def test_nothing_is_sent_to_an_address(machine: str) -> None:
    assert asked(machine, "sendto", 3, 4, 5, 0, 0, 0) == ALLOWED
    for address in (1, 1 << 32):
        assert asked(machine, "sendto", 3, 4, 5, 0, address, 16) == REFUSED
        assert asked(machine, "sendto", 3, 4, 5, 0, address, 16, network=True) == ALLOWED


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("chmod", (1,)),
        ("fchmod", (1,)),
        ("fchmodat", (1, 2)),
        ("open", (1, CREATE)),
        ("openat", (1, 2, CREATE)),
        ("openat", (1, 2, 0o20200000 | READ_WRITE)),
        ("creat", (1,)),
        ("mknod", (1,)),
        ("mknodat", (1, 2)),
    ],
)
def test_no_file_is_given_its_owners_rights(
    machine: str, name: str, arguments: tuple[int, ...]
) -> None:
    if CALLS[name][calls.MACHINES[machine][1]] is None:
        return
    assert asked(machine, name, *arguments, 0o755) == ALLOWED
    assert asked(machine, name, *arguments, 0o104755) == REFUSED


@pytest.mark.parametrize(
    ("name", "arguments"), [("chmod", (1,)), ("fchmod", (1,)), ("fchmodat", (1, 2))]
)
def test_what_lets_others_write_or_shuts_anybody_out_is_no_mode_where_landlock_is_alone(
    machine: str, name: str, arguments: tuple[int, ...]
) -> None:
    if CALLS[name][calls.MACHINES[machine][1]] is None:
        return
    answers = {0o755: ALLOWED, 0o775: DONE, 0o702: DONE, 0o1755: DONE, 0o4777: REFUSED}
    answers |= dict.fromkeys((0, 0o311, 0o600, 0o555, 0o644, 0o700, 0o711), DONE)
    for mode, answer in answers.items():
        assert asked(machine, name, *arguments, mode) == answer
        apart = ALLOWED if answer == DONE else answer
        assert asked(machine, name, *arguments, mode, apart=True) == apart


@pytest.mark.parametrize("name", ["utime", "utimes", "futimesat", "utimensat"])
def test_no_times_are_set_where_landlock_is_alone(machine: str, name: str) -> None:
    if CALLS[name][calls.MACHINES[machine][1]] is None:
        return
    assert asked(machine, name, 1, 2, 3) == DONE
    assert asked(machine, name, 1, 2, 3, apart=True) == ALLOWED


def test_a_mode_says_nothing_where_no_file_is_made(machine: str) -> None:
    assert asked(machine, "openat", 1, 2, 0o200000 | READ_WRITE, 0o4755) == ALLOWED


def test_requests_are_those_of_terminals_and_what_is_open(machine: str) -> None:
    get_flags, at_mark = 0x80086601, 0x8905
    # Whatever is in the bytes above, which the kernel looks at or not.
    for above in (0, 0x40000000, 0x80080000, 0x80110000):
        for request in (*range(above, above + 0x10000, 7), above | at_mark, above | 0x6601):
            known = request in (get_flags, at_mark) or request & 0xFF00 == 0x5400
            answer = ALLOWED if known else NOT_OF_THIS_FILE
            assert asked(machine, "ioctl", 3, request) == answer, hex(request)
            networks = request & 0xFF00 in (0x8900, 0x8B00)
            answer = ALLOWED if known or networks else NOT_OF_THIS_FILE
            assert asked(machine, "ioctl", 3, request, network=True) == answer, hex(request)


def test_file_systems_keep_no_hints_and_leases(machine: str) -> None:
    # Leases, watches, the size of a pipe, and hints of how long what is written will live.
    refused = {1024, 1026, 1031, 1036, 1038, 1040}
    for request in (1, 6, 7, 1023, *range(1024, 1042)):
        answer = REFUSED if request in refused else ALLOWED
        assert asked(machine, "fcntl", 3, request) == answer


def test_threads_have_no_open_files_of_their_own(machine: str) -> None:
    thread, files, memory = 0x10000, 0x400, 0x100
    assert asked(machine, "clone", thread | files | memory) == ALLOWED
    assert asked(machine, "clone", thread | memory) == REFUSED
    # A process, as `fork` and `vfork` make one.
    for flags in (17, 17 | memory | 0x4000):
        assert asked(machine, "clone", flags) == ALLOWED
    assert asked(machine, "unshare", files) == REFUSED
    assert asked(machine, "unshare", 0x200) == ALLOWED
    for flags, answer in ((0, ALLOWED), (4, ALLOWED), (2, REFUSED), (6, REFUSED)):
        assert asked(machine, "close_range", 3, 2**32 - 1, flags) == answer
