"""The command line: one file a command, loaded when it is called; exits happen here only."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any, NoReturn

import click

from .. import __version__
from ..errors import HarborMetricsError

# Name of a command -> its one-line help; the module of that name defines it.
COMMANDS = {
    "compute": "Compute dataset-level results of jobs and reward files.",
    "audit": "Recompute what logs and jobs report.",
    "convert": "Write any source as a trials file.",
    "validate": "Find every mistake in registries and other documents.",
    "add": "Add a metric to a dataset of a registry.",
    "remove": "Remove a metric from a dataset of a registry.",
    "script": "Try a metric script.",
    "list": "List the metrics, the reducers and their names elsewhere.",
    "explain": "Explain a metric, a reducer or a rule.",
    "schema": "Print a document schema.",
}
PIPE_CLOSED = 141
# The options that every command with a SOURCE has.
AS_HELP = "The format of the sources: harbor-job, inspect, lm-eval, trials, evsys, rewards or csv."
COLUMNS_HELP = "What the columns of a CSV are, as task=problem_id,reward=score."


class Commands(click.Group):
    """A group that imports a command only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: D102, ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: D102, ARG002
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f".{name}", __name__).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: D102, ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="harbor-metrics", message="%(prog)s %(version)s")
def group() -> None:
    """Resolve, validate and compute the metrics of Harbor dataset registries."""


class Terminated(BaseException):
    """SIGTERM or SIGHUP came; raised so that everything that was started is ended first."""

    def __init__(self, number: int) -> None:
        self.number = number


def run() -> NoReturn:
    """Run the command line and exit: 0 fine, 1 found, 2 usage, 3 could not, 130 and 143 signals."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _terminate)
    try:
        code = _call()
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has gone; nothing is left to say, and Python must not try at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = PIPE_CLOSED
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        code = 130
    except Terminated as error:
        code = 128 + error.number
    sys.stderr.flush()
    # Not sys.exit: it would free a million numbers one by one.
    os._exit(code)


def _call() -> int:
    try:
        code = group.main(prog_name="harbor-metrics", standalone_mode=False)
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except HarborMetricsError as error:
        fail(error)
        return error.exit_code
    except BrokenPipeError:
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        fail(HarborMetricsError(f"{where}{error.strerror or error}"))
        return HarborMetricsError.exit_code
    return code if isinstance(code, int) else 0


def fail(error: HarborMetricsError) -> None:
    """Say on standard error why the work could not be done."""
    from ..render.text import text

    diagnostics = getattr(error, "diagnostics", [])
    message = str(error).encode("utf-8", "backslashreplace").decode()
    click.echo(f"error: {message}", err=True)
    if error.help:
        click.echo(f"  = help: {error.help}", err=True)
    if diagnostics:
        sources = {d.path: getattr(error, "text", "") for d in diagnostics}
        click.echo("\n" + text(diagnostics, sources), err=True, nl=False)


def _terminate(number: int, frame: Any) -> NoReturn:  # noqa: ARG001
    raise Terminated(number)


def terminal() -> tuple[int, bool]:
    """Columns to fill and whether to colour: 80 and no where standard output is no terminal."""
    import shutil

    if not sys.stdout.isatty():
        return 80, False
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return shutil.get_terminal_size().columns, not plain


@contextlib.contextmanager
def progress(label: str) -> Iterator[Any]:
    """A function for readers that draws a bar on a terminal when the work takes over a second."""
    import time

    started = time.monotonic()
    bar: Any = None

    def update(done: int, total: int) -> None:
        nonlocal bar
        if bar is None and total and time.monotonic() - started > 1:
            bar = click.progressbar(length=total, label=label, file=sys.stderr)
        if bar is not None:
            bar.length = total
            bar.update(done - bar.pos)

    try:
        yield update if sys.stderr.isatty() else None
    finally:
        if bar is not None:
            bar.render_finish()
