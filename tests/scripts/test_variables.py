"""What programs are told of the user's variables, wherever they are started."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harbor_metrics.scripts.passwords import environ_without_passwords
from harbor_metrics.scripts.uv_access import certificates, environ_of_uv, pythons
from harbor_metrics.scripts.variables import TO_ALL, TO_UV, told


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_no_relative_path_begins_where_a_program_is_started(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SSL_CERT_FILE", "NETRC", "UV_PYTHON_INSTALL_DIR", "XDG_DATA_HOME", "HOME"):
        monkeypatch.setenv(name, "mine/one")
    monkeypatch.setenv("PATH", f"bin::/usr/bin:.:{here}")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/lib/x:")
    found = told(TO_UV)
    assert {found[name] for name in ("SSL_CERT_FILE", "NETRC", "HOME")} == {str(here / "mine/one")}
    assert (found["PATH"], found["LD_LIBRARY_PATH"]) == (f"/usr/bin:{here}", "/lib/x")
    assert told(TO_ALL)["PATH"] == found["PATH"]
    assert certificates()[0] == str(here / "mine/one")
    assert pythons()[-1] == str(here / "mine/one")


@pytest.mark.parametrize(
    "name",
    [
        *("UV_CONSTRAINT", "UV_OVERRIDE", "UV_EXCLUDE", "UV_BUILD_CONSTRAINT", "UV_CONFIG_FILE"),
        *("UV_ENV_FILE", "UV_PUBLISH_TOKEN", "UV_GITHUB_TOKEN", "UV_WORKING_DIRECTORY"),
        *("UV_PYTHON", "UV_PROJECT", "UV_COMPILE_BYTECODE", "UV_SOMETHING_NEW", "AWS_SECRET"),
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
