"""The content of a page of Parquet, as far as it can be unpacked without its engine."""

from __future__ import annotations

from ..readers.files.packed import DamagedError, gunzipped, unzstd

_UNPACK = {"GZIP": gunzipped, "ZSTD": unzstd}
UNPACKED = {"UNCOMPRESSED", "SNAPPY", *_UNPACK}


def unpacked_page(codec: str, data: bytes, size: int) -> bytes | None:
    """The content of a page; None where it is packed as nothing here unpacks, or wrongly."""
    if codec == "UNCOMPRESSED":
        return data
    try:
        if codec == "SNAPPY":
            return _of_snappy(data, size)
        content = bytearray()
        for piece in _UNPACK[codec]([data]):
            content += piece
            if len(content) >= size:
                break
    except (DamagedError, LookupError, ValueError):
        return None
    return bytes(content)


def _of_snappy(data: bytes, size: int) -> bytes:
    """Texts as they are, and copies of what stands before; the length at its beginning is known."""
    place = 0
    while data[place] > 127:
        place += 1
    place += 1
    found = bytearray()
    while place < len(data) and len(found) <= size:
        tag = data[place]
        place += 1
        kind, length = tag & 3, (tag >> 2) + 1
        if kind == 0:
            if length > 60:
                more = length - 60
                length = int.from_bytes(data[place : place + more], "little") + 1
                place += more
            found += data[place : place + length]
            place += length
            continue
        if kind == 1:
            length = (tag >> 2 & 7) + 4
            back = (tag >> 5 << 8) + data[place]
            place += 1
        else:
            n = 2 if kind == 2 else 4
            back = int.from_bytes(data[place : place + n], "little")
            place += n
        if not 0 < back <= len(found):
            raise ValueError("a copy of nothing")
        first = len(found) - back
        # No more than is copied: what stands far before it can be very long.
        piece = found[first : first + min(back, length)]
        found += (piece * (length // back + 1))[:length]
    return bytes(found)
