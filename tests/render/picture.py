"""Makes the picture of the README: `python tests/render/picture.py` writes docs/report.png."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "report.png"
WIDTH, HEIGHT = 800, 1225
_COMMAND = "report registry/jobs/buoys registry/jobs/buoys-sail-2 -o"
# The signature of a PNG and its first part, behind which a text may stand.
_HEAD = 33
_TEXT = b"tEXtpage\0"


def make_page(folder: Path) -> Path:
    """The page that the README's command makes."""
    page = folder / "report.html"
    command = [sys.executable, "-m", "harbor_metrics", *_COMMAND.split(), str(page)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return page


def digest(page: Path) -> str:
    return hashlib.sha256(page.read_bytes()).hexdigest()


def digest_in(picture: Path) -> str:
    """The digest of the page that a picture was drawn of."""
    return picture.read_bytes().partition(_TEXT)[2][:64].decode()


def draw(path: Path) -> None:
    """Write the upper part of the page, and into it the digest of the page."""
    from render import browser

    with tempfile.TemporaryDirectory() as folder:
        page = make_page(Path(folder))
        with browser.started() as opened:
            opened.open(page, width=WIDTH)
            opened.picture(path, height=HEIGHT)
        text = _TEXT + digest(page).encode()
    drawn = path.read_bytes()
    chunk = (len(text) - 4).to_bytes(4, "big") + text + zlib.crc32(text).to_bytes(4, "big")
    path.write_bytes(drawn[:_HEAD] + chunk + drawn[_HEAD:])


if __name__ == "__main__":
    sys.path.insert(0, os.fspath(ROOT / "tests"))
    draw(PICTURE)
