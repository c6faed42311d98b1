"""Makes the picture of the README: `python tests/render/picture.py` writes docs/report.png."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "report.png"
WIDTH, HEIGHT = 800, 1040
_COMMAND = "report registry/jobs/buoys registry/jobs/buoys-sail-2 -o"


def draw(path: Path) -> None:
    """Write the upper part of the page that the README's command makes."""
    from render import browser

    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        command = [sys.executable, "-m", "harbor_metrics", *_COMMAND.split(), str(page)]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        with browser.started() as opened:
            opened.open(page, width=WIDTH)
            opened.picture(path, height=HEIGHT)


if __name__ == "__main__":
    sys.path.insert(0, os.fspath(ROOT / "tests"))
    draw(PICTURE)
