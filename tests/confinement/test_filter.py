"""The system calls that a program cannot make with the filter, and those that it can."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator

import pytest
from metric_scripts import linux

from harbor_metrics.confinement import calls
from harbor_metrics.confinement.workplace import Confinement, Workplace

pytestmark = [
    linux,
    pytest.mark.skipif(
        os.uname().machine not in calls.MACHINES, reason="of this machine no numbers are known"
    ),
]
# Calls that print what became of each.
TRY = """
import ctypes, errno, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def told(what, call):
    try:
        call()
        print(what, "ok")
    except OSError as error:
        print(what, errno.errorcode[error.errno])
def syscall(number, *arguments):
    if libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments)) < 0:
        raise OSError(ctypes.get_errno(), "")
"""


@pytest.fixture(scope="module")
def place() -> Iterator[Workplace]:
    with Workplace() as place:
        yield place


def told(place: Workplace, code: str, *, filtered: bool = True, network: bool = False) -> list[str]:
    only_filter = Confinement(layers=(), filtered=filtered, network=network)
    finished = place.run(
        [sys.executable, "-I", "-S", "-c", TRY + code],
        env={}, cwd="/", timeout=30, confinement=only_filter,
    )  # fmt: skip
    assert (finished.code, finished.filtered) == (0, filtered), finished.stderr.decode()
    return finished.stdout.decode().splitlines()


def test_no_filter_is_added(place: Workplace) -> None:
    code = """
import struct
buffer = ctypes.create_string_buffer(struct.pack("=HBBI", 6, 0, 0, 0x7FFF0000))
header = struct.pack("@HP", 1, ctypes.addressof(buffer))
def added():
    if libc.prctl(22, 2, header, 0, 0) < 0: raise OSError(ctypes.get_errno(), "")
told("prctl", added)
"""
    assert told(place, code) == ["prctl EINVAL"]


def test_sockets_take_no_filter_of_their_own(place: Workplace) -> None:
    # One alone: a few thousand stop the kernel for good, of whoever runs this.
    code = """
import struct
one, other = socket.socketpair()
buffer = ctypes.create_string_buffer(struct.pack("=HBBI", 6, 0, 0, 0xFFFF))
filter = struct.pack("@HP", 1, ctypes.addressof(buffer))
told("filter", lambda: one.setsockopt(socket.SOL_SOCKET, 26, filter))
told("none", lambda: one.setsockopt(socket.SOL_SOCKET, 27, 0))
told("low", lambda: one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 2))
told("size", lambda: one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20))
told("wait", lambda: one.settimeout(2))
tcp = socket.socket()
told("at once", lambda: tcp.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1))
told("another", lambda: tcp.setsockopt(socket.IPPROTO_TCP, 13, b"reno"))
told("both", lambda: socket.socket(socket.AF_INET6).setsockopt(41, socket.IPV6_V6ONLY, 1))
"""
    taken = ["low ok", "size ok", "wait ok", "at once ok"]
    refused = ["filter ENOPROTOOPT", "none ENOPROTOOPT"]
    assert told(place, code) == [*refused, *taken, "another ENOPROTOOPT", "both EPERM"]
    called = told(place, code, network=True)
    assert called == [*refused, *taken, "another ENOPROTOOPT", "both ok"]


def test_own_clocks_are_read_and_room_for_files_is_written(place: Workplace) -> None:
    code = """
import tempfile, threading, time
number = ctypes.c_int()
def own():
    if libc.clock_getcpuclockid(os.getpid(), ctypes.byref(number)): raise OSError(22, "")
    time.clock_gettime(number.value)
def parents(): time.clock_gettime(~os.getppid() << 3 | 2)
for each in (time.CLOCK_MONOTONIC, time.CLOCK_PROCESS_CPUTIME_ID, time.CLOCK_THREAD_CPUTIME_ID):
    told(each, lambda: time.clock_gettime(each))
told("own", own)
thread = threading.get_ident()
told("thread", lambda: time.clock_gettime(time.pthread_getcpuclockid(thread)))
told("parent's", parents)
told("sleep", lambda: time.sleep(0.001))
file = tempfile.TemporaryFile()
told("room", lambda: os.posix_fallocate(file.fileno(), 0, 1 << 20))
print(os.fstat(file.fileno()).st_size, os.fstat(file.fileno()).st_blocks * 512 >= 1 << 20)
told("at once", lambda: syscall(ROOM, file.fileno(), 0, 0, 1 << 21))
"""
    room = calls.MAKE_ROOM[calls.MACHINES[os.uname().machine][1]]
    assert told(place, code.replace("ROOM", str(room))) == [
        *("1 ok", "2 ok", "3 ok", "own ok", "thread ok", "parent's EINVAL", "sleep ok"),
        *("room ok", "1048576 True", f"at once {errno.errorcode[errno.EOPNOTSUPP]}"),
    ]


def test_requests_that_are_not_of_a_process_are_not_known(place: Workplace) -> None:
    # A table of futexes with one slot: of a larger one nobody counts the memory.
    code = """
def request(*arguments):
    if libc.prctl(*map(ctypes.c_ulong, arguments)) < 0: raise OSError(ctypes.get_errno(), "")
told("futexes", lambda: request(78, 1, 2, 0, 0))
told("core", lambda: request(62, 0, 0, 0, 0))
told("name", lambda: request(15, ctypes.addressof(ctypes.create_string_buffer(b"it")), 0, 0, 0))
"""
    assert told(place, code) == ["futexes EINVAL", "core EINVAL", "name ok"]


def test_every_denied_call_is_not_permitted(place: Workplace) -> None:
    column = calls.MACHINES[os.uname().machine][1]
    numbers = {name: columns[column] for name, columns in calls.DENIED.items()}
    # With arguments that no call can take.
    code = f"for name, n in {numbers!r}.items(): told(name, lambda: syscall(n, -1, -1, -1, -1))"
    assert told(place, code) == [f"{name} EPERM" for name in calls.DENIED]


def test_what_is_in_memory_of_files_is_not_told(place: Workplace) -> None:
    column = calls.MACHINES[os.uname().machine][1]
    numbers = {name: columns[column] for name, columns in calls.UNKNOWN.items()}
    code = (
        f"for name, n in {numbers!r}.items(): told(name, lambda: syscall(n, -1, -1, -1, -1))\n"
        "for n in (451, 452, 469, 511, 4000): told(n, lambda: syscall(n, -1, -1, -1, -1))\n"
        "file, buffer = open(sys.executable, 'rb'), bytearray(9)\n"
        "told('read', lambda: os.preadv(file.fileno(), [buffer], 0))\n"
        "told('resident', lambda: os.preadv(file.fileno(), [buffer], 0, os.RWF_NOWAIT))\n"
        "told('advice', lambda: os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED))\n"
        "import mmap; own = mmap.mmap(-1, 1 << 21)\n"
        "for n in (4, 8, 14, 15, 21): told(n, lambda: own.madvise(n))\n"
    )
    unknown = [f"{name} ENOSYS" for name in (*numbers, 451, 452, 469, 511, 4000)]
    own = ["4 ok", "8 EINVAL", "14 ok", "15 ok", "21 EINVAL"]
    assert told(place, code) == [
        *unknown,
        "read ok",
        f"resident {errno.errorcode[errno.EOPNOTSUPP]}",
        "advice ok",
        *own,
    ]


def test_attributes_of_files_are_not_told_and_files_are_copied_without(place: Workplace) -> None:
    code = (
        "import io, shutil, tarfile, tempfile\n"
        "folder = tempfile.mkdtemp()\n"
        "one, two = folder + '/one', folder + '/two'\n"
        "open(one, 'w').write('1')\n"
        "for path in (one, 0):\n"
        "    told('get', lambda: os.getxattr(path, 'user.origin'))\n"
        "    told('list', lambda: os.listxattr(path))\n"
        "told('link', lambda: os.listxattr(one, follow_symlinks=False))\n"
        "told('copy', lambda: shutil.copy2(one, two))\n"
        "told('tree', lambda: shutil.copytree(folder, folder + '/tree'))\n"
        "packed = tarfile.open(folder + '/it.tar', 'w')\n"
        "told('pack', lambda: packed.add(one, 'packed'))\n"
        "packed.close()\n"
        "told('unpack', lambda: tarfile.open(folder + '/it.tar').extractall(folder))\n"
        "os.system(f'cp -a {one} {folder}/three; ls -l {folder} >/dev/null')\n"
        "print(sorted(os.listdir(folder)))\n"
        "shutil.rmtree(folder)\n"
    )
    no = errno.errorcode[errno.EOPNOTSUPP]
    made = "['it.tar', 'one', 'packed', 'three', 'tree', 'two']"
    done = [f"{what} ok" for what in ("copy", "tree", "pack", "unpack")]
    asked = [f"{what} {no}" for what in ("get", "list", "get", "list", "link")]
    assert told(place, code) == [*asked, *done, made]


def test_mode_of_a_file_is_set_without_following_links(place: Workplace) -> None:
    code = (
        "import tempfile\n"
        "file = tempfile.NamedTemporaryFile()\n"
        "libc.fchmodat.restype = ctypes.c_int\n"
        "print(libc.fchmodat(-100, file.name.encode(), 0o755, 0x100))\n"
        "print(oct(os.stat(file.name).st_mode))\n"
    )
    assert told(place, code) == ["0", "0o100755"]


@pytest.mark.parametrize(
    ("family", "kind", "without", "with_network"),
    [
        ("AF_INET", "SOCK_STREAM", "ok", "ok"),
        ("AF_INET6", "SOCK_DGRAM", "EPERM", "ok"),
        ("AF_UNIX", "SOCK_STREAM", "EPERM", "EPERM"),
        ("AF_NETLINK", "SOCK_RAW", "EPERM", "ok"),
        ("AF_PACKET", "SOCK_RAW", "EPERM", "EPERM"),
    ],
)
def test_sockets_are_of_the_internet_alone(
    family: str, kind: str, without: str, with_network: str, place: Workplace
) -> None:
    code = f"told('it', lambda: socket.socket(socket.{family}, socket.{kind}).close())"
    assert told(place, code) == [f"it {without}"]
    assert told(place, code, network=True) == [f"it {with_network}"]


def test_nobody_is_called_without_the_network(place: Workplace) -> None:
    code = (
        "tcp = socket.socket()\n"
        "told('connect', lambda: tcp.connect(('127.0.0.1', 9)))\n"
        "told('send', lambda: tcp.sendto(b'x', 0x20000000, ('127.0.0.1', 9)))\n"
        "told('bind', lambda: socket.socket().bind(('127.0.0.1', 0)))\n"
    )
    assert told(place, code) == ["connect EPERM", "send EPERM", "bind EPERM"]
    called = ["connect ECONNREFUSED", "send ECONNREFUSED", "bind ok"]
    assert told(place, code, network=True) == called


def test_who_builds_has_no_port_with_the_network_either(place: Workplace) -> None:
    """It waited at the port of an index that is called `localhost`, for another metric's uv; or
    called from there who was calling it."""
    code = """
import socket
def told(call, *given):
    try: call(*given)
    except OSError as error: print(error.errno)
    else: print("done")
one, other = socket.socket(), socket.socket()
asked = socket.socket(type=socket.SOCK_DGRAM)
for each in (asked, one):
    told(each.setsockopt, socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    told(each.bind, ("127.0.0.1", 0))
    print(each.getsockname()[1] > 0)
netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)
netlink.bind((0, 0))
print(netlink.getsockname()[0] > 0)
# It asks the routes, by such a socket, whether there are addresses of each kind.
told(socket.getaddrinfo, "localhost", 80, 0, 0, 0, socket.AI_ADDRCONFIG)
told(one.listen)
told(other.connect, ("127.0.0.1", 9))
told(asked.sendto, b"x", ("127.0.0.1", 9))
"""
    for called, listens in ((True, "done"), (False, str(errno.EPERM))):
        confinement = Confinement(layers=(), network=True, called=called)
        finished = place.run(
            [sys.executable, "-I", "-S", "-c", code],
            env={}, cwd="/", timeout=30, confinement=confinement,
        )  # fmt: skip
        said = finished.stdout.decode().split()
        has_port = ["done", "done", str(called)]
        rest = ["True", "done", listens, str(errno.ECONNREFUSED), "done"]
        assert said == [*has_port, *has_port, *rest]


def test_networks_of_the_machine_are_not_told(place: Workplace) -> None:
    code = (
        "import fcntl\n"
        "tcp = socket.socket()\n"
        "for request in (0x8912, 0x8915, 0x8927, 0x8933):\n"
        "    asked = bytearray(64)\n"
        "    asked[:2] = b'' if request == 0x8912 else b'lo'\n"
        "    asked = asked.ljust(64, b'\\0')\n"
        "    told(hex(request), lambda: fcntl.ioctl(tcp, request, asked))\n"
        "told('unread', lambda: fcntl.ioctl(socket.socketpair()[0], 0x541B, bytearray(4)))\n"
    )
    requests = [hex(request) for request in (0x8912, 0x8915, 0x8927, 0x8933)]
    refused = [*(f"{request} ENOTTY" for request in requests), "unread ok"]
    assert told(place, code) == refused
    answered = [*(f"{request} ok" for request in requests), "unread ok"]
    assert told(place, code, network=True) == answered


def test_what_is_open_is_asked_what_all_are_and_nothing_of_its_file_system(
    place: Workplace,
) -> None:
    code = (
        "import fcntl, pty, termios\n"
        "file, (main, terminal) = open(sys.executable), pty.openpty()\n"
        "for what, fd, request in (\n"
        "    ('uuid', file, 0x80111500), ('path', file, 0x80801501), ('label', file, 0x81009431),\n"
        "    ('block', file, 2), ('close', file, 0x5451), ('size', terminal, termios.TIOCGWINSZ),\n"
        "    ('unread', main, termios.FIONREAD), ('name', main, 0x80045430),\n"
        "): told(what, lambda: fcntl.ioctl(fd, request, bytearray(256)))\n"
        "print(os.isatty(terminal), os.get_terminal_size(terminal).lines)\n"
        "os.set_blocking(main, False); os.set_inheritable(main, True)\n"
    )
    kept = ("uuid", "path", "label", "block")
    told_of = ("close", "size", "unread", "name")
    expected = [*(f"{what} ENOTTY" for what in kept), *(f"{what} ok" for what in told_of)]
    assert told(place, code) == [*expected, "True 0"]


def test_pair_of_sockets_talks(place: Workplace) -> None:
    code = "a, b = socket.socketpair(); a.sendall(b'x'); print(b.recv(1).decode())"
    assert told(place, code) == ["x"]


def test_only_the_program_itself_is_limited_or_scheduled(place: Workplace) -> None:
    code = (
        "told('own', lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)))\n"
        "told('other', lambda: os.sched_setaffinity(os.getppid(), {0}))\n"
    )
    assert told(place, code) == ["own ok", "other EPERM"]


def test_processes_and_threads_can_be_made(place: Workplace) -> None:
    code = (
        "import threading\n"
        "thread = threading.Thread(target=print, args=('thread',)); thread.start(); thread.join()\n"
        "sys.stdout.flush()\n"
        "pid = os.fork()\n"
        "if pid == 0: print('child', flush=True); os._exit(0)\n"
        "os.waitpid(pid, 0)\n"
    )
    assert told(place, code) == ["thread", "child"]


def test_without_the_filter_the_calls_are_made(place: Workplace) -> None:
    number = calls.DENIED["keyctl"][calls.MACHINES[os.uname().machine][1]]
    code = f"told('keyctl', lambda: syscall({number}, 10**6))"
    assert told(place, code, filtered=False) != ["keyctl EPERM"]


def test_no_pipe_is_made_larger(place: Workplace) -> None:
    """61 of a MiB each are all the pages that the kernel lets a user's pipes have."""
    code = (
        "import fcntl\n"
        "pipe, _ = os.pipe()\n"
        "told('larger', lambda: fcntl.fcntl(pipe, 1031, 1 << 20))\n"
        "told('asked', lambda: fcntl.fcntl(pipe, 1032))\n"
    )
    assert told(place, code) == ["larger EPERM", "asked ok"]
    assert told(place, code, filtered=False) == ["larger ok", "asked ok"]
