"""How large a file may be that is read whole: a file of nothing but a size fills the memory."""

from __future__ import annotations

import errno
import os
from typing import BinaryIO

# For what people write, and for what programs do.
MOST_WRITTEN, MOST_DATA = 64 << 20, 16 << 30
# Of settings in TOML, which takes long to read.
MOST_SETTINGS = 1 << 20


def whole(file: BinaryIO, most: int) -> bytes:
    """All of a file that has at most so many bytes.

    Raises:
        OSError: it is larger.
    """
    check_size(os.fstat(file.fileno()).st_size, most)
    return file.read()


def check_size(size: int, most: int) -> None:
    """Refuse a file of more bytes.

    Raises:
        OSError: it is larger.
    """
    if size > most:
        raise OSError(errno.EFBIG, f"larger than {most >> 20} MiB")
