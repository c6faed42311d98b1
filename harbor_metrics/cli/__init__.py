"""The command line: one file a command, loaded when it is called; exits happen here only."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
from typing import Any, NoReturn

import click

from .. import __version__
from ..errors import (
    HarborMetricsError,
    OutputError,
    ReaderGoneError,
    UsageError,
)
from ..output.streams import print_error, print_line, print_text, take_over

# Name of a command -> its one-line help; the module of that name defines it.
COMMANDS = {
    "compute": "The score of jobs and logs, with error bars and what is missing.",
    "compare": "Whether two agents or runs differ, and by how much.",
    "report": "Pictures of the same, as one page of HTML.",
    "audit": "Whether the numbers that a job reports are those of its trials.",
    "convert": "Any job or log as a trials file, one line of JSON a trial.",
    "validate": "Every mistake in registries and datasets, where it stands.",
    "add": "Add a metric, such as pass@5, to a dataset of a registry.",
    "remove": "Remove a metric from a dataset of a registry.",
    "script": "Try a metric script while you write it.",
    "cache": "Show or prune what metric scripts leave to be used again.",
    "list": "All metrics and reducers, and their names in other systems.",
    "explain": "What a metric, a reducer, a rule or a topic means.",
    "schema": "The JSON Schema of a document, for editors and other programs.",
}
_EXAMPLES = """\
The score of a job, with error bars:
  harbor-metrics compute jobs/new
Why is it lower than expected? Missing rewards count as 0; leave them out:
  harbor-metrics compute jobs/new --missing skip
Is the new agent better than the old one?
  harbor-metrics compare jobs/old jobs/new
Several agents and datasets in one table, the best first:
  harbor-metrics compute jobs/old jobs/new --sort mean
pass@5, what a solved task costs, scores by category:
  harbor-metrics compute jobs/new --metric pass@5
  harbor-metrics compute jobs/new --metric cost-per-solved-task
  harbor-metrics compute jobs/new --group-by category
A table for a spreadsheet or pandas, and pictures:
  harbor-metrics compute jobs/new --format csv > result.csv
  harbor-metrics report jobs/new -o report.html
pass@5 for all who run the dataset, and a check of every registry in CI:
  harbor-metrics add registry.json my-dataset pass@5
  harbor-metrics validate --format github
Answers to more questions, such as how to write a metric of your own:
  harbor-metrics explain
  harbor-metrics explain own-metric"""


class Examples(click.Command):
    """A command whose help ends with examples, which are its epilog: a line each, unfolded.

    Its errors quote nothing that a link leads to.
    """

    def invoke(self, ctx: click.Context) -> Any:  # noqa: D102
        try:
            return super().invoke(ctx)
        except HarborMetricsError as error:
            told = _without_quotes(error, ctx)
            if told is error:
                raise
            raise told from None

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: D102, ARG002
        if self.epilog:
            with formatter.section("Examples"):
                for line in self.epilog.splitlines():
                    formatter.write(f"{'':{formatter.current_indent}}{line}\n")


class Commands(Examples, click.Group):
    """A group that imports a command only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: D102, ARG002
        return [*COMMANDS]  # `list` is a command, too

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: D102, ARG002
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f".{name}", __name__).command
        return command

    def resolve_command(  # noqa: D102
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] == "help":
            args = [*args[1:2], "--help"]
            if len(args) == 1:
                print_text(f"{self.get_help(ctx)}\n")
                ctx.exit()
        if args[0] not in COMMANDS and args[0][:1] != "-":
            # Inside, for weight: only a mistake needs it.
            from .misses import command_meant

            raise UsageError(*command_meant(args[0]))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: D102, ARG002
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
    epilog=_EXAMPLES,
)
@click.version_option(__version__, prog_name="harbor-metrics", message="%(prog)s %(version)s")
@click.pass_context
def group(ctx: click.Context) -> int:
    """The number at the end of an agent eval, how sure it is, and what it rests on.

    It reads jobs of Harbor and logs of other harnesses. Without a COMMAND it says what can be done
    in this folder; `harbor-metrics COMMAND --help` has examples of each.
    """
    if ctx.invoked_subcommand is not None:
        return 0
    # Inside, for weight: other commands do not look.
    from .here import show

    return show()


class Terminated(BaseException):
    """SIGTERM or SIGHUP came; as an exception, so that what was started is ended first."""

    def __init__(self, number: int) -> None:
        self.number = number


def run() -> NoReturn:
    """Run the command line and exit.

    0 fine, 1 something is wrong, 2 wrong usage, 3 could not do it, 128 and the number of a signal.
    """
    take_over()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _terminate)
    try:
        code = _call()
    except OutputError as error:
        code = error.exit_code
    except KeyboardInterrupt:
        print_line("interrupted")
        code = 130
    except Terminated as error:
        code = 128 + error.number
    except Exception as error:  # noqa: BLE001  # whatever it is, it must not pass for "wrong", 1
        code = HarborMetricsError.exit_code
        with contextlib.suppress(OutputError):
            # Inside, for weight: nobody foresees it.
            from .mistakes import foreseen_by_nobody

            fail(foreseen_by_nobody(error))
    # Not sys.exit: it would free a million numbers one by one.
    os._exit(code)


def _call() -> int:
    try:
        if any(argument[:1] == "-" and os.path.lexists(argument) for argument in sys.argv[1:]):
            # Inside, for weight: hardly any file is called so.
            from .dashed import refuse_names

            refuse_names(sys.argv[1:])
        code = group.main(prog_name="harbor-metrics", standalone_mode=False)
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.NoSuchOption as error:
        # Inside, for weight: only a mistake needs it.
        from .misses import option_meant

        fail(UsageError(*option_meant(error)))
        return error.exit_code
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx is not None else "harbor-metrics"
        fail(UsageError(error.format_message().rstrip("."), f"{path} --help"))
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except ReaderGoneError:
        raise
    except HarborMetricsError as error:
        fail(error)
        return error.exit_code
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        fail(HarborMetricsError(f"{where}{error.strerror or error}"))
        return HarborMetricsError.exit_code
    return code if isinstance(code, int) else 0


def fail(error: HarborMetricsError) -> None:
    """Say on standard error why the work could not be done."""
    # Inside, for weight: most commands do not fail.
    from ..documents.diagnostics import InvalidDocumentError
    from ..documents.wording import printable
    from ..render.text import text

    if (ctx := click.get_current_context(silent=True)) is not None:
        error = _without_quotes(error, ctx)
    # What a program said has lines of its own.
    first, *others = map(printable, str(error).split("\n"))
    print_error("\n".join([f"error: {first}", *others, ""]))
    if error.help:
        print_error(f"  = help: {printable(error.help)}\n")
    if isinstance(error, InvalidDocumentError) and error.diagnostics:
        sources = {d.path or "": error.text for d in error.diagnostics}
        print_error("\n" + text(error.diagnostics, sources))


def _without_quotes(error: HarborMetricsError, ctx: click.Context) -> HarborMetricsError:
    # Inside, for weight: most commands do not fail.
    from .quoting import without_quotes

    return without_quotes(error, ctx.params)


def _terminate(number: int, frame: Any) -> NoReturn:  # noqa: ARG001
    raise Terminated(number)
