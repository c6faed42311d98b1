"""Start the command line: `python -m harbor_metrics` and the installed `harbor-metrics`."""

from __future__ import annotations

import gc
import os
import sys

_OF_OPENSSL = ("OPENSSL_CONF", "OPENSSL_CONF_INCLUDE", "OPENSSL_MODULES", "OPENSSL_ENGINES")


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
    _leave_out_settings_of_work()
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


def _leave_out_settings_of_work() -> None:
    """OpenSSL loads libraries into this process that its settings name, as soon as it is imported.

    A workflow can keep these in a checkout, of which anybody's change is looked at.
    """
    named = [name for name in _OF_OPENSSL if os.environ.get(name)]
    if not named:
        return
    from .documents.work import is_among_work

    for name in named:
        try:
            is_work = is_among_work(os.path.abspath(os.environ[name]))
        except OSError:
            is_work = True  # The current folder is gone, and where it leads nobody can tell.
        if is_work:
            del os.environ[name]


if __name__ == "__main__":
    main()
