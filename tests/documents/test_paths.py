"""Where paths lead, also those that the system follows further than their length can be."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from conftest import as_somebody_else

from harbor_metrics.documents.files import check_place
from harbor_metrics.documents.paths import (
    check_stays,
    leads_inside,
    leads_out,
    real_path,
    real_paths,
    strayed,
)
from harbor_metrics.errors import InputError, OutputError


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
    with pytest.raises(InputError, match=r"a link to (where no path leads|\S+secret), of which"):
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


@pytest.fixture
def sent(folder: Path) -> Path:
    """What somebody has sent, with links on the way to what is not theirs."""
    (folder.parent / "kept").mkdir()
    (folder.parent / "kept" / "x").write_text("PASSWORD")
    sent = folder / "sent"
    (sent / "runs" / "one").mkdir(parents=True)
    (sent / "runs" / "one" / "x").write_text("1")
    (sent / "out").symlink_to("../../kept")
    (sent / "all").symlink_to(folder.parent)
    (sent / "near").symlink_to("out")
    (sent / "latest").symlink_to("runs/one")
    return sent


@pytest.mark.parametrize("way", ["out/x", "all/kept/x", "near/x", "runs/../all/here/../kept/x"])
@pytest.mark.parametrize("start", [".", "here", "here/sent", "here/sent/runs", "/"])
def test_a_link_on_the_way_is_asked_wherever_one_stands(
    sent: Path, monkeypatch: pytest.MonkeyPatch, start: str, way: str
) -> None:
    top = sent.parent.parent
    monkeypatch.chdir(top / start)
    absolute = f"{sent}/{way}"
    for path in (absolute, os.path.relpath(sent) + f"/{way}"):
        assert Path(path).read_text() == "PASSWORD"
        if start == "." and path != absolute and "all" not in path:
            check_stays(path)  # inside the current directory, which is one's own
        else:
            with pytest.raises(InputError, match="a link to"):
                check_stays(path)
        with pytest.raises(OutputError, match="a link there leads to"):
            check_place(path)


@pytest.mark.parametrize("start", [".", "here/sent", "here/sent/runs", "/"])
def test_a_link_within_its_own_folder_is_followed(
    sent: Path, monkeypatch: pytest.MonkeyPatch, start: str
) -> None:
    monkeypatch.chdir(sent.parent.parent / start)
    for path in (f"{sent}/latest/x", os.path.relpath(sent) + "/latest/x"):
        check_stays(path)
        check_place(path)


def test_a_home_is_nobodys_folder_to_be_led_out_of(
    sent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(sent.parent.parent))
    monkeypatch.chdir(sent.parent.parent)
    with pytest.raises(InputError, match="a link to"):
        check_stays("here/sent/out/x")


def test_links_right_in_a_home_are_its_owners(sent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(sent))
    check_stays(f"{sent}/out/x")
    (sent / "x").symlink_to("out/x")
    with pytest.raises(InputError, match="a link to"):
        check_stays(f"{sent}/x")


def test_links_of_the_system_are_followed(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("1")
    with open(tmp_path / "x", "rb") as file:
        for folder in ("/dev/fd", "/proc/self/fd"):
            path = f"{folder}/{file.fileno()}"
            assert os.path.exists(path)
            check_stays(path)


def test_a_link_too_deep_for_an_absolute_path_is_asked(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From here its path is short enough for the system, from `/` it is not."""
    monkeypatch.chdir(folder)
    way = [*["d" * 250] * 16, "e" * 60]
    for name in way:
        os.mkdir(name)
        os.chdir(name)
    os.symlink(folder.parent / "secret", "x.toml")
    os.symlink(folder.parent, "y")
    monkeypatch.chdir(folder)
    for end in ("x.toml", "y/secret"):
        path = "/".join([*way, end])
        assert Path(path).read_text() == "PASSWORD"
        with pytest.raises(OSError, match="too long"):
            (folder / path).stat()
        with pytest.raises(InputError, match="a link to"):
            check_stays(path)
        with pytest.raises(OutputError):
            check_place(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone can become somebody else")
def test_a_link_is_asked_where_nobody_comes_by_the_path_of_the_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after `su` in a folder below one that is root's alone."""
    (folder / "x.toml").symlink_to(folder.parent / "secret")
    (folder / "y.toml").symlink_to("../secret")
    (folder / "plain.toml").write_text("")
    for path in (folder, *folder.iterdir()):
        os.chown(path, 65534, 65534, follow_symlinks=False)
    folder.parent.chmod(0o700)
    monkeypatch.chdir(folder)
    with as_somebody_else():
        for link in ("x.toml", "y.toml"):
            with pytest.raises(InputError, match="a link to"):
                check_stays(link)
            with pytest.raises(OutputError):
                check_place(link)
        check_stays("plain.toml")


def test_a_text_that_is_no_path_leads_nowhere(folder: Path) -> None:
    for text in ("\0", "\ud800", "x/\ud800/../y"):
        assert not leads_inside(f"{folder}/{text}", str(folder))


def test_a_link_to_what_a_folder_hides_leads_out_of_it(folder: Path) -> None:
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "x").write_text("")
    (folder / "x").write_text("")
    for name, to in (("a", ".hidden/x"), ("b", ".hidden"), ("c", "x"), ("d", ".hidden/../x")):
        (folder / name).symlink_to(to)
    found = {name for name in os.listdir(folder) if leads_out(str(folder / name), str(folder))}
    assert found == {"a", "b"}
    assert leads_out(str(folder / "b" / "x"), str(folder))
    assert not leads_out(str(folder / ".hidden" / "x"), str(folder))


@pytest.mark.parametrize(
    "path",
    [
        *("", "x", "d", "d/x", "d/../x", "link", "link/x", "link/../x", "up", "up/d/x", "loop"),
        *("loop/x", "gone", "gone/x", "gone/../x", "no/../x", "file/../x", "root", "root/etc/.."),
        *("chain0/x", "chain30/x", "d//./x/", "far/x", "\udc80", "shut/x"),
    ],
)
def test_many_paths_lead_where_each_of_them_does(path: str, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "shut").mkdir(0)
    (tmp_path / "file").touch()
    links = {"link": "d", "up": "..", "loop": "loop", "gone": "d/none/where", "root": "/"}
    links |= {f"chain{n}": f"chain{n + 1}/." for n in range(20)} | {"chain30": "./chain0"}
    links["far"] = "d/../" * 800 + "d"
    for name, leads_to in links.items():
        (tmp_path / name).symlink_to(leads_to)
    known = [f"{tmp_path}/{each}" for each in (*links, "d/x")]
    assert real_paths([*known, f"{tmp_path}/{path}"])[-1] == real_path(f"{tmp_path}/{path}")


def test_a_link_on_many_paths_is_followed_once(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    for n in range(30):
        (tmp_path / f"l{n}").symlink_to(f"l{n + 1}/" * 700)
    for n in range(100):
        (tmp_path / f"n{n}").symlink_to("d/../" * 700 + "l0")
    started = time.monotonic()
    real_paths(f"{tmp_path}/n{n}/x" for n in range(100))
    assert time.monotonic() - started < 5


def test_a_path_longer_than_any_leads_nowhere_and_is_not_followed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A `registry_path` of 300 KB took 55 s: what is looked at on the way is its square."""
    asked: list[str] = []
    monkeypatch.setattr(os.path, "realpath", lambda path, **_: asked.append(path) or path)
    long = "a/" * 10_000
    assert not os.path.exists(real_path(long))
    assert strayed(long) is None
    assert not leads_inside(f"/a/{long}", "/a")
    assert not asked
