"""`harbor-metrics` without the time that it takes to start: a process that has it loaded forks.

`serve` waits on a Unix socket for what a shell calls (arguments, folder, environment, the three
streams), runs it in a child of its own and answers the exit code; `client` is the program that the
shell finds as `harbor-metrics`.
"""

from __future__ import annotations

import gc
import json
import os
import pkgutil
import select
import signal
import socket
import sys
from importlib import import_module
from pathlib import Path

_CLIENT = """#!{python} -IS
import json, os, socket, sys
asked = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
with socket.socket(socket.AF_UNIX) as server:
    server.connect({place!r})
    socket.send_fds(server, [len(asked).to_bytes(4, "big")], [0, 1, 2])
    server.sendall(asked)
    sys.exit(server.recv(1)[0])
"""


def client(path: Path, place: str) -> None:
    """Write the program that asks the server at `place`."""
    path.write_text(_CLIENT.format(python=sys.executable, place=place))
    path.chmod(0o755)


def serve(place: str) -> None:
    """Answer until standard input ends, which whoever started this holds open."""
    import harbor_metrics

    for module in pkgutil.walk_packages(harbor_metrics.__path__, "harbor_metrics."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(place)
        listening.listen()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while listening in select.select([listening, sys.stdin], [], [])[0]:
            connection, _ = listening.accept()
            if os.fork() == 0:
                _answer(connection)
            connection.close()


def _answer(connection: socket.socket) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    head, streams, *_ = socket.recv_fds(connection, 4, 3)
    asked = b""
    while len(asked) < int.from_bytes(head, "big"):
        asked += connection.recv(1 << 20)
    pid = os.fork()
    if pid == 0:
        connection.close()
        _run(streams, *json.loads(asked))
    for stream in streams:
        os.close(stream)
    _, status = os.waitpid(pid, 0)
    connection.sendall(bytes([os.waitstatus_to_exitcode(status) % 256]))
    os._exit(0)


def _run(streams: list[int], args: list[str], folder: str, env: dict[str, str]) -> None:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = ["harbor-metrics", *args]
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
    from harbor_metrics.__main__ import main

    main()  # What it raises ends this process as it ends any.
    os._exit(0)


if __name__ == "__main__":
    serve(sys.argv[1])
