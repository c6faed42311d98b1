"""What is installed from a script's folder: copies of what was hashed, all of it its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from metric_scripts import linux, wheel_with_a_start_file
from uv import find_uv_bin

from harbor_metrics.confinement.workplace import Workplace
from harbor_metrics.errors import MetricFailure
from harbor_metrics.registries.script_file import find
from harbor_metrics.scripts import copies
from harbor_metrics.scripts.environment import environment, unchecked
from harbor_metrics.scripts.options import ScriptOptions

WHEEL = "eager-1-py3-none-any.whl"
# Builds a package that says what could be seen while it was built.
BACKEND = """\
import json, os, zipfile


def seen():
    found = dict(read=0, runs="", names="")
    for path in {paths}:
        try:
            found["read"] += len(open(path).read())
        except OSError:
            pass
    for folder, folders, names in os.walk("."):
        for name in folders + names:
            path = os.path.join(folder, name)
            found["names"] += path + " "
            found["runs"] += path * bool(os.path.isfile(path) and os.stat(path).st_mode & 0o111)
    return found


def build_wheel(folder, config_settings=None, metadata_directory=None):
    files = {{
        "kind.py": "SEEN = " + repr(seen()),
        "kind-1.dist-info/METADATA": "Metadata-Version: 2.1\\nName: kind\\nVersion: 1\\n",
        "kind-1.dist-info/WHEEL": "Wheel-Version: 1.0\\n"
        "Root-Is-Purelib: true\\nTag: py3-none-any\\n",
    }}
    files["kind-1.dist-info/RECORD"] = "".join(f"{{name}},,\\n" for name in files)
    with zipfile.ZipFile(os.path.join(folder, "kind-1-py3-none-any.whl"), "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return "kind-1-py3-none-any.whl"
"""
PROJECT = (
    '[project]\nname = "kind"\nversion = "1"\n[build-system]\nrequires = []\n'
    'build-backend = "b"\nbackend-path = ["."]\n'
)


def block(*dependencies: str, **sources: str) -> str:
    tables = "".join(f"# {name} = {{{source}}}\n" for name, source in sources.items())
    names = json.dumps([*dependencies, *sources])
    return f"# /// script\n# dependencies = {names}\n# [tool.uv.sources]\n{tables}# ///\n"


def package(folder: Path, *paths: Path) -> Path:
    """A folder that a package is built of, by code that reads what is at these paths."""
    folder.mkdir(parents=True)
    (folder / "pyproject.toml").write_text(PROJECT)
    (folder / "b.py").write_text(BACKEND.format(paths=[str(path) for path in paths]))
    return folder


def made(script: Path, **options: Any) -> Path:
    with Workplace() as place:
        wanted = environment(find(str(script), None), place, ScriptOptions(**options))
        return Path(wanted.readable[0])


@pytest.mark.parametrize(
    "name",
    [
        *("eager @ file://{}/" + WHEEL, "eager @ file://{}/%65ager-1-py3-none-any.whl"),
        "eager @ file://{}/again/" + WHEEL,
        *("path = '{}/" + WHEEL + "'", 'path = "{}/\\u0065ager-1-py3-none-any.whl"'),
        *("path = './" + WHEEL + "'", "path = 'again/" + WHEEL + "'"),
        *("path = '{}/linked/" + WHEEL + "'", "path = 'linked/" + WHEEL + "'"),
        *("path = '{}/../up/" + WHEEL + "'", "path = '../up/" + WHEEL + "'"),
    ],
)
@pytest.mark.parametrize("locked", [True, False])
def test_what_is_installed_is_the_copy_that_was_hashed(
    name: str, locked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By whatever name it is known: what lies there by then is another one."""
    folder = tmp_path / "mine"
    (folder / "linked").mkdir(parents=True)
    wheel_with_a_start_file(folder, "", body="X = 1")
    (folder / "again").symlink_to(".")
    (folder / "linked" / WHEEL).symlink_to(f"../{WHEEL}")
    (tmp_path / "up").symlink_to("mine")
    name = name.format(folder)
    (folder / "m.py").write_text(block(name) if "@" in name else block(eager=name))
    if locked:
        lock = [find_uv_bin(), "lock", "-q", "--offline", "--python", sys.executable, "--script"]
        subprocess.run([*lock, "m.py"], cwd=folder, check=True)
    copy = copies.copy

    def late(*given: Any, **more: Any) -> str:
        script = copy(*given, **more)
        wheel_with_a_start_file(folder, "", body="X = 2")
        return script

    monkeypatch.setattr("harbor_metrics.scripts.environment.copy", late)
    (module,) = made(folder / "m.py", allow_network=".." in name).rglob("eager.py")
    assert module.read_text() == "X = 1"


@pytest.mark.parametrize("what", ["file", "link", "folder", "pipe", "script"])
def test_what_became_another_thing_before_it_was_copied_is_not_installed(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("inside", "other"):
        (tmp_path / name).mkdir()
        wheel_with_a_start_file(tmp_path / name, "", body=f"X = '{name}'")
    (tmp_path / "link").symlink_to("inside")
    (tmp_path / "m.py").write_text(block(eager=f"path = 'link/{WHEEL}'"))
    copy = copies.copy

    def exchanged(*given: Any, **more: Any) -> str:
        wheel = tmp_path / "inside" / WHEEL
        if what in ("file", "link", "pipe"):
            wheel.unlink()
        if what == "file":
            wheel_with_a_start_file(tmp_path / "inside", "", body="X = 2")
        elif what == "link":
            wheel.symlink_to(tmp_path / "other" / WHEEL)
        elif what == "pipe":
            os.mkfifo(wheel)
        elif what == "folder":
            shutil.rmtree(tmp_path / "inside")
            (tmp_path / "inside").symlink_to("other")
        else:
            (tmp_path / "m.py").write_text("")
        return copy(*given, **more)

    monkeypatch.setattr("harbor_metrics.scripts.environment.copy", exchanged)
    with pytest.raises(MetricFailure, match=r"changed|exchanged|a pipe|levels of symbolic"):
        made(tmp_path / "m.py")


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        *((".env", ""), (".git", ""), ("../outside", ""), ("{}/../outside", ""), (".", "")),
        *(("..", ""), ("link", ""), ("way/secret", ""), ("secrets", "KUBECONFIG")),
        *((".none", ""), ("../none", ""), ("again", "")),
    ],
)
@pytest.mark.parametrize("sandbox", ["off", "auto"])
def test_what_a_script_may_not_read_is_none_of_its_packages(
    name: str, variable: str, sandbox: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code that builds another package would read the copy."""
    folder = tmp_path / "mine"
    package(folder / "kind", folder / ".env", folder / "../kind/../.env")
    for path in (tmp_path / "outside", folder / ".git", folder / "secrets"):
        path.mkdir()
        (path / "secret").write_text("s3cret")
    (folder / ".env").write_text("s3cret")
    (folder / "link").symlink_to(".env")
    (folder / "way").symlink_to("../outside")
    (folder / "again").symlink_to(".")
    if variable:
        monkeypatch.setenv(variable, str(folder / "secrets" / "secret"))
    name = name.format(folder)
    (folder / "m.py").write_text(block(kind="path = 'kind'", more=f"path = '{name}'"))
    with pytest.raises(MetricFailure, match="which is not its own to read") as raised:
        made(folder / "m.py", allow_build=True, allow_network=True, sandbox=sandbox)
    assert f"names {name} as a package" in str(raised.value)


def test_a_folder_that_can_no_longer_be_listed_is_no_mistake_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shut(*_: object) -> list[str]:
        raise PermissionError(13, "Permission denied")

    wheel_with_a_start_file(tmp_path, "")
    (tmp_path / "m.py").write_text(block(eager=f"path = '{WHEEL}'"))
    script = find(str(tmp_path / "m.py"), None)
    monkeypatch.setattr("harbor_metrics.scripts.environment.not_own", shut)
    with Workplace() as place, pytest.raises(MetricFailure, match="Permission denied"):
        unchecked(script, place, ScriptOptions())


def test_an_empty_path_is_no_package(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(block(eager="path = ''"))
    with pytest.raises(MetricFailure, match="names an empty path as a package"):
        made(tmp_path / "m.py", allow_build=True, allow_network=True)


def test_a_package_that_is_the_home_or_holds_it_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    package(tmp_path / "kind")
    for name in (".", "..", "/", "~", "kind"):
        (tmp_path / "m.py").write_text(block(kind=f"path = '{name}'"))
        with pytest.raises(MetricFailure) as raised:
            made(tmp_path / "m.py", allow_build=True, allow_network=True)
        missing = name == "~"
        assert ("not its own to read" in str(raised.value)) != missing, name


@linux
@pytest.mark.parametrize("source", ["path = 'kind'", "path = './kind', editable = true", None])
def test_a_build_sees_the_copy_and_no_more(source: str | None, tmp_path: Path) -> None:
    """What was hashed: names and contents, and which files can be run."""
    folder = tmp_path / "mine"
    original = package(folder / "kind", folder / "kind" / "b.py", folder / "beside.py")
    (folder / "beside.py").write_text("1")
    (folder / "m.py").write_text(
        block(kind=source) if source else block(f"kind @ file://{original}")
    )
    (original / "run").touch(0o777)
    (original / "setup.py").touch(0o606)
    (original / "empty" / "er").mkdir(parents=True)
    (original / "link").symlink_to("../beside.py")
    (module,) = made(folder / "m.py", allow_build=True).rglob("kind.py")
    seen: dict[str, Any] = {}
    exec(module.read_text(), seen)
    assert seen["SEEN"]["read"] == 0
    assert seen["SEEN"]["runs"] == "./run"
    names = "./empty ./empty/er ./b.py ./link ./pyproject.toml ./run ./setup.py"
    assert {*names.split()} <= {*seen["SEEN"]["names"].split()}


def test_no_package_comes_into_another_folder_by_a_link_in_a_package(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    package(folder / "kind")
    (folder / "other").mkdir()
    wheel_with_a_start_file(folder / "other", "")
    (folder / "kind" / "way").symlink_to("../other")
    (folder / "m.py").write_text(block(kind="path = 'kind'", eager=f"path = 'kind/way/{WHEEL}'"))
    with pytest.raises(MetricFailure, match="a link in one package leads to"):
        made(folder / "m.py", allow_build=True)


def test_packages_in_one_another_are_installed(tmp_path: Path) -> None:
    package(tmp_path / "kind")
    wheel_with_a_start_file(tmp_path / "kind", "")
    (tmp_path / "m.py").write_text(block(kind="path = 'kind'", eager=f"path = 'kind/{WHEEL}'"))
    names = {path.name for path in made(tmp_path / "m.py", allow_build=True).rglob("*.py")}
    assert {"kind.py", "eager.py"} <= names


def test_a_package_of_many_names_is_asked_and_copied_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small archive has hundreds of names for what takes long to read, or much room."""
    (tmp_path / "first").mkdir()
    wheel_with_a_start_file(tmp_path / "first", "")
    names = [f"path = 'first/{WHEEL}'"]
    for n in range(20):
        (tmp_path / f"hard{n}").mkdir()
        os.link(tmp_path / "first" / WHEEL, tmp_path / f"hard{n}" / WHEEL)
        (tmp_path / f"soft{n}").symlink_to("first")
        names += [f"path = 'hard{n}/{WHEEL}'", f"path = 'soft{n}/{WHEEL}'"]
    (tmp_path / "m.py").write_text(block(**{f"eager{n}": name for n, name in enumerate(names)}))
    asked: list[str] = []
    copied: list[os.stat_result] = []

    def noted(path: str) -> bool:
        asked.append(path)
        return False

    def kept(*given: Any, **more: Any) -> str:
        script = copies.copy(*given, **more)
        copied.extend(path.stat() for path in Path(script).parent.rglob(WHEEL))
        return script

    monkeypatch.setattr("harbor_metrics.scripts.addresses.asks_for_an_address", noted)
    monkeypatch.setattr("harbor_metrics.scripts.copies.asks_for_an_address", noted)
    monkeypatch.setattr("harbor_metrics.scripts.environment.copy", kept)
    with pytest.raises(MetricFailure, match="does not match"):
        made(tmp_path / "m.py")
    assert len(asked) == 2
    assert (len(copied), len({status.st_ino for status in copied})) == (41, 1)


@pytest.mark.parametrize("place", ["links", "./again/links", "{}/links", "file://{}/links"])
def test_a_folder_beside_the_script_has_packages_where_the_network_is_allowed(
    place: str, tmp_path: Path
) -> None:
    """But none for code that builds others, which it could become part of."""
    for name, folder in (("eager", tmp_path), ("other", tmp_path / "links")):
        folder.mkdir(exist_ok=True)
        wheel_with_a_start_file(folder, "", body=name)
    with zipfile.ZipFile(tmp_path / "links" / WHEEL) as archive:
        files = {name: archive.read(name).decode() for name in archive.namelist()}
    (tmp_path / "links" / WHEEL).unlink()
    with zipfile.ZipFile(tmp_path / "links" / WHEEL.replace("eager", "other"), "w") as archive:
        for path, text in files.items():
            archive.writestr(path.replace("eager", "other"), text.replace("eager", "other"))
    (tmp_path / "again").symlink_to(".")
    (tmp_path / ".hidden").touch()
    table = f"# [tool.uv]\n# no-index = true\n# find-links = ['{place.format(tmp_path)}']\n"
    table += "# [tool.uv.sources]"
    text = block("other", eager=f"path = '{WHEEL}'").replace("# [tool.uv.sources]", table)
    (tmp_path / "m.py").write_text(text)
    names = {path.name for path in made(tmp_path / "m.py", allow_network=True).rglob("*.py")}
    assert {"eager.py", "other.py"} <= names
    with pytest.raises(MetricFailure, match="find-links"):
        made(tmp_path / "m.py", allow_network=True, allow_build=True)


def test_uv_speaks_of_the_folder_that_the_user_knows(tmp_path: Path) -> None:
    (tmp_path / WHEEL).write_bytes(b"no wheel")
    (tmp_path / "m.py").write_text(block(eager=f"path = '{WHEEL}'"))
    with pytest.raises(MetricFailure) as raised:
        made(tmp_path / "m.py", allow_network=True)
    assert f"{tmp_path}/{WHEEL}" in str(raised.value)
    (tmp_path / WHEEL).unlink()
    with pytest.raises(MetricFailure) as raised:
        made(tmp_path / "m.py")
    assert "packages-" not in str(raised.value)
    assert f"{tmp_path}/{WHEEL}" in str(raised.value)
