"""What of a user's home git is given for one address."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from pathlib import Path

import pytest

from harbor_metrics.confinement.workplace import Workplace
from harbor_metrics.errors import MetricFailure
from harbor_metrics.scripts.git import fetch
from harbor_metrics.scripts.git_home import Home, home_in, of_host, with_password


def home_for(url: str, folder: str) -> Home:
    return with_password(home_in(folder), url)


MINE = 'machine a.example login me password "a b"\n'
NETRC = """\
# all of mine
machine a.example login me password "a b"
machine b.example
\tlogin you
\tpassword #2
macdef init
machine a.example login macro password macro

machine A.example login other password x"y account z
default login me password d
"""


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("a.example", f'{MINE}machine a.example login other password x"y account z\n'),
        ("b.example", "machine b.example login you password #2\n"),
        *((host, "") for host in ("example", "c.a.example", "a.example.", "default", "")),
    ],
)
def test_of_a_netrc_one_host_alone_is_told(host: str, expected: str) -> None:
    assert of_host(NETRC, host) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("machine a.example pass x", "login me", "machine", "machine a login", "default password"),
        *('machine a password "x', 'machine a password "x\ny"', 'machine a password "x"y'),
        *("machine a macdef x y\n\n", "machine a login\n# x\n", "machine a\0", "password me"),
    ],
)
def test_a_netrc_that_others_may_read_otherwise_is_not_read(text: str) -> None:
    with pytest.raises(ValueError, match="more than one way"):
        of_host(text, "a.example")


@pytest.mark.parametrize("piece", ['"', '"\\', "machine a ", "#", " ", 'x"'])
def test_a_long_netrc_is_read_in_time(piece: str) -> None:
    started = time.monotonic()
    with contextlib.suppress(ValueError):
        of_host(piece * (1_000_000 // len(piece)), "a.example")
    assert time.monotonic() - started < 5


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\nname = me\n")
    monkeypatch.setenv("HOME", str(home))
    return home


def test_who_has_no_netrc_has_the_home_that_is_there(home: Path, tmp_path: Path) -> None:
    assert home_for("https://a.example/x", str(tmp_path)).path is None
    assert os.listdir(tmp_path) == ["home"]


def test_a_home_has_all_but_what_is_for_other_hosts(home: Path, tmp_path: Path) -> None:
    (home / ".netrc").write_text(NETRC)
    made = Path(home_for("https://me@b.example:8443/x", str(tmp_path)).path or "")
    assert sorted(os.listdir(made)) == [".gitconfig", ".netrc"]
    assert (made / ".gitconfig").read_text() == "[user]\nname = me\n"
    assert (made / ".netrc").read_text() == "machine b.example login you password #2\n"
    assert stat.S_IMODE((made / ".netrc").stat().st_mode) == 0o600
    assert stat.S_IMODE(made.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "url", ["https://c.example/x", "ssh://a.example/x", "git@a.example:x", "https:///x", "/x"]
)
def test_another_host_and_another_protocol_are_told_nothing(
    home: Path, tmp_path: Path, url: str
) -> None:
    (home / ".netrc").write_text(NETRC)
    made = home_for(url, str(tmp_path))
    assert made.path is not None
    assert (os.listdir(made.path), made.said) == ([".gitconfig"], "")


@pytest.mark.parametrize("kind", ["odd", "folder", "pipe", "bytes", "nowhere"])
def test_why_nothing_is_told_is_said(home: Path, tmp_path: Path, kind: str) -> None:
    netrc = home / ".netrc"
    if kind == "folder":
        netrc.mkdir()
    elif kind == "pipe":
        os.mkfifo(netrc)
    elif kind == "nowhere":
        netrc.symlink_to("/nowhere")
    else:
        netrc.write_bytes(b"odd" if kind == "odd" else b"machine a.example login \xff\n")
    made = home_for("https://a.example/x", str(tmp_path))
    assert made.path is not None
    assert os.listdir(made.path) == [".gitconfig"]
    assert "~/.netrc" in made.said


@pytest.mark.parametrize("settings", [".gitconfig", ".config/git/config", "a link to nothing"])
def test_home_that_is_a_checkout_gives_git_no_settings(
    settings: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They name programs, which would run beside git with the user's passwords and services."""
    home, place = tmp_path / "home", tmp_path / "place"
    for folder in (home / ".git", home / ".config" / "git", place):
        folder.mkdir(parents=True)
    if settings.startswith("."):
        (home / settings).write_text("[credential]\n\thelper = !evil\n")
    else:
        (home / ".gitconfig").symlink_to("/dev/null")
    (home / ".ssh").symlink_to(tmp_path)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home)
    found = home_for("https://example.org/x", str(place))
    assert found.path is not None
    assert not os.listdir(found.path)
    assert "checkout" in found.said
    assert found.readable() == []


@pytest.mark.parametrize("came", [True, False])
def test_settings_that_a_link_of_the_home_has_in_a_checkout_are_told_to_nobody(
    came: bool, home: Path, tmp_path: Path
) -> None:
    checkout = tmp_path / "other"
    checkout.mkdir()
    if came:
        (checkout / ".git").mkdir()
    (home / ".config").mkdir()
    (home / ".config" / "git").symlink_to(checkout)
    found = home_for("https://example.org/x", str(tmp_path))
    assert found.empty == came
    assert str(home / ".ssh") in found.readable()


def test_no_program_of_the_current_folder_is_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "git").write_text("#!/bin/sh\ntouch ran\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", ":.:")
    with Workplace() as place, pytest.raises(MetricFailure, match="git was not found"):
        fetch("https://localhost:1/x", "a" * 40, "m.py", place)
    assert not (tmp_path / "ran").exists()
