"""The cells that tables share: one row a value, numbers as people read them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..exact import Number
from ..result import Group, Outcome
from ..syntax import printable
from .text import plural

# pass@k of so many k is enough for people; the document has all.
_MOST_K = 10
HEADINGS = ("metric", "value", "n")


class Row(NamedTuple):
    """One value of one metric; `why` says what is wrong where there is no value."""

    metric: str
    value: str
    n: str
    why: str = ""


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
    """What stands below a group's table: Harbor's pass@k, exceptions, usage."""
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
            yield Row(
                _name(outcome, None), "failed", "", "\n".join(map(printable, why.split("\n")))
            )
        elif not outcome.values:
            yield Row(_name(outcome, None), "—", "", "there are no trials")
        for name, value in outcome.values.items():
            yield Row(
                _name(outcome, name),
                number(value),
                str(outcome.n.get(name, "")),
                printable(outcome.reasons.get(name, "")),
            )


def _name(outcome: Outcome, value: str | None) -> str:
    kwargs = {k: v for k, v in outcome.kwargs.items() if outcome.type != "uv-script"}
    given = f" ({', '.join(f'{k}={v}' for k, v in kwargs.items())})" if kwargs else ""
    label = f"{outcome.name}{given}"
    if outcome.type == "uv-script" and isinstance(outcome.kwargs.get("script_path"), str):
        label = outcome.kwargs["script_path"].rpartition("/")[2]
    alone = value is None or (value == outcome.name and outcome.type != "uv-script")
    return printable(label if alone else f"{label}: {value}")
