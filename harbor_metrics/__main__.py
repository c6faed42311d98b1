"""Start the command line: `python -m harbor_metrics` and the installed `harbor-metrics`."""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Answer `--version` at once, and load the rest only for the rest."""
    if sys.argv[1:] == ["--version"]:
        from . import __version__
        from .output import writer

        try:
            writer.write(1, f"harbor-metrics {__version__}\n".encode())
        except OSError:
            pass  # The command line tries it again, and knows what to say and how to exit.
        else:
            return
    _leave_out_the_current_folder()
    # What is read has no cycles, and to look for some at every 700 objects takes as long as a
    # quarter of the reading; a plugin that makes some has them collected all the same.
    gc.set_threshold(1_000_000)
    from .cli import run

    run()


def _leave_out_the_current_folder() -> None:
    """Import nothing from where one stands, unless we lie there or PYTHONPATH names it.

    Python puts it first for `-m`, and where a part of PYTHONPATH is empty: there may be files of a
    stranger's that are called like modules.
    """
    try:
        here = os.getcwd()
    except OSError:
        return
    named = map(os.path.abspath, filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)))
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if here not in (ours, *named):
        sys.path[:] = [path for path in sys.path if path not in ("", here)]


if __name__ == "__main__":
    main()
