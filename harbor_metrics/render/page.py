"""A report as a page: the answer, its pictures, then how the numbers came about."""

from __future__ import annotations

from ..comparison.document import Compared
from ..documents.diagnostics import Diagnostic
from ..documents.wording import listed, plural, printable
from ..evaluation.result import SourceRef
from ..reports.report import Report
from . import html, rows, sentences
from .figures.attempts import attempts
from .figures.chances import chances
from .figures.costs import costs
from .figures.differences import changes, differences
from .figures.figure import Figure, called
from .figures.places import places
from .figures.rewards import rewards
from .figures.trials import trials
from .figures.values import values
from .markup import Markup

_MOST_NAMED = 6
_SECTIONS = ("methods", "found", "sources", "again")


def page(report: Report) -> str:
    """The page; the same report, the same bytes."""
    shown = figures(report)
    ids = html.Ids([*_SECTIONS, *(each.id for each in shown)])
    title = _title(report)
    header = [html.answer(title, *_answer(report, shown)), html.links(shown)]
    pictures = [html.figure(each, ids) for each in shown]
    return html.document(f"{title}: harbor-metrics", html.main(header, *pictures, *_below(report)))


def figures(report: Report) -> list[Figure]:
    """The pictures that the report has the data for, each with an id of its own."""
    series = report.series
    found: list[Figure | None] = []
    for comparison in report.comparisons:
        for n, compared in enumerate(comparison.beside_base):
            number = _number(report, compared.candidate.run, n)
            found += [differences(comparison, compared, number), changes(comparison, compared)]
    several = len({ranks[0].dataset for ranks in report.ranks}) > 1
    found += [places(ranks, on_dataset=several) for ranks in report.ranks]
    if series:
        found += [
            values(series) if any(each.group.metrics for each in series) else None,
            attempts(series),
            chances(series),
            rewards(series),
            costs(series),
            trials(series),
        ]
    ids = html.Ids()
    return [each._replace(id=ids.of(each.id)) for each in found if each is not None]


def _number(report: Report, run: str, n: int) -> int:
    """The colour of a candidate: that of its series, or else the one after the base's."""
    return next((i for i, each in enumerate(report.series) if each.run == run), n + 1)


def _title(report: Report) -> str:
    groups = [each.group for each in report.series]
    runs = list(dict.fromkeys(each.run for each in report.series if each.run))
    if len(groups) == 1:
        return rows.title(groups[0])
    titles = [sentences.title(pair) for each in report.comparisons for pair in each.beside_base]
    if not groups:
        return titles[0] if titles else "No trials"
    datasets = dict.fromkeys(filter(None, map(rows.dataset, groups)))
    who = runs if len(runs) > 1 else called(report.series)
    names = " and ".join(who) if len(who) < 3 else f"{who[0]}, {who[1]} and {len(who) - 2} more"
    return f"{names} on {', '.join(datasets)}" if len(datasets) == 1 else names


def _answer(report: Report, shown: list[Figure]) -> tuple[list[str], list[str]]:
    """What is said first: the first values, over how many trials; verdicts, and what is wrong."""
    who = called(report.series) if report.series else []
    several = len(who) > 1
    verdicts = [
        sentences.verdict(comparison, compared)
        for comparison in report.comparisons
        for compared in comparison.beside_base
    ]
    texts = [each.sentence for each in shown[:1]] if not verdicts else []
    texts += [
        f"{name}: {rows.counts(each.group)}" if several else rows.counts(each.group)
        for name, each in zip(who[:_MOST_NAMED], report.series, strict=False)
    ]
    if len(who) > _MOST_NAMED:
        texts.append(f"and {len(who) - _MOST_NAMED} more")
    failed = dict.fromkeys(
        printable(outcome.name)
        for each in report.series
        for outcome in each.group.metrics
        if outcome.status == "failed"
    )
    passed, wrong = _gates(report)
    texts = [*passed, *texts]
    wrong += [f"Failed: {', '.join(failed)}."] if failed else []
    if not report.complete:
        said = report.not_as_planned
        wrong.append(f"{said[0].upper()}{said[1:]}: the numbers are over those that are there.")
    return [*texts, *report.lacking], [*verdicts, *wrong]


def _gates(report: Report) -> tuple[list[str], list[str]]:
    """What became of the gates: those that passed, and the others, each in a sentence."""
    passed: list[str] = []
    others: list[str] = []
    for comparison in report.comparisons:
        several = len(comparison.beside_base) > 1
        for pair in comparison.beside_base:
            for decision in sentences.decided(comparison, pair):
                whom = f"{sentences.who(decision)}: " if several else ""
                said = f"{whom}Gate {sentences.said(decision)}."
                (passed if decision.outcome == "passed" else others).append(
                    f"{said} {decision.help}" if decision.help else said
                )
    return passed, others


def _below(report: Report) -> list[Markup]:
    """Methods, what was found, sources, and how to make the page again."""
    parts = []
    who = called(report.series) if report.series else []
    texts: dict[str, dict[int, str]] = {}
    for i, each in enumerate(report.series):
        for heading, text in rows.details(each.group):
            texts.setdefault(f"{heading}: {text}", {})[i] = who[i]
    lines = [
        text if len(names) == len(who) else f"{text} ({listed(list(names.values()), 3)})"
        for text, names in texts.items()
    ]
    pairs = [(c, compared) for c in report.comparisons for compared in c.beside_base]
    notes: dict[str, dict[int, str]] = {}
    for i, (comparison, compared) in enumerate(pairs):
        for pair in sentences.notes(comparison, compared):
            notes.setdefault(": ".join(pair), {})[i] = _versus(compared)
    lines += [
        text if len(names) == len(pairs) else f"{text} ({', '.join(names.values())})"
        for text, names in notes.items()
        if text not in lines
    ]
    if lines:
        parts.append(html.section("methods", "How the numbers are to be read", html.listing(lines)))
    if report.found:
        said = html.listing([_said(diagnostic) for diagnostic in report.found])
        parts.append(html.section("found", "What was found while reading", said))
    sources = [
        f"{printable(run)}: {_source(source)}" if run else _source(source)
        for run, source in report.sources
    ]
    parts.append(html.section("sources", "Sources", html.listing(sources)))
    if report.again:
        parts.append(html.section("again", "To make this page again", html.code(report.again)))
    return parts


def _versus(compared: Compared) -> str:
    dataset = f"{compared.dataset.name}: " if compared.dataset is not None else ""
    return printable(f"{dataset}{compared.candidate.run} against {compared.base.run}")


def _source(source: SourceRef) -> str:
    of = f"{source.kind}, {plural(source.trials, 'trial')}"
    digest = f", SHA-256 {source.sha256}" if source.sha256 else ""
    return f"{printable(source.path)} ({of}{digest})"


def _said(diagnostic: Diagnostic) -> str:
    said = "; ".join(filter(None, (diagnostic.message, *diagnostic.notes, diagnostic.help)))
    return f"{diagnostic.severity} [{diagnostic.rule}]: {printable(said)}"
