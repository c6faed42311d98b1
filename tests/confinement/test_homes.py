"""Which homes are hidden from programs."""

from __future__ import annotations

import os
import pwd
import shutil
import tempfile
from pathlib import Path

import pytest
from confinement.confined import confined, in_all_layers
from metric_scripts import linux

from harbor_metrics.confinement import homes

pytestmark = linux


@pytest.fixture(autouse=True)
def of_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(homes, "home_of_system", lambda: "/var/lib/somebody")


def test_home_is_what_the_user_says_and_what_the_system_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "home")
    monkeypatch.setenv("HOME", str(tmp_path / "link"))
    assert set(homes.homes()) == {"/var/lib/somebody", str(tmp_path.resolve() / "home")}


@pytest.mark.parametrize(
    "home",
    [
        "",
        "/",
        "relative",
        "/usr",
        "/usr/sbin",
        "/usr/local/lib",
        "/bin",
        "/etc",
        "/var",
        "/opt",
        "/dev/x",
    ],
)
def test_no_home_is_a_part_of_the_system(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", home)
    assert homes.homes() == ["/var/lib/somebody"]


@pytest.mark.parametrize(
    "home", ["/usr/people/somebody", "/usr/local/home/somebody", "/etc/x", "/dev/shm/somebody"]
)
def test_home_lies_within_the_system(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", home)
    assert homes.homes() == sorted(["/var/lib/somebody", home])


@in_all_layers
def test_home_within_the_system_is_hidden(
    layers: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        folder = tempfile.mkdtemp(dir="/usr/share")
    except OSError as error:
        pytest.skip(f"{error}")
    try:
        home, other = Path(folder, "home"), Path(folder, "other")
        for each in (home, other):
            each.mkdir()
            (each / "file").write_text("1")
        Path(folder, "link").symlink_to("home")
        monkeypatch.setenv("HOME", f"{folder}/link")
        code = (
            f"for name in ('home', 'link', 'other'):\n"
            f"    try: print(open({folder!r} + '/' + name + '/file').read())\n"
            "    except OSError: print('no')\n"
        )
        done = confined(code, layers)
    finally:
        shutil.rmtree(folder)
    assert done.stdout.split() == [b"no", b"no", b"1"], done.stderr


def test_user_without_an_entry_has_no_home_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    homes.home_of.cache_clear()
    assert homes.home_of_system() == pwd.getpwuid(os.getuid()).pw_dir
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_001)
    homes.home_of.cache_clear()
    assert homes.home_of_system() == ""
    homes.home_of.cache_clear()


@pytest.mark.parametrize("home", [None, "", ".", "~"])
def test_no_home_is_a_folder_of_the_current_one(
    home: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program of a stranger's ran that `~/.gitconfig` named, where the system knew of no user."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "~").mkdir()
    if home is None:
        monkeypatch.delenv("HOME", raising=False)
    else:
        monkeypatch.setenv("HOME", home)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(homes, "home_of_system", lambda: "/home/me")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path.replace("~", home or "~"))
    assert (homes.own_home(), homes.cache_home()) == ("/home/me", "/home/me/.cache")
    monkeypatch.setattr(homes, "home_of_system", lambda: "")
    assert homes.own_home() == os.devnull
    with pytest.raises(NotADirectoryError):
        os.makedirs(homes.our_cache())
