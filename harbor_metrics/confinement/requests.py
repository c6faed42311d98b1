"""What one process asks of another through a pipe. Imports as little as the supervisor."""

from __future__ import annotations

import marshal
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Request = dict[str, Any]

# The last that is answered: all is tidied up that could be.
DONE = b"done\n"


def dump(request: Request) -> bytes:
    """A request as `load` expects it."""
    data = marshal.dumps(request)
    return len(data).to_bytes(4, "big") + data


def load(descriptor: int) -> Request | None:
    """Wait for a request; None where nobody can send one any more."""
    data = _read(descriptor, int.from_bytes(_read(descriptor, 4), "big"))
    return marshal.loads(data) if data else None  # noqa: S302  # from a process of ours


def _read(descriptor: int, size: int) -> bytes:
    """So many bytes; none where the pipe ends before."""
    data = b""
    while len(data) < size:
        more = os.read(descriptor, size - len(data))
        if not more:
            return b""
        data += more
    return data
