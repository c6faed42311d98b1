"""Packages that lie beside a script: which they are, and whom they lead uv to."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harbor_metrics.errors import MetricFailure
from harbor_metrics.registries import local_packages as packages
from harbor_metrics.registries.local_packages import (
    digests,
    folders_of_packages,
    installed,
    local_packages,
)
from harbor_metrics.registries.modules import Folders
from harbor_metrics.registries.script_file import Script, find, read

X = "x-1-py3-none-any.whl"
NAMED = [
    f'[tool.uv.sources]\nx = {{path = "{X}"}}',
    f'[tool.uv.sources]\nx = [{{marker = "1", path = "{X}"}}]',
    f'dependencies = ["x @ ./{X}"]',
    f'dependencies = ["x[y] @ file:///me/{X}#sha256={"0" * 64}"]',
    f'dependencies = ["x @ FILE:///m%65/{X} ; os_name"]',
    f'[tool.uv]\noverride-dependencies = ["x @ {X}"]',
]


@pytest.mark.parametrize("block", NAMED)
def test_a_package_is_found_wherever_a_block_names_it(block: str) -> None:
    assert local_packages(tomllib.loads(block), {}, "/me") == (f"/me/{X}",)


@pytest.mark.parametrize("kind", ["path", "directory", "editable", "virtual"])
def test_a_package_is_found_in_a_lock(kind: str) -> None:
    lock = f'[[package]]\nname = "x"\nsource = {{ {kind} = "x" }}\n'
    assert local_packages({}, tomllib.loads(lock), "/me") == ("/me/x",)


def test_packages_of_an_index_are_not_local() -> None:
    block = 'dependencies = ["x>=1"]\n[tool.uv.sources]\nx = {index = "mine"}'
    lock = '[[package]]\nname = "x"\nsource = { registry = "https://mine.example" }\n'
    assert local_packages(tomllib.loads(block), tomllib.loads(lock), "/me") == ()


def test_digests_follow_what_packages_hold(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("1")
    paths = [str(tmp_path / name) for name in ("folder", "file", "nowhere")]
    seen = [digests(paths, {})]
    for path in (tmp_path / "file", tmp_path / "folder" / "setup.py"):
        path.write_text("2")
        seen.append(digests(paths, {}))
    assert digests(paths, {}) == seen[-1]
    assert len({repr(each) for each in seen}) == 3
    assert [os.path.basename(path) for path, _ in seen[0]] == ["folder", "file", "nowhere"]


def test_a_link_a_text_that_looks_like_it_and_a_folder_have_digests_of_their_own(
    tmp_path: Path,
) -> None:
    """A package of which one became the other was installed under one pin."""
    package = tmp_path / "package"
    package.mkdir()
    words = package / "words"
    words.symlink_to("values")
    seen = [digests([str(package)], {})]
    words.unlink()
    for text in ("link values", "values"):
        words.write_text(text)
        seen.append(digests([str(package)], {}))
    (package / "tests").mkdir()
    seen.append(digests([str(package)], {}))
    assert len({*seen}) == 4


def test_what_nobody_has_written_is_not_hashed(tmp_path: Path) -> None:
    """It takes no room in an archive, and hours."""
    sparse, small = tmp_path / "a.tar.gz", tmp_path / "b.tar.gz"
    for path, size in ((sparse, 1 << 30), (small, 1000)):
        path.touch()
        os.truncate(path, size)
    with pytest.raises(OSError, match="a sparse file"):
        digests([str(sparse)], {})
    os.truncate(sparse, 1 << 40)
    with pytest.raises(OSError, match="more than 16 GiB"):
        digests([str(sparse)], {})
    assert digests([str(small)], {})[0][1]


BLOCK = f"# /// script\n# [tool.uv.sources]\n# x = {{path = 'wheels/{X}'}}\n# ///\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A script with a package in a folder beside it, and a lock."""
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / X).write_text("1")
    (tmp_path / "m.py").write_text(BLOCK)
    (tmp_path / "m.py.lock").write_text("version = 1\n")
    return tmp_path


def test_a_pin_is_the_digest_of_what_sha256sum_prints(folder: Path) -> None:
    names = ["m.py", "m.py.lock", f"wheels/{X}"]
    listing = subprocess.run(["sha256sum", *names], cwd=folder, capture_output=True, check=True)
    script = find(str(folder / "m.py"), None)
    assert script.pin == hashlib.sha256(listing.stdout).hexdigest()
    assert script.company == "the 1 package and the lock beside it"
    listing = subprocess.run(["sha256sum", names[2]], cwd=folder, capture_output=True, check=True)
    assert script.packages_sha256 == hashlib.sha256(listing.stdout).hexdigest()


def test_a_link_that_leads_to_another_package_is_another_pin(tmp_path: Path) -> None:
    for name in ("new", "old"):
        (tmp_path / name).mkdir()
        (tmp_path / name / X).write_text(name)
    block = BLOCK.replace(f"wheels/{X}", f"current/{X}")
    assert block != BLOCK
    (tmp_path / "m.py").write_text(
        block.replace("# ///\n", f"# y = {{path = 'legacy/{X}'}}\n# ///\n")
    )
    pins = set()
    for current, legacy in (("new", "old"), ("old", "new")):
        for link, to in (("current", current), ("legacy", legacy)):
            (tmp_path / link).unlink(missing_ok=True)
            (tmp_path / link).symlink_to(to)
        pins.add(find(str(tmp_path / "m.py"), None).pin)
    assert len(pins) == 2


@pytest.mark.parametrize(
    "place",
    ["./links", "{}/links", "file://{}/links", "FILE://localhost{}/l%69nks", "file:{}/links"],
)
@pytest.mark.parametrize("setting", ["find-links = ['{}']", "index = [{{url = '{}'}}]"])
def test_a_pin_is_of_folders_where_packages_are_looked_for(
    setting: str, place: str, tmp_path: Path
) -> None:
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / X).write_text("1")
    place = place.format(tmp_path)

    def script(place: str) -> Script:
        text = f"# /// script\n# [tool.uv]\n# {setting.format(place)}\n# ///\n"
        (tmp_path / "m.py").write_text(text)
        return find(str(tmp_path / "m.py"), None)

    before = script(place).pin
    (tmp_path / "links" / X).write_text("2")
    assert script(place).pin != before
    assert script(place.replace("links", "").replace("l%69nks", "")).packages is None


@pytest.mark.parametrize("name", ["../" * 2_000 + X, "a\\u0000b"])
def test_what_can_be_no_path_is_no_name_of_a_package(name: str) -> None:
    """uv could make another one of it."""
    wants = tomllib.loads(f'[tool.uv]\nfind-links = ["{name}"]\nsources.x.path = "{name}"')
    with pytest.raises(MetricFailure, match="can be no path"):
        local_packages(wants, {}, "/me")
    with pytest.raises(MetricFailure, match="can be no path"):
        folders_of_packages(wants, "/me")


@pytest.mark.parametrize(
    "text", ["", "import json\n", "# /// script\n# dependencies = []\n# ///\n"]
)
def test_a_script_that_nothing_is_installed_for_has_the_digest_of_its_file(
    folder: Path, text: str
) -> None:
    (folder / "m.py").write_text(text)
    if "///" in text:
        (folder / "m.py.lock").unlink()
    script = find(str(folder / "m.py"), None)
    assert (script.pin, script.company) == (script.sha256, "")
    assert (script.packages_sha256, script.lock) == (None, None)


@pytest.mark.parametrize("place", [f"../{X}", "/etc/passwd", ".", "..", "wheels/.."])
def test_a_package_that_does_not_lie_in_the_folder_has_no_digest(folder: Path, place: str) -> None:
    block = BLOCK.replace(f"wheels/{X}", place).encode()
    assert installed(str(folder / "m.py"), block)[0] is None


def test_a_package_that_is_not_there_has_an_empty_digest(folder: Path) -> None:
    block = BLOCK.replace(X, "nowhere.whl").encode()
    assert installed(str(folder / "m.py"), block)[0] == (("wheels/nowhere.whl", ""),)


def test_what_is_hidden_or_too_much_has_no_digest(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = BLOCK.replace("wheels/", ".wheels/").encode()
    assert installed(str(folder / "m.py"), hidden)[0] is None
    with (folder / "wheels" / X).open("r+b") as file:
        file.truncate(packages.MOST_BYTES + 1)
    assert installed(str(folder / "m.py"), BLOCK.encode())[0] is None
    monkeypatch.setattr(packages, "MOST_FILES", 1)
    (folder / "wheels" / "more").write_text("")
    block = BLOCK.replace(f"wheels/{X}", "wheels").encode()
    assert installed(str(folder / "m.py"), block)[0] is None


@pytest.mark.parametrize(
    "block",
    [
        "# /// script\n# dependencies = [\n# ///\n",
        "# /// script\n# a" + ".a" * 400 + " = 1\n# ///\n",
    ],
)
def test_nothing_is_installed_for_a_block_that_nobody_can_read(folder: Path, block: str) -> None:
    assert installed(str(folder / "m.py"), block.encode()) == ((), None)


def test_a_script_names_no_more_packages_than_anybody_writes(folder: Path) -> None:
    """Each is looked for by the links on its way."""
    names = [f"{n}.whl" for n in range(501)]
    wants: dict[str, Any] = {"tool": {"uv": {"sources": {name: {"path": name} for name in names}}}}
    with pytest.raises(MetricFailure, match="more than 500 packages"):
        local_packages(wants, {}, "/me")
    del wants["tool"]["uv"]["sources"]["0.whl"]
    assert len(local_packages(wants, {}, "/me")) == 500


@pytest.mark.parametrize(
    "change",
    [
        lambda package: (package / ".venv" / "x").write_text(""),
        lambda package: (package / "__pycache__" / "x.pyc").write_text("1"),
        lambda package: (package / "empty").mkdir(),
        lambda package: (package / ".git").rmdir(),
        lambda package: (package / "run").chmod(0o644),
        lambda package: (package / "setup.py").chmod(0o755),
        lambda package: (package / "run").rename(package / "runs"),
    ],
    ids=["hidden", "compiled", "empty", "gone", "not to run", "to run", "name"],
)
def test_a_digest_is_of_all_that_a_build_sees(
    change: Callable[[Path], object], tmp_path: Path
) -> None:
    for name in (".venv", "__pycache__", ".git"):
        (tmp_path / name).mkdir()
    for name in ("__pycache__/x.pyc", "setup.py", "run"):
        (tmp_path / name).write_text("")
    (tmp_path / "run").chmod(0o755)
    before = digests([str(tmp_path)], {})
    (tmp_path / "setup.py").chmod(0o600)
    os.utime(tmp_path / "setup.py", (1, 1))
    assert digests([str(tmp_path)], {}) == before
    change(tmp_path)
    assert digests([str(tmp_path)], {}) != before


def test_a_package_with_a_pipe_has_no_digest(folder: Path) -> None:
    os.mkfifo(folder / "wheels" / "pipe")
    block = BLOCK.replace(f"wheels/{X}", "wheels").encode()
    assert installed(str(folder / "m.py"), block)[0] is None


def test_packages_of_many_scripts_are_hashed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """40 scripts that name one wheel of 300 MB took 34 s to validate."""
    hashed: list[str] = []

    def count(path: str) -> str:
        hashed.append(path)
        return digest(path)

    digest = packages._digest
    monkeypatch.setattr(packages, "_digest", count)
    (tmp_path / X).write_bytes(b"wheel")
    text = f"# /// script\n# dependencies = ['x @ ./{X}']\n# ///\n".encode()
    known: dict[str, str] = {}
    found = [installed(str(tmp_path / f"m{i}.py"), text, known) for i in range(3)]
    assert found == [(((X, hashlib.sha256(b"wheel").hexdigest()),), None)] * 3
    assert hashed == [str(tmp_path / X)]
    folders = Folders()
    for i in range(3):
        (tmp_path / f"m{i}.py").write_bytes(text)
        assert read(str(tmp_path / f"m{i}.py"), "m.py", folders=folders).packages == found[0][0]
    assert len(hashed) == 2
