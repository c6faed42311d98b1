"""Of what somebody else can write nothing is believed."""

from __future__ import annotations

import grp
import os
import pwd
import struct
from pathlib import Path

import pytest
from metric_scripts import BLOCK, COUNT, linux

from harbor_metrics.confinement.homes import cache_home
from harbor_metrics.confinement.workplace import Workplace
from harbor_metrics.scripts import cache, owners
from harbor_metrics.scripts.uv_access import uv_cache


@pytest.mark.parametrize(
    ("mode", "after"), [(0, 0o700), (0o100, 0o700), (0o500, 0o500), (0o777, 0o700)]
)
def test_folder_of_ours_that_was_shut_is_open_again(mode: int, after: int, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    for name in ("folder", "file"):
        (tmp_path / name).chmod(mode)
        assert owners.is_own(str(tmp_path / name))
    assert (tmp_path / "folder").stat().st_mode & 0o777 == after
    assert (tmp_path / "file").stat().st_mode & 0o777 == mode & 0o700


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o755, 0o700])
def test_what_the_group_could_write_is_ours_alone_from_now_on(
    mode: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a folder that it can only read, it could write what lies in it."""
    monkeypatch.delenv("UV_CACHE_DIR")
    folder = Path(cache.cache_folder(cache.ENVIRONMENTS))
    folder.mkdir(parents=True)
    of_uv = Path(cache_home()) / "uv"
    (of_uv / "archive-v0").mkdir(parents=True)
    for path in (folder.parent, folder, of_uv):
        path.chmod(mode)
    assert cache.cache_folder(cache.ENVIRONMENTS) == str(folder)
    with Workplace() as place:
        assert uv_cache(place) == str(of_uv)
    for path in (folder.parent, folder, of_uv):
        assert path.stat().st_mode & 0o777 == 0o700
    assert (of_uv / "archive-v0").is_dir()


@pytest.mark.parametrize(
    ("mode", "used"), [(0o777, False), (0o775, False), (0o755, True), (0o700, True)]
)
def test_a_cache_of_uv_that_people_share_stays_as_it_is(mode: int, used: bool) -> None:
    of_uv = Path(os.environ["UV_CACHE_DIR"])
    of_uv.mkdir()
    os.chown(of_uv, -1, 65534 if os.getuid() == 0 else -1)
    of_uv.chmod(mode)
    with Workplace() as place:
        assert (uv_cache(place) == str(of_uv)) == (used or (mode == 0o775 and os.getuid() != 0))
    assert of_uv.stat().st_mode & 0o777 == mode


@pytest.mark.parametrize(
    ("above", "below", "of_one", "used"),
    [
        (0o755, 0o755, False, True),
        (0o755, 0o775, False, False),
        (0o755, 0o775, True, True),
        (0o755, 0o777, True, False),
        (0o710, 0o775, False, False),
        (0o700, 0o775, False, True),
    ],
)
def test_named_cache_of_uv_in_which_others_can_write_is_not_used(
    above: int, below: int, of_one: bool, used: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What uv makes below has the mode that a umask gives it."""
    of_uv = Path(os.environ["UV_CACHE_DIR"])
    (of_uv / "archive-v0").mkdir(parents=True)
    (of_uv / ".lock").touch()
    (of_uv / ".lock").chmod(0o777)
    (of_uv / "archive-v0").chmod(below)
    of_uv.chmod(above)
    monkeypatch.setattr(owners, "_is_of_one", lambda group: of_one)
    with Workplace() as place:
        assert (uv_cache(place) == str(of_uv)) == used


@pytest.mark.parametrize(
    ("mode", "of_one", "used"),
    [
        (0o777, True, False),
        (0o1777, False, True),
        (0o775, False, False),
        (0o2775, False, False),
        (0o775, True, True),
        (0o755, False, True),
        (0o700, False, True),
    ],
)
@pytest.mark.parametrize("below", [".", "mine"])
def test_cache_in_a_folder_where_others_change_names_is_not_used(
    below: str,
    mode: int,
    of_one: bool,
    used: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They would put another in its place between our look and the use."""
    lab = tmp_path / "lab"
    (lab / below).mkdir(parents=True)
    lab.chmod(mode)
    monkeypatch.setattr(owners, "_is_of_one", lambda group: of_one)
    monkeypatch.setenv("UV_CACHE_DIR", str(lab / below / "uv"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(lab / below))
    with Workplace() as place:
        assert (uv_cache(place) == str(lab / below / "uv")) == used
    assert (cache.cache_folder("git") == str(lab / below / "harbor-metrics/git")) == used
    assert lab.stat().st_mode & 0o7777 == mode


@linux
@pytest.mark.parametrize("reached", ["above", "the cache", "in it"])
def test_whom_an_access_list_lets_write_is_somebody_else(
    reached: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is the group's in a mode is the most that anybody has whom the list names."""
    of_uv = tmp_path / "lab" / "uv"
    (of_uv / "archive-v0").mkdir(parents=True)
    places = {"above": of_uv.parent, "the cache": of_uv, "in it": of_uv / "archive-v0"}
    for place in places.values():
        place.chmod(0o775)
    monkeypatch.setattr(owners, "_is_of_one", lambda group: True)
    monkeypatch.setenv("UV_CACHE_DIR", str(of_uv))
    with Workplace() as place:
        assert uv_cache(place) == str(of_uv)
        entries = [(1, 7, -1), (2, 7, 65_534), (4, 5, -1), (16, 7, -1), (32, 5, -1)]
        packed = b"".join(struct.pack("<HHi", *entry) for entry in entries)
        try:
            os.setxattr(places[reached], "system.posix_acl_access", struct.pack("<I", 2) + packed)
        except OSError as error:
            pytest.skip(f"no access lists here: {error}")
        assert places[reached].stat().st_mode & 0o777 == 0o775
        assert uv_cache(place).startswith(place.folder)


@pytest.mark.parametrize("mode", [0o775, 0o777, 0o755])
def test_no_group_changes_names_in_the_folder_of_all_caches_of_a_user(
    mode: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A umask for groups has made it so."""
    caches = tmp_path / "home" / ".cache"
    caches.mkdir(parents=True)
    caches.chmod(mode)
    monkeypatch.setattr(owners, "_is_of_one", lambda group: False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache.cache_folder("git") == str(caches / "harbor-metrics" / "git")
    assert caches.stat().st_mode & 0o777 == 0o755
    (tmp_path / "home").chmod(0o777)
    assert not cache.cache_folder("git").startswith(str(tmp_path))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives things away")
def test_cache_in_a_folder_of_somebody_else_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lab" / "uv").mkdir(parents=True)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "lab" / "uv"))
    os.chown(tmp_path / "lab", 65_534, 65_534)
    with Workplace() as place:
        assert uv_cache(place).startswith(place.folder)


def test_group_of_one_is_that_of_the_user_and_has_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, of_user, number, members, is_of_one in (
        ("me", 5, 5, [], True),
        ("me", 5, 5, ["me"], True),
        ("me", 5, 5, ["you"], False),
        ("users", 5, 5, [], False),
        ("me", 5, 6, [], False),
        ("me", 0, 0, [], False),
    ):
        me = pwd.struct_passwd(("me", "x", os.geteuid(), of_user, "", "/", "/bin/sh"))
        monkeypatch.setattr("pwd.getpwuid", lambda user, me=me: me)
        group = grp.struct_group((name, "x", number, members))
        monkeypatch.setattr("grp.getgrgid", lambda _, group=group: group)
        owners._is_of_one.cache_clear()
        assert owners._is_of_one(number) == is_of_one
    owners._is_of_one.cache_clear()


@linux
def test_nobody_else_reaches_what_is_made_where_a_group_may_write(outcome) -> None:
    before = os.umask(0o002)
    try:
        one, _done = outcome(BLOCK + COUNT)
        with Workplace() as place:
            of_uv = uv_cache(place)
    finally:
        os.umask(before)
    assert one["values"] == {"n": 2}
    for folder in (of_uv, cache.cache_folder(cache.ENVIRONMENTS)):
        assert os.stat(folder).st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives things away")
@pytest.mark.parametrize("link", [False, True], ids=["folder", "link"])
@pytest.mark.parametrize("above", [False, True], ids=["of environments", "of all"])
def test_folder_of_somebody_else_is_none(link: bool, above: bool, tmp_path: Path) -> None:
    folder = Path(cache.cache_folder(cache.ENVIRONMENTS))
    theirs = folder.parent if above else folder
    theirs.parent.mkdir(parents=True, exist_ok=True)
    if link:
        (tmp_path / "ours").mkdir()
        theirs.symlink_to(tmp_path / "ours")
    else:
        theirs.mkdir()
    os.chown(theirs, 65_534, 65_534, follow_symlinks=False)
    found = cache.cache_folder(cache.ENVIRONMENTS)
    assert not os.path.lexists(found)
    with pytest.raises(OSError, match="directory"):
        os.makedirs(found)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives things away")
def test_cache_of_uv_that_somebody_else_owns_is_not_used_where_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "uv").mkdir()
    (tmp_path / "link").symlink_to("uv")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "link"))
    with Workplace() as place:
        assert uv_cache(place) == str(tmp_path / "uv")
        os.chown(tmp_path / "uv", 65_534, 65_534)
        assert uv_cache(place).startswith(place.folder)


def test_nothing_stays_where_scripts_can_write() -> None:
    """With Landlock alone the first to come could make the folder of a cache there."""
    assert not owners.stays_there("/dev/shm/cache/harbor-metrics")
