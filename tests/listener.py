"""Somebody who listens, so that a test knows what was sent."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def listening() -> Iterator[tuple[int, list[bytes]]]:
    """Somebody on this machine who writes down what is sent: a port, and what was heard."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        done = threading.Event()

        def listen() -> None:
            while not done.is_set():
                with contextlib.suppress(OSError):
                    connection, _ = server.accept()
                    with connection:
                        connection.settimeout(2)
                        heard.append(connection.recv(1000))

        thread = threading.Thread(target=listen)
        thread.start()
        try:
            yield server.getsockname()[1], heard
        finally:
            done.set()
            thread.join()
