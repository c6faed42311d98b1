"""The files that a command writes: in which format, and never one that it reads."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..documents.paths import STANDARD_INPUT, real_path
from ..documents.wording import in_command
from ..errors import UsageError

_JOB_DOCUMENTS = ("result.json", "config.json", "lock.json")


def copies_of(
    also: Sequence[str], formats: Sequence[str], output: str | None = None
) -> list[tuple[str, str]]:
    """Format and path of each `--also FORMAT:FILE`, beside the output of `-o`.

    Raises:
        UsageError: one says no format or no file, or a file is written twice.
    """
    copies = []
    taken = {real_path(output)} if output is not None else set()
    for pair in also:
        format_, _, path = pair.partition(":")
        if format_ not in formats or not path:
            raise UsageError(
                f"--also {pair}: write FORMAT:FILE", f"a format is {', '.join(formats)}"
            )
        if path == STANDARD_INPUT:
            raise UsageError(f"--also {pair}: - is not a file", f"--format {format_} prints it")
        if real_path(path) in taken:
            raise UsageError(f"--also {pair}: {path} would be written twice", "name another file")
        taken.add(real_path(path))
        copies.append((format_, path))
    return copies


def check_suffix(output: str, *, tables: Sequence[str] = ("CSV", "Parquet")) -> None:
    """Refuse a file whose name says that it holds something else than JSON, or a table of `tables`.

    Raises:
        UsageError: it does.
    """
    stem, suffix = os.path.splitext(output)
    if suffix.lower() == ".parquet" and "Parquet" in tables:
        from ..engines.extras import require

        require("duckdb", "engine")
    elif suffix[1:2].isalpha() and suffix[1:].upper() not in ("JSON", "CSV"):
        format_ = {".md": "markdown", ".txt": "table"}.get(suffix.lower())
        also = f", or --also {format_}:{in_command(output)}" if format_ else ""
        raise UsageError(
            f"-o writes the result document, which is JSON, or its values as {' or '.join(tables)},"
            f" and {output} ends in {suffix}",
            f"-o {in_command(f'{stem}.json')}{also}",
        )


def refuse_input(output: str, inputs: Sequence[str]) -> None:
    """Refuse to write over what the result is computed from.

    Raises:
        UsageError: `output` is one of the inputs, or a document of a job among them.
    """
    # For weight: only what writes a file needs it.
    from ..trials.snapshot import SNAPSHOT

    documents = (*_JOB_DOCUMENTS, SNAPSHOT)
    target = real_path(output)
    for path in inputs:
        real = real_path(path)
        of_the_job = os.path.basename(target) in documents and target.startswith(f"{real}{os.sep}")
        if target == real or of_the_job:
            role = "a document of the input" if of_the_job else "the same file as the input"
            raise UsageError(f"{output} is {role} {path}: it is the same file that would be read")
