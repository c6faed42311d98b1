"""Whom a wheel beside a script leads uv to, and that an odd one is not asked."""

from __future__ import annotations

import io
import struct
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from harbor_metrics.errors import MetricFailure
from harbor_metrics.scripts.wheels import asks_for_an_address, check_wheels

X = "x-1-py3-none-any.whl"


def wheel(folder: Path, metadata: bytes, name: str = "x-1.dist-info/METADATA") -> str:
    path = folder / X
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, metadata)
    return str(path)


@pytest.mark.parametrize(
    "metadata",
    [
        b"Requires-Dist: y @ http://evil.example/y-1-py3-none-any.whl\n",
        b"Name: x\r\nREQUIRES-DIST :\r\n y\r\n @ http://evil.example\r\n",
        b"Name: x\rRequires-Dist: y@file:///y.whl",
        b"Requires-Dist: =?utf-8?b?eSBAIGh0dHA6Ly9ldmlsLmV4YW1wbGU=?=\n",
    ],
)
def test_a_wheel_that_depends_on_an_address_says_so(tmp_path: Path, metadata: bytes) -> None:
    assert asks_for_an_address(wheel(tmp_path, metadata))
    assert asks_for_an_address(wheel(tmp_path, metadata, "X-1.DIST-INFO/metadata"))


def test_a_wheel_may_depend_on_packages_and_name_its_home(tmp_path: Path) -> None:
    metadata = b"Author-email: a@b.example\nRequires-Dist: y>=1\nHome-page: https://b.example\n"
    assert not asks_for_an_address(wheel(tmp_path, metadata))


def test_a_wheel_that_cannot_be_read_is_not_trusted(tmp_path: Path) -> None:
    (tmp_path / X).write_bytes(b"PK")
    assert asks_for_an_address(str(tmp_path / X))
    assert asks_for_an_address(wheel(tmp_path, b"a" * (5 << 20)))


METADATA = b"Metadata-Version: 2.1\nName: x\nRequires-Dist: y>=1; extra == 'z'\n\nRead (me).\n"


def built(
    folder: Path, names: tuple[str, ...] = (), compression: int = zipfile.ZIP_DEFLATED
) -> Path:
    path = folder / X
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("x/__init__.py", "")
        archive.writestr("x-1.dist-info/METADATA", METADATA)
        for name in names:
            archive.writestr(name, METADATA)
    return path


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_an_ordinary_wheel_is_asked(tmp_path: Path, compression: int) -> None:
    vendored = "x/_vendor/y-1.dist-info/METADATA"
    assert not asks_for_an_address(str(built(tmp_path, (vendored, "x/\u00e4.py"), compression)))


@pytest.mark.parametrize(
    "name",
    [
        *("X-1.dist-info/METADATA", "y-1.dist-info/METADATA", "y-1.dist-info/RECORD"),
        *(
            "x-1.dist-info/metadata",
            "x-1.DIST-INFO/METADATA",
            "x-1.dist-info//METADATA",
            "/x",
            "./x",
        ),
        *(
            "../x",
            "x\\y",
            "x/../y",
            "X/__init__.py",
            "c:/x",
            "x\n",
            "x-1.dist-info/./METADATA",
            "./x",
        ),
    ],
)
def test_a_wheel_with_such_a_name_is_odd(tmp_path: Path, name: str) -> None:
    assert asks_for_an_address(str(built(tmp_path, (name,))))


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", ["x-1.dist-info/METADATA", "x/__init__.py"])
def test_a_wheel_with_a_name_twice_is_odd(tmp_path: Path, name: str) -> None:
    assert asks_for_an_address(str(built(tmp_path, (name,))))


def replaced(old: bytes, new: bytes, count: int = 1) -> Callable[[bytes], bytes]:
    return lambda data: data.replace(old, new, count)


def last(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    return lambda data: new.join(data.rsplit(old, 1))


def with_comment(data: bytes) -> bytes:
    return data[:-2] + struct.pack("<H", 22) + data[-22:]


ODD: dict[str, Callable[[bytes], bytes]] = {
    "data before": lambda data: b"#!" + data,
    "data after": lambda data: data + b"x",
    "a comment": with_comment,
    "two ends": lambda data: data + data[-22:],
    "cut": lambda data: data[:-30],
    "another local name": replaced(b"METADATA", b"METADATB"),
    "another listed name": last(b"METADATA", b"METADATB"),
    "other flags": last(b"PK\1\2\x14\3\x14\0\0\0", b"PK\1\2\x14\3\x14\0\x01\0"),
    "another local size": lambda d: d.replace(b"PK\3\4", b"PK\3\5", 1),
    "the longer deflate": lambda d: d.replace(b"\x14\0\0\0\x08\0", b"\x14\0\0\0\x09\0"),
    "a count": lambda d: d[:-12] + b"\1" + d[-11:],
}


@pytest.mark.parametrize("change", ODD.values(), ids=ODD)
def test_a_wheel_that_others_may_read_otherwise_is_odd(
    tmp_path: Path, change: Callable[[bytes], bytes]
) -> None:
    path = built(tmp_path)
    before = path.read_bytes()
    assert not asks_for_an_address(str(path))
    path.write_bytes(change(before))
    assert path.read_bytes() != before
    assert asks_for_an_address(str(path))


@pytest.mark.parametrize("kind", [0x7075, 0x0001, 0x9901])
def test_a_wheel_with_another_name_or_size_of_an_entry_is_odd(tmp_path: Path, kind: int) -> None:
    path = tmp_path / X
    for extra, odd in ((b"UT\5\0\0aaaa", False), (struct.pack("<HH4s", kind, 4, b""), True)):
        entry = zipfile.ZipInfo("x-1.dist-info/METADATA")
        entry.extra = extra
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(entry, METADATA)
        assert asks_for_an_address(str(path)) == odd


def test_a_wheel_whose_sizes_come_after_the_data_is_odd(tmp_path: Path) -> None:
    class Stream(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def tell(self) -> int:
            raise OSError

    stream = Stream()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("x-1.dist-info/METADATA", METADATA)
    (tmp_path / X).write_bytes(stream.getvalue())
    assert zipfile.is_zipfile(tmp_path / X)
    assert asks_for_an_address(str(tmp_path / X))


def test_metadata_that_unpacks_to_much_is_read_no_further(tmp_path: Path) -> None:
    path = tmp_path / X
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x-1.dist-info/METADATA", bytes(100 << 20))
    started = time.monotonic()
    assert asks_for_an_address(str(path))
    assert time.monotonic() - started < 1


def test_a_folder_is_not_a_wheel(tmp_path: Path) -> None:
    (tmp_path / X).mkdir()
    with pytest.raises(MetricFailure, match="--allow-build"):
        check_wheels({X: str(tmp_path / X)})
    (tmp_path / X).rmdir()
    (tmp_path / X).write_bytes(b"")
    check_wheels({X: str(tmp_path / X), "nowhere": str(tmp_path / "nowhere")})
    # uv takes a link for what it is called.
    with pytest.raises(MetricFailure, match=r"x-1\.zip is not a wheel"):
        check_wheels({"x-1.zip": str(tmp_path / X)})
