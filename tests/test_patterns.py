"""No pattern that a stranger's text is matched with takes the square of a long run in it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from conftest import HERE
from metric_scripts import linux

pytestmark = pytest.mark.one_python


def test_each_pattern_takes_time_in_proportion_to_a_long_run() -> None:
    program = [sys.executable, str(HERE / "long_runs.py")]
    done = subprocess.run(program, capture_output=True, text=True, timeout=120, check=False)
    *_, last = done.stdout.splitlines()
    assert done.returncode == 0, f"{last}\n{done.stderr}"
    assert int(last) > 60


@linux
def test_what_a_long_line_imports_takes_little_memory() -> None:
    code = (
        "import resource\n"
        "from harbor_metrics.registries.imports import imported\n"
        "resource.setrlimit(resource.RLIMIT_AS, (512 << 20, 512 << 20))\n"
        "assert imported(b'import ' + b'a,' * (4 << 20)) == {b'a'}\n"
    )
    subprocess.run([sys.executable, "-c", code], timeout=120, check=True)
