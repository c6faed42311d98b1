"""Run a script and write down what it was refused; a program of its own, in the script's Python.

python refusals.py LOG CODE ARGUMENT...

CODE is what is told to an interpreter with `-c` where nothing is watched.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import socket
import sys
import types

# Not by name of the function alone: what was refused is what a person can act on.
_OF_OS = (
    *("open", "listdir", "scandir", "mkdir", "rmdir", "remove", "unlink", "rename", "replace"),
    *("symlink", "link", "chmod", "truncate", "kill", "killpg", "mkfifo", "utime"),
)
_OF_SOCKETS = ("connect", "connect_ex", "bind", "sendto")
_REFUSED = {
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENETUNREACH, errno.ENETDOWN),
    *(errno.EADDRNOTAVAIL, errno.EXDEV),
}
_NAMING = (str, bytes, os.PathLike, tuple)


def main() -> None:
    """Stand between the script and what it calls, then be the script."""
    log, code = sys.argv[1:3]
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    seen: set[str] = set()

    def note(what: str, why: str) -> None:
        line = ascii(f"{what}: {why}")[1:-1]
        if line not in seen and len(seen) < 100:
            seen.add(line)
            os.write(descriptor, f"{line[:300]}\n".encode())

    def watched(owner: object, name: str) -> None:
        function = getattr(owner, name)

        def call(*arguments: object, **named: object) -> object:
            try:
                result = function(*arguments, **named)
            except OSError as error:
                if error.errno in _REFUSED:
                    shown = [a for a in arguments if isinstance(a, _NAMING)]
                    note(f"{name} {' '.join(map(_shown, shown))}", error.strerror or str(error))
                raise
            if name == "connect_ex" and result in _REFUSED:
                note(f"connect {_shown(arguments[-1])}", os.strerror(int(str(result))))
            return result

        setattr(owner, name, call)

    for name in _OF_OS:
        watched(os, name)
    for name in _OF_SOCKETS:
        watched(socket.socket, name)
    watched(io, "open")
    builtins.open = io.open
    sys.argv = ["-c", *sys.argv[3:]]
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    exec(compile(code, "<string>", "exec", dont_inherit=True), module.__dict__)  # noqa: S102


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return ":".join(map(str, value[:2]))
    return os.fsdecode(value) if isinstance(value, (bytes, os.PathLike)) else str(value)


if __name__ == "__main__":
    main()
