"""What lies in a folder, and whether it is still that."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from harbor_metrics.documents.contents import checked, contents, walk
from harbor_metrics.documents.real import open_real_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "a.py").write_text("1")
    (tmp_path / "deep" / "er" / "b.py").write_text("2")
    (tmp_path / "deep" / "link").symlink_to("er/b.py")
    return tmp_path


def test_every_file_and_link_is_listed_by_its_path(folder: Path) -> None:
    assert sorted(file.path for file in contents(str(folder))) == [
        "a.py", "deep/er/b.py", "deep/link",
    ]  # fmt: skip


def test_unchanged_folder_holds_what_it_held(folder: Path) -> None:
    before = contents(str(folder))
    assert checked(str(folder), before) == before


def test_file_that_was_touched_is_hashed_again_and_holds_the_same(folder: Path) -> None:
    before = contents(str(folder))
    os.utime(folder / "a.py", (1, 1))
    after = checked(str(folder), before)
    assert after is not None
    assert after != before
    assert [file.sha256 for file in after] == [file.sha256 for file in before]


def with_the_old_time(path: Path) -> None:
    status = path.stat()
    path.write_text("3")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "a.py").write_text("other"),
        lambda folder: with_the_old_time(folder / "a.py"),
        lambda folder: (folder / "a.py").unlink(),
        lambda folder: (folder / "new.py").write_text(""),
        lambda folder: ((folder / "deep" / "link").unlink(),
                        (folder / "deep" / "link").symlink_to("../a.py")),
        lambda folder: (folder / "deep" / "er").rename(folder / "deep" / "other"),
    ],
    ids=["text", "text with its time", "removed", "added", "link", "folder"],
)  # fmt: skip
def test_change_of_any_kind_is_noticed(change: Callable[[Path], object], folder: Path) -> None:
    before = contents(str(folder))
    change(folder)
    assert checked(str(folder), before) is None


def test_folder_that_is_gone_is_changed(folder: Path) -> None:
    before = contents(str(folder))
    assert checked(str(folder / "gone"), before) is None


@pytest.mark.parametrize("kind", ["pipe", "socket", "device"])
def test_what_is_no_file_is_not_read_and_is_named(kind: str, folder: Path) -> None:
    """A device is read without end."""
    place = folder / "deep" / "odd\n"
    with socket.socket(socket.AF_UNIX) as listening:
        if kind == "pipe":
            os.mkfifo(place)
        elif kind == "socket":
            listening.bind(str(place))
        elif os.geteuid() == 0:
            try:
                os.mknod(place, stat.S_IFCHR | 0o600, os.makedev(1, 5))
            except PermissionError:
                pytest.skip("this root makes no devices")
        else:
            pytest.skip("only root makes devices")
        with pytest.raises(OSError, match=r"deep/odd\\n is a pipe, a socket or a device"):
            contents(str(folder))


@pytest.mark.parametrize("leads_to", ["..", "er/../er"])
def test_a_folder_that_becomes_a_link_while_it_is_walked_is_not_followed(
    leads_to: str, folder: Path
) -> None:
    def walked() -> None:
        for place in walk(str(folder)):
            if place.path == "deep/er/":
                (folder / "deep" / "er").rename(folder / "elsewhere")
                (folder / "deep" / "er").symlink_to(leads_to)

    with pytest.raises(OSError, match="deep/er/ was exchanged"):
        walked()


@pytest.mark.parametrize("what", ["deep/er/", "deep/er/b.py"])
def test_what_another_one_is_put_in_the_place_of_is_not_read(what: str, folder: Path) -> None:
    place, other = folder / what, folder / "deep" / "other"

    def walked() -> None:
        for each in walk(str(folder)):
            if each.path == what:
                place.rename(other)
                if what.endswith("/"):
                    place.mkdir()
                else:
                    place.write_text("2")
                    each.open()

    with pytest.raises(OSError, match=f"{what} was exchanged"):
        walked()


def test_a_link_on_the_way_to_a_real_folder_is_not_followed(folder: Path) -> None:
    (folder / "way").symlink_to("deep")
    os.close(open_real_folder(str(folder / "deep" / "er")))
    os.close(open_real_folder("/"))
    for path in ("way/er", "way", "a.py"):
        with pytest.raises(OSError, match="was exchanged"):
            open_real_folder(str(folder / path))
    with pytest.raises(FileNotFoundError):
        open_real_folder(str(folder / "gone"))


def test_folders_that_are_nested_very_deep_are_not_walked(tmp_path: Path) -> None:
    """Each level keeps a descriptor open."""
    (tmp_path / "/".join("d" * 101)).mkdir(parents=True)
    with pytest.raises(OSError, match="nested deeper than 100 levels"):
        contents(str(tmp_path))
    assert contents(str(tmp_path / "d" / "d")) == []


def test_no_descriptor_is_left_open(folder: Path) -> None:
    before = len(os.listdir("/dev/fd"))
    contents(str(folder))
    next(iter(walk(str(folder))))
    os.mkfifo(folder / "deep" / "pipe")
    with pytest.raises(OSError, match="pipe"):
        contents(str(folder))
    assert len(os.listdir("/dev/fd")) == before
