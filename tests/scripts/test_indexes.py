"""Which address of a script's is one that the user has set."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from harbor_metrics.scripts.indexes import (
    INDEXES,
    is_of_user,
    known,
    lie_among_work,
    packages_of_user,
    plain,
)

URL = "https://mine.example/simple"
IMITATIONS = [
    *("https://mine.example@evil.example/simple", "https://me:pw@mine.example/simple"),
    *("https://evil.example/simple", "https:/mine.example/simple", "https:mine.example/simple"),
    *("https:\\\\mine.example\\simple", "//mine.example/simple", "mine.example/simple"),
    *("https://mine.example./simple", "https://mine.example:8443/simple", f"{URL}#x", f"{URL}?x"),
    *(f"{URL};x", f"{URL}/../evil", f"{URL}/%2e%2e/evil", f"{URL}/./x", f"{URL}//", f" {URL}"),
    *(f"{URL}\n", "ht\ttps://mine.example/simple", "https://mine.example\\@evil.example/simple"),
    *("https://m\u0131ne.example/simple", "https://mine\u3002example/simple", f"{URL}/\uff0e"),
    *("https://mine.example/Simple", "http://mine.example/simple", "https://mine.example"),
    *("https://mine.example%2fsimple", "https://mine.example:/simple", "ftp://mine.example/simple"),
    *("", "/", ".", "..", "./wheels", "../wheels", "wheels", "file://wheels", "file:/opt/wheels"),
    *("file://localhost/opt/wheels", "/opt/wheels/../evil", "/opt//wheels", "~/wheels", "file:///"),
    *("/opt/other", "FILE:///OPT/WHEELS", "C:\\wheels"),
]
SAME = [URL, f"{URL}/", "HTTPS://Mine.Example/simple", "/opt/wheels", "file:///opt/wheels/"]


@pytest.fixture(autouse=True)
def _user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_INDEX", "corp=https://me:p%40w@mine.example/simple  ./wheels / ,")
    monkeypatch.setenv("UV_DEFAULT_INDEX", "other=http://127.0.0.1:8080/a,b")
    monkeypatch.setenv("UV_FIND_LINKS", "/opt/wheels,wheels,https://links.example/x/")
    monkeypatch.setenv("UV_EXTRA_INDEX_URL", "https://user@pass@odd.example/simple https://[::1]/x")


@pytest.mark.parametrize("address", IMITATIONS)
def test_an_imitation_is_not_the_users(address: str) -> None:
    assert not is_of_user(address, known())
    assert not is_of_user({"url": address}, known())


@pytest.mark.parametrize("address", SAME)
def test_an_address_of_the_user_is(address: str) -> None:
    assert is_of_user(address, known())
    assert is_of_user({"url": address, "explicit": True}, known())


def test_what_the_user_has_set_in_no_strict_form_is_known_to_no_script() -> None:
    assert set(known()) == {URL, "file:///opt/wheels", "https://links.example/x"}


def test_no_password_goes_to_another_address_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_INDEX_LINKS_2_PASSWORD", "secret")
    links = "https://links.example/x"
    assert not is_of_user({"name": "links-2", "url": links}, known())
    assert is_of_user({"name": "other", "url": links}, known())
    monkeypatch.setenv("UV_INDEX_CORP_USERNAME", "me")
    assert is_of_user({"name": "corp", "url": URL}, known())
    assert not is_of_user({"name": "corp", "url": links}, known())


@pytest.mark.parametrize("more", [{"authenticate": "always"}, {"name": 1}, {"format": "flat"}])
def test_nothing_else_is_said_of_an_index(more: dict[str, object]) -> None:
    assert not is_of_user({"url": URL, **more}, known())


@pytest.mark.parametrize("text", ["https://h/" + "/" * 1_000_000 + "x", "/a" * 500_000 + "?"])
def test_a_long_address_is_read_in_one_go(text: str) -> None:
    started = time.monotonic()
    assert plain(text) is None
    assert time.monotonic() - started < 2


@pytest.mark.parametrize("name", [*INDEXES, "UV_FIND_LINKS"])
def test_no_link_of_a_checkout_shows_packages_that_lie_elsewhere(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its author would read what lies there, by a script that depends on it."""
    for variable in (*INDEXES, "UV_FIND_LINKS"):
        monkeypatch.delenv(variable, raising=False)
    work = tmp_path / "work"
    for folder in (work / "wheels", work / "deep" / "wheels", tmp_path / "private"):
        folder.mkdir(parents=True)
    monkeypatch.chdir(work)
    (work / "link").symlink_to(tmp_path / "private")
    (work / "inside").symlink_to("wheels")
    (tmp_path / "mine").symlink_to(tmp_path / "private")
    for place, read in (
        ("wheels", [work / "wheels"]),
        ("inside", [work / "inside"]),
        (str(work / "deep" / "wheels"), [work / "deep" / "wheels"]),
        (str(tmp_path / "mine"), [tmp_path / "mine"]),
        ("link", []),
        (str(work / "link"), []),
        (f"file://{work}/link", []),
    ):
        monkeypatch.setenv(name, place)
        env, folders = packages_of_user()
        assert folders == list(map(str, read))
        # Of an index that is not told another one would be asked.
        assert env[name].endswith(place)


@pytest.mark.parametrize(
    ("name", "value", "changes", "leads_on"),
    [
        ("UV_FIND_LINKS", "https://a.example,wheels", True, False),
        ("UV_FIND_LINKS", "file://{}/page.html", True, True),
        ("UV_DEFAULT_INDEX", "file://{}/wheels", True, True),
        ("UV_DEFAULT_INDEX", "{}/My Work/wheels", True, True),
        ("UV_INDEX_URL", "./My Work/wheels", True, True),
        ("UV_INDEX", "https://a.example mine=./wheels", True, True),
        ("UV_INDEX", "https://a.example", False, False),
        ("UV_FIND_LINKS", "/usr/share", False, False),
    ],
)
def test_pages_and_folders_of_packages_may_come_with_a_checkout(
    name: str,
    value: str,
    changes: bool,
    leads_on: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for folder in ("wheels", "My Work/wheels"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "page.html").write_text("")
    monkeypatch.chdir(tmp_path)
    for variable in (*INDEXES, "UV_FIND_LINKS"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv(name, value.format(tmp_path))
    assert lie_among_work("/me") == changes
    assert lie_among_work("/me", pages=True) == leads_on
    monkeypatch.chdir("/")
    if changes and "{}" in value:
        assert lie_among_work(str(tmp_path.resolve()))
        assert not lie_among_work("/me")
