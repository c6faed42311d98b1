"""The cells of a result's tables: a row for each value, numbers as people read them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from ..catalogue.aliases import implied_kwargs
from ..documents.wording import plural, printable
from ..evaluation.result import Group, Outcome, Uncertainty
from ..numbers.exact import Number

# pass@k of so many k is enough for people; the document has all.
_MOST_K = 10

# What the intervals allow for.
_OVER = {
    "tasks": "over tasks, as a sample of such tasks",
    "attempts": "over attempts: these tasks, tried again",
}


class Row(NamedTuple):
    """One value of one metric; `why` says what is wrong where there is no value."""

    metric: str
    value: str
    stderr: str = ""
    interval: str = ""
    n: str = ""
    why: str = ""


class Grid(NamedTuple):
    """Headings and cells of a table; beside each row of cells, why it has no value."""

    headings: tuple[str, ...]
    cells: list[tuple[str, ...]]
    whys: list[str]


def grid(group: Group) -> Grid:
    """The table of a group, without columns that would be empty."""
    table = list(rows(group))
    level = next((u.level for o in group.metrics for u in o.uncertainty.values()), None)
    headings = ("metric", "value", "stderr", f"{number(100 * (level or 0))}% interval", "n")
    filled = [i for i in range(len(headings)) if i in (0, 1, 4) or any(row[i] for row in table)]
    return Grid(
        tuple(headings[i] for i in filled),
        [tuple(row[i] for i in filled) for row in table],
        [row.why for row in table],
    )


def number(value: Number | None) -> str:
    """Six significant digits, integers below 10^15 whole; a dash for None."""
    if value is None:
        return "—"
    if isinstance(value, int) and abs(value) < 10**15:
        return str(value)
    return f"{value:.6g}"


def title(group: Group) -> str:
    """Agent, model and dataset on a line."""
    where = None
    if group.dataset is not None:
        name, version = group.dataset.name, group.dataset.version
        where = f"{name}@{version}" if version else name
    who = " · ".join(part for part in (group.agent, group.model) if part is not None)
    return printable(" on ".join(part for part in (who, where) if part) or "rewards")


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
    """Heading and text of what stands below a group's table."""
    over = {sure.over for outcome in group.metrics for sure in outcome.uncertainty.values()}
    for text in (_OVER[each] for each in ("tasks", "attempts") if each in over):
        yield "intervals", text
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
    """A row for each value, and one for a metric without values."""
    for outcome in group.metrics:
        if outcome.status == "failed":
            why = outcome.error.message if outcome.error else ""
            lines = "\n".join(map(printable, why.split("\n")))
            yield Row(_name(outcome, None), "failed", why=lines)
        elif not outcome.values:
            yield Row(_name(outcome, None), "—", why="there are no trials")
        for name, value in outcome.values.items():
            uncertainty = outcome.uncertainty.get(name)
            yield Row(
                _name(outcome, name),
                number(value),
                _digits(uncertainty.stderr) if uncertainty else "",
                _interval(uncertainty) if uncertainty else "",
                str(outcome.n.get(name, "")),
                printable(outcome.reasons.get(name, "")),
            )


def notes(group: Group) -> Iterator[str]:
    """Each note of the metrics once, with the metrics that have it where not all do."""
    texts = dict.fromkeys(note for outcome in group.metrics for note in outcome.notes)
    for text in texts:
        names = [_name(outcome, None) for outcome in group.metrics if text in outcome.notes]
        who = "" if len(names) == len(group.metrics) else f"{', '.join(dict.fromkeys(names))}: "
        yield f"{who}{printable(text)}"


def _digits(value: Number | None) -> str:
    return "—" if value is None else f"{value:.3g}"


def _interval(uncertainty: Uncertainty) -> str:
    low, high = uncertainty.low, uncertainty.high
    return "—" if low is None or high is None else f"[{low:.4g}, {high:.4g}]"


def _plain(value: Any) -> str:
    """A kwarg: a text as it is, a metric or reducer without kwargs by its name, else JSON."""
    if isinstance(value, dict) and isinstance(value.get("type"), str):
        kwargs = value.get("kwargs") or {}
        inside = ", ".join(f"{k}={_plain(v)}" for k, v in kwargs.items())
        return f"{value['type']}({inside})" if inside else str(value["type"])
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _name(outcome: Outcome, value: str | None) -> str:
    implied = implied_kwargs(outcome.name) if outcome.name != outcome.type else {}
    kwargs = {
        k: v
        for k, v in outcome.kwargs.items()
        if outcome.type != "uv-script" and not (k in implied and implied[k] == v)
    }
    given = f" ({', '.join(f'{k}={_plain(v)}' for k, v in kwargs.items())})" if kwargs else ""
    label = f"{outcome.name}{given}"
    if outcome.type == "uv-script" and isinstance(outcome.kwargs.get("script_path"), str):
        label = outcome.kwargs["script_path"].rpartition("/")[2]
    alone = value is None or (value == outcome.type and outcome.type != "uv-script")
    return printable(label if alone else f"{label}: {value}")
