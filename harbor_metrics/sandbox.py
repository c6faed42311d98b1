"""What the kernel keeps a program from: Landlock and namespaces, by plain system calls.

It runs in the very process that becomes the program, so it imports next to nothing.
"""

from __future__ import annotations

import ctypes
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LANDLOCK = "landlock"
NAMESPACES = "namespaces"
LAYERS = (LANDLOCK, NAMESPACES)

# What programs read of a system: nothing in it is a person's own, nor only for root's eyes.
_SYSTEM = (
    *("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/nix/store", "/proc"),
    *("/sys/devices/system", "/sys/fs/cgroup", "/sys/kernel/mm/transparent_hugepage"),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload"),
    *("/etc/localtime", "/etc/timezone", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf"),
    *("/etc/hosts", "/etc/host.conf", "/etc/resolv.conf", "/etc/gai.conf", "/etc/services"),
    *("/etc/protocols", "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs"),
    *("/etc/pki/ca-trust", "/etc/ca-certificates", "/etc/fonts", "/etc/mime.types"),
    *("/etc/os-release", "/etc/alternatives", "/etc/locale.alias", "/etc/locale.conf"),
)
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_SHARED_MEMORY = "/dev/shm"  # noqa: S108  # the place itself, not a file in it
# What is somebody's own: nothing in it is a program's business that has not been told of it.
_SHARED = (_SHARED_MEMORY, "/tmp", "/var/tmp")  # noqa: S108
_PRIVATE = (*_SHARED, "/home", "/root", "/mnt", "/media", "/srv")

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAPBSET_DROP = 24
_CAPABILITY_VERSION = 0x20080522
_KEPT_CAPABILITIES = (1, 3)  # CAP_DAC_OVERRIDE, CAP_FOWNER
_NEW_USER, _NEW_PID, _NEW_NET, _NEW_IPC, _NEW_MOUNTS = (
    *(0x10000000, 0x20000000, 0x40000000, 0x08000000, 0x00020000),
)
_PRIVATE_TREE = 0x4000 | 0x40000
_BIND = 0x1000 | 0x4000
_NO_SUID_DEV, _NO_EXEC = 0x2 | 0x4, 0x8
_DETACH = 2
# include/uapi/linux/mount.h
_MOUNT_SETATTR, _READ_ONLY, _AT_CWD, _AT_RECURSIVE = 442, 1, -100, 0x8000

# include/uapi/linux/seccomp.h, filter.h: instructions, and what they return.
_PR_SET_SECCOMP = 22
_LOAD, _RETURN, _IF_EQUAL, _IF_AT_LEAST = 0x20, 0x06, 0x15, 0x35
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050001  # EPERM
_FAMILIES = (38, 40)  # AF_ALG, AF_VSOCK
# Machine -> its number in audit.h; keyctl, add_key, request_key, io_uring_setup, bpf, userfaultfd,
# perf_event_open; and socket.
_DENIED = {
    "x86_64": (0xC000003E, (250, 248, 249, 425, 321, 323, 298), 41),
    "aarch64": (0xC00000B7, (219, 217, 218, 425, 280, 282, 241), 198),
}

_LIBC = ctypes.CDLL(None, use_errno=True)

# include/uapi/linux/landlock.h; the numbers are the same on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_FIRST_RIGHTS = _REFER - 1
_READING = _EXECUTE | _READ_FILE | _READ_DIR
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _syscall(number: int, *arguments: int | bytes | None) -> int:
    numbers = (ctypes.c_long(a) if isinstance(a, int) else a for a in arguments)
    return _checked(_LIBC.syscall(ctypes.c_long(number), *numbers))


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends."""
    _checked(_LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))


def end_with_parent() -> None:
    """Be killed as soon as the parent ends."""
    _checked(_LIBC.prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0))


def drop_privileges() -> None:
    """From the next program on root is who may read and write what others own, and no more.

    With its other rights root sees into every process, whatever Landlock says. Nobody gains
    rights from a set-user-ID program either.
    """
    _checked(_LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    for capability in range(64):
        if capability in _KEPT_CAPABILITIES:
            continue
        if _LIBC.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) < 0:
            break  # the last that the kernel knows, or none of them is ours to drop
    header, sets = struct.pack("=Ii", _CAPABILITY_VERSION, 0), ctypes.create_string_buffer(24)
    if _LIBC.capget(header, sets) == 0:
        effective, permitted, _, high_effective, high_permitted, _ = struct.unpack("=6I", sets)
        kept = struct.pack("=6I", effective, permitted, 0, high_effective, high_permitted, 0)
        _LIBC.capset(header, kept)


def deny_calls() -> None:
    """No keys, no rings of requests, no looking into the kernel or past the network's namespace.

    What neither Landlock nor namespaces keep a program from. Of machines that are not known here
    nothing is denied.
    """
    known = _DENIED.get(os.uname().machine)
    if known is None:
        return
    architecture, numbers, socket = known
    _LIBC.syscall(ctypes.c_long(numbers[0]), ctypes.c_long(1), None)  # a session keyring of its own
    end = len(numbers) + 9
    program = [
        (_LOAD, 0, 0, 4),  # which machine's calls these are
        (_IF_EQUAL, 0, end - 2, architecture),
        (_LOAD, 0, 0, 0),  # which call it is
        (_IF_AT_LEAST, end - 4, 0, 0x40000000),  # by another numbering
        (_IF_EQUAL, 0, 3, socket),
        (_LOAD, 0, 0, 16),  # its first argument, the family of the socket
        *((_IF_EQUAL, end - 7 - i, 0, family) for i, family in enumerate(_FAMILIES)),
        *((_IF_EQUAL, end - 9 - i, 0, number) for i, number in enumerate(numbers)),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
    ]
    filters = b"".join(struct.pack("=HBBI", *each) for each in program)
    buffer = ctypes.create_string_buffer(filters, len(filters))
    header = struct.pack("@HP", len(program), ctypes.addressof(buffer))
    _LIBC.prctl(_PR_SET_SECCOMP, 2, header, 0, 0)


def unshare(*, network: bool) -> None:
    """Leave the others' users, mounts, queues and network; children begin a new set of processes.

    Raises:
        OSError: the system does not permit it; nothing was changed.
    """
    flags = _NEW_USER | _NEW_MOUNTS | _NEW_PID | _NEW_IPC | (0 if network else _NEW_NET)
    _checked(_LIBC.unshare(flags))


def map_users(pid: int) -> None:
    """Let a process that has called `unshare` be the users that its parent can be.

    Raises:
        OSError: the system does not permit it.
    """
    user, group = os.getuid(), os.getgid()
    if user == 0:
        # All that there are, so that root goes on reading what belongs to others; unless it is
        # a root that may not become them either.
        try:
            _write(f"/proc/{pid}/uid_map", _same("/proc/self/uid_map"))
        except PermissionError:
            pass
        else:
            _write(f"/proc/{pid}/gid_map", _same("/proc/self/gid_map"))
            return
    _write(f"/proc/{pid}/setgroups", "deny")
    _write(f"/proc/{pid}/uid_map", f"{user} {user} 1")
    _write(f"/proc/{pid}/gid_map", f"{group} {group} 1")


def _same(path: str) -> str:
    with open(path, encoding="ascii") as file:
        ranges = [line.split() for line in file]
    return "".join(f"{first} {first} {count}\n" for first, _, count in ranges)


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def hide(readable: Iterable[str], writable: Sequence[str], *, network: bool) -> None:
    """What is people's own, sockets and processes of others out of sight, all else read-only.

    What the program reads or writes stays where it is.

    Raises:
        OSError: the system permits no mounts; nothing was hidden.
    """
    _checked(_LIBC.mount(b"none", b"/", None, _PRIVATE_TREE, None))
    _LIBC.mount(b"proc", b"/proc", b"proc", _NO_SUID_DEV | _NO_EXEC, None)
    wanted = sorted({os.path.normpath(path) for path in (*readable, *writable)})
    # Names are looked up through a service that listens in /run.
    for place in _PRIVATE if network else (*_PRIVATE, "/run"):
        if place not in wanted and _has_something_to_hide(place):
            _cover(place, [path for path in wanted if path.startswith(f"{place}/")])
    _make_read_only([*writable, _SHARED_MEMORY])


def _make_read_only(but: Iterable[str]) -> None:
    """No file system can be changed, not even the mode or time of a file, but in these places.

    Landlock says nothing of modes, times and attributes.
    """
    _set_mount(b"/", _AT_RECURSIVE, set_=_READ_ONLY)
    for path in but:
        if os.path.isdir(path):
            place = os.fsencode(path)
            _checked(_LIBC.mount(place, place, None, _BIND, None))
            _set_mount(place, 0, clear=_READ_ONLY)


def _set_mount(place: bytes, flags: int, *, set_: int = 0, clear: int = 0) -> None:
    attributes = struct.pack("=QQQQ", set_, clear, 0, 0)
    _syscall(_MOUNT_SETATTR, _AT_CWD, place, flags, attributes, len(attributes))


def _has_something_to_hide(place: str) -> bool:
    """Whether anything is in a folder; where people leave and share things, always."""
    if os.path.islink(place) or not os.path.isdir(place):
        return False
    try:
        return place in _SHARED or bool(os.listdir(place))
    except OSError:
        return True


def _cover(place: str, kept: Sequence[str]) -> None:
    """An empty file system over a folder, with the same old things in it where they were."""
    opened = []
    for path in kept:
        try:
            opened.append((path, os.open(path, os.O_PATH | os.O_CLOEXEC)))
        except OSError:
            continue  # what is not there is not missed
    if _LIBC.mount(b"tmpfs", place.encode(), b"tmpfs", _NO_SUID_DEV, b"size=1g,mode=1777") == 0:
        try:
            for path, descriptor in opened:
                _put_back(path, descriptor)
        except OSError:
            _LIBC.umount2(place.encode(), _DETACH)
    for _, descriptor in opened:
        os.close(descriptor)


def _put_back(path: str, descriptor: int) -> None:
    if os.path.lexists(path):
        return  # it came with a folder around it
    old = f"/proc/self/fd/{descriptor}"
    if os.path.isdir(old):
        os.makedirs(path)
    else:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    _checked(_LIBC.mount(old.encode(), os.fsencode(path), None, _BIND, None))


def landlock(
    readable: Sequence[str], writable: Sequence[str], listed: Sequence[str] = (), *, network: bool
) -> None:
    """Reach no file but these and the system's, no TCP, no process outside, from here on.

    Of what lies in `listed` only the names can be read.

    Raises:
        OSError: the kernel has no Landlock; nothing was changed.
    """
    abi = _syscall(_CREATE_RULESET, None, 0, 1)
    files = _FIRST_RIGHTS
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV)):
        files |= right if abi >= since else 0
    attributes = struct.pack("=QQQ", files, 0 if network or abi < 4 else 3, 3 if abi >= 6 else 0)
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    ruleset = _syscall(_CREATE_RULESET, attributes[:size], size, 0)
    try:
        for path in (*_SYSTEM, *readable):
            _permit(ruleset, path, _READING)
        for path in listed:
            _permit(ruleset, path, _READ_DIR)
        for path in (*_DEVICES, _SHARED_MEMORY, *writable):
            _permit(ruleset, path, files)
        _syscall(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _permit(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there cannot be read either
    try:
        if os.fstat(descriptor).st_mode & 0o170000 != 0o040000:  # no directory
            rights &= _ON_FILES
        _syscall(_ADD_RULE, ruleset, 1, struct.pack("=Qi", rights, descriptor), 0)
    finally:
        os.close(descriptor)
