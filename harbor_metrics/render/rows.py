"""A group of a result as a sheet: a row for each value, numbers as people read them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

import msgspec

from ..contract.spec import UV_SCRIPT
from ..documents.wording import plural, printable
from ..evaluation.naming import model_of, names, unit
from ..evaluation.result import Basis, Group, Outcome, Reading
from ..numbers.exact import Number
from .numerals import NONE, Digits, Numerals, exact, numerals, significant
from .sheet import Line, Sheet

# pass@k of so many k is enough for people; the document has all.
MOST_K = 10
HARBORS = "Harbor's pass@k"

# What the intervals allow for.
_OVER = {
    "tasks": "over tasks, as a sample of such tasks",
    "attempts": "over attempts: these tasks, tried again",
}
MISSING = {
    "zero": "a trial without the reward counts as 0",
    "skip": "a trial without the reward is left out",
    "error": "a trial without the reward fails a metric",
}


class Row(msgspec.Struct, frozen=True):
    """One value of one metric, or the heading of several; `why`: why there is no value."""

    metric: str
    value: str = ""
    stderr: str = ""
    interval: str = ""
    n: str = ""
    why: str = ""
    indent: int = 0
    failed: bool = False

    @property
    def cells(self) -> tuple[str, ...]:
        """What stands in its columns."""
        return self.metric, self.value, self.stderr, self.interval, self.n


def sheet(group: Group, digits: Digits = "significant") -> Sheet:
    """The sheet of a group, without columns that would be empty."""
    table = list(rows(group, digits))
    level = next((u.level for o in group.metrics for u in o.uncertainty.values()), None)
    interval = f"{exact(100 * (level or 0))}% interval"
    over = "trials / tasks" if any(" / " in row.n for row in table) else "trials"
    over = f"passed of\n{over}" if any(" of " in row.n for row in table) else over
    headings = ("metric", "value", "stderr", interval, over)
    filled = [i for i in range(len(headings)) if i in (0, 1, 4) or _filled(table, i)]
    lines = [
        Line(tuple(row.cells[i] for i in filled), row.why, row.indent, row.failed) for row in table
    ]
    return Sheet(
        title(group),
        counts(group),
        tuple(headings[i] for i in filled),
        lines,
        list(details(group, digits)),
    )


def _filled(table: Sequence[Row], column: int) -> bool:
    return any(row.cells[column] for row in table)


def title(group: Group) -> str:
    """Agent, model and dataset on a line."""
    who = " · ".join(filter(None, map(named, (group.agent, model_of(group)))))
    return printable(" on ".join(part for part in (who, dataset(group)) if part) or "rewards")


def named(name: str | None) -> str:
    """A name to show: empty where there is none, and a pair of quotes where it is empty itself."""
    return '""' if name == "" else name or ""


def dataset(group: Group) -> str:
    """The name of the dataset with its version; empty where there is none."""
    if group.dataset is None:
        return ""
    name, version = named(group.dataset.name), group.dataset.version
    return printable(f"{name}@{version}" if version else name)


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
    if c.left_out:
        parts.append(f"{c.left_out} left out")
    if c.unread:
        parts.append(f"{c.unread} unread")
    if not group.complete:
        parts.append("incomplete")
    return ", ".join(parts)


def details(group: Group, digits: Digits = "significant") -> Iterator[tuple[str, str]]:
    """Heading and text of what stands below a group's table."""
    over = {sure.over for outcome in group.metrics for sure in outcome.uncertainty.values()}
    for text in (_OVER[each] for each in ("tasks", "attempts") if each in over):
        yield "intervals", text
    policy = common_policy(group)
    if policy is not None:
        yield "missing", MISSING[policy]
    for reading in readings(group, digits):
        yield "missing", reading
    for note in notes(group):
        yield "note", note
    if group.exceptions:
        yield "exceptions", ", ".join(f"{printable(e)} {n}" for e, n in group.exceptions.items())
    usage = group.usage
    spent = {
        "input tokens": usage.n_input_tokens,
        "cached": usage.n_cache_tokens,
        "output tokens": usage.n_output_tokens,
        "USD": usage.cost_usd,
    }
    known = {name: value for name, value in spent.items() if value is not None}
    if known:
        yield "usage", ", ".join(f"{exact(v, digits)} {name}" for name, v in known.items())


def rows(
    group: Group, digits: Digits = "significant", without: Collection[str] | None = None
) -> Iterator[Row]:
    """A row for each value, one above several of a metric, and one for a metric without values.

    `without`: the kwargs that are said elsewhere; by default those said below the group's table.
    """
    said = said_once(group) if without is None else without
    # With one attempt a task nobody need be told twice how many there are.
    each_once = all(b.trials == b.tasks for o in group.metrics for b in o.known_basis.values())
    each_once = each_once and not (group.pass_at_k and group.counts.counting > group.counts.tasks)
    for outcome in group.metrics:
        called = names(outcome, said)
        several = len(outcome.values) > 1 and not called.alone
        measured_in = unit(outcome.type, outcome.kwargs)
        in_unit = f" in {measured_in}" if measured_in else ""
        if outcome.status == "failed":
            why = outcome.error.message if outcome.error else ""
            lines = "\n".join(map(printable, why.split("\n")))
            yield Row(called.metric, "failed", why=lines, failed=True)
        elif not outcome.values:
            yield Row(called.metric, NONE, why="there are no trials")
        elif several:
            yield Row(f"{called.metric}{in_unit}")
        for name in outcome.values:
            shown = cells(outcome, name, digits)
            yield Row(
                called.values[name] if several else f"{called.whole(name)}{in_unit}",
                shown.value,
                shown.stderr,
                shown.interval,
                over(outcome, name, alone=each_once),
                printable(outcome.reasons.get(name, "")),
                indent=int(several),
            )
    yield from _harbors(group, digits, alone=each_once)


def _harbors(group: Group, digits: Digits, *, alone: bool) -> Iterator[Row]:
    """Harbor's own pass@k, under its name."""
    chances = list(group.pass_at_k.items())[:MOST_K]
    if not chances:
        return
    basis = Basis(trials=group.counts.counting, tasks=group.counts.tasks)
    yield Row(HARBORS)
    for k, chance in chances:
        n = over_of(basis, alone=alone)
        yield Row(f"pass@{k}", exact(chance, digits), n=n, indent=1)
    if len(group.pass_at_k) > MOST_K:
        yield Row(f"and {len(group.pass_at_k) - MOST_K} more", indent=1)


def cells(outcome: Outcome, name: str, digits: Digits) -> Numerals:
    """One value of a metric with its error and its interval."""
    return numerals(outcome.values[name], outcome.uncertainty.get(name), digits)


def over(outcome: Outcome, name: str, *, alone: bool = False) -> str:
    """What a value is over; with `alone` the trials without their tasks."""
    basis = outcome.known_basis.get(name)
    return over_of(basis, alone=alone) if basis else str(outcome.n.get(name, ""))


def over_of(basis: Basis, *, alone: bool = False) -> str:
    """`12 / 4`: twelve trials of four tasks; of rewards of 0 and 1 `5 of 12 / 4`."""
    passed = "" if not isinstance(basis.passed, int) else f"{basis.passed} of "
    return f"{passed}{basis.trials}" + ("" if alone else f" / {basis.tasks}")


def common_policy(group: Group) -> str | None:
    """What a missing reward counts as where all metrics were told the same; else None."""
    of_rewards = [outcome for outcome in group.metrics if outcome.type != UV_SCRIPT]
    return one_policy(of_rewards) if len(of_rewards) > 1 else None


def one_policy(outcomes: Iterable[Outcome]) -> str | None:
    """What a missing reward counts as where all that are no scripts were told the same."""
    told = [o.kwargs.get("missing") for o in outcomes if o.type != UV_SCRIPT]
    return next((policy for policy in MISSING if told and told == [policy] * len(told)), None)


def said_once(*groups: Group) -> tuple[str, ...]:
    """The kwargs that are said below the table of each, the same of all, and so on no row."""
    policies = set(map(common_policy, groups))
    return ("missing",) if len(policies) == 1 and None not in policies else ()


def readings(
    group: Group, digits: Digits = "significant", without: Collection[str] | None = None
) -> Iterator[str]:
    """Both readings of each mean of which rewards are missing: as shown, and the other.

    `without`: the kwargs that are said elsewhere; by default those said below the group's table.
    """
    said = said_once(group) if without is None else without

    def text(value: Number | None) -> str:
        if value is None:
            return NONE
        return exact(value, "full") if digits == "full" else significant(value, 4)

    for outcome in group.metrics:
        called = names(outcome, said)
        for name, basis in outcome.known_basis.items():
            other = basis.otherwise
            if not isinstance(other, Reading) or other.value == outcome.values[name]:
                continue
            shown, given = text(outcome.values[name]), text(other.value)
            if other.missing == "skip":
                both = f"{shown} over {basis.trials}; {given} over the {other.n} that have rewards"
            else:
                both = f"{shown} over the {basis.trials} that have rewards; {given} over {other.n}"
            yield f"{called.whole(name)}: {both}"


def notes(group: Group) -> Iterator[str]:
    """Each note of the metrics once, with those that have it where others could and do not."""
    texts = dict.fromkeys(note for outcome in group.metrics for note in outcome.notes)
    sure = [outcome for outcome in group.metrics if outcome.uncertainty]
    for text in texts:
        having = [outcome for outcome in group.metrics if text in outcome.notes]
        called = dict.fromkeys(names(outcome, said_once(group)).metric for outcome in having)
        everywhere = having in (group.metrics, sure)
        who = "" if everywhere else f"{', '.join(called)}: "
        yield f"{who}{printable(text)}"
