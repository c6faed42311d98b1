"""The documents of a job directory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from harbor_metrics.readers.harbor.documents import contents, fields


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, 300_000])
def test_file_of_any_size_is_read_whole(size: int, tmp_path: Path) -> None:
    data = os.urandom(size)
    (tmp_path / "x").write_bytes(data)
    assert contents(str(tmp_path / "x")) == data


def test_pipe_is_empty_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert contents(str(tmp_path / "pipe")) == b""


@pytest.mark.parametrize(
    ("text", "members"),
    [('{"a": 1}', {"a": 1}), ("[1]", {}), ("{", {}), ("", {}), (None, {})],
)
def test_members_of_an_object_or_nothing(
    text: str | None, members: dict[str, Any], tmp_path: Path
) -> None:
    if text is not None:
        (tmp_path / "x").write_text(text)
    assert fields(str(tmp_path / "x")) == members
