"""Packages that lie beside a script: which they are, and whom they lead uv to."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from harbor_metrics.errors import MetricFailure
from harbor_metrics.scripts.local_packages import (
    check_wheels,
    digests,
    local_packages,
)

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


def test_a_folder_is_not_a_wheel(tmp_path: Path) -> None:
    (tmp_path / X).mkdir()
    with pytest.raises(MetricFailure, match="--allow-build"):
        check_wheels([str(tmp_path / X)])
    (tmp_path / X).rmdir()
    (tmp_path / X).write_bytes(b"")
    check_wheels([str(tmp_path / X), str(tmp_path / "nowhere")])


def test_digests_follow_what_packages_hold(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("1")
    paths = [str(tmp_path / name) for name in ("folder", "file", "nowhere")]
    seen = [digests(paths)]
    for path in (tmp_path / "file", tmp_path / "folder" / "setup.py"):
        path.write_text("2")
        seen.append(digests(paths))
    assert digests(paths) == seen[-1]
    assert len({repr(each) for each in seen}) == 3
    assert [os.path.basename(path) for path, _ in seen[0]] == ["folder", "file", "nowhere"]
