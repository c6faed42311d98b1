"""Folders are gone through however deep they are nested."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harbor_metrics.confinement.removal import remove
from harbor_metrics.documents.folders import walk
from harbor_metrics.documents.patterns import matching
from harbor_metrics.engines.files import found
from harbor_metrics.engines.recognition import is_relation
from harbor_metrics.validation.validation import validate


@pytest.fixture
def nested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with more in one another than calls are possible."""
    with monkeypatch.context() as patch:
        patch.chdir(tmp_path)
        for _ in range(sys.getrecursionlimit() + 50):
            os.mkdir("a")
            os.chdir("a")
        Path("x.parquet").write_bytes(b"PAR1")
        Path("registry.json").write_text("[]")
    yield tmp_path
    remove(str(tmp_path / "a"))


def test_walk_is_that_of_the_system(tmp_path: Path) -> None:
    for path in ("a/b/c", "a/d", "e"):
        (tmp_path / path).mkdir(parents=True)
        (tmp_path / path / "x").write_text("")
    (tmp_path / "e" / "link").symlink_to(tmp_path / "a")
    assert list(walk(str(tmp_path))) == list(os.walk(tmp_path))
    refused: list[OSError] = []
    assert list(walk(str(tmp_path / "none"), refused.append)) == list(walk(str(tmp_path / "none")))
    assert [error.filename for error in refused] == [str(tmp_path / "none")]


def test_what_is_deep_is_found_or_said(nested: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(nested)
    assert sum(len(names) for _, _, names in walk(".")) == 2
    assert len(found(["."]).files) == 1
    assert validate(".").n_files == 1
    assert len(matching("**/registry.json")) == 1
    assert is_relation("**/x.parquet")
    assert validate("**/registry.json").n_files == 1
