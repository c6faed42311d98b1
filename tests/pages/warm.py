"""`harbor-metrics` without the time that it takes to start: a process that has it loaded forks.

`serve` waits on a Unix socket for what a shell calls (arguments, folder, environment, the three
streams), runs it in a child of its own and answers the exit code; `client` writes the program that
a shell finds as `harbor-metrics`, `run` asks from here.
"""

from __future__ import annotations

import contextlib
import gc
import inspect
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path


def ask(place: str, args: list[str], folder: str, env: dict[str, str], streams: list[int]) -> int:
    """Have the server at `place` run a command with these three streams; its exit code."""
    asked = json.dumps([args, folder, env]).encode()
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(place)
        socket.send_fds(server, [len(asked).to_bytes(4, "big")], streams)
        server.sendall(asked)
        return server.recv(1)[0]


def client(path: Path, place: str) -> None:
    """Write the program that asks the server at `place`."""
    path.write_text(
        f"#!{sys.executable} -IS\nimport json, os, socket, sys\n{inspect.getsource(ask)}"
        f"sys.exit(ask({place!r}, sys.argv[1:], os.getcwd(), dict(os.environ), [0, 1, 2]))\n"
    )
    path.chmod(0o755)


@contextlib.contextmanager
def server(place: str) -> Iterator[None]:
    """A process that answers at `place`."""
    program = [sys.executable, __file__, place]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        try:
            yield
        finally:
            assert process.stdin is not None
            process.stdin.close()


def run(
    place: str, args: list[str], folder: str, env: dict[str, str], given: bytes
) -> tuple[int, bytes, bytes]:
    """What a command with `given` on standard input gives: exit code, standard output and error."""
    pipes = [os.pipe() for _ in range(3)]
    (here, _), (_, out), (_, error) = pipes
    reading = [pipes[1][0], pipes[2][0]]
    with ThreadPoolExecutor(4) as pool:
        code = pool.submit(ask, place, args, folder, env, [here, out, error])
        # The server has its own once it was asked.
        written = pool.submit(_write, pipes[0][1], given)
        texts = [pool.submit(_read, end) for end in reading]
        code.add_done_callback(lambda _: [os.close(end) for end in (here, out, error)])
        written.result()
        return code.result(), texts[0].result(), texts[1].result()


def _write(end: int, given: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), open(end, "wb") as file:
        file.write(given)


def _read(end: int) -> bytes:
    with open(end, "rb") as file:
        return file.read()


def serve(place: str) -> None:
    """Answer until standard input ends, which whoever started this holds open."""
    import harbor_metrics

    for module in pkgutil.walk_packages(harbor_metrics.__path__, "harbor_metrics."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    for engine in ("duckdb", "narwhals"):
        import_module(engine)
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
    sys.path[:1] = [folder, *filter(None, env.get("PYTHONPATH", "").split(os.pathsep))]
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
    from harbor_metrics.__main__ import main

    main()  # What it raises ends this process as it ends any.
    os._exit(0)


if __name__ == "__main__":
    serve(sys.argv[1])
