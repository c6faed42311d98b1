"""Documents as CSV: a row for each value, all digits, for spreadsheets and data frames.

A text that a spreadsheet would take for a formula has an apostrophe before it: names of tasks and
datasets come from strangers, and a formula can send what stands beside it. So has what follows a
semicolon or a tab, which part cells where the comma is in numbers. Numbers have none.
"""

from __future__ import annotations

import csv as _csv
import io
import re
from collections.abc import Iterator

import msgspec

from ..comparison.document import Comparison, Row
from ..documents.wording import encodable
from ..evaluation.result import Basis, Group, Outcome, Result, Uncertainty

HEADINGS = (
    *("agent", "model", "dataset", "version", "metric", "type", "kwargs", "origin", "status"),
    *("name", "value", "stderr", "low", "high", "level", "method", "over", "n_effective"),
    *("n", "trials", "tasks", "passed", "reason"),
)


def csv(result: Result) -> str:
    """A heading, then the values in the order of the document; what is null is empty."""
    text = io.StringIO()
    writer = _csv.writer(text, lineterminator="\n")
    writer.writerow(HEADINGS)
    writer.writerows(map(_text, cells) for cells in rows(result))
    return text.getvalue()


def rows(result: Result) -> Iterator[list[object]]:
    """The cells of each value under the headings, in the order of the document."""
    for group in result.groups:
        for outcome in group.metrics:
            for name in outcome.values or (None,):
                yield _row(group, outcome, name)
        for k, chance in group.pass_at_k.items():
            row: dict[str, object] = dict.fromkeys(HEADINGS) | {
                "metric": "pass_at_k",
                "kwargs": {"k": int(k)},
                "origin": "harbor",
                "status": "ok",
                "name": k,
                "value": chance,
                "trials": group.counts.counting,
                "tasks": group.counts.tasks,
            }
            row |= dict(zip(HEADINGS, _who(group), strict=False))
            yield list(row.values())


def _who(group: Group) -> list[object]:
    dataset = group.dataset
    return [
        group.agent,
        group.model,
        dataset.name if dataset else None,
        dataset.version if dataset else None,
    ]


def _row(group: Group, outcome: Outcome, name: str | None) -> list[object]:
    key = name if name is not None else ""
    reason = outcome.reasons.get(key)
    if outcome.status == "failed" and outcome.error:
        reason = outcome.error.message
    return [
        *_who(group),
        outcome.name,
        outcome.type,
        outcome.kwargs,
        outcome.origin,
        outcome.status,
        name,
        outcome.values.get(key),
        *_sure(outcome.uncertainty.get(key)),
        outcome.n.get(key),
        *_over(outcome.known_basis.get(key)),
        reason,
    ]


def _sure(sure: Uncertainty | None) -> list[object]:
    if sure is None:
        return [None] * 7
    return [
        *(sure.stderr, sure.low, sure.high, sure.level, sure.method),
        *(sure.over, sure.n_effective),
    ]


def _over(basis: Basis | None) -> list[object]:
    return [None] * 3 if basis is None else [basis.trials, basis.tasks, basis.passed]


# As they are, and as wide as a Chinese character.
_BEGINS_A_FORMULA = ("=", "+", "-", "@", "\t", "＝", "＋", "－", "＠")  # noqa: RUF001
# Whether quotes stand around it, too, which are then within a cell.
_BEHIND_A_SIGN = re.compile(r"[;\t][\s\"]*(?=[=+\-@＝＋－＠])")  # noqa: RUF001
# The same in JSON, where a semicolon is within a text.
_BEHIND_A_SEMICOLON = re.compile(r"(;(?:[\s\"]|\\[\"nrt])*)([=+\-@＝＋－＠])")  # noqa: RUF001


# What `str.splitlines` and terminals take for the end of a line.
_ENDS_OF_LINES = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def _escaped(end: re.Match[str]) -> str:
    return end[0].encode("unicode_escape").decode()


def _text(cell: object) -> str:
    if cell is None or isinstance(cell, msgspec.UnsetType):
        return ""
    if isinstance(cell, str):
        # A row is a line, to whoever reads it: a stranger's name makes no further one.
        text = _ENDS_OF_LINES.sub(_escaped, str(encodable(cell)))
        text = _BEHIND_A_SIGN.sub(r"\g<0>'", text)
        return f"'{text}" if text.startswith(_BEGINS_A_FORMULA) and not _is_number(text) else text
    if not isinstance(cell, dict | list):
        return msgspec.json.encode(cell).decode()
    text = msgspec.json.encode(encodable(cell)).decode()
    # As it is read again, it is the same.
    return _BEHIND_A_SEMICOLON.sub(lambda m: f"{m[1]}\\u{ord(m[2]):04x}", text)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", text, re.ASCII) is not None


# What a row of a comparison holds that has no room in one cell.
# Nor what only some documents have: a table keeps its columns.
_NESTED = ("relative", "attempts", "checks", "efforts", "lacking")


def csv_of_comparison(comparison: Comparison) -> str:
    """A line for each value of each comparison, numbers with all their digits."""
    fields = [name for name in Row.__struct_fields__ if name not in _NESTED]
    text = io.StringIO()
    writer = _csv.writer(text, lineterminator="\n")
    writer.writerow(["dataset", "base_run", "candidate_run", "tasks", *fields])
    for compared in comparison.comparisons:
        dataset = compared.dataset.name if compared.dataset is not None else ""
        who = [dataset, compared.base.run, compared.candidate.run, compared.tasks.paired]
        for row in compared.rows:
            writer.writerow([_text(cell) for cell in (*who, *(getattr(row, f) for f in fields))])
    return text.getvalue()
