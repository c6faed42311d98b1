"""`harbor-metrics validate`: every mistake in a document, shown where it stands."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ..errors import InputError, UsageError
from . import fail


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "concise", "json", "jsonl"]),
    default="text",
    show_default=True,
)
@click.option("--select", multiple=True, metavar="RULE", help="Only this rule. Repeatable.")
@click.option("--ignore", multiple=True, metavar="RULE", help="Not this rule. Repeatable.")
@click.option("--quiet", "-q", is_flag=True, help="Say nothing where nothing is wrong.")
def command(
    files: Sequence[str],
    format_: str,
    select: Sequence[str],
    ignore: Sequence[str],
    quiet: bool,
) -> int:
    """Find every mistake in registries and other documents; run and fetch nothing.

    A FILE is a registry.json, a result document, a rewards or trials JSONL, a dataset.toml, a
    pattern such as '**/registry.json', or - for standard input.
    """
    import gc

    from ..explanations import rule_names
    from ..validation import validate

    for rule in (*select, *ignore):
        if rule not in rule_names():
            raise UsageError(f"there is no rule `{rule}`", "`harbor-metrics explain` lists them")
    # A document has no cycles, and looking for some takes longer than reading it.
    gc.disable()
    report = validate(*files, select=select, ignore=ignore)
    if format_ == "text":
        from ..render.text import summary, text

        click.echo(text(report.found, report.sources), nl=False)
        if report.found and not quiet:
            click.echo("")
        if not (quiet and report.ok):
            click.echo(summary(report.found, report.n_files, report.n_datasets))
    elif format_ == "concise":
        from ..render.concise import concise

        click.echo(concise(report.found), nl=False)
    else:
        from ..render import json

        click.echo(getattr(json, format_)(report.found), nl=False)
    for error in report.unread:
        fail(error)
    if report.unread:
        return InputError.exit_code
    return 0 if report.ok else 1
