"""Start `harbor-metrics`, or its supervisor, in a Python that lacks what only Linux has.

python as_on_macos.py ARGUMENT...
"""

from __future__ import annotations

# What is taken away is not taken from the standard library: it is imported before.
import ctypes
import importlib
import os
import resource
import select
import signal
import sys

for name in ("asyncio", "json", "multiprocessing", "shutil", "socket", "subprocess", "tempfile"):
    importlib.import_module(name)

ONLY_LINUX = {
    os: (
        *("sched_getaffinity", "sched_setaffinity", "sched_yield", "sched_getscheduler"),
        *("O_PATH", "O_DIRECT", "O_TMPFILE", "O_NOATIME", "O_LARGEFILE", "O_RSYNC"),
        *("memfd_create", "pidfd_open", "eventfd", "splice", "copy_file_range", "getrandom"),
        *("posix_fadvise", "posix_fallocate", "fdatasync", "pipe2", "setns", "unshare"),
        *("getresuid", "getresgid", "setresuid", "setresgid", "getxattr", "setxattr", "listxattr"),
    ),
    select: ("epoll", "EPOLLIN"),
    signal: ("pidfd_send_signal", "sigtimedwait", "sigwaitinfo", "SIGPWR", "SIGRTMIN"),
    resource: ("prlimit", "RLIMIT_MSGQUEUE", "RLIMIT_NICE", "RLIMIT_RTPRIO", "RLIMIT_OFILE"),
}
_CALLS = ("prctl", "unshare", "mount", "umount2", "syscall", "capget", "capset")


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    """There is no /proc, and the C library knows no calls of Linux."""
    path = arguments[0] if arguments else None
    if event in ("open", "os.listdir", "os.scandir") and str(path).startswith("/proc"):
        raise FileNotFoundError(2, "No such file or directory", path)
    if event == "ctypes.dlsym" and arguments[1] in _CALLS:
        raise AttributeError(f"symbol not found: {arguments[1]}")


def become() -> None:
    """From now on this process is as one on macOS."""
    for module, names in ONLY_LINUX.items():
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    # It follows no link at all; here none is followed at the end of a path.
    os.O_NOFOLLOW_ANY = os.O_NOFOLLOW  # type: ignore[attr-defined]
    sys.platform = "darwin"
    sys.addaudithook(_refuse)


def main() -> None:
    become()
    from harbor_metrics.confinement import supervisors

    folder = os.path.dirname(os.path.abspath(__file__))
    pretend = f"import sys; sys.path.insert(0, {folder!r}); import as_on_macos; "
    supervisors._SERVE = f"{pretend}as_on_macos.become(); {supervisors._SERVE}"
    from harbor_metrics.__main__ import main as run

    run()


if __name__ == "__main__":
    assert ctypes.CDLL(None) is not None
    main()
