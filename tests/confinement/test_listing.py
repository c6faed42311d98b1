"""The text that tells what lies in folders."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from harbor_metrics.confinement.listing import listings, tree
from harbor_metrics.confinement.workplace import Workplace

# So many that the supervisor lists some of them.
MANY = 250


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "one.py").write_text("1")
    (tmp_path / "a" / "b" / "two.py").write_text("2")
    (tmp_path / "a" / "link").symlink_to("one.py")
    return tmp_path


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    for number in range(MANY):
        (tmp_path / f"{number}").mkdir()
        (tmp_path / f"{number}" / "file").write_text(f"{number}")
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


class TestWorkplace:
    """The supervisor lists half of many folders."""

    def test_lists_as_the_function_does(self, wide: Path) -> None:
        before = tree(str(wide))
        with Workplace() as place:
            assert place.listings(str(wide), [*before]) == [*before.values()]
            (wide / "7" / "file").write_text("other")
            (wide / "8" / "new").write_text("")
            now = place.listings(str(wide), [*before])
        assert now == listings(str(wide), before)
        assert sum(one != other for one, other in zip(now, before.values(), strict=True)) == 2

    @pytest.mark.parametrize("gone", [10, 11])
    def test_folder_that_is_gone_is_an_error(self, gone: int, wide: Path) -> None:
        folders = [f"{number}/" for number in range(MANY)]
        (wide / f"{gone}" / "file").unlink()
        (wide / f"{gone}").rmdir()
        with Workplace() as place:
            with pytest.raises(FileNotFoundError):
                place.listings(str(wide), folders)
            # And it can be asked again.
            left = [folder for folder in folders if folder != f"{gone}/"]
            assert place.listings(str(wide), left) == listings(str(wide), left)

    def test_killed_supervisor_is_not_needed(self, wide: Path) -> None:
        before = tree(str(wide))
        with Workplace() as place:
            _ = place.folder
            os.kill(place._pid, signal.SIGKILL)
            assert place.listings(str(wide), [*before]) == [*before.values()]
