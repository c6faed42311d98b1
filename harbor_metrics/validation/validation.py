"""Documents -> diagnostics: strict reading, then the schema, then the rules."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ..documents import wording
from ..documents.diagnostics import Diagnostic, Severity
from ..documents.document import Document, Finding, parse
from ..documents.files import open_regular, read_bytes
from ..documents.paths import STANDARD_INPUT, check_stays, up_to_stray
from ..documents.patterns import check_hides_nothing, is_pattern, matching
from ..documents.standard_input import standard_input
from ..errors import InputError
from . import lines, objects, schema_check
from .lines import in_file_order
from .rules import LOADING, View, hints, run, with_hints
from .script_texts import Scripts
from .search import MOST_LEFT_OUT, NAMES, Besides, is_called_registry, search

# Bytes from which on a file of lines is not kept unless something is wrong with it.
_LARGE = 1 << 20
_CUT = (
    f"of what is left out the first {MOST_LEFT_OUT:,} entries were gone through, and there are more"
)
_LEFT_OUT = "name a file; what .gitignore leaves out is not looked at"
# Slips with which Python's json module, and so Harbor, reads a text all the same, or may.
_READ_BY_HARBOR = {"duplicate-key", "non-finite-number", "number-out-of-range", "too-deep"}


class Report(msgspec.Struct):
    """What was found in some documents: in file order, with the texts that the places are in."""

    found: list[Diagnostic] = []
    sources: dict[str, str] = {}
    n_files: int = 0
    n_datasets: int = 0
    unread: list[InputError] = []
    # The rules that were asked for besides.
    hints: frozenset[str] = frozenset()
    # Rule -> how often it would have spoken, and the reason why it is ignored.
    ignored: dict[str, tuple[int, str]] = {}
    # Rule -> how often it would have spoken, if it were selected.
    unselected: dict[str, int] = {}
    # JSON in the folders that is called a registry, and not `registry.json`: not looked at.
    others: list[str] = []

    def count(self, severity: Severity) -> int:
        """How many findings are that severe."""
        return sum(d.severity == severity for d in self.found)

    @property
    def ok(self) -> bool:
        """Whether there is no error, and every file was read."""
        return not self.count(Severity.ERROR) and not self.unread


def validate(
    *paths: str | os.PathLike[str],
    select: Collection[str] = (),
    ignore: Collection[str] | Mapping[str, str] = (),
) -> Report:
    """Every mistake in registries, result documents, rewards and trials files, dataset.toml.

    Nothing is run and nothing fetched. A path may be a pattern such as `**/registry.json`, or `-`
    for standard input; in a folder, the current one where no path is given, registries and
    manifests are looked for. `select` keeps only these rules (`hints` are
    off unless it names them), `ignore` leaves rules out; where it gives
    reasons, rule -> reason, the report says how often each rule would have spoken.

    Raises:
        InputError: no file can be read, a pattern matches none, or a folder has none.
    """
    select, ignore = with_hints(select), _with_hints(ignore)
    report = Report(hints=hints().intersection(select))
    given = [os.fspath(path) for path in paths] or [os.curdir]
    besides = Besides()
    found = dict.fromkeys(expanded(given, report.unread, besides))
    report.others = [path for path in dict.fromkeys(besides.others) if path not in found]
    scripts = Scripts()
    for path in found:
        if _is_clean(path):
            report.n_files += 1
            continue
        try:
            if path != STANDARD_INPUT:
                check_stays(path)
            data = standard_input().read() if path == STANDARD_INPUT else read_bytes(path)
        except InputError as error:
            report.unread.append(error)
            continue
        report.n_files += 1
        report.found += _of_file(path, data, report, scripts)
    if not report.n_files and report.unread:
        raise report.unread[0]
    report.found += _left_out(besides, found)
    selected = [d for d in report.found if not select or d.rule in select]
    reasons = {k: v for k, v in ignore.items() if v} if isinstance(ignore, Mapping) else {}
    if select:
        # One that is ignored for a reason, too, is said nowhere else.
        silent = {*select, *ignore} - (reasons.keys() - {*select})
        report.unselected = dict(Counter(d.rule for d in report.found if d.rule not in silent))
    report.found = [d for d in selected if d.rule not in ignore]
    counts = Counter(d.rule for d in selected)
    report.ignored = {rule: (counts[rule], why) for rule, why in reasons.items() if counts[rule]}
    return report


def _left_out(besides: Besides, found: Collection[str]) -> Iterator[Diagnostic]:
    for left_out, why, whose in (
        (besides.ignored, "which patterns of .gitignore leave out", "git does not track them"),
        (
            besides.in_repositories,
            "which repositories inside the folder hold",
            "git lists them there",
        ),
    ):
        if paths := [path for path in dict.fromkeys(left_out) if path not in found]:
            were = "was" if len(paths) == 1 else "were"
            yield Diagnostic(
                rule="ignored-registry",
                message=f"{wording.plural(len(paths), 'document')} {were} not looked at, {why}: "
                f"{wording.listed(paths, most=10)}",
                notes=(_CUT,) if besides.is_cut else (),
                help=f"{whose}; name a file or a pattern to have it validated",
            )
    for tracked in besides.tracked.values():
        if tracked.unread:
            yield Diagnostic(
                rule="unread-index",
                message="what git tracks is not known, so nothing is left out that patterns of "
                f".gitignore name: {wording.printable(tracked.unread)}",
                help="`git status` says what is wrong; `rm .git/index && git reset` makes it anew",
            )


def _with_hints(ignore: Collection[str] | Mapping[str, str]) -> Collection[str] | Mapping[str, str]:
    if not isinstance(ignore, Mapping):
        return with_hints(ignore)
    return {rule: reason for name, reason in ignore.items() for rule in with_hints([name])}


def expanded(
    paths: Sequence[str], unread: list[InputError], besides: Besides | None = None
) -> Iterator[str]:
    """The paths, with patterns replaced by the files that they match, and folders by those in them.

    That a pattern matches no file, or that something is called so and others fit it, too, or that
    a folder has none, is added to `unread`; to `besides` what else in a folder is called a
    registry, and what is left out there.
    """
    for path in paths:
        if os.path.lexists(path):
            try:
                check_hides_nothing(path, paths)
            except InputError as error:
                unread.append(error)
                continue
        # What is called as a file is to be one: in a pull request a folder may stand in its place.
        if path != STANDARD_INPUT and os.path.isdir(path) and os.path.basename(path) not in NAMES:
            more = Besides() if besides is None else besides
            found = [*search(path, unread, more)]
            near = more.others or more.ignored or more.in_repositories
            help_ = f"name a file, such as {wording.listed(near)}" if near else _LEFT_OUT
            nothing = f"there is no {' or '.join(NAMES)} in {path}", help_
        elif path == STANDARD_INPUT or os.path.exists(path) or not is_pattern(path):
            yield path
            continue
        else:
            try:
                found = [
                    up_to_stray(match)
                    for match in matching(path)
                    if not os.path.isdir(match) or os.path.basename(match) in NAMES
                ]
            except InputError as error:
                unread.append(error)
                continue
            nothing = f"no file matches {path}", ""
        if not found:
            unread.append(InputError(*nothing))
        yield from found


def _is_clean(path: str) -> bool:
    """Whether a large file of lines was read to its end, block by block, and nothing is wrong."""
    if not path.endswith(lines.ENDINGS):
        return False
    with contextlib.suppress(OSError, ValueError), open_regular(path) as file:
        return os.fstat(file.fileno()).st_size >= _LARGE and lines.are_clean(path)
    return False


def _of_file(path: str, data: bytes, report: Report, scripts: Scripts) -> list[Diagnostic]:
    shown = wording.shown_path(path)
    if path.endswith(".toml"):
        # For weight: most documents are registries.
        from . import manifest

        report.n_datasets += 1
        report.sources[shown] = data.decode("utf-8", "replace")
        return manifest.check(path, data)
    if lines.is_lines(path, data):
        report.sources[shown] = data.decode("utf-8-sig", "replace")
        return lines.check(shown, data)
    document, diagnostics = parse(data, shown)
    if document is None or not isinstance(document.value, dict) or is_called_registry(path):
        diagnostics = [_of_registry(slip) for slip in diagnostics]
    if document is None:
        return diagnostics
    if document.is_whole:
        diagnostics = in_file_order(diagnostics, _document(document, report, scripts))
    if diagnostics:
        report.sources[shown] = document.text
    return diagnostics


def _of_registry(slip: Diagnostic) -> Diagnostic:
    """The slip with what Harbor does with a registry that has it."""
    if slip.rule in _READ_BY_HARBOR:
        return slip
    return msgspec.structs.replace(slip, notes=(*slip.notes, LOADING))


def _document(document: Document, report: Report, scripts: Scripts) -> list[Diagnostic]:
    value = document.value
    if isinstance(value, dict):
        return objects.check(document)
    if not isinstance(value, list):
        return [
            document.find(
                [],
                rule="not-a-registry",
                message=f"a registry is an array of datasets, not {wording.article(value)}",
                notes=(LOADING,),
            )
        ]
    if any(value[:3]) and all(_only_numbers(entry) for entry in value[:3]):
        return [
            document.find(
                [],
                rule="not-json-lines",
                message="rewards come as JSONL, not as a JSON array",
                label="an array",
                help="write an object or null a line, without the array and its commas",
            )
        ]
    report.n_datasets += len(value)
    return _array(document, report.hints, scripts)


def _array(document: Document, hints: Collection[str], scripts: Scripts) -> list[Diagnostic]:
    """What the schema, the rules and these hints find in an array of datasets."""
    value = document.value
    if not value:
        return [
            document.find(
                [],
                rule="empty-registry",
                message="there is no dataset in the registry",
            )
        ]
    try:
        findings = findings_in(value, document.path, scripts)
        findings += run(View(value, document.path, scripts=scripts), sorted(hints))
    except (ValueError, RecursionError):
        return document.slips()  # deeper than the validator goes
    return document.resolve(findings) if findings else []


def findings_in(datasets: list[Any], path: str, scripts: Scripts) -> list[Finding]:
    """What the schema and the rules find, without places; `path` is the registry's."""
    return [*schema_check.of_registry(datasets), *run(View(datasets, path, scripts=scripts))]


def _only_numbers(entry: Any) -> bool:
    return entry is None or (
        isinstance(entry, dict)
        and bool(entry)
        and all(type(value) in (int, float) for value in entry.values())
    )
