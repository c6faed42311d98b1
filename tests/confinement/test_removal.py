"""A folder goes whatever was made of it, and nothing else does, whatever others do meanwhile."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from harbor_metrics.confinement.removal import remove

NOBODY = 65534


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    """A folder that is not ours to remove."""
    folder = tmp_path / "precious"
    (folder / "deep").mkdir(parents=True)
    for name in ("a", "deep/b"):
        (folder / name).write_text("")
    for path in (folder, folder / "deep"):
        path.chmod(0o755)
    return folder


def _intact(folder: Path) -> bool:
    modes = {oct(path.stat().st_mode & 0o777) for path in (folder, folder / "deep")}
    names = {str(path.relative_to(folder)) for path in folder.rglob("*")}
    return modes == {"0o755"} and names == {"a", "deep", "deep/b"}


def test_links_go_and_what_they_lead_to_stays(tmp_path: Path, precious: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "in").mkdir(parents=True)
    (folder / "link").symlink_to(precious)
    (folder / "in" / "link").symlink_to(precious / "a")
    remove(str(folder))
    assert not folder.exists()
    assert _intact(precious)


def test_a_link_in_the_place_of_the_folder_goes_alone(tmp_path: Path, precious: Path) -> None:
    (tmp_path / "folder").symlink_to(precious)
    remove(str(tmp_path / "folder"))
    assert not os.path.lexists(tmp_path / "folder")
    assert _intact(precious)


def test_what_becomes_a_link_meanwhile_is_not_followed(tmp_path: Path, precious: Path) -> None:
    rounds = [tmp_path / f"{n}" for n in range(100)]
    current = [rounds[0]]

    def swap(name: str) -> None:
        while current:
            try:
                place = f"{current[0]}/{name}"
                os.rename(place, f"{place}-aside")
                os.symlink(precious, place)
                os.unlink(place)
                os.rename(f"{place}-aside", place)
            except (OSError, IndexError):
                continue

    threads = [threading.Thread(target=swap, args=(name,)) for name in ("first", "second", "o/in")]
    for thread in threads:
        thread.start()
    try:
        for folder in rounds:
            new = tmp_path / "new"
            for name in ("first/deep", "second/deep", "o/in/deep"):
                (new / name).mkdir(parents=True)
                (new / name / "file").touch()
            new.rename(folder)
            current[:] = [folder]
            remove(str(folder))
            assert _intact(precious)
    finally:
        current.clear()
        for thread in threads:
            thread.join()


def test_folders_nested_deeper_than_a_path_is_long_go_with_few_open_files(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    os.mkdir("folder", dir_fd=descriptor)
    inner = os.open("folder", os.O_RDONLY, dir_fd=descriptor)
    for _ in range(3_000):
        os.mkdir("nested", dir_fd=inner)
        deeper = os.open("nested", os.O_RDONLY, dir_fd=inner)
        os.close(inner)
        inner = deeper
    os.close(inner)
    os.close(descriptor)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/dev/fd")) + 20, before[1]))
    try:
        remove(f"{tmp_path}/folder")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert not os.path.lexists(tmp_path / "folder")


UNREADABLE = """\
import os, sys
sys.path.insert(0, sys.argv[1])
from harbor_metrics.confinement.removal import remove
os.chdir(sys.argv[2])
{become}
os.makedirs("folder/a/b/c")
os.makedirs("folder/d/e")
for name in ("folder/a/b/c/file", "folder/d/e/file"):
    open(name, "w").close()
for name, mode in (("a/b/c", 0), ("a/b", 0o500), ("d/e", 0o300), ("a", 0o100), ("d", 0), ("", 0)):
    os.chmod("folder/" + name, mode)
remove("folder")
sys.exit(os.path.lexists("folder"))
"""


def test_an_ordinary_user_removes_what_has_become_unreadable(tmp_path: Path) -> None:
    root = os.geteuid() == 0
    if root:
        os.chown(tmp_path, NOBODY, NOBODY)
    program = UNREADABLE.format(become=f"os.setuid({NOBODY})" if root else "")
    package = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", program, package, str(tmp_path)], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_of_what_is_not_there_nothing_is_said(tmp_path: Path) -> None:
    remove(str(tmp_path / "folder"))
    remove(str(tmp_path / "folder" / "inside"))
    assert os.listdir(tmp_path) == []
