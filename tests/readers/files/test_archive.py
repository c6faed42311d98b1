"""Archives: damaged, absurd and odd ones are refused by name."""

from __future__ import annotations

import gzip
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import HERE, Run
from inspect_logs import LOGS, Members, log, members, metric, write, write_zstd
from readers.contents import INSPECT, refused

from harbor_metrics import InputError, readers
from harbor_metrics.readers.files.archive import Archive
from harbor_metrics.readers.files.file import File


def _zip() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("header.json", "{}")
    return data.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"PK\5\6" + bytes(18), "is a zip archive without any member"),
        (b"junk" + _zip(), "is a zip archive with 4 bytes of something else before it"),
        (gzip.compress(gzip.compress(b'{"reward": 1}\n')), "is packed twice"),
    ],
    ids=["empty", "before", "twice"],
)
def test_odd_packing_is_named(content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    assert words in refused(path)


def test_member_that_unpacks_to_too_many_times_its_size_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harbor_metrics.readers.files.archive.MOST_PLAIN", 1 << 16)
    path = tmp_path / "x.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(log([], metric("mean", 1))))
        archive.writestr("summaries.json", b"[" + b" " * (1 << 22) + b"]")
    said = refused(path)
    assert "member summaries.json would unpack to 4,194,306 bytes" in said
    assert "times as many as it has packed" in said


def test_members_that_unpack_to_far_more_together_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harbor_metrics.readers.files.archive.MOST_PLAIN", 1 << 20)
    path = tmp_path / "x.eval"
    sample = {"id": 1, "epoch": 1, "scores": {"s": {"value": 1}}}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(log([], metric("mean", 1))))
        for i in range(40):
            archive.writestr(f"samples/{i}.json", json.dumps(sample) + " " * 900_000)
    assert "and those before it would unpack to far more than they are packed" in refused(path)


def _encrypted(data: bytes) -> bytes:
    """The flag of every member set."""
    out = bytearray(data)
    for mark, at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        start = 0
        while (start := out.find(mark, start)) >= 0:
            out[start + at] |= 1
            start += 4
    return bytes(out)


def _with(change: Callable[[Members], None]) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        content = members("unreduced")
        change(content)
        write(path, content)

    return make


def _on_bytes(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        write(path, members("unreduced"))
        path.write_bytes(change(path.read_bytes()))

    return make


BAD: dict[str, tuple[Callable[[Path], None], list[str]]] = {
    "cut": (_on_bytes(lambda data: data[: len(data) // 2]), ["zip", "inspect log recover"]),
    "tail": (_on_bytes(lambda data: data[:-30]), ["zip"]),
    "encrypted": (_on_bytes(_encrypted), ["member header.json is encrypted"]),
    "other archive": (
        lambda path: write(path, {"a.txt": "x"}) and None,
        ["no Inspect log", "header.json", "_journal/start.json"],
    ),
    "version": (
        _with(lambda m: m["header.json"].update(version=3)),
        ["version 3", "versions 1 to 2", "inspect log convert"],
    ),
    "header is no object": (_with(lambda m: m.update({"header.json": []})), ["header.json"]),
    "header is cut": (
        _with(lambda m: m.update({"header.json": b'{"eval": {"task"'})),
        ["member header.json", "cut off"],
    ),
    "summaries are no list": (
        _with(lambda m: m.update({"summaries.json": {}})),
        ["member summaries.json"],
    ),
    "no eval": (_with(lambda m: m["header.json"].pop("eval") and None), ["`eval`"]),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_archive_is_refused_with_its_fault(name: str, cli: Run, tmp_path: Path) -> None:
    """Fault J25, and more."""
    make, words = BAD[name]
    make(tmp_path / "x.eval")
    done = cli("compute", "x.eval")
    assert (done.returncode, done.stdout) == (3, ""), done.stderr
    for word in ["x.eval", *words]:
        assert word in done.stderr


def test_damaged_member_is_refused(cli: Run, tmp_path: Path) -> None:
    content = members("unreduced")
    path = write(tmp_path / "x.eval", content, zipfile.ZIP_STORED)
    data = path.read_bytes()
    at = data.rindex(json.dumps(content["summaries.json"]).encode())
    path.write_bytes(data[: at + 50] + b"~" + data[at + 51 :])
    done = cli("compute", "x.eval")
    assert done.returncode == 3
    assert "is damaged: its checksum is another" in done.stderr


@pytest.mark.parametrize("frames", [1, 2])
def test_damaged_zstd_member_is_refused(frames: int, cli: Run, tmp_path: Path) -> None:
    content = {"header.json": members("unreduced")["header.json"]}
    path = write_zstd(tmp_path / "x.eval", content, frames)
    data = bytearray(path.read_bytes())
    at = data.index(b"\x28\xb5\x2f\xfd") + 30
    data[at : at + 8] = bytes(8)
    path.write_bytes(data)
    done = cli("compute", "x.eval")
    assert done.returncode == 3
    assert "member header.json is damaged" in done.stderr


def test_large_member_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harbor_metrics.readers.files.archive.MOST_BYTES", 1 << 20)
    content = members("unreduced")
    content["summaries.json"] = bytes(2 << 20)
    path = write(tmp_path / "x", content)
    with pytest.raises(InputError, match="would unpack to 2,097,152 bytes; the most"):
        readers.read(str(path))


def test_member_that_lies_about_its_size_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "x", members("unreduced"))
    data = bytearray(path.read_bytes())
    entry = data.rindex(b"header.json") - 46
    data[entry + 24 : entry + 28] = (100).to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(InputError, match="unpacks to more than it says"):
        readers.read(str(path))


def test_members_that_lead_out_are_not_read(cli: Run, tmp_path: Path) -> None:
    content = {"../../evil.json": {"x": 1}, **members("unreduced")}
    write(tmp_path / "x.eval", content)
    done = cli("compute", "x.eval")
    assert done.returncode == 0
    assert "../../evil.json, which leads out of the archive" in " ".join(done.stderr.split())
    assert not (tmp_path.parent.parent / "evil.json").exists()


def test_member_that_stands_twice_is_told(cli: Run, tmp_path: Path) -> None:
    write(tmp_path / "x.eval", members("unreduced"))
    with zipfile.ZipFile(tmp_path / "x.eval", "a") as archive:
        for name in ("summaries.json", "header.json"):
            with pytest.warns(UserWarning, match="Duplicate name"):
                archive.writestr(name, archive.read(name))
    done = cli("compute", "x.eval")
    assert done.returncode == 0
    said = " ".join(done.stderr.split())
    assert "has two members with the name summaries.json, and with 1 other name; the last" in said


def test_archive_with_two_lists_of_members_is_refused(tmp_path: Path) -> None:
    """`zipfile` takes the list before the end, Inspect the one at the place that the end names."""
    data = bytearray(INSPECT.read_bytes())
    end = data.rfind(b"PK\5\6")
    (place,) = struct.unpack_from("<L", data, end + 16)
    other = bytes(data[:end]) + bytes(data[place:end]) + bytes(data[end:])
    (tmp_path / "two.eval").write_bytes(other)
    with pytest.raises(InputError, match="readers differ in which they take"):
        readers.read(str(tmp_path / "two.eval"))


@pytest.mark.parametrize(
    ("offset", "value", "words"),
    [(30, ord("H"), "says otherwise where it stands"), (6, 1, "says otherwise where it stands"),
     (8, 0, "is packed otherwise than the list of members says")],
    ids=["name", "encrypted", "method"],
)  # fmt: skip
def test_member_that_says_otherwise_where_it_stands_is_refused(
    offset: int, value: int, words: str, tmp_path: Path
) -> None:
    """Python's zipfile refuses another name, and who reads a pipe has nothing else to go by."""
    path = write(tmp_path / "x.eval", members("unreduced"))
    data = bytearray(path.read_bytes())
    data[data.index(b"header.json") - 30 + offset] = value
    path.write_bytes(data)
    with pytest.raises(InputError, match=f"header.json {words}"):
        readers.read(str(path))


@pytest.mark.parametrize("other", ["samples/2_epoch_1.json", "", None])
def test_member_with_a_second_name_is_refused(other: str | None, tmp_path: Path) -> None:
    """Pythons before 3.13 do not know of it, later ones take it."""
    path, name = tmp_path / "x.eval", "samples/1_epoch_1.json"
    second = struct.pack("<BL", 1, zlib.crc32(name.encode())) + (other or name).encode()
    if other == "":
        second = second[: -len(name)]
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in members("unreduced").items():
            if member != name:
                archive.writestr(member, json.dumps(content))
        info = zipfile.ZipInfo(name)
        info.extra = (
            struct.pack("<HH", 0xABCD, 0) + struct.pack("<HH", 0x7075, len(second)) + second
        )
        archive.writestr(info, json.dumps(members("unreduced")[name]))
    if other is None:
        assert readers.read(str(path))
    else:
        with pytest.raises(InputError, match=f"{name} has a second name"):
            readers.read(str(path))


def test_end_of_a_large_archive_names_the_list_of_members(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = members("one")
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 1)
    path = write(tmp_path / "x.eval", content)
    data = bytearray(path.read_bytes())
    end = data.rfind(b"PK\5\6")
    assert data.count(b"PK\6\6") == 1
    data[end + 16 : end + 20] = b"\xff" * 4
    path.write_bytes(data)
    assert len(readers.read(str(path))[0].trials) == len(
        readers.read(str(LOGS / "one.eval"))[0].trials
    )
    # The locator names another end than the one before it.
    data[end - 12] ^= 1
    path.write_bytes(data)
    with pytest.raises(InputError, match="readers differ in which they take"):
        readers.read(str(path))


FAULTS = [json.loads(line) for line in (HERE / "readers" / "faults.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("further", [0, 1])
def test_archive_whose_two_ends_differ_is_refused(further: int, tmp_path: Path) -> None:
    """One that says all in its end needs no larger one, and readers differ in which they take."""
    path = write(tmp_path / "x.eval", members("one"))
    data = path.read_bytes()
    end = len(data) - 22
    n, size, start = struct.unpack("<10xHLL2x", data[end:])
    large = struct.pack("<4sQHHLLQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, n, n, size, start + further)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, end, 1)
    path.write_bytes(data[:end] + large + locator + data[end:])
    if further:
        with pytest.raises(InputError, match=r"another place|not a whole zip"):
            readers.read(str(path))
    else:
        assert readers.read(str(path))[0].trials


def test_name_without_the_mark_of_utf_8_is_read_as_inspect_reads_it(tmp_path: Path) -> None:
    """For others it is one in an older set of signs, and a sample would stand once for each."""
    path = write(tmp_path / "x.zip", {"é": "1", "o": "2"})
    data = bytearray(path.read_bytes())
    for place in (data.index("é".encode()) - 30 + 6, data.rindex("é".encode()) - 46 + 8):
        (flags,) = struct.unpack_from("<H", data, place)
        struct.pack_into("<H", data, place, flags & ~0x800)
    path.write_bytes(data)
    with Archive(File(str(path), str(path))) as archive:
        assert archive.names == ["é", "o"]
        assert json.loads(archive.read("é")) == "1"


def test_name_with_a_nul_is_refused(tmp_path: Path) -> None:
    """At which it ends for some readers."""
    path = write(tmp_path / "x.zip", {"a.json": "1"})
    path.write_bytes(path.read_bytes().replace(b"a.json", b"a.jso\0"))
    with pytest.raises(InputError, match="readers differ in which they take"):
        Archive(File(str(path), str(path)))


def test_log_that_is_cut_is_refused(cli: Run, tmp_path: Path) -> None:
    """Fault J25; J26 and J27 are held where their formats are tested."""
    assert [fault["id"] for fault in FAULTS] == ["J25", "J26", "J27"]
    (fault, *_) = FAULTS
    for part in (0.1, 0.5, 0.9, 0.999):
        data = INSPECT.read_bytes()
        (tmp_path / "x.eval").write_bytes(data[: int(len(data) * part)])
        done = cli("compute", "x.eval")
        assert done.returncode == fault["exit"]
        for word in fault["message_has"]:
            assert word in done.stderr
