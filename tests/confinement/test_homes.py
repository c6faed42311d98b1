"""Which homes are hidden from programs."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest
from metric_scripts import linux

from harbor_metrics.confinement import homes

pytestmark = linux


@pytest.fixture(autouse=True)
def of_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(homes, "_of_system", lambda: "/var/lib/somebody")


def test_home_is_what_the_user_says_and_what_the_system_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "home")
    monkeypatch.setenv("HOME", str(tmp_path / "link"))
    assert set(homes.homes()) == {"/var/lib/somebody", str(tmp_path.resolve() / "home")}


@pytest.mark.parametrize(
    "home", ["", "/", "relative", "/usr", "/usr/sbin", "/bin", "/etc", "/var", "/opt", "/dev/x"]
)
def test_no_home_is_a_part_of_the_system(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", home)
    assert homes.homes() == ["/var/lib/somebody"]


def test_user_without_an_entry_has_no_home_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    homes._of_system.cache_clear()
    assert homes._of_system() == pwd.getpwuid(os.getuid()).pw_dir
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_001)
    homes._of_system.cache_clear()
    assert homes._of_system() == ""
    homes._of_system.cache_clear()
