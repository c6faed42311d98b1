"""Starting the command line."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

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


@pytest.mark.parametrize("how", ["module", "empty part", "named"])
def test_no_module_of_the_current_folder_is_imported_unless_it_is_named(
    how: str, tmp_path: Path
) -> None:
    (tmp_path / "click.py").write_text("raise SystemExit('a stranger')")
    site = Path(sys.modules["click"].__file__ or "").parents[1]
    before = f"{ROOT}{os.pathsep}{site}{os.pathsep}"
    paths = {
        "module": before[:-1],
        "empty part": before,
        "named": f"{tmp_path}{os.pathsep}{before}",
    }
    start = "from harbor_metrics.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, *(["-m", "harbor_metrics"] if how == "module" else ["-c", start]), "list"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths[how]},
        capture_output=True,
        text=True,
    )
    assert (done.returncode == 0) == (how != "named"), done.stderr
    assert ("a stranger" in done.stderr) == (how == "named")


@pytest.mark.parametrize("is_absolute", [True, False])
def test_no_settings_of_openssl_are_read_from_what_is_worked_on(
    is_absolute: bool, tmp_path: Path
) -> None:
    """They named a library of a pull request, which was loaded into `validate`."""
    # Who opens it waits for ever.
    os.mkfifo(tmp_path / "openssl.cnf")
    (tmp_path / "r.jsonl").write_text('{"reward": 1}\n')
    place = str(tmp_path / "openssl.cnf") if is_absolute else "openssl.cnf"
    done = subprocess.run(
        [sys.executable, "-I", "-m", "harbor_metrics", "compute", "r.jsonl", "-o", "out.json"],
        cwd=tmp_path, env={**os.environ, "OPENSSL_CONF": place},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
