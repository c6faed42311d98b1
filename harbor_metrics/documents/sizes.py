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
    size = os.fstat(file.fileno()).st_size
    check_size(size, most)
    check_written(file.fileno(), size)
    return file.read()


def check_size(size: int, most: int) -> None:
    """Refuse a file of more bytes.

    Raises:
        OSError: it is larger.
    """
    if size > most:
        raise OSError(errno.EFBIG, f"larger than {most >> 20} MiB")


def check_written(descriptor: int, size: int) -> None:
    """Refuse a large file parts of which nobody has written: there it reads as zeros, and no text.

    It takes no place in an archive or on a disk, and all of its size in memory.

    Raises:
        OSError: it is such a file.
    """
    if size <= MOST_WRITTEN or not hasattr(os, "SEEK_HOLE"):
        return
    before = os.lseek(descriptor, 0, os.SEEK_CUR)
    hole = os.lseek(descriptor, 0, os.SEEK_HOLE)
    os.lseek(descriptor, before, os.SEEK_SET)
    if hole < size:
        raise OSError(errno.EINVAL, f"a sparse file: nobody has written what follows byte {hole}")
