"""What lies below folders is counted, however deep and whoever may read it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from metric_scripts import linux

from harbor_metrics.confinement.below import Below

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


def counted(folder: Path, most: int = MOST) -> tuple[int, int]:
    below = Below([str(folder)], most)
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
import os, sys
sys.path.insert(0, {str(ROOT)!r})
from harbor_metrics.confinement.below import Below
if os.getuid() == 0:
    os.chown(".", 65534, 65534); os.setgid(65534); os.setuid(65534)
for mode in (0, 0o100, 0o400):
    os.makedirs(f"{{mode}}/inner")
    for name in (f"{{mode}}/file", f"{{mode}}/inner/file"):
        with open(name, "wb") as file: file.write(bytes(8192))
    os.chmod(f"{{mode}}/inner", mode); os.chmod(f"{{mode}}", mode)
os.symlink("/etc", "link")
below = Below(["."], 1000)
assert (below.n_files, below.n_bytes >= 6 * 8192) == (13, True), vars(below)
"""
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
