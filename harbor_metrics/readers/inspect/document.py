"""The parts of an Inspect log that are read: its header and its samples, in any of their shapes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from ...documents.diagnostics import Severity
from ...documents.document import parse
from ...documents.wording import listed, plural, printable
from ...errors import InputError
from ..files.archive import Archive
from ..files.lenient import NotJSONError, decode
from ..reading import Reading
from .reported import Results
from .sample import Failure, Sample
from .summaries import contradicts, drop_thinned, lacks, suffice

_NEWEST = 2
_COPY = "copy the log anew"
# What Inspect calls the scorer of a score that no results name one of.
_NO_SCORER = "88F74D2C"
HEADER = "header.json"
_START = "_journal/start.json"
_REDUCTIONS = "reductions.json"
_SUMMARY = re.compile(r"_journal/summaries/([0-9]+)\.json")
# So many bytes of samples are read to see whether summaries may be believed.
_MOST_CHECKED = 256 << 10
# Of so many bytes the shortest is read in any case: agents' transcripts are longer than all that.
_LONGEST_SHORTEST = 4 << 20
# Of a sample in many pieces, as the newer shape has it, that without messages and events.
_IN_PIECES = re.compile(r"(samples/.+_epoch_[0-9]+/)sample\.json", re.DOTALL)
_IN_ONE_PIECE = re.compile(r"samples/.+_epoch_[0-9]+\.json", re.DOTALL)


class _Dataset(msgspec.Struct, frozen=True, gc=False):
    name: Any = None
    samples: int | None = None
    sample_ids: list[Any] | None = None


class _Config(msgspec.Struct, frozen=True, gc=False):
    epochs: int | None = None
    epochs_reducer: list[str] | None = None

    @property
    def unreduced(self) -> bool:
        """Whether the task asked for no reducer, which is not the same as naming none."""
        return self.epochs_reducer == []


class _Eval(msgspec.Struct, frozen=True, gc=False):
    task: str
    model: str | None = None
    eval_id: str | None = None
    solver: str | None = None
    dataset: _Dataset = _Dataset()
    config: _Config = _Config()
    task_version: Any = None
    task_args: Any = None
    scorers: Any = None
    packages: Any = None


class _Step(msgspec.Struct, frozen=True, gc=False):
    solver: str


class _Plan(msgspec.Struct, frozen=True, gc=False):
    steps: list[_Step] = []


class Header(msgspec.Struct):
    """What a log says as a whole; one that still runs has no results."""

    eval: _Eval
    version: int = 1
    status: str = "started"
    plan: _Plan = _Plan()
    results: Results | None = None
    error: Failure | None = None

    @property
    def planned(self) -> int | None:
        """How many samples the eval is of, each epoch of one counted; None where it is not said."""
        dataset = self.eval.dataset
        n = len(dataset.sample_ids) if dataset.sample_ids is not None else dataset.samples
        return n and n * (self.eval.config.epochs or 1)

    def settings(self, scorers: Sequence[str]) -> dict[str, str]:
        """What makes samples of the same ids other tasks; of one scorer, the only one, its name."""
        said = {
            # Names of groups join them with others, as names of their own can.
            "task": self.eval.task,
            "solver": self.eval.solver or [step.solver for step in self.plan.steps],
            "task_version": self.eval.task_version,
            "task_args": self.eval.task_args,
            "dataset": self.eval.dataset.name,
            "scorer": scorers[0] if len(scorers) == 1 else None,
        }
        # The library's own: msgspec writes no integer of more than 64 bits.
        return {k: json.dumps(v, sort_keys=True) for k, v in said.items() if v is not None}

    def lacks(self, samples: Iterable[Sample]) -> bool:
        """Whether samples that it lists by their ids are not among these, each in every epoch."""
        ids = self.eval.dataset.sample_ids or ()
        there = {(str(sample.id), sample.epoch) for sample in samples} if ids else set()
        epochs = range(1, (self.eval.config.epochs or 1) + 1)
        return not all((str(id_), epoch) in there for id_ in ids for epoch in epochs)


class ReducedScore(msgspec.Struct, gc=False):
    """What a reducer made of the scores of one sample."""

    value: Any = None
    sample_id: int | str | None = None


class Reduction(msgspec.Struct, gc=False):
    """All that a reducer made of the scores of one scorer, as the log keeps it."""

    scorer: str = ""
    reducer: str | None = None
    samples: list[ReducedScore] = []


class _Log(Header):
    samples: list[Sample] = []
    reductions: list[Reduction] | None = None


def of_document(path: str, data: bytes) -> tuple[Header, Iterable[Sample], list[Reduction]]:
    """The header, the samples and the reduced scores of a log in one JSON document.

    Raises:
        InputError: it is not an Inspect log, or of a version that is not known.
    """
    log: _Log = _decoded(path, "", data, _Log)
    _check_version(path, log)
    for sample in log.samples:
        _take_score(path, sample, log.results)
    return log, log.samples, _of_results(path, log) if log.reductions is None else log.reductions


def _take_score(path: str, sample: Sample, results: Results | None) -> None:
    """Put the only score of a sample where Inspect reads it: it is of the first scorer."""
    if sample.score is None:
        return
    if sample.scores is not None:
        raise InputError(
            f"{path} is no Inspect log: a sample has `score` and `scores`, which Inspect refuses",
            _COPY,
        )
    scorer = results.scores[0].name if results is not None and results.scores else _NO_SCORER
    sample.scores = {scorer: sample.score}


def _of_results(path: str, header: Header) -> list[Reduction]:
    """The reduced scores where the first versions keep them."""
    results = header.results
    given = results.sample_reductions if results is not None else None
    try:
        return msgspec.convert(given or [], list[Reduction])
    except msgspec.ValidationError as error:
        raise InputError(f"{path}: results.sample_reductions: {error}", _COPY) from error


def reductions(archive: Archive, header: Header) -> list[Reduction]:
    """The reduced scores of a log, none where it keeps none.

    Raises:
        InputError: they are not as Inspect writes them.
    """
    if _REDUCTIONS not in archive:
        return _of_results(archive.path, header)
    found: list[Reduction] = _decoded(
        archive.path, _REDUCTIONS, archive.read(_REDUCTIONS), list[Reduction]
    )
    return found


def of_archive(
    archive: Archive, reading: Reading, *, with_texts: bool
) -> tuple[Header, Iterable[Sample], bool]:
    """The header, the samples or their summaries, and whether these have their texts.

    Args:
        archive: the log.
        reading: where to note what is wrong with it.
        with_texts: read the samples also where their summaries would do.

    Raises:
        InputError: it is not an Inspect log, or of a version that is not known, or damaged.
    """
    path = archive.path
    names = archive.names
    outside = [name for name in names if ".." in name.split("/") or name.startswith("/")]
    if outside:
        reading.note(
            rule="odd-member",
            message=f"{path} has a member {printable(outside[0])}, which leads out of the "
            "archive; Inspect writes none such, and it is not read",
        )
    if archive.repeated:
        others = plural(len(archive.repeated) - 1, "other name")
        reading.note(
            rule="odd-member",
            message=f"{path} has two members with the name {printable(archive.repeated[0])}"
            + (f", and with {others}" if len(archive.repeated) > 1 else "")
            + "; the last counts, as in Inspect",
            advice="give the log as Inspect wrote it",
        )
    first = next((name for name in (HEADER, _START) if name in archive), None)
    if first is None:
        raise InputError(
            f"{path} is a zip archive, but no Inspect log: it has neither header.json nor {_START}",
            "give the log as Inspect wrote it",
        )
    header = _decoded(path, first, archive.read(first), Header)
    _check_version(path, header)
    details = _samples_in(names)
    if "summaries.json" in archive:
        rows = _decoded(path, "summaries.json", archive.read("summaries.json"), list[Sample])
    else:
        rows = _journal(archive, names)
    rows = _last_of_each(rows)
    samples: Iterable[Sample] = rows
    whole: Iterable[Sample] = _details(archive, details)
    read_all = needed = with_texts or len(details) > len(rows) or not suffice(rows)
    if not needed:
        names = _checked(archive, details)
        some = list(_details(archive, names))
        if len(names) == len(details):
            # What has been read counts: summaries may leave out what is no contradiction.
            read_all, whole = True, some
        else:
            summaries = {(str(row.id), row.epoch): row for row in rows}
            pairs = [(s, summaries.get((str(s.id), s.epoch))) for s in some]
            read_all = any(contradicts(*pair) or lacks(*pair) for pair in pairs)
    if details and read_all:
        samples = _compared(reading, whole, rows)
    elif not suffice(rows):
        drop_thinned(rows)
    if len(details) < len(rows):
        kept = f"only {len(details)} of them" if details else "none"
        reading.note(
            rule="samples-missing",
            severity=Severity.ERROR if with_texts else Severity.WARNING,
            message=f"{path} has the summaries of {len(rows)} samples, and under samples/ {kept}",
            notes=("for those that are missing, the summaries are believed",),
            advice="give the log as Inspect wrote it",
        )
    return header, samples, bool(details) and needed and len(details) >= len(rows)


def _last_of_each(rows: Sequence[Sample]) -> list[Sample]:
    """Of the summaries of a sample that was run again the last, as Inspect takes it."""
    last = {(row.id, row.epoch) if row.id is not None else i: row for i, row in enumerate(rows)}
    return list(last.values())


def _samples_in(names: Iterable[str]) -> list[str]:
    """The members that are samples: as for Inspect all there, but what is a piece of another.

    The id of a sample stands in the name of its member, and can have a `/`.
    """
    members = [n for n in names if n.startswith("samples/") and n.endswith(".json")]
    folders = {match.group(1) for name in members if (match := _IN_PIECES.fullmatch(name))}

    def is_sample(name: str) -> bool:
        if _IN_PIECES.fullmatch(name) or _IN_ONE_PIECE.fullmatch(name):
            return True
        return folders.isdisjoint(name[: i + 1] for i, sign in enumerate(name) if sign == "/")

    return [name for name in members if not folders or is_sample(name)]


def _journal(archive: Archive, names: list[str]) -> list[Sample]:
    """What a log that is not finished has noted; of a sample that was noted twice the last."""
    parts = sorted((int(m.group(1)), n) for n in names if (m := _SUMMARY.fullmatch(n)))
    # The id 1 is another than "1", though their trials are of one name: that is said of them.
    rows: dict[tuple[int | str | None, int], Sample] = {}
    for _, name in parts:
        for row in _decoded(archive.path, name, archive.read(name), list[Sample]):
            rows[row.id, row.epoch] = row
    return list(rows.values())


def _checked(archive: Archive, names: list[str]) -> list[str]:
    """Which samples are set beside their summaries: of a small log all, of a large one some of
    them, the shortest among these.

    All would take many times as long as the summaries: they have the whole transcripts.
    """
    checked: set[str] = set()
    left = _MOST_CHECKED
    step = max(1, sum(map(archive.size, names)) // _MOST_CHECKED)
    for name in dict.fromkeys([*sorted(names, key=archive.size)[:1], *names[::step]]):
        if archive.size(name) <= (left if checked else _LONGEST_SHORTEST):
            left -= archive.size(name)
            checked.add(name)
    return [name for name in names if name in checked]


def _compared(reading: Reading, details: Iterable[Sample], rows: list[Sample]) -> Iterator[Sample]:
    """The samples, then the summaries of missing ones; contradictions are noted."""
    summaries = {(str(row.id), row.epoch): row for row in rows}
    others: list[str] = []
    for sample in details:
        summary = summaries.pop((str(sample.id), sample.epoch), None)
        if rows and contradicts(sample, summary):
            others.append(f"{sample.id}_epoch_{sample.epoch}")
        yield sample
    if others:
        reading.note(
            rule="summaries-differ",
            message=f"{reading.path}: {len(others)} samples are not what their "
            f"summaries say, or have no summary: {listed(others, counted=False)}",
            notes=("the samples are believed",),
            advice="the log was changed; give it as Inspect wrote it",
        )
    drop_thinned(summaries.values())
    yield from summaries.values()


def _details(archive: Archive, names: list[str]) -> Iterator[Sample]:
    for name in names:
        sample = _decoded(archive.path, name, archive.read(name), Sample)
        apart = name.removesuffix("sample.json") + "metadata.json"
        if name.endswith("/sample.json") and apart in archive and not sample.metadata:
            sample.metadata = _decoded(archive.path, apart, archive.read(apart), dict[str, Any])
        yield sample


def _decoded(path: str, member: str, data: bytes, to: Any) -> Any:
    try:
        return decode(data, to)
    except NotJSONError as error:
        where = f"{path}: member {member}" if member else path
        reason = str(error)
        if not member and len(data) < 1 << 20:
            _, slips = parse(data, path)
            slips = [slip for slip in slips if slip.rule != "non-finite-number"]
            if slips and slips[0].span:
                reason = f"line {slips[0].span.line}: {slips[0].message}"
        raise InputError(f"{where} is no Inspect log: {reason}", _COPY) from error


def _check_version(path: str, header: Header) -> None:
    if not 1 <= header.version <= _NEWEST:
        raise InputError(
            f"{path} is an Inspect log of version {header.version}; "
            f"versions 1 to {_NEWEST} are read",
            "convert it with `inspect log convert`, or use a newer harbor-metrics",
        )
