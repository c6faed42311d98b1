"""What uv is asked for, of which version it is, and what of its own words it is told again."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import ROOT
from listener import listening
from metric_scripts import HEAD, linux, wheel_with_a_start_file
from uv import find_uv_bin

from harbor_metrics.confinement.workplace import Workplace
from harbor_metrics.errors import MetricFailure
from harbor_metrics.registries.script_file import find
from harbor_metrics.scripts import install, uv_access
from harbor_metrics.scripts.environment import environment
from harbor_metrics.scripts.options import ScriptOptions

pytestmark = [linux, pytest.mark.usefixtures("own_caches")]
EAGER = (
    "# /// script\n# dependencies = ['eager']\n# [tool.uv.sources]\n"
    "# eager = {path = 'eager-1-py3-none-any.whl'}\n# ///\n"
)


@pytest.fixture
def locked(tmp_path: Path) -> Path:
    """A script with a package and a lock beside it."""
    folder = tmp_path / "mine"
    folder.mkdir()
    wheel_with_a_start_file(folder, "")
    (folder / "m.py").write_text(f"{EAGER}{HEAD}")
    lock = [find_uv_bin(), "lock", "-q", "--offline", "--python", sys.executable]
    subprocess.run([*lock, "--script", "m.py"], cwd=folder, check=True)
    return folder / "m.py"


@pytest.fixture
def uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The uv that is found, a program that each test writes."""
    path = tmp_path / "uv"
    path.touch(0o755)
    monkeypatch.setattr(install, "find_uv", lambda: str(path))
    # The real one is within what uv may reach.
    monkeypatch.setattr(uv_access, "certificates", lambda: [find_uv_bin()])
    return path


def made(script: Path) -> Path:
    with Workplace() as place:
        return Path(environment(find(str(script), None), place).readable[0])


def test_what_the_lock_names_is_installed(locked: Path) -> None:
    assert list(made(locked).rglob("eager.py"))


@pytest.mark.parametrize(
    "line", ["-r {other}", "eager==1 -r {other}", "--index-url http://127.0.0.1:{port}/simple"]
)
def test_what_uv_has_written_is_read_before_it_is_told_again(
    locked: Path, uv: Path, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = locked.parent / "other.txt"
    monkeypatch.setenv("UV_PUBLISH_TOKEN", "TOKEN")
    with listening() as (port, heard):
        other.write_text(f"x @ http://127.0.0.1:{port}/${{UV_PUBLISH_TOKEN}}/x-1-py3-none-any.whl")
        line = line.format(other=other, port=port)
        uv.write_text(
            f'#!/bin/sh\n{find_uv_bin()} "$@" || exit\ncase "$1" in export) for last; do :; done\n'
            f"echo '{line}' >> \"$last\";; esac\n"
        )
        with pytest.raises(MetricFailure, match="uv lock --script") as raised:
            made(locked)
    assert raised.value.rule == "script-environment"
    assert line in str(raised.value)
    assert heard == []


@pytest.mark.parametrize(
    ("says", "is_taken"),
    [
        *(("uv 0.6.10", False), ("uv 0.11.14 (x86_64)", False), ("", False), ("uv 0.11", False)),
        *(("uv 0.11.15 (x86_64)", True), ("uv 0.12.0+abc", True), ("uv 1.0", True)),
    ],
)
def test_an_older_uv_is_said_before_it_is_asked_for_anything(
    locked: Path, uv: Path, says: str, is_taken: bool
) -> None:
    uv.write_text(
        f"#!/bin/sh\n[ \"$1\" = --version ] && echo '{says}' && exit\necho asked >&2; exit 2\n"
    )
    with pytest.raises(MetricFailure) as raised:
        made(locked)
    message = str(raised.value)
    assert ("asked" in message) == is_taken
    assert ("python -m pip install --upgrade uv" in message) == (not is_taken)
    assert is_taken or f"{uv} is of version {says[3:].partition(' ')[0] or 'unknown'}" in message


def test_the_least_version_is_that_which_is_installed_with_us() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f"uv>={'.'.join(map(str, install.LEAST))}" in project["dependencies"]


@pytest.mark.parametrize("name", ["../../escaped", "{outside}/escaped"])
def test_no_entry_point_of_a_package_lies_outside_the_environment(
    tmp_path: Path, name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What older versions of uv do."""
    name = name.format(outside=tmp_path_factory.mktemp("outside"))
    points = {"eager-1.dist-info/entry_points.txt": f"[console_scripts]\n{name}=eager:x\n"}
    wheel_with_a_start_file(tmp_path, "", more=points)
    (tmp_path / "m.py").write_text(f"{EAGER}{HEAD}")
    with pytest.raises(MetricFailure, match="cripts directory"):
        made(tmp_path / "m.py")


LINKING = """
import os

def prepare_metadata_for_build_wheel(folder, config_settings=None):
    work = os.environ["TMPDIR"]
    # For uv this folder, and for who reads what it wrote the current one.
    open(os.path.join(work, "notes"), "w").close()
    os.symlink("/proc/self/cwd/notes", os.path.join(work, "pins"))
    os.mkdir(os.path.join(folder, "kind-1.dist-info"))
    for name, text in (
        ("METADATA", "Metadata-Version: 2.1\\nName: kind\\nVersion: 1\\n"),
        ("WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"),
    ):
        with open(os.path.join(folder, "kind-1.dist-info", name), "w") as file:
            file.write(text)
    return "kind-1.dist-info"
"""


def test_what_uv_made_of_a_lock_is_read_by_no_link_of_a_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error quoted the first line of the file it led to, which only the user may read."""
    (tmp_path / "secret").write_text("S3CRET=1\n")
    kind = tmp_path / "mine" / "kind"
    kind.mkdir(parents=True)
    (tmp_path / "mine" / "notes").symlink_to(tmp_path / "secret")
    (kind / "b.py").write_text(LINKING)
    (kind / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "b"\nbackend-path = ["."]\n'
        '[project]\nname = "kind"\ndynamic = ["version", "dependencies"]\n'
    )
    script = tmp_path / "mine" / "m.py"
    script.write_text(
        "# /// script\n# requires-python = '>=3.11'\n# dependencies = ['kind']\n"
        f"# [tool.uv.sources]\n# kind = {{path = 'kind'}}\n# ///\n{HEAD}"
    )
    script.with_name("m.py.lock").write_text(
        'version = 1\nrevision = 3\nrequires-python = ">=3.11"\n[manifest]\n'
        'requirements = [{ name = "kind", directory = "kind" }]\n'
        '[[package]]\nname = "kind"\nsource = { directory = "kind" }\n'
    )
    monkeypatch.chdir(script.parent)
    with Workplace() as place, pytest.raises(MetricFailure, match="pins was exchanged") as raised:
        environment(find("m.py", None), place, ScriptOptions(allow_build=True))
    assert "S3CRET" not in repr((str(raised.value), vars(raised.value)))
