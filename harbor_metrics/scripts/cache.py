"""Where what is costly to make again is kept between runs."""

from __future__ import annotations

import os


def folder(name: str) -> str:
    """A folder of ours in the user's cache; it need not be there, nor be writable."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(home):
        home = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(home, "harbor-metrics", name)
