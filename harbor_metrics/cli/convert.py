"""`harbor-metrics convert`: any source as a trials file."""

from __future__ import annotations

import click

from ..output.streams import as_printed, print_json, print_line, print_note
from . import Examples
from .files import refuse_input
from .options import AS_FORMAT, COLUMNS
from .terminal import progress

_EXAMPLES = """\
harbor-metrics convert jobs/new -o trials.jsonl
harbor-metrics convert scores.csv --columns task=problem,reward=score > trials.jsonl"""


@click.command(cls=Examples, epilog=_EXAMPLES)
@click.argument("source")
@click.option(
    "-o",
    "--output",
    metavar="TRIALS.jsonl|.parquet",
    help="Write to this file, not to standard output; Parquet where its name ends so.",
)
@AS_FORMAT
@COLUMNS
def command(source: str, output: str | None, as_format: str | None, columns: str) -> int:
    """Write a job or a log as a trials file: a line of JSON a trial, with all that metrics can use.

    A SOURCE is what `compute` takes. `harbor-metrics schema trials` explains the lines.
    """
    from ..documents.files import check_writable, write_atomically
    from ..documents.parquet import is_called_so
    from ..documents.wording import plural
    from ..engines.extras import require
    from ..readers.conversion import convert
    from ..render.text import text

    as_parquet = output is not None and is_called_so(output)
    if as_parquet:
        require("duckdb", "engine")
    if output is not None:
        refuse_input(output, [source])
        check_writable(output)
    with progress("reading") as update:
        conversion = convert(source, as_format=as_format, columns=columns, progress=update)
    if output is not None:
        refuse_input(output, conversion.inputs)
        if as_parquet:
            from ..engines.parquet import parquet

            write_atomically(output, parquet(conversion.trials))
        else:
            write_atomically(output, (as_printed(block, "jsonl") for block in conversion.blocks()))
        print_line(f"wrote {plural(conversion.n_trials, 'trial')} to {output}")
    else:
        for block in conversion.blocks():
            print_json(block)
    print_note(text(conversion.diagnostics))
    return 0 if conversion.ok else 1
