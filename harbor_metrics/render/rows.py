"""The cells that tables share: one row a value, numbers as people read them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..aliases import metric_of
from ..exact import Number
from ..result import Group, Outcome, Uncertainty
from ..syntax import printable
from .text import plural

# pass@k of so many k is enough for people; the document has all.
_MOST_K = 10


class Row(NamedTuple):
    """One value of one metric; `why` says what is wrong where there is no value."""

    metric: str
    value: str
    stderr: str = ""
    interval: str = ""
    n: str = ""
    why: str = ""


class Grid(NamedTuple):
    """Headings and cells of a table; `whys` stand row by row beside the cells."""

    headings: tuple[str, ...]
    cells: list[tuple[str, ...]]
    whys: list[str]


def grid(group: Group) -> Grid:
    """The table of a group; without columns that would be empty."""
    found = list(rows(group))
    level = next((u.level for o in group.metrics for u in o.uncertainty.values()), None)
    headings = ("metric", "value", "stderr", f"{number(100 * (level or 0))}% interval", "n")
    filled = [i for i in range(len(headings)) if i in (0, 1, 4) or any(row[i] for row in found)]
    return Grid(
        tuple(headings[i] for i in filled),
        [tuple(row[i] for i in filled) for row in found],
        [row.why for row in found],
    )


def number(value: Number | None) -> str:
    """Six significant digits, integers whole; a dash for nothing."""
    if value is None:
        return "—"
    if isinstance(value, int) and abs(value) < 10**15:
        return str(value)
    return f"{value:.6g}"


def title(group: Group) -> str:
    """Agent, model and dataset in a line."""
    dataset = group.dataset
    named = None
    if dataset is not None:
        named = f"{dataset.name}@{dataset.version}" if dataset.version else dataset.name
    who = " · ".join(part for part in (group.agent, group.model) if part is not None)
    return printable(" on ".join(part for part in (who, named) if part) or "rewards")


def counts(group: Group) -> str:
    """How many trials there are, and how many of them lack what."""
    c = group.counts
    known = c.expected not in (None, c.found)
    parts = [f"{c.found} of {c.expected} trials" if known else plural(c.found, "trial")]
    parts += [
        plural(c.tasks, "task"),
        f"{c.missing} missing",
        f"{c.errored} errored",
    ]
    if c.unread:
        parts.append(f"{c.unread} unread")
    if not group.complete:
        parts.append("incomplete")
    return ", ".join(parts)


def details(group: Group) -> Iterator[tuple[str, str]]:
    """What stands below a group's table: notes, Harbor's pass@k, exceptions, usage."""
    for note in notes(group):
        yield "note", note
    if group.pass_at_k:
        shown = list(group.pass_at_k.items())[:_MOST_K]
        more = ", …" if len(group.pass_at_k) > _MOST_K else ""
        yield "pass@k", ", ".join(f"{k}: {number(v)}" for k, v in shown) + more
    if group.exceptions:
        yield "exceptions", ", ".join(f"{printable(e)} {n}" for e, n in group.exceptions.items())
    usage = group.usage
    spent = {
        "input tokens": usage.n_input_tokens,
        "cached": usage.n_cache_tokens,
        "output tokens": usage.n_output_tokens,
        "USD": usage.cost_usd,
    }
    if any(value is not None for value in spent.values()):
        yield (
            "usage",
            ", ".join(f"{number(v)} {name}" for name, v in spent.items() if v is not None),
        )


def rows(group: Group) -> Iterator[Row]:
    """A row a value, and one for a metric without any."""
    for outcome in group.metrics:
        if outcome.status == "failed":
            why = outcome.error.message if outcome.error else ""
            lines = "\n".join(map(printable, why.split("\n")))
            yield Row(_name(outcome, None), "failed", why=lines)
        elif not outcome.values:
            yield Row(_name(outcome, None), "—", why="there are no trials")
        for name, value in outcome.values.items():
            sure = outcome.uncertainty.get(name)
            yield Row(
                _name(outcome, name),
                number(value),
                _digits(sure.stderr) if sure else "",
                _interval(sure) if sure else "",
                str(outcome.n.get(name, "")),
                printable(outcome.reasons.get(name, "")),
            )


def notes(group: Group) -> Iterator[str]:
    """What a reader of the values should know, once each."""
    texts = dict.fromkeys(note for outcome in group.metrics for note in outcome.notes)
    for text in texts:
        names = [_name(outcome, None) for outcome in group.metrics if text in outcome.notes]
        who = "" if len(names) == len(group.metrics) else f"{', '.join(dict.fromkeys(names))}: "
        yield f"{who}{printable(text)}"


def _digits(value: Number | None) -> str:
    return "—" if value is None else f"{value:.3g}"


def _interval(sure: Uncertainty) -> str:
    if sure.low is None or sure.high is None:
        return "—"
    return f"[{sure.low:.4g}, {sure.high:.4g}]"


def _name(outcome: Outcome, value: str | None) -> str:
    alias = metric_of(outcome.name, {})
    implied = alias.kwargs if alias else {}
    kwargs = {
        k: v
        for k, v in outcome.kwargs.items()
        if outcome.type != "uv-script" and not (k in implied and implied[k] == v)
    }
    given = f" ({', '.join(f'{k}={v}' for k, v in kwargs.items())})" if kwargs else ""
    label = f"{outcome.name}{given}"
    if outcome.type == "uv-script" and isinstance(outcome.kwargs.get("script_path"), str):
        label = outcome.kwargs["script_path"].rpartition("/")[2]
    alone = value is None or (value == outcome.type and outcome.type != "uv-script")
    return printable(label if alone else f"{label}: {value}")
