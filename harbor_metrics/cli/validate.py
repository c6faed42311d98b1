"""`harbor-metrics validate`: every mistake in a document, shown where it stands."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from ..documents.paths import real_path
from ..errors import InputError, UsageError
from ..output.streams import (
    as_printed,
    print_commands,
    print_json,
    print_line,
    print_note,
    print_text,
)
from . import Examples, fail
from .files import copies_of

if TYPE_CHECKING:
    from ..validation.configuration import Configuration
    from ..validation.validation import Report

FORMATS = ("text", "concise", "json", "jsonl", "github", "sarif")
# A reason fills no screen; it was written by whoever wrote the settings of the checkout.
_LONGEST_REASON = 300


_EXAMPLES = """\
harbor-metrics validate
harbor-metrics validate registry.json --fix
harbor-metrics validate --format github
harbor-metrics validate --format sarif > findings.sarif
harbor-metrics validate --select hints
harbor-metrics explain validate-in-ci"""


@click.command(cls=Examples, epilog=_EXAMPLES)
@click.argument("files", nargs=-1, metavar="[FILE|DIR]...")
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="github: annotations in GitHub Actions; sarif: for code scanning, exit code 0.",
)
@click.option(
    "--also",
    multiple=True,
    metavar="FORMAT:FILE",
    help="Write the same findings in another format to a file, as sarif:found.sarif. Repeatable.",
)
@click.option(
    "--select",
    multiple=True,
    metavar="RULE",
    help="Only this rule, or `hints`: what could be better and is not wrong. Repeatable.",
)
@click.option("--ignore", multiple=True, metavar="RULE", help="All rules but this one. Repeatable.")
@click.option(
    "--fix",
    is_flag=True,
    help="Mend in the files what has exactly one right answer, then validate.",
)
@click.option(
    "--isolated",
    is_flag=True,
    help="Read no pyproject.toml: for pull requests of strangers, who can change it.",
)
@click.option("--quiet", "-q", is_flag=True, help="Say nothing where nothing is wrong or left out.")
def command(
    files: Sequence[str],
    format_: str,
    also: Sequence[str],
    select: Sequence[str],
    ignore: Sequence[str],
    fix: bool,
    isolated: bool,
    quiet: bool,
) -> int:
    """Find every mistake in registries and other documents; run nothing and fetch nothing.

    Each mistake is shown where it stands, with what Harbor would do and what to write instead. Exit
    1 where there is an error.

    A FILE is a registry.json, a result document, a rewards or trials JSONL, a dataset.toml, a
    pattern such as '**/registry.json', or - for standard input. In a DIR, by default
    the current one, every registry.json and dataset.toml that git would list is validated.
    `[tool.harbor-metrics]` in pyproject.toml may `select` rules, and `ignore` some with a reason.
    """
    from ..catalogue.plugins import imported
    from ..documents.files import check_writable, write_atomically
    from ..validation import configuration
    from ..validation.validation import expanded

    config = configuration.Configuration() if isolated else configuration.read(os.getcwd())
    if named := [*select, *ignore, *config.select, *config.ignore]:
        _check_rules(named)
    copies = copies_of(also, FORMATS)
    given = files or [os.curdir]
    for _, path in copies:
        if real_path(path) in {real_path(file) for file in expanded(given, [])}:
            raise UsageError(f"--also {path} is one of the files that are read")
        check_writable(path)
    ignored = {**config.ignore, **dict.fromkeys(ignore, "")}
    if fix:
        chosen = select or config.select
        _mend(given, lambda rule: rule not in ignored and (not chosen or rule in chosen))
    report = _validated(given, select, config, ignored)
    left_out = _left_out(report, config.path)
    documents = dict.fromkeys(("json", "jsonl", "sarif"), print_json)
    show = {**documents, "github": print_commands}.get(format_, print_text)
    show(_render(report, format_, quiet))
    if format_ in ("github", "sarif"):
        print_note(_render(report, "text", quiet))
    for also_format, path in copies:
        copy = _render(report, also_format, quiet, left_out)
        write_atomically(path, as_printed(copy, also_format))
    print_note(left_out)
    if not quiet:
        _say_what_is_left(report, fix)
    print_note(imported())
    for error in report.unread:
        fail(error)
    if report.unread:
        return InputError.exit_code
    # Those who read SARIF take any other exit for a failure of the tool.
    return 0 if report.ok or format_ == "sarif" else 1


def _validated(
    files: Sequence[str], select: Sequence[str], config: Configuration, ignore: dict[str, str]
) -> Report:
    import gc

    from ..validation.validation import validate

    # A document has no cycles, and looking for some takes longer than reading it.
    gc.disable()
    report = validate(*files, select=select or config.select, ignore=ignore)
    if select:
        report.unselected = {}  # who selects here knows what is left out
    return report


def _check_rules(names: Sequence[str]) -> None:
    from ..documents.rules import OF_FOLDERS
    from ..documents.wording import did_you_mean, nearest
    from ..validation.explanations import other_rule_names, rule_names
    from ..validation.rules import with_hints

    for name in with_hints(names):
        if name in other_rule_names() and name not in OF_FOLDERS:
            raise UsageError(
                f"`validate` never finds `{name}`, so it can neither be selected nor ignored",
                f"`harbor-metrics explain {name}` says where it comes from",
            )
        if name not in rule_names() and name not in OF_FOLDERS:
            near = did_you_mean(nearest(name, rule_names()))
            raise UsageError(
                f"there is no rule `{name}`{near}", "`harbor-metrics explain` lists them"
            )


def _mend(files: Sequence[str], wanted: Callable[[str], bool]) -> None:
    from ..documents.paths import STANDARD_INPUT
    from ..documents.wording import printable
    from ..errors import HarborMetricsError
    from ..validation.fix import fix
    from ..validation.validation import expanded

    for path in expanded(files, []):
        if path == STANDARD_INPUT or path.endswith((".toml", ".jsonl", ".ndjson")):
            print_line(f"{path}: only registry files are mended")
            continue
        try:
            change = fix(path, wanted)
        except HarborMetricsError as error:
            # Most name the file themselves.
            text = printable(str(error))
            print_line(text if text.startswith(printable(path)) else f"{path}: {text}")
            continue
        if change.before != change.after:
            for line in change.message.splitlines():
                print_line(f"{path}: {line}")


def _left_out(report: Report, path: str) -> str:
    """What the settings leave out of all that was found, on a line; empty where nothing."""
    from ..documents.wording import plural, printable, shown_path

    counts = {rule: n for rule, (n, _) in report.ignored.items()} | report.unselected
    if not counts:
        return ""
    why = {rule: f"ignored: {_shortened(reason)}" for rule, (_, reason) in report.ignored.items()}
    each = (f"{n} x {rule} ({why.get(rule, 'not selected')})" for rule, n in sorted(counts.items()))
    findings = plural(sum(counts.values()), "finding")
    file = shown_path(os.path.relpath(path))
    return printable(f"note: {findings} left out by {file}: {', '.join(each)}") + "\n"


def _shortened(reason: str) -> str:
    return reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]}…"


def _say_what_is_left(report: Report, fix: bool) -> None:
    """What was not looked at, and what was not mended."""
    from ..documents.wording import listed, plural

    if report.others:
        others = plural(len(report.others), "file")
        were = "was" if len(report.others) == 1 else "were"
        print_line(
            f"note: {others} called like a registry, but not registry.json, {were} not looked at; "
            f"name a file or a pattern: {listed(report.others)}"
        )
    if fix and any(found.help for found in report.found):
        print_line(
            "note: --fix writes only what has one right answer; what stands behind `help` may be "
            "a guess or a choice, and is yours to write"
        )


def _render(report: Report, format_: str, quiet: bool, left_out: str = "") -> str:
    # The imports are inside for weight: one format is asked for.
    if format_ == "concise":
        from ..render.text import concise

        return concise(report.found)
    if format_ in ("json", "jsonl"):
        from ..render import json

        return json.json(report.found) if format_ == "json" else json.jsonl(report.found)
    if format_ == "github":
        from ..render.github import github

        return github(report.found)
    if format_ == "sarif":
        from ..render.sarif import sarif
        from ..validation.explanations import explain

        return sarif(report.found, explain)
    from ..render.text import summary, text

    paragraphs = [text(report.found, report.sources)] if report.found else []
    if left_out:
        paragraphs.append(left_out)
    if not (quiet and report.ok):
        paragraphs.append(f"{summary(report.found, report.n_files, report.n_datasets)}\n")
    return "\n".join(paragraphs)
