"""What lies below folders is counted, however deep and whoever may read it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT
from metric_scripts import linux

from harbor_metrics.confinement import below as module
from harbor_metrics.confinement.below import Below
from harbor_metrics.confinement.look import Look, TooLong

MOST = 1 << 30
# A tree deeper than a path can say, with two files in each folder and one beside the next.
DEEP = """
import os, sys
for _ in range(int(sys.argv[2])):
    for name in ("a", "z"):
        os.mkdir(name)
        with open(f"{name}/file", "wb") as file: file.write(bytes(4096))
    os.mkdir("m" * 200); os.chdir("m" * 200)
"""


def make(code: str, folder: Path, *arguments: str) -> None:
    subprocess.run([sys.executable, "-c", code, "", *arguments], cwd=folder, check=True)


def look(seconds: float = 60) -> Look:
    return Look(seconds, time.monotonic() + seconds)


def counted(folder: Path, most: int = MOST) -> tuple[int, int]:
    below = Below([str(folder)], most, look())
    return below.n_files, below.n_bytes


def open_files() -> int:
    return len(os.listdir("/dev/fd"))


@pytest.mark.parametrize("depth", [3, 70, 200])
def test_depth_hides_nothing(depth: int, tmp_path: Path) -> None:
    make(DEEP, tmp_path, str(depth))
    before = open_files()
    n_files, n_bytes = counted(tmp_path)
    assert n_files == 5 * depth
    assert n_bytes >= 2 * 4096 * depth
    assert open_files() == before


def test_it_is_gone_no_further_than_to_one_too_many(tmp_path: Path) -> None:
    make(DEEP, tmp_path, "100")
    assert counted(tmp_path, 20)[0] == 21


def test_links_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "file").write_bytes(bytes(1 << 20))
    (tmp_path / "in" / "link").symlink_to(tmp_path / "out")
    (tmp_path / "in" / "self").symlink_to(".")
    n_files, n_bytes = counted(tmp_path / "in")
    assert n_files == 2
    assert n_bytes < 1 << 20


def test_what_is_not_there_is_nothing(tmp_path: Path) -> None:
    assert counted(tmp_path / "none") == (0, 0)


@linux
def test_locked_folders_are_counted(tmp_path: Path) -> None:
    """As another user than root, who reads them all."""
    code = f"""
import os, sys, time
sys.path.insert(0, {str(ROOT)!r})
from harbor_metrics.confinement.below import Below
from harbor_metrics.confinement.look import Look
if os.getuid() == 0:
    os.chown(".", 65534, 65534); os.setgid(65534); os.setuid(65534)
for mode in (0, 0o100, 0o400):
    os.makedirs(f"{{mode}}/inner")
    for name in (f"{{mode}}/file", f"{{mode}}/inner/file"):
        with open(name, "wb") as file: file.write(bytes(8192))
    os.chmod(f"{{mode}}/inner", mode); os.chmod(f"{{mode}}", mode)
os.symlink("/etc", "link")
below = Below(["."], 1000, Look(60, time.monotonic() + 60))
assert (below.n_files, below.n_bytes >= 6 * 8192) == (13, True), vars(below)
"""
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)


def meanwhile(monkeypatch: pytest.MonkeyPatch, change: Callable[[str], object]) -> None:
    """Change something each time before a folder is opened by its name."""
    opened = module._opened

    def changed(name: str, folder: int | None = None) -> int:
        change(name)
        return opened(name, folder)

    monkeypatch.setattr(module, "_opened", changed)


@pytest.mark.parametrize("times", [1, 100])
def test_a_folder_is_counted_that_has_another_name_by_now(
    times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "0").mkdir()
    (tmp_path / "0" / "file").write_bytes(bytes(4096))
    names = iter(range(times))

    def rename(name: str) -> None:
        if name.isdigit() and (number := next(names, None)) is not None:
            (tmp_path / str(number)).rename(tmp_path / str(number + 1))

    meanwhile(monkeypatch, rename)
    assert counted(tmp_path)[0] == 2


@pytest.mark.parametrize("toggles", [True, False])
def test_a_look_is_too_long_where_a_folder_never_keeps_its_name(
    toggles: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "0").mkdir()

    def rename(name: str) -> None:
        if name.isdigit():
            new = 1 - int(name) if toggles else int(name) + 1
            (tmp_path / name).rename(tmp_path / str(new))

    meanwhile(monkeypatch, rename)
    before = open_files()
    with pytest.raises(TooLong):
        Below([str(tmp_path)], MOST, look(0.05))
    assert open_files() == before


def test_a_folder_that_is_removed_meanwhile_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(100):
        (tmp_path / str(number)).mkdir()

    def remove(name: str) -> None:
        if name.isdigit():
            (tmp_path / name).rmdir()
            # What comes in its place may have its inode.
            (tmp_path / name).write_bytes(b"")

    meanwhile(monkeypatch, remove)
    assert counted(tmp_path)[0] == 100


def test_a_folder_that_is_removed_with_all_in_it_ends_no_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The folders are looked into from the last that is listed on.
    for name in ("a", "b", "c"):
        (tmp_path / name / "in").mkdir(parents=True)
        (tmp_path / name / "file").write_bytes(b"")
    removed: list[str] = []

    def remove(name: str) -> None:
        if name == "in" and not removed:
            listed = [entry.name for entry in os.scandir(tmp_path)]
            removed.append(listed[-1])
            shutil.rmtree(tmp_path / listed[-1])

    meanwhile(monkeypatch, remove)
    assert counted(tmp_path)[0] == 9


def test_a_look_is_too_long_where_a_deep_folder_is_moved_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(DEEP, tmp_path, "200")
    deep = tmp_path.joinpath(*["m" * 200] * 5)

    def move(name: str) -> None:
        if name == ".." and deep.exists():
            deep.rename(tmp_path / "elsewhere")

    monkeypatch.setattr(module, "_OPEN", 4)
    meanwhile(monkeypatch, move)
    with pytest.raises(TooLong):
        Below([str(tmp_path)], MOST, look())
