"""Starting the command line."""

from __future__ import annotations

import gc
import sys

import pytest

import harbor_metrics
from harbor_metrics import cli
from harbor_metrics.__main__ import main


def test_version_is_answered_without_loading_the_command_line(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["harbor-metrics", "--version"])
    monkeypatch.setitem(sys.modules, "harbor_metrics.cli", None)
    main()
    assert capfd.readouterr().out == f"harbor-metrics {harbor_metrics.__version__}\n"


def test_cycles_are_looked_for_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    kept = gc.get_threshold()
    monkeypatch.setattr(cli, "run", lambda: seen.append(gc.get_threshold()[0]))
    monkeypatch.setattr(sys, "argv", ["harbor-metrics", "list"])
    try:
        main()
    finally:
        gc.set_threshold(*kept)
    assert seen == [1_000_000]
    assert gc.isenabled()
