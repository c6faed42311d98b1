"""What may have come with what we work on: the current folder, checkouts, links there."""

from __future__ import annotations

from pathlib import Path

import pytest

from harbor_metrics.documents import work


def test_links_in_a_ring_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert not work.is_among_work(str(tmp_path / "a" / "c"))


@pytest.mark.parametrize(
    ("checkouts", "here", "used", "used_if_only_named"),
    [
        ((), "jobs", True, True),
        ((), ".", True, False),
        ((".",), ".", False, False),
        ((".",), "jobs", False, False),
        ((".",), "/usr/share", True, False),
        ((".", "jobs"), "jobs/deep", True, False),
        (("jobs",), "jobs", True, True),
        ((), "..", False, False),
        (("..",), "jobs", False, False),
        ((), "/usr/share", True, True),
    ],
)
@pytest.mark.parametrize("of_system", [True, False])
def test_home_is_work_where_it_is_what_we_work_on(
    checkouts: tuple[str, ...],
    here: str,
    used: bool,
    used_if_only_named: bool,
    of_system: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What HOME alone names, and not the system, a runner works on perhaps."""
    home = tmp_path / "home"
    (home / "jobs" / "deep").mkdir(parents=True)
    for checkout in checkouts:
        (home / checkout / ".git").mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home / here)
    if of_system:
        monkeypatch.setattr(work, "home_of_system", lambda: str(home))
    believed = used if of_system else used_if_only_named
    for place in (".cache/uv", ".gitconfig", ".local/bin", ".pyenv/versions"):
        assert work.is_among_work(str(home / place)) != believed
    # What every system has is believed wherever we are.
    assert not work.is_among_work("/bin")


@pytest.mark.parametrize("name", [".git", ".hg", ".jj", ".sl", ".svn"])
def test_home_of_a_user_whom_the_system_does_not_know_is_work_as_any_folder(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of `docker run --user 23456`."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(work, "home_of_system", lambda: "")
    monkeypatch.chdir(tmp_path)
    assert work.is_among_work(str(tmp_path / ".gitconfig"))
    (tmp_path / "deep").mkdir()
    monkeypatch.chdir("deep")
    assert not work.is_among_work(str(tmp_path / ".gitconfig"))
    (tmp_path / name).mkdir()
    assert work.is_among_work(str(tmp_path / ".gitconfig"))


@pytest.mark.parametrize("home", ["/", "elsewhere", "here"])
def test_nobody_works_at_the_root_whatever_the_home_of_a_container(
    home: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / home))
    for current in ("/", str(here)):
        monkeypatch.chdir(current)
        assert not work.is_among_work("/usr/bin")
        assert not work.is_among_work(str(elsewhere / ".cache" / "uv"))
    assert work.is_among_work(str(here / ".gitconfig"))


@pytest.mark.parametrize(("here", "is_work"), [("jobs", False), (".pyenv", True), (".", False)])
def test_pyenv_is_a_checkout_that_is_worked_on_only_in_it(
    here: str, is_work: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for checkout in ("jobs", ".pyenv", ".pyenv/versions/3.12.1"):
        (tmp_path / checkout / ".git").mkdir(parents=True)
    (tmp_path / ".pyenv" / "versions" / "3.12.1" / ".git").rmdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(work, "home_of_system", lambda: str(tmp_path))
    monkeypatch.chdir(tmp_path / here)
    assert work.is_among_work(str(tmp_path / ".pyenv" / "versions" / "3.12.1")) == is_work
    assert work.is_among_work(str(tmp_path / "jobs" / "python"))


@pytest.mark.parametrize("here", ["/", "/tmp"])
@pytest.mark.parametrize("of_system", [True, False])
def test_nobody_works_above_all_homes(
    here: str, of_system: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A home that only HOME names can have come with what lies there: `docker run -w /mnt`."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(here)
    if of_system:
        monkeypatch.setattr(work, "home_of_system", lambda: str(tmp_path))
    is_believed = of_system or here == "/"
    assert work.is_among_work(str(tmp_path / ".cache" / "uv")) != is_believed
