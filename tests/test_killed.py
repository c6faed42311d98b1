"""Who is killed while writing loses nothing, leaves nothing by halves, and nothing for long."""

from __future__ import annotations

import killed
import pytest
from metric_scripts import linux

pytestmark = pytest.mark.one_python


@pytest.mark.parametrize("name", killed.WRITERS)
def test_killed_writer_breaks_and_leaves_nothing(name: str) -> None:
    assert killed.kill(name, 15) == (0, 0)


@linux
@pytest.mark.parametrize("name", killed.RUNS)
def test_killed_run_breaks_no_later_one_and_leaves_nothing(name: str) -> None:
    assert killed.kill_run(name, 3) == (0, 0)


def test_half_written_file_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def write(path: str) -> None:
        for text in (b"a" * 100, b"b" * 100):
            with open(path, "wb", buffering=0) as file:
                file.writelines(bytes([byte]) for byte in text)

    monkeypatch.setitem(killed.WRITERS, "careless", (lambda: write, b"b" * 100))
    assert killed.kill("careless", 30)[0] > 0
