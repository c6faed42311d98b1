"""Which Python a script gets: a version of one, and never a program that it names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from metric_scripts import linux

from harbor_metrics.confinement.workplace import Workplace
from harbor_metrics.errors import MetricFailure
from harbor_metrics.registries.script_file import find
from harbor_metrics.scripts.environment import environment
from harbor_metrics.scripts.interpreter import interpreter
from harbor_metrics.scripts.options import ScriptOptions
from harbor_metrics.scripts.steps import Work
from harbor_metrics.scripts.uv_access import find_uv

pytestmark = pytest.mark.usefixtures("own_caches")


@linux
@pytest.mark.parametrize("asked", ["==={}", "=== {}", ">=3.8,==={}"])
def test_no_program_is_started_for_a_version(tmp_path: Path, asked: str) -> None:
    (tmp_path / "python").write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
    (tmp_path / "python").chmod(0o755)
    block = f'# /// script\n# requires-python = "{asked.format(tmp_path / "python")}"\n# ///\n'
    (tmp_path / "m.py").write_text(block)
    with Workplace() as place, pytest.raises(MetricFailure, match="requires-python"):
        environment(find(str(tmp_path / "m.py"), None), place)
    assert os.listdir(tmp_path).count("started") == 0


@pytest.mark.parametrize(
    "asked",
    [
        *("===3.12", "==3.12+local", "==9999999", "python", "==3.12/../x", "==३.12", ">=3.8\n"),
        *(">=3.8," * 30, "== 3.12\t", "@3.12", "==3.12-x86_64", "~=3", "==1!3.12"),
    ],
)
def test_a_version_has_one_form(asked: str) -> None:
    with Workplace() as place:
        work = Work.of(place, ScriptOptions())
        with pytest.raises(MetricFailure, match="requires-python"):
            interpreter({"requires-python": asked}, "/m.py", find_uv(), work)


@pytest.mark.parametrize("asked", ["", ">=3.8", ">= 3.8, <4", "~=3.8,!=3.9.*", ">3.8rc1 ,<=4.0"])
def test_what_a_version_may_be(asked: str) -> None:
    with Workplace() as place:
        work = Work.of(place, ScriptOptions())
        assert interpreter({"requires-python": asked}, "/m.py", find_uv(), work).version
