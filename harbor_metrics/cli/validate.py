"""`harbor-metrics validate`: every mistake in a document, shown where it stands."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from ..errors import InputError, UsageError
from . import fail

if TYPE_CHECKING:
    from ..validation import Report

FORMATS = ("text", "concise", "json", "jsonl", "github", "sarif")


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option(
    "--also",
    multiple=True,
    metavar="FORMAT:FILE",
    help="Write a second rendering of the same run to a file. Repeatable.",
)
@click.option("--select", multiple=True, metavar="RULE", help="Only this rule. Repeatable.")
@click.option("--ignore", multiple=True, metavar="RULE", help="Not this rule. Repeatable.")
@click.option("--fix", is_flag=True, help="First mend what has exactly one right answer.")
@click.option("--quiet", "-q", is_flag=True, help="Say nothing where nothing is wrong.")
def command(
    files: Sequence[str],
    format_: str,
    also: Sequence[str],
    select: Sequence[str],
    ignore: Sequence[str],
    fix: bool,
    quiet: bool,
) -> int:
    """Find every mistake in registries and other documents; run and fetch nothing.

    A FILE is a registry.json, a result document, a rewards or trials JSONL, a dataset.toml, a
    pattern such as '**/registry.json', or - for standard input. `[tool.harbor-metrics]` in
    pyproject.toml may `select` rules, and `ignore` some with a reason.
    """
    import gc

    from .. import configuration
    from ..atomic import check_writable, write_atomically
    from ..explanations import rule_names
    from ..validation import validate

    config = configuration.read(os.getcwd())
    for rule in (*select, *ignore, *config.select, *config.ignore):
        if rule not in rule_names():
            raise UsageError(f"there is no rule `{rule}`", "`harbor-metrics explain` lists them")
    copies = [_copy(pair) for pair in also]
    for _, path in copies:
        if os.path.realpath(path) in {os.path.realpath(file) for file in files}:
            raise UsageError(f"--also {path} is one of the files that are read")
        check_writable(path)
    if fix:
        chosen = select or config.select
        ignored = {*ignore, *config.ignore}
        _mend(files, lambda rule: rule not in ignored and (not chosen or rule in chosen))
    # A document has no cycles, and looking for some takes longer than reading it.
    gc.disable()
    report = validate(*files, select=select or config.select, ignore=ignore, reasons=config.ignore)
    click.echo(_rendered(report, format_, quiet), nl=False)
    if format_ in ("github", "sarif"):
        click.echo(_rendered(report, "text", quiet), err=True, nl=False)
    for also_format, path in copies:
        write_atomically(path, _rendered(report, also_format, quiet).encode())
    for error in report.unread:
        fail(error)
    if report.unread:
        return InputError.exit_code
    # Who reads SARIF takes any other exit for a failure of the tool.
    return 0 if report.ok or format_ == "sarif" else 1


def _mend(files: Sequence[str], wanted: Callable[[str], bool]) -> None:
    from ..errors import HarborMetricsError
    from ..fix import fix
    from ..validation import STDIN, expanded

    for path in expanded(files):
        if path == STDIN or path.endswith((".toml", ".jsonl", ".ndjson")):
            click.echo(f"{path}: only registry files are mended", err=True)
            continue
        try:
            change = fix(path, wanted)
        except HarborMetricsError as error:
            click.echo(f"{path}: {error}", err=True)
            continue
        if change.before != change.after:
            for line in change.message.splitlines():
                click.echo(f"{path}: {line}", err=True)


def _copy(pair: str) -> tuple[str, str]:
    format_, colon, path = pair.partition(":")
    if not colon or format_ not in FORMATS or not path:
        raise UsageError(f"--also {pair}: write FORMAT:FILE", f"a format is {', '.join(FORMATS)}")
    return format_, path


def _rendered(report: Report, format_: str, quiet: bool) -> str:
    found = report.found
    if format_ == "concise":
        from ..render.concise import concise

        return concise(found)
    if format_ in ("json", "jsonl"):
        from ..render import json

        return json.json(found) if format_ == "json" else json.jsonl(found)
    if format_ == "github":
        from ..render.github import github

        return github(found)
    if format_ == "sarif":
        from ..explanations import explain
        from ..render.sarif import sarif

        return sarif(found, explain)
    from ..render.text import summary, text
    from ..syntax import printable

    said = text(found, report.sources)
    for rule, (n, reason) in report.ignored.items():
        said += f"{chr(10) if said else ''}ignored {n} x {rule}: {printable(reason)}\n"
    if quiet and report.ok:
        return said
    ending = summary(found, report.n_files, report.n_datasets)
    return f"{said}{chr(10) if said else ''}{ending}\n"
