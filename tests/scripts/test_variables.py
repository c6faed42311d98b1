"""What programs are told of the user's variables, wherever they are started."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harbor_metrics.errors import MetricFailure
from harbor_metrics.scripts.git_program import TO_GIT
from harbor_metrics.scripts.passwords import environ_without_passwords
from harbor_metrics.scripts.uv_access import certificates, environ_of_uv, find_uv, pythons
from harbor_metrics.scripts.variables import (
    CERTIFICATES,
    CHOICES,
    OF_PYTHONS,
    PROXIES,
    TO_ALL,
    TO_UV,
    told,
    which,
)

PLACES = (
    *("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "UV_CACHE_DIR"),
    *("UV_PYTHON_INSTALL_DIR", "GIT_CONFIG_GLOBAL"),
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def test_no_relative_path_begins_where_a_program_is_started(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = here.parent / "mine"
    for name in ("SSL_CERT_FILE", "NETRC", "UV_PYTHON_INSTALL_DIR", "XDG_DATA_HOME", "HOME"):
        monkeypatch.setenv(name, "../mine")
    monkeypatch.setenv("PATH", f"bin::/usr/bin:.:{mine}")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/lib/x:")
    found = told(TO_UV)
    assert {found[name] for name in ("SSL_CERT_FILE", "NETRC", "HOME")} == {str(mine)}
    assert (found["PATH"], found["LD_LIBRARY_PATH"]) == (f"/usr/bin:{mine}", "/lib/x")
    assert told(TO_ALL)["PATH"] == found["PATH"]
    assert certificates()[0] == str(mine)
    assert pythons()[-1] == str(mine)


@pytest.mark.parametrize("came", ["in it", "by a link in it", "no"])
def test_no_place_that_may_have_come_with_our_work_is_told(
    came: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What lies in a checkout may be somebody else's programs, settings and packages."""
    place = (here.parent if came == "no" else here) / "place"
    (here.parent / "other").mkdir()
    if came == "in it":
        place.mkdir()
    else:
        place.symlink_to(here.parent / "other")
    for name in PLACES:
        monkeypatch.setenv(name, str(place))
    for name in ("PATH", "LD_LIBRARY_PATH"):
        monkeypatch.setenv(name, f"{place}/bin:/usr/bin")
    found = told([*PLACES, "PATH", "LD_LIBRARY_PATH"])
    of_place = [f"{place}/bin:/usr/bin"] if came == "no" else ["/usr/bin"]
    assert [found.pop(name) for name in ("PATH", "LD_LIBRARY_PATH")] == of_place * 2
    assert found == (dict.fromkeys(PLACES, str(place)) if came == "no" else {})


@pytest.mark.parametrize("written", ["/none;{}/lib", "{}/lib;/none", "{}/lib:/none", "{}/$LIB:"])
def test_folders_of_libraries_are_those_of_the_dynamic_linker(
    written: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes `;` for `:`, and puts the folder of a system in."""
    monkeypatch.setenv("LD_LIBRARY_PATH", f"/usr/lib;/opt/lib:{written.format(here)}")
    assert (
        not told(["LD_LIBRARY_PATH"])["LD_LIBRARY_PATH"]
        .removeprefix("/usr/lib:/opt/lib")
        .replace(":/none", "")
    )


def test_passwords_for_hosts_and_authorities_may_lie_in_a_checkout(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As CI writes them into a home that is the checkout: they are data, and run nothing."""
    (here / ".git").mkdir()
    (here / ".netrc").write_text("machine corp.example login me password p")
    monkeypatch.delenv("NETRC", raising=False)
    monkeypatch.setenv("HOME", str(here))
    monkeypatch.setenv("SSL_CERT_FILE", "corp.pem")
    env = environ_of_uv()
    assert "HOME" not in env
    assert env["NETRC"] == str(here / ".netrc")
    assert env["SSL_CERT_FILE"] == str(here / "corp.pem")
    (here / ".netrc").unlink()
    (here / ".netrc").symlink_to("/etc/passwd")
    assert "NETRC" not in environ_of_uv()


def test_no_program_of_a_checkout_is_run_for_the_users(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (here / "bin", here.parent / "bin"):
        folder.mkdir()
        (folder / "git").write_text("#!/bin/sh")
        (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{here}/bin:{here.parent}/bin")
    assert which("git") == str(here.parent / "bin" / "git")


@pytest.mark.parametrize("ours", [True, False])
def test_uv_of_a_checkout_is_run_where_we_run_from_it_ourselves(
    ours: bool, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = here / ".venv" / "bin" / "uv"
    monkeypatch.setattr("uv.find_uv_bin", lambda: str(found))
    monkeypatch.setattr("site.ENABLE_USER_SITE", False)
    monkeypatch.setenv("PATH", "")
    if ours:
        monkeypatch.setattr("sys.prefix", str(here / ".venv"))
        assert find_uv() == str(found)
    else:
        with pytest.raises(MetricFailure, match="uv was not found"):
            find_uv()


@pytest.mark.parametrize("name", ["PATH", "LD_LIBRARY_PATH"])
def test_up_from_a_link_is_where_the_system_goes(
    name: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `$PWD/build/../../tools/bin`, of which the text alone leads out of the checkout."""
    outside = here.parent
    for folder in (outside, here, here / "deep", outside / "mine"):
        (folder / "tools" / "bin").mkdir(parents=True)
    (here / "build").symlink_to("deep/tools")
    (outside / "current").symlink_to("mine/tools/bin")
    for folder in (f"{here}/build/../../tools/bin", f"{here}/build/../../../tools/bin"):
        monkeypatch.setenv(name, f"{folder}:/usr/bin")
        assert told([name]) == {name: "/usr/bin"}
    monkeypatch.setenv(name, f"{outside}/current/../bin:{here}/../tools/bin")
    assert told([name]) == {name: f"{outside}/mine/tools/bin:{outside}/tools/bin"}


PYTHONS = ("UV_PYTHON_INSTALL_MIRROR", "UV_PYPY_INSTALL_MIRROR", "UV_PYTHON_DOWNLOADS_JSON_URL")


@pytest.mark.parametrize("name", PYTHONS)
def test_no_file_among_our_work_says_where_pythons_come_from(
    name: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is installed so is run, and stays the user's."""
    (here.parent / "deep" / "er").mkdir(parents=True)
    (here / "link").symlink_to(here.parent / "deep" / "er")
    among = (
        *("pythons.json", f"{here}/pythons.json", f"file://{here}/pythons.json"),
        *(f"file://{here.parent}/deep/../here/x", f"file://{here}/link/x", f"FILE://{here}/x"),
        *(f"file://localhost{here}/x", f"file://{here.parent}/%68ere/x", f"file:{here}/x"),
    )
    for value in among:
        monkeypatch.setenv(name, value)
        assert told([name]) == {}, value
    mine = here.parent / "mine.json"
    for value in (
        "https://mirror.example/x?y",
        "HTTP://mirror.example",
        str(mine),
        f"file://{mine}",
    ):
        monkeypatch.setenv(name, value)
        assert told([name]) == {name: value}


# What they say is a word, a list of words or an address; or data that no program takes for more.
HARMLESS = {
    *(name for name in TO_ALL if name.startswith(("LC_", "LANG"))),
    *("TZ", "SYSTEMROOT", "USER", "GIT_CONFIG_NOSYSTEM", "SSH_AUTH_SOCK", *PROXIES),
    *("NO_PROXY", "no_proxy", *CHOICES, *CERTIFICATES, "SSL_CLIENT_CERT", "NETRC"),
    *("UV_CREDENTIALS_DIR", "GIT_SSL_CAINFO", "UV_OFFLINE", "UV_HTTP_TIMEOUT", "UV_HTTP_RETRIES"),
    *("UV_REQUEST_TIMEOUT", "UV_NATIVE_TLS", "UV_SYSTEM_CERTS", "UV_INSECURE_HOST"),
    *("UV_CONCURRENT_DOWNLOADS", "UV_CONCURRENT_INSTALLS", "UV_LOCK_TIMEOUT"),
    *("UV_PYTHON_PREFERENCE", "UV_PYTHON_DOWNLOADS", "UV_MANAGED_PYTHON", "UV_NO_MANAGED_PYTHON"),
}


def test_each_variable_that_may_name_a_place_is_asked_about(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {*TO_ALL, *TO_UV, *TO_GIT}
    for name in names:
        monkeypatch.setenv(name, str(here / "place"))
    assert {name for name, value in told(names).items() if value} == HARMLESS


def test_place_is_asked_about_as_it_is_told(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "place").mkdir()
    (here.parent / "deep" / "er").mkdir(parents=True)
    (here.parent / "link").symlink_to("deep/er")
    for name in PLACES:
        monkeypatch.setenv(name, f"{here.parent}/link/../here/place")
    assert told(PLACES) == {}


@pytest.mark.parametrize(
    "name",
    [
        *("UV_CONSTRAINT", "UV_OVERRIDE", "UV_EXCLUDE", "UV_BUILD_CONSTRAINT", "UV_CONFIG_FILE"),
        *("UV_ENV_FILE", "UV_PUBLISH_TOKEN", "UV_GITHUB_TOKEN", "UV_WORKING_DIRECTORY"),
        *("UV_PYTHON", "UV_PROJECT", "UV_COMPILE_BYTECODE", "UV_SOMETHING_NEW", "AWS_SECRET"),
        # It puts variables into the addresses of a package's metadata, and says these.
        *OF_PYTHONS,
    ],
)
def test_uv_is_told_what_is_known_by_name(
    name: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "constraints.txt")
    assert name not in environ_of_uv()
    assert name not in environ_without_passwords(str(here))


def test_passwords_of_indexes_go_with_the_indexes(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_INDEX", "corp=https://corp.example/simple")
    monkeypatch.setenv("UV_INDEX_CORP_PASSWORD", "p")
    monkeypatch.setenv("UV_EXCLUDE_NEWER", "2026-01-01")
    env = environ_of_uv()
    assert (env["UV_INDEX_CORP_PASSWORD"], env["UV_EXCLUDE_NEWER"]) == ("p", "2026-01-01")
    without = environ_without_passwords(str(here))
    assert "UV_INDEX_CORP_PASSWORD" not in without
    assert without["UV_EXCLUDE_NEWER"] == "2026-01-01"
    assert os.environ["UV_INDEX_CORP_PASSWORD"] == "p"
