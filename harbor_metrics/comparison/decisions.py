"""What becomes of gates: the shown interval decides, and what it cannot decide is undecided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from ..documents.diagnostics import Diagnostic
from ..documents.wording import did_you_mean, listed, nearest, plural, printable
from ..errors import UsageError
from ..numbers.exact import Number
from .document import Compared, Decision, Outcome, Row
from .gates import Counted, Expression, Gate, Part
from .naming import name_of, rows_called
from .numerals import numerals
from .planning import what_it_takes
from .settings import Settings

_FEWEST_NOTED = 2


class _Found(msgspec.Struct, frozen=True):
    """An outcome and why, before it is known of whom."""

    outcome: Outcome
    why: str
    help: str | None = None


# Of two runs the datasets that only one of them has, and the tasks there.
Alone = Mapping[tuple[str, str], Sequence[tuple[str, int]]]


def decide(compared: Sequence[Compared], settings: Settings, alone: Alone) -> list[Decision]:
    """What becomes of each gate in each comparison.

    Raises:
        UsageError: there is no such metric, or nobody says which of its values is better.
    """
    known = dict.fromkeys(name_of(row) for each in compared for row in each.rows)
    decisions = []
    for gate in settings.gates:
        if gate.metric != gate.written.strip() in known:
            raise UsageError(
                f"--{gate} can be `{gate.metric}` with a margin, and the value `{gate.written}`",
                f"write `{gate.metric}`:{gate.by:g} or `{gate.written.strip()}`, with backquotes",
            )
        if gate.metric is not None and not any(
            rows_called(gate.metric, each.rows) for each in compared
        ):
            raise UsageError(
                f"--{gate}: there is no `{gate.metric}`{did_you_mean(nearest(gate.metric, known))}",
                f"the values are {listed(list(known), 8)}",
            )
        for each in compared:
            datasets = alone.get((each.base.run, each.candidate.run), ())
            found = _decided(gate, each, settings, datasets)
            decisions.append(
                Decision(
                    gate=str(gate),
                    dataset=each.dataset.name if each.dataset is not None else None,
                    base=each.base.run,
                    candidate=each.candidate.run,
                    **msgspec.structs.asdict(found),
                )
            )
    return decisions


def remarks(decisions: Sequence[Decision], level: float) -> Iterator[Diagnostic]:
    """How often several gates of one kind err together."""
    n = sum(each.gate.startswith("no-worse ") for each in decisions)
    if n >= _FEWEST_NOTED:
        yield Diagnostic(
            rule="several-gates",
            message=f"{n} gates no-worse: between equal runs one of them fails in up to "
            f"{min(100.0, 50 * (1 - level) * n):g} of 100 comparisons",
        )


def _decided(
    gate: Gate, compared: Compared, settings: Settings, alone: Sequence[tuple[str, int]]
) -> _Found:
    if gate.metric is None:
        assert gate.expression is not None  # what has no metric counts something
        return _counted(gate, gate.expression, compared, settings, alone)
    rows = rows_called(gate.metric, compared.rows)
    if not rows:
        return _Found("undecided", f"there is no `{gate.metric}` on this dataset")
    if len(rows) > 1:
        names = listed([f"`{name_of(row)}`" for row in rows], 8)
        raise UsageError(f"--{gate}: `{gate.metric}` has several values", f"one of {names}")
    (row,) = rows
    unpaired = _unpaired(compared, settings, alone) or _left_out_on_a_side(row.left_out, settings)
    unpaired = unpaired or _lacking(row.lacking or (), compared, settings)
    unpaired = unpaired or _by_two_rules(compared)
    if unpaired is not None:
        return _Found("undecided", unpaired)
    if row.difference is None:
        return _Found("undecided", row.reason or "there is no difference")
    if gate.expression is not None:
        return _of_expression(gate.metric, gate.expression, row)
    if row.higher_is_better is None:
        raise UsageError(
            f"--{gate}: nobody says whether more of `{name_of(row)}` is better",
            _both_ways(name_of(row)),
        )
    return _of_margin(gate, row, compared, settings)


def _both_ways(value: str) -> str:
    # For weight: few gates end so.
    import shlex

    # The blank has it put in quotes in any case, as the pages show it.
    named = shlex.quote(f"{printable(value)} ")[:-2] + "'"
    return f"--higher-is-better {named}, or --lower-is-better {named}"


def _unpaired(
    compared: Compared, settings: Settings, alone: Sequence[tuple[str, int]]
) -> str | None:
    n = _n_unpaired(compared)
    if settings.unpaired == "drop" or not (n or alone):
        return None
    if not n:
        dataset, _ = alone[0]
        return f"dataset {dataset} is in one run alone ({_DROP})"
    return f"{plural(n, 'task')} {'is' if n == 1 else 'are'} unpaired ({_DROP})"


def _n_unpaired(compared: Compared) -> int:
    tasks = compared.tasks
    return len(tasks.only_base) + len(tasks.only_candidate) + len(tasks.changed)


def _left_out_on_a_side(n: int, settings: Settings) -> str | None:
    if not n or settings.unpaired == "drop":
        return None
    return f"{plural(n, 'task')} {'has' if n == 1 else 'have'} no value on a side ({_DROP})"


def _lacking(rewards: Sequence[str], compared: Compared, settings: Settings) -> str | None:
    others = compared.key is not None
    if not rewards or (others and settings.unpaired == "drop"):
        return None
    which = f"{plural(len(rewards), 'reward')} of {compared.base.run} ({listed(rewards)})"
    verb = "is" if len(rewards) == 1 else "are"
    return f"{which} {verb} not in {compared.candidate.run}" + (f" ({_DROP})" if others else "")


def _by_two_rules(compared: Compared) -> str | None:
    """Why runs that say otherwise what a missing reward counts as cannot be told apart by it."""
    if not compared.by_two_rules:
        return None
    leaving, counting = compared.by_two_rules
    return f"{leaving} leaves trials without a valid reward out, and those of {counting} count"


_DROP = "--unpaired drop compares the others"


def _of_margin(gate: Gate, row: Row, compared: Compared, settings: Settings) -> _Found:
    sign = 1 if row.higher_is_better else -1
    by = f"{gate.by:g}"
    ends = _ends(row, sign)
    if ends is None:
        # Without an interval p can still say that there is a difference, not how large it is.
        if gate.by or row.p is None:
            return _Found("undecided", row.reason or "there is no interval")
        ends = {"better": (1.0, 1.0), "worse": (-1.0, -1.0)}.get(row.verdict, (-1.0, 1.0))
    low, high = ends
    more = f" by more than {by}" if gate.by else ""
    seen = f": {_seen(row)}"
    if gate.kind == "no-worse":
        if high < -gate.by:
            return _Found("failed", f"it is worse{more}{seen}")
        return _Found("passed", f"it is not shown to be worse{more}{seen}")
    if gate.kind == "non-inferior":
        if low > -gate.by:
            return _Found("passed", f"it is shown not to lose {by}{seen}")
        if high <= -gate.by:
            return _Found("failed", f"it loses {by} or more{seen}")
        help_ = what_it_takes(row, compared, settings, gate.by, "if there is no difference")
        return _Found("undecided", f"it may lose {by} or more, and it may not{seen}", help_)
    if low > gate.by:
        return _Found("passed", f"it is better{more}{seen}")
    if high <= gate.by:
        return _Found("failed", f"it is not better{more}{seen}")
    why = f"it may be better{more}, and it may not{seen}"
    return _Found("undecided", why, _until_better(gate, row, compared, settings))


def _until_better(gate: Gate, row: Row, compared: Compared, settings: Settings) -> str:
    assert row.difference is not None
    gain = float(row.difference if row.higher_is_better else -row.difference)
    shown = numerals(row.base, row.candidate, row).difference
    if gain <= gate.by:
        above = f" above {gate.by:g}" if gate.by else ""
        return f"More would not help if the difference is the {shown} seen: that is no gain{above}."
    seen = f"if the difference is the {shown} seen"
    return what_it_takes(row, compared, settings, gain - gate.by, seen) or ""


def _ends(row: Row, sign: int) -> tuple[float, float] | None:
    """The interval of how much better the candidate is."""
    if row.low is None or row.high is None:
        return None
    low, high = sign * float(row.low), sign * float(row.high)
    return min(low, high), max(low, high)


def _seen(row: Row) -> str:
    shown = numerals(row.base, row.candidate, row)
    less = "" if row.higher_is_better else "; less is better"
    if row.low is None:
        return f"{shown.difference}, p {row.p:.2g}{less}"
    low, high = shown.ends
    return f"{shown.difference}, from {low} to {high}{less}"


def _of_expression(metric: str, expression: Expression, row: Row) -> _Found:
    part = expression.part
    value: Number | None
    if part == "relative":
        value = None if row.relative is None else row.relative.value
    else:
        value = getattr(row, part)
    what = f"{metric}.{part}"
    if value is None:
        why = row.reason or _WITHOUT.get(part, "there is none")
        return _Found("undecided", f"{what} is not known: {why}")
    text = f"{100 * value:.6g}%" if part == "relative" else f"{value:.6g}"
    return _Found("failed" if expression.holds(float(value)) else "passed", f"{what} is {text}")


_WITHOUT = {
    "relative": "it is computed of amounts alone, such as dollars or tokens, where the base is "
    "surely above 0",
    "low": "there is no interval",
    "high": "there is no interval",
    "p": "there is no p",
}


def _counted(
    gate: Gate,
    expression: Expression,
    compared: Compared,
    settings: Settings,
    alone: Sequence[tuple[str, int]],
) -> _Found:
    part, counts = expression.part, compared.candidate.counts
    numbers: Mapping[str, int] = {
        "tasks.unpaired": _n_unpaired(compared) + sum(n for _, n in alone),
        "tasks.changed": len(compared.tasks.changed),
        "missing": counts.missing,
        "errored": counts.errored,
    }
    # What is missing is what these two are about; all else may hang on it.
    is_of_pairs = part in ("tasks.unpaired", "tasks.changed")
    why = None if is_of_pairs else _unpaired(compared, settings, alone)
    why = why or _lacking(_of_count(part, compared), compared, settings)
    if part in ("tasks.worse", "tasks.better"):
        why = why or _without_value(compared, settings) or _by_two_rules(compared)
    if why is not None:
        return _Found("undecided", why)
    n = numbers[part] if part in numbers else _turned(gate, part, compared)
    outcome: Outcome = "failed" if expression.holds(n) else "passed"
    of = f" in {compared.candidate.run}" if part in ("missing", "errored") else ""
    return _Found(outcome, f"{part} is {n}{of}")


def _without_value(compared: Compared, settings: Settings) -> str | None:
    """Which tasks nobody can say are better or worse: they have no value on a side."""
    n = compared.tasks.paired - len(compared.by_task) - compared.not_listed
    return _left_out_on_a_side(n, settings) if compared.key is not None else None


def _of_count(part: Part | Counted, compared: Compared) -> Sequence[str]:
    """The rewards that are lacking of those that a count is of."""
    lacking = compared.lacking or []
    if part in ("tasks.worse", "tasks.better"):
        if compared.key is None:
            return lacking[:1]
        return [compared.first] if compared.first else []
    # Without any reward all of its trials are missing.
    return lacking if part == "missing" and compared.key is not None else []


def _turned(gate: Gate, part: str, compared: Compared) -> int:
    """How many tasks are better, or worse, by the first reward."""
    higher = compared.higher_is_better
    if higher is None:
        raise UsageError(
            f"--{gate}: nobody says whether more of `{compared.key}` is better",
            _both_ways(str(compared.key)),
        )
    up = higher == (part == "tasks.better")
    return compared.tasks.higher if up else compared.tasks.lower
