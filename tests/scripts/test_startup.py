"""What an interpreter does that is told to be a script."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harbor_metrics.registries.script_file import Script
from harbor_metrics.scripts.startup import startup_code


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
    script = Script(str(folder / "m.py"), text)
    code = startup_code(script, is_shown_the_copy=False)
    command = [sys.executable, "-I", "-c", code, str(tmp_path / "copy"), script.path]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"{folder}\n"
