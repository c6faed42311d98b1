"""Where paths lead, also those that the system follows further than their length can be."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harbor_metrics.documents.paths import check_stays, leads_inside, real_path
from harbor_metrics.errors import InputError


def deep(folder: Path, levels: int = 18) -> str:
    """From a folder down further than a path can be long, and up again by links to `secret`."""
    name = "d" * 250
    here = os.open(folder, os.O_RDONLY)
    try:
        for _ in range(levels):
            os.mkdir(name, dir_fd=here)
            inner = os.open(name, os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = inner
        os.symlink("../" * levels + "../secret", "last", dir_fd=here)
    finally:
        os.close(here)
    os.symlink("/".join([name] * (levels // 2)), folder / "half")
    # From the middle on the way is told by a link that lies there.
    middle = os.open(folder / "half", os.O_RDONLY)
    try:
        os.symlink("/".join([name] * (levels - levels // 2)) + "/last", "rest", dir_fd=middle)
    finally:
        os.close(middle)
    return "half/rest"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text("PASSWORD")
    (tmp_path / "here").mkdir()
    return tmp_path / "here"


def test_what_the_system_alone_can_follow_leads_nowhere_inside(folder: Path) -> None:
    (folder / "x.py").symlink_to(deep(folder))
    assert (folder / "x.py").read_text() == "PASSWORD"
    assert not leads_inside(str(folder / "x.py"), str(folder))
    assert not real_path(str(folder / "x.py")).startswith(str(folder))
    with pytest.raises(InputError, match="where no path leads"):
        check_stays(str(folder / "x.py"))


def test_up_again_is_not_taken_for_where_it_looks(folder: Path) -> None:
    (folder / "x.py").symlink_to(f"{deep(folder)}/../../x.txt")
    assert not leads_inside(str(folder / "x.py"), str(folder))


def test_what_is_not_there_is_where_it_would_be(folder: Path) -> None:
    (folder / "gone").symlink_to("nothing/there")
    assert real_path(str(folder / "gone")) == str(folder / "nothing" / "there")
    assert real_path(str(folder / "no" / ".." / "x")) == str(folder / "x")


def test_up_from_where_a_link_leads_is_not_its_own_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder.parent / "kept").mkdir()
    (folder / "link").symlink_to("../kept")
    for path in (str(folder / "link" / ".." / "secret"), "link/../secret"):
        monkeypatch.chdir(folder)
        assert Path(path).read_text() == "PASSWORD"
        with pytest.raises(InputError, match="a link to"):
            check_stays(path)
    (folder / "plain").mkdir()
    check_stays("plain/../x")
