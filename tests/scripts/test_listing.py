"""The text that tells what lies in folders."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from harbor_metrics.scripts.listing import listings, tree


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "one.py").write_text("1")
    (tmp_path / "a" / "b" / "two.py").write_text("2")
    (tmp_path / "a" / "link").symlink_to("one.py")
    return tmp_path


def test_every_folder_has_its_listing(root: Path) -> None:
    listed = tree(str(root))
    assert sorted(listed) == ["", "a/", "a/b/"]
    assert listed[""] == "a//"
    file = (root / "a" / "b" / "two.py").stat()
    times = f"{file.st_mtime_ns} {file.st_ctime_ns}"
    assert listed["a/b/"] == f"two.py/1 {times} {file.st_ino}/"
    assert listings(str(root), ["a/b/", ""]) == [listed["a/b/"], listed[""]]


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "a" / "one.py").write_text("3"),
        lambda root: os.utime(root / "a" / "one.py", (1, 1)),
        lambda root: (root / "a" / "one.py").chmod(0o600),
        lambda root: (root / "a" / "one.py").unlink(),
        lambda root: (root / "a" / "one.py").rename(root / "a" / "three.py"),
        lambda root: (root / "a" / "new.py").write_text(""),
        lambda root: (root / "a" / "b" / "new").mkdir(),
        lambda root: ((root / "a" / "link").unlink(), (root / "a" / "link").symlink_to("b")),
        lambda root: ((root / "a" / "b").rename(root / "b"), (root / "a" / "b").symlink_to("../b")),
    ],
    ids=["text", "time", "mode", "removed", "renamed", "added", "folder", "link", "other folder"],
)
def test_listings_differ_after_a_change_of_any_kind(
    change: Callable[[Path], object], root: Path
) -> None:
    before = tree(str(root))
    change(root)
    assert listings(str(root), before) != [*before.values()]


def test_names_are_not_taken_for_something_else(tmp_path: Path) -> None:
    for number, names in enumerate((["a", "b"], ["a 1 2 3 4", "b"], ["a\n", "b"], ["a\udcff"])):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        for name in names:
            (folder / name).write_text("")
        assert tree(str(folder))[""].count("/") == 2 * len(names)
