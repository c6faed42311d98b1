"""`harbor-metrics report`: results as one page of HTML that stands alone."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from typing import Any

import click

from ..documents.wording import plural
from ..output.streams import print_line, print_note
from . import Examples
from .compute import command as compute
from .files import refuse_input
from .gating import gate_options
from .options import level_of
from .running import options_of
from .terminal import note_width, working

# The options of `compute` that say how it prints, or that a page has no use for.
_OF_COMPUTE_ALONE = {
    "sources", "output", "format_", "also", "sort", "digits", "dry_run", "verify_repeat",
}  # fmt: skip
_OPTIONS = [option for option in compute.params if option.name not in _OF_COMPUTE_ALONE]
_PAGE = "report.html"


_EXAMPLES = """\
harbor-metrics report jobs/new -o report.html
harbor-metrics report jobs/old jobs/new --no-worse mean -o report.html
harbor-metrics report jobs/new --group-by category -o report.html"""


@click.command(cls=Examples, params=_OPTIONS, epilog=_EXAMPLES)
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE|RESULT|COMPARISON...")
@gate_options
@click.option("-o", "--output", required=True, metavar="PAGE.html", help="The page to write.")
def command(
    sources: Sequence[str],
    output: str,
    registries: Sequence[str],
    dataset: str | None,
    metrics: Sequence[str],
    level: str,
    labels: str | None,
    require_complete: bool,
    **more: Any,
) -> int:
    """Write one page of HTML with pictures; it needs no network and runs no script.

    A SOURCE is what `compute` takes, and several are compared; a RESULT or a COMPARISON is a
    document that `compute -o` or `compare -o` wrote, of which fewer pictures can be drawn, for it
    has no single trials. Gates, and exit 1 where one does not pass, are those of `compare`.
    """
    from ..comparison.gates import gates
    from ..computation.request import Request
    from ..documents.files import check_writable, write_atomically
    from ..render.page import figures, page
    from ..render.remarks import remarks
    from ..reports.request import report

    refuse_input(output, [*sources, *registries, *([labels] if labels else [])])
    check_writable(output)
    scripts = options_of(more)
    with working("reading and computing"):
        request = Request(
            sources=tuple(sources),
            registries=tuple(registries),
            dataset=dataset,
            metrics=tuple(metrics),
            level=level_of(level),
            labels=labels,
            scripts=scripts,
            **{name: more[name] for name in _AS_GIVEN},
        )
        asked = gates(**{name: more[name] for name in _GATES})
        made = report(request, asked, more["unpaired"])
    refuse_input(output, made.inputs)
    made.again = _again(sys.argv[1:])
    with working("drawing"):
        written = page(made).encode()
    write_atomically(output, written)
    print_note(remarks(made.found, width=note_width()))
    pictures = plural(len(figures(made)), "picture")
    print_line(f"{output}: {pictures}, {round(len(written) / 1000)} kB")
    if require_complete and not made.complete:
        print_line(f"error: {made.not_as_planned}, and --require-complete was given")
        return 1
    return 0 if made.ok else 1


_GATES = ("no_worse", "non_inferior", "better", "fail_if")
_AS_GIVEN = ("only_asked", "missing", "over", "group_by", "as_format", "columns", "engine")


def _again(arguments: Sequence[str]) -> str:
    """The command that makes the page again, wherever it was written this time."""
    kept: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument in ("-o", "--output"):
            next(rest, None)
        elif not argument.startswith(("--output=", "-o")):
            kept.append(argument)
    return shlex.join(["harbor-metrics", *kept, "-o", _PAGE])
