"""Start the command line: `python -m harbor_metrics` and the installed `harbor-metrics`."""

from __future__ import annotations

import gc
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
    # What is read has no cycles, and to look for some at every 700 objects takes as long as a
    # quarter of the reading; a plugin that makes some has them collected all the same.
    gc.set_threshold(1_000_000)
    from .cli import run

    run()


if __name__ == "__main__":
    main()
