"""From sources and documents to a report: each is read and computed once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from ..comparison import request as comparison
from ..comparison.document import Compared, Comparison
from ..comparison.gates import Gate
from ..comparison.request import ComparisonRequest
from ..comparison.runs import named_sources, names_of, separate
from ..comparison.settings import Settings, Unpaired
from ..computation import computing
from ..computation.preparation import Prepared, prepare
from ..computation.request import LEVEL, Request
from ..documents.files import read_bytes
from ..documents.paths import STANDARD_INPUT, is_address
from ..documents.unchanged import was_changed
from ..documents.wording import in_command, plural, shown_path
from ..errors import NeedsRowsError, UsageError
from ..evaluation.result import Group, Result, SourceRef, Spent
from ..readers.recognition import members_of
from .report import Report, report_of, together
from .series import Series, series_of

# Documents are recognised by their beginning, as they are written.
_BEGINNING = 4096
_MARKS = {"schema_version", "tool"}
# A command that names more sources is not told.
_MOST_SOURCES = 8
# All pairs of so many runs are compared.
_FEWEST_COMPARED, _FEWEST_RANKED, _MOST_RANKED = 2, 3, 8


# The options that say what is computed; and which of them make other numbers of the same metrics.
_COMPUTES = {
    "registries": "--registry",
    "dataset": "--dataset",
    "metrics": "--metric",
    "only_asked": "--only-asked",
    "missing": "--missing",
    "level": "--level",
    "over": "--over",
    "labels": "--labels",
    "group_by": "--group-by",
    "as_format": "--as",
    "columns": "--columns",
    "engine": "--engine",
}
_CHANGES = ("missing", "level", "over")


def report(
    request: Request, gates: tuple[Gate, ...] = (), unpaired: Unpaired | None = None
) -> Report:
    """What a page of these sources and documents shows; runs of several names are compared, too.

    `gates` are asked of these runs, and `unpaired` says what unpaired tasks do to them.

    Raises:
        UsageError: the request contradicts itself, or gates are set where nothing is compared.
        InputError: a source, a registry or a document cannot be read.
    """
    documents = [s for s in request.sources if separate(s)[0] is None and _is_document(s)]
    named = named_sources([path for path in request.sources if path not in documents])
    _refuse_to_compute_anew(request, documents, among_sources=bool(named))
    several = len(documents) + len(named) > 1
    Settings(gates=gates, unpaired=unpaired).check()
    if gates and len(named) < _FEWEST_COMPARED:
        raise UsageError(
            f"--{gates[0]}: a gate compares runs, and there is one source",
            "name the base first and then the candidates",
        )
    if gates and documents:
        raise UsageError(
            f"--{gates[0]}: a gate compares runs, and {shown_path(documents[0])} is a document, "
            "which holds none",
            "name the sources that it was computed from",
        )
    names = names_of(documents, named)
    reports = [_of_document(path, names[path] if several else None) for path in documents]
    if len(named) > 1:
        reports.append(_of_runs(request, named, gates, unpaired))
    for name, paths in named.items() if len(named) == 1 else ():
        own = msgspec.structs.replace(request, sources=tuple(paths))
        reports.append(_of_sources(own, name if several else None))
    return reports[0] if len(reports) == 1 else together(reports)


def _refuse_to_compute_anew(
    request: Request, documents: Sequence[str], *, among_sources: bool
) -> None:
    """Refuse options that documents, which are shown as they are, would be shown without.

    Beside sources those alone that make other numbers of the same metrics.
    """
    default = Request(sources=())
    asked = [
        option
        for name, option in _COMPUTES.items()
        if getattr(request, name) != getattr(default, name)
        and (not among_sources or name in _CHANGES)
    ]
    if documents and asked:
        raise UsageError(
            f"{shown_path(documents[0])} was computed, and is shown as it is: {', '.join(asked)} "
            "would change nothing of it",
            "name the sources that it was computed from, or compute them with it first",
        )


def _of_runs(
    request: Request,
    named: Mapping[str, Sequence[str]],
    gates: tuple[Gate, ...],
    unpaired: Unpaired | None,
) -> Report:
    """Runs and how they compare; each by itself where they cannot be compared."""
    sources = tuple(path for paths in named.values() for path in paths)
    asked = ComparisonRequest(
        computed=msgspec.structs.replace(request, sources=sources),
        named=named,
        settings=Settings(
            level=LEVEL if request.level is None else request.level,
            over=request.over,
            missing=request.missing,
            gates=gates,
            unpaired=unpaired,
        ),
    )
    prepared: dict[str | None, Prepared] = {}
    comparisons: list[Comparison] = []
    lacking: list[str] = []
    try:
        read = comparison.prepare(asked)
        prepared = read.computed
        comparisons = [_compared(asked, read)]
    except UsageError as error:
        if gates:
            raise
        lacking = [f"The runs are not compared: {error}."]
    reports = [
        _of_sources(
            msgspec.structs.replace(request, sources=tuple(paths)), name, prepared.get(name)
        )
        for name, paths in named.items()
    ]
    whole = together(reports)
    whole.comparisons, whole.lacking = comparisons, lacking
    said = [each for compared in comparisons for each in compared.found]
    whole.found += [each for each in said if each not in whole.found]
    whole.ok = whole.ok and all(each.ok for each in comparisons)
    return whole


def _is_document(path: str) -> bool:
    if path == STANDARD_INPUT or is_address(path) or not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        head = file.read(_BEGINNING)
    # Anywhere deeper they are words of others.
    return head.lstrip()[:1] == b"{" and members_of(head).keys() >= _MARKS


def _compared(asked: ComparisonRequest, read: comparison.Prepared) -> Comparison:
    """The runs beside the first one; of three or more every two of them, where that can be."""
    if _FEWEST_RANKED <= len(read.runs) <= _MOST_RANKED:
        with suppress(UsageError):
            return comparison.finish(asked, read, ranked=True)
    return comparison.finish(asked, read)


class _Either(msgspec.Struct):
    """What tells a result from a comparison."""

    comparisons: list[msgspec.Raw] | None = None


def _of_document(path: str, run: str | None) -> Report:
    """What can be shown of a document, which has no single trials."""
    with suppress(msgspec.DecodeError, ValueError, RecursionError):
        if msgspec.json.decode(read_bytes(path), type=_Either).comparisons is not None:
            return _of_comparison(path, run)
    result = Result.read(path)
    if run is not None:
        # What it says of its sources is its own word: others on the page can be called the same.
        said = [_said_by(run, diagnostic) for diagnostic in result.diagnostics]
        result = msgspec.structs.replace(result, diagnostics=said)
    shown = report_of(result, [Series(run, group) for group in result.groups], run)
    what = "attempts, chances, rewards, costs and differences"
    shown.lacking.append(_lacking(path, what, [source.path for source in result.sources]))
    return shown


def _said_by(document: str, diagnostic: dict[str, Any]) -> dict[str, Any]:
    return {**diagnostic, "message": f"{document}: {diagnostic['message']}"}


def _lacking(path: str, pictures: str, sources: Sequence[str]) -> str:
    """What a document has no pictures of, and the command that draws them."""
    text = f"{path} holds no single trials: {pictures} are not drawn."
    if not 0 < len(sources) <= _MOST_SOURCES:
        return f"{text} They are drawn from its {plural(len(sources), 'source')}, listed below."
    return f"{text} This draws them: harbor-metrics report {in_command(*sources)} -o report.html"


def _of_comparison(path: str, document: str | None) -> Report:
    found = Comparison.read(path)
    own = found
    sources = [
        (s.run, SourceRef(path=s.path, kind=s.kind, trials=s.trials, sha256=s.sha256))
        for s in found.sources
    ]
    if document is not None:
        # What it calls its runs is its own word: others on the page can be called the same.
        own = _with_names(found, document)
    runs: dict[str, list[str | None]] = {}
    for run, source in sources:
        runs.setdefault(source.path, []).append(run)
    # A run of its own name is told so; a source of several runs tells them apart itself.
    default = names_of(list(runs))
    named = [
        path if len(names) > 1 or names[0] in (None, default.get(path)) else f"{names[0]}={path}"
        for path, names in runs.items()
    ]
    return Report(
        _sides(own),
        [(s.run, source) for s, (_, source) in zip(own.sources, sources, strict=True)],
        own.found,
        own.ok,
        all(side.complete for pair in found.comparisons for side in (pair.base, pair.candidate)),
        comparisons=[own],
        lacking=[_lacking(path, "values, attempts, chances, rewards and costs", named)],
    )


def _with_names(comparison: Comparison, document: str) -> Comparison:
    """The comparison with the document before the names of its runs, and before its sentences."""
    replace = msgspec.structs.replace

    def name(text: str) -> str:
        return f"{document}: {text}"

    def of_pair(pair: Compared) -> Compared:
        rules = pair.by_two_rules
        return replace(
            pair,
            base=replace(pair.base, run=name(pair.base.run)),
            candidate=replace(pair.candidate, run=name(pair.candidate.run)),
            by_two_rules=rules if rules is msgspec.UNSET else (name(rules[0]), name(rules[1])),
        )

    return replace(
        comparison,
        base=name(comparison.base),
        sources=[
            replace(source, run=None if source.run is None else name(source.run))
            for source in comparison.sources
        ],
        comparisons=[of_pair(pair) for pair in comparison.comparisons],
        ranks=[replace(rank, run=name(rank.run)) for rank in comparison.ranks],
        gates=[
            replace(gate, base=name(gate.base), candidate=name(gate.candidate), why=name(gate.why))
            for gate in comparison.gates
        ],
        diagnostics=[_said_by(document, diagnostic) for diagnostic in comparison.diagnostics],
    )


def _sides(comparison: Comparison) -> list[Series]:
    """Each run on each dataset: how many trials it has; their values stand in no document."""
    found: dict[tuple[str, str | None], Series] = {}
    for pair in comparison.comparisons:
        for side in (pair.base, pair.candidate):
            group = Group(
                agent=side.agent,
                model=side.model,
                dataset=pair.dataset,
                evals_key=None,
                complete=side.complete,
                counts=side.counts,
                exceptions={},
                usage=Spent(),
                pass_at_k={},
                metrics=[],
            )
            name = pair.dataset.name if pair.dataset is not None else None
            found.setdefault((side.run, name), Series(side.run, group))
    return list(found.values())


def _of_sources(request: Request, run: str | None, prepared: Prepared | None = None) -> Report:
    prepared = prepared or prepare(request)
    result = computing.finish(request, prepared)
    try:
        series = _series(run, result, prepared, request)
    except NeedsRowsError:
        again = prepare(request, keep=True)
        for before, now in zip(prepared.sources, again.sources, strict=True):
            if before.sha256 != now.sha256:
                raise was_changed(now.path) from None
        series = _series(run, result, again, request)
    made = report_of(result, series, run)
    made.inputs = prepared.inputs
    return made


def _series(run: str | None, result: Result, prepared: Prepared, request: Request) -> list[Series]:
    groups = zip(result.groups, prepared.groups, strict=True)
    # A single cost is compared with nothing, and it takes every trial.
    several = len(result.groups) > 1
    return [
        series_of(run, group, own.pool.table, request, costs=several or own.pool.table.has_rows)
        for group, own in groups
    ]
