"""A writer that is killed loses nothing, writes nothing by halves, and leaves nothing for long."""

from __future__ import annotations

import killed
import pytest


@pytest.mark.parametrize("name", killed.WRITERS)
def test_killed_writer_breaks_and_leaves_nothing(name: str) -> None:
    assert killed.kill(name, 15) == (0, 0)


def test_half_written_file_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def write(path: str) -> None:
        for text in (b"a" * 100, b"b" * 100):
            with open(path, "wb", buffering=0) as file:
                file.writelines(bytes([byte]) for byte in text)

    monkeypatch.setitem(killed.WRITERS, "careless", (lambda: write, b"b" * 100))
    assert killed.kill("careless", 30)[0] > 0
