"""What beside a script is private: no digest is of it, for who knows the rest could guess it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Run
from metric_scripts import HEAD, linux, metric, registry_of

from harbor_metrics.errors import MetricFailure
from harbor_metrics.registries.script_file import Script, find


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "config").mkdir()
    (tmp_path / "lib.py").write_text("W = 7")
    (tmp_path / "config" / "settings.py").write_text("PIN = 1234")
    (tmp_path / "m.py").write_text(f"{HEAD}from lib import W\nanswer(w=W)")
    return tmp_path


def _found(folder: Path) -> Script:
    return find(f"{folder}/m.py", None)


@pytest.mark.parametrize("variable", ["XDG_CONFIG_HOME", "APP_SECRETS_DIR"])
def test_no_digest_is_of_modules_that_are_hidden(
    variable: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, str(folder / "config"))
    before = _found(folder)
    assert before.modules == (("lib.py", b"W = 7"),)
    (folder / "config" / "settings.py").write_text("PIN = 5678")
    after = _found(folder)
    assert (after.pin, after.modules_sha256) == (before.pin, before.modules_sha256)


@linux
def test_modules_in_a_folder_of_settings_are_a_scripts(
    folder: Path, cli: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A project's own settings are Python, and CI names their folder."""
    monkeypatch.setenv("APP_CONFIG_DIR", str(folder / "config"))
    (folder / "m.py").write_text(f"{HEAD}from config.settings import PIN\nanswer(w=PIN)")
    (folder / "r.jsonl").write_text('{"reward": 1.0}\n')
    done = cli("compute", "r.jsonl", "--metric", metric("m.py"), "--format", "json", cwd=folder)
    assert json.loads(done.stdout)["groups"][0]["metrics"][1]["values"] == {"w": 1234}


@pytest.mark.parametrize(
    ("variable", "place"),
    [("XDG_CONFIG_HOME", "config"), ("APP_SECRETS_DIR", "config"), ("NETRC", "config/netrc")],
)
@pytest.mark.parametrize(("link", "to"), [("x.py", "config/token"), ("config/x.py", "token")])
def test_no_link_makes_a_module_of_what_is_none_where_passwords_lie(
    link: str, to: str, variable: str, place: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, str(folder / place))
    (folder / "config" / "token").write_text("")
    (folder / link).symlink_to(to)
    with pytest.raises(MetricFailure, match=r"x\.py beside the script is a link"):
        _found(folder)


@pytest.mark.parametrize("variable", ["NETRC", "APP_CONFIG_FILE"])
@pytest.mark.parametrize("package", ["config", "config/netrc", "."])
def test_no_digest_is_of_packages_in_which_passwords_lie(
    package: str, variable: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, str(folder / "config" / "netrc"))
    (folder / "config" / "netrc").write_text("1234")
    block = f'# /// script\n# dependencies = ["x @ ./{package}"]\n# ///\n'
    (folder / "m.py").write_text(f"{block}{HEAD}answer(w=1)")
    found = _found(folder)
    assert (found.packages, found.packages_sha256) == (None, None)


@pytest.mark.parametrize("variable", ["NETRC", "APP_CONFIG_FILE"])
def test_validate_tells_no_digest_of_a_lock_that_leads_to_passwords(
    variable: str, folder: Path, cli: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, str(folder / "netrc"))
    (folder / "netrc").write_text("1234")
    (folder / "m.py").write_text(f"# /// script\n# dependencies = []\n# ///\n{HEAD}answer(w=1)")
    registry_of(
        folder, {"type": "uv-script", "kwargs": {"script_path": "m.py"}, "sha256": "0" * 64}
    )
    wanted = _found(folder).pin
    assert wanted in cli("validate", "registry.json", cwd=folder).stdout
    (folder / "m.py.lock").symlink_to("netrc")
    done = cli("validate", "registry.json", cwd=folder)
    assert '"sha256": "' not in done.stdout + done.stderr
