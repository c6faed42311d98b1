"""The site of these pages: `uv run --isolated --only-group docs sphinx-build -W docs site`."""

from __future__ import annotations

import re
from typing import Any

project = "harbor-metrics"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = project
html_show_copyright = False
root_doc = "index"
exclude_patterns = ["write.py"]
nitpicky = True
# Links to headings, as GitHub has them.
myst_heading_anchors = 3
highlight_language = "text"


def _contents(_app: Any, name: str, source: list[str]) -> None:
    """The list of pages is what the site goes by, too."""
    if name == root_doc:
        pages = re.findall(r"\]\(([a-z-]+)\.md\)", source[0])
        source[0] += "\n".join(["\n```{toctree}", ":hidden:", "", *pages, "```\n"])


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("source-read", _contents)
