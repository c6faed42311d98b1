"""From a path to trials; the format is recognised from what the file or directory holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import formats

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..trials.source import Progress, Source

__all__ = ["formats", "read", "with_texts"]


def read(
    path: str,
    progress: Progress | None = None,
    *,
    as_format: str | None = None,
    columns: str | Mapping[str, str] = "",
    with_texts: bool = False,
    with_scores: bool = False,
    counts: bool = False,
    spool: bool = False,
    kept: dict[str, Any] | None = None,
) -> list[Source]:
    """The sources at a path, or of standard input for `-`.

    Args:
        path: a file, or a directory: of a job, of jobs, or of logs.
        progress: called while a directory is read.
        as_format: a name in `formats`, where the content is not to decide.
        columns: FIELD -> column of a CSV, or `FIELD=COLUMN,…`.
        with_texts: read the texts too where that takes longer, which is always done of standard
            input, because it cannot be read again.
        with_scores: keep what the harness itself scored, with the texts, for an audit.
        counts: where a large source is clean, count its trials instead of keeping them; never of
            standard input.
        spool: where a source is large its trials are only gone through, and may lie on disk.
        kept: one object for all sources of a command, where readers keep what several share.

    Raises:
        UsageError: the format is unknown, or columns are named for something else than a CSV.
        InputError: there is nothing to read, or it is of no known format; the message says why.
    """
    # Inside, for weight: help texts need the table of formats alone.
    from ..documents.paths import STANDARD_INPUT
    from ..errors import UsageError
    from .columns import columns_of
    from .reading import Options
    from .sources import sources_at

    names = formats.names()
    if as_format is not None and as_format not in names:
        raise UsageError(f"no format `{as_format}`; the formats are {', '.join(names)}")
    options = Options(
        columns=columns_of(columns),
        with_texts=with_texts or with_scores or path == STANDARD_INPUT,
        with_scores=with_scores,
        progress=progress,
        counts=counts and path != STANDARD_INPUT,
        spool=spool,
        kept={} if kept is None else kept,
    )
    if columns:
        as_format = as_format or next(f.name for f in formats.FORMATS if f.has_columns)
        if not formats.named(as_format).has_columns:
            raise UsageError(f"columns are named for a CSV, not for {as_format}")
    return sources_at(path, as_format, options)


def with_texts(source: Source) -> Source:
    """The source, with the texts of another reading where its trials lack them.

    All else stays as it was read, since texts may be asked for by a metric of somebody else's. Only
    where the log contradicts itself, which is said, the other reading counts.

    Raises:
        InputError: it can no longer be read.
    """
    if not source.lacks_texts:
        return source
    (again,) = read(source.path, as_format=source.kind, with_texts=True)
    if any(said.rule == "summaries-differ" for said in again.diagnostics):
        return again
    # Inside, for weight: few metrics read texts.
    from msgspec.structs import replace

    texts = {(trial.dataset, trial.trial): trial.texts for trial in again.trials}
    trials = [replace(t, texts=texts.get((t.dataset, t.trial), {})) for t in source.trials]
    # That samples are missing matters more where they are read.
    of_samples = {said.rule: said for said in again.diagnostics if said.rule == "samples-missing"}
    diagnostics = [of_samples.get(said.rule, said) for said in source.diagnostics]
    return replace(source, trials=trials, diagnostics=diagnostics, lacks_texts=again.lacks_texts)
