"""What lies in a folder, and whether it is still that."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from harbor_metrics.documents.contents import checked, contents


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
