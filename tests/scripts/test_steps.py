"""What the code that builds a package writes is read by nobody after it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from metric_scripts import linux

from harbor_metrics.confinement.workplace import FREE, Workplace
from harbor_metrics.errors import MetricFailure
from harbor_metrics.registries.script_file import find
from harbor_metrics.scripts import steps
from harbor_metrics.scripts.environment import environment
from harbor_metrics.scripts.install import Wanted, install
from harbor_metrics.scripts.interpreter import Base
from harbor_metrics.scripts.options import ScriptOptions
from harbor_metrics.scripts.steps import Work

PROJECT = """\
[project]
name = "x"
version = "1"
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""
BUILD = """\
import os, pathlib
def get_requires_for_build_wheel(config_settings=None): return []
def build_wheel(folder, config_settings=None, metadata_directory=None):
    for place in {places!r}:
        try: pathlib.Path(place, 'left').write_text('x')
        except OSError: pass
    raise SystemExit('no wheel')
"""


def test_each_work_has_a_folder_of_its_own() -> None:
    with Workplace() as place:
        first, second = (Work.of(place, ScriptOptions()).folder for _ in range(2))
        assert first != second
        assert os.path.dirname(first) == os.path.dirname(second) == place.folder


@linux
def test_processes_of_a_step_take_no_more_together_than_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(steps, "_MEMORY", 0.25)
    code = (
        "import os, time\nos.fork(), os.fork()\nx = bytearray(b'x' * (100 << 20))\ntime.sleep(30)"
    )
    with Workplace() as place:
        work = Work.of(place, ScriptOptions(memory=0.1))
        with pytest.raises(MetricFailure, match="memory"):
            work.step([sys.executable, "-I", "-S", "-c", code], {}, FREE)


@linux
@pytest.mark.usefixtures("own_caches")
def test_build_code_writes_into_no_folder_of_another(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "pyproject.toml").write_text(PROJECT)
    block = "# dependencies = ['x']\n# [tool.uv.sources]\n# x = {path = 'package'}\n"
    (tmp_path / "m.py").write_text(f"# /// script\n{block}# ///\n")
    with Workplace() as place:
        options = ScriptOptions(allow_build=True, allow_network=True)
        other = Work.of(place, options).folder
        (package / "backend.py").write_text(BUILD.format(places=[place.folder, other]))
        with pytest.raises(MetricFailure, match="no wheel"):
            environment(find(str(tmp_path / "m.py"), None), place, options)
        assert "left" not in os.listdir(place.folder)
        assert os.listdir(other) == []


@pytest.mark.usefixtures("own_caches")
def test_a_file_whose_name_is_no_text_may_be_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.py").write_text("# /// script\n# dependencies = []\n# ///\n")

    def leaving(wanted: Wanted, path: str, prefix: str, *more: Any) -> tuple[Base, str]:
        made = install(wanted, path, prefix, *more)
        with open(os.fsencode(prefix) + b"/\xff", "w"):
            return made

    monkeypatch.setattr("harbor_metrics.scripts.environment.install", leaving)
    with Workplace() as place:
        for _ in range(2):
            made = environment(find(str(tmp_path / "m.py"), None), place)
            assert os.path.exists(made.command[0])
