"""What an interpreter does that is told to be a script."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from metric_scripts import HEAD, linux

from harbor_metrics.confinement.workplace import Workplace
from harbor_metrics.registries.modules import Content
from harbor_metrics.registries.script_file import Script, find
from harbor_metrics.scripts.execution import Inputs, execute
from harbor_metrics.scripts.options import ScriptOptions
from harbor_metrics.scripts.startup import startup_code
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import Trial


@pytest.mark.parametrize("module", ["fractions.py", "fractions/__init__.py"])
def test_what_forgets_where_modules_are_found_finds_none_beside_a_script(
    module: str, tmp_path: Path
) -> None:
    """As packages do that add a way to import."""
    folder = tmp_path / "there"
    (folder / module).parent.mkdir(parents=True)
    (folder / module).write_text("raise SystemExit(9)")
    (tmp_path / "modules").mkdir()
    text = b"import sys; sys.path_importer_cache.clear(); import statistics; print(sys.path[0])"
    (tmp_path / "copy").write_bytes(text)
    script = Script(str(folder / "m.py"), Content(text))
    code = startup_code(script, is_shown_the_copy=False)
    command = [sys.executable, "-I", "-c", code, str(tmp_path / "copy"), script.path]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"{folder}\n"


@linux
@pytest.mark.parametrize(
    "to", ["/proc/self/cwd/../modules/data/.code", "data/.code", "/proc/self/cwd/later"]
)
@pytest.mark.parametrize("beside", ["x.dist-info", "helper.py", "data.csv"])
def test_a_link_that_leads_elsewhere_in_another_process_is_no_module(
    beside: str, to: str, tmp_path: Path
) -> None:
    hidden = tmp_path / "data" / ".code"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("def mean(v): return 0.99")
    (tmp_path / beside).mkdir() if beside == "x.dist-info" else (tmp_path / beside).write_text("")
    (tmp_path / "statistics").symlink_to(to)
    code = f"""{HEAD}
import os
os.mkdir("later")
open("later/__init__.py", "w").write("def mean(v): return 0.99")
import statistics
answer(mean=statistics.mean([0.5]))
"""
    (tmp_path / "m.py").write_text(code)
    inputs = Inputs.of(Table([Trial(task="t", rewards={"reward": 1.0})]))
    with Workplace() as place:
        script = find(str(tmp_path / "m.py"), None)
        ran = execute(script, inputs, ScriptOptions(), place)
    assert ran.values == {"mean": 0.5}
