"""A result as rows of a leaderboard of Harbor Hub, for `harbor hub leaderboard row create`."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from ..catalogue.aliases import implied_kwargs
from ..contract.spec import UV_SCRIPT
from ..documents.wording import encodable, printable, shown
from ..errors import UsageError
from ..evaluation.distinct import apart, mark_of
from ..evaluation.naming import Identity, is_only, names, standing, told_by
from ..evaluation.result import Group, Outcome, Result
from .rows import one_policy, title

_COUNTS = ("trials", "scored")
_PARTS = ("_stderr", "_low", "_high")
# What tells a script from others of its name.
_OF_SCRIPTS = ("sha256", "modules_sha256", "packages_sha256", "lock_sha256")
# Of a metric its name, and what tells it from others of that name; of a value besides whether it is
# the only one, and the key.
_Value = tuple[str, Identity, bool, str]
# Of a group its values, the name that each would have alone, and what it is of.
_Named = Sequence[tuple[_Value, str, Outcome]]
# What Harbor takes at once.
_MOST_ROWS = 500
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def hub_rows(result: Result, ids: Sequence[Sequence[str | None]]) -> str:
    """One row a group: its values with standard errors and intervals, and its trials by their ids.

    `ids` are those of each group's trials. A value that is undefined is left out.

    Raises:
        UsageError: there is no group, more than Harbor takes, a metric failed, or a column would
            be of different metrics.
    """
    if not 0 < len(result.groups) <= _MOST_ROWS:
        raise UsageError(f"Harbor takes 1 to {_MOST_ROWS} rows at once, not {len(result.groups)}")
    _refuse_two_rules(result.groups)
    # A name is the same value's in all rows.
    of_groups = [(group, list(_values(group))) for group in result.groups]
    short = _one_column_each(of_groups)
    kept = {
        of
        for _, values in of_groups
        for of, name, outcome in values
        if name == short[of] == _with_kwargs(of[-1], name, outcome)
    }
    called = _one_column_each([(group, _in_full(values, kept)) for group, values in of_groups])
    rows = [
        _row(group, of_group, called) for group, of_group in zip(result.groups, ids, strict=True)
    ]
    return json.dumps({"rows": encodable(rows)}, indent=2, ensure_ascii=False) + "\n"


def _in_full(values: _Named, kept: Collection[_Value]) -> _Named:
    """The values, with the kwargs of a metric in their names where nobody has asked for these.

    A registry may be a stranger's, who would have any number in the column of `mean`. Those that
    have a name by right are `kept` as they are. Scripts have the names of their files.
    """
    return [
        (of, name if of in kept else _told_apart(of[-1], name, outcome), outcome)
        for of, name, outcome in values
    ]


def _told_apart(key: str, name: str, outcome: Outcome) -> str:
    if outcome.type == UV_SCRIPT and outcome.origin != "command-line":
        return _column(f"{names(outcome).metric}_{key}")
    return _with_kwargs(key, name, outcome)


def _with_kwargs(key: str, name: str, outcome: Outcome) -> str:
    # Each of several k is in the key of its value.
    several = isinstance(outcome.kwargs.get("k"), list) and "k" not in implied_kwargs(outcome.name)
    in_keys = {"k"} if several else set()
    is_users = outcome.origin == "command-line" or outcome.type == UV_SCRIPT
    if is_users or not outcome.kwargs.keys() - in_keys:
        return name
    metric = names(outcome).metric
    return _column(metric if is_only(outcome, key) else f"{metric}_{key}")


def _column(name: str) -> str:
    # What stands behind a `#` is ours, so that nobody can be called so.
    return str(encodable(name)).replace("/", "_").replace("#", "_")


def _called(values: _Named) -> dict[_Value, str]:
    """The column of each value."""
    wished = {of: name for of, name, _ in values}
    # What is asked for stands as the user has put it, and other metrics as somebody else has.
    asked = [of[:2] for of, _, outcome in values if outcome.origin == "command-line"]
    places = {metric: i for i, metric in enumerate(dict.fromkeys(asked))}
    ranks: dict[_Value, tuple[int, ...]] = {}
    for of, _, outcome in values:
        rank = (*standing(of[1], outcome.origin), places.get(of[:2], 0))
        # Some of them can have been named by a registry, too.
        ranks[of] = min(rank, ranks.get(of, rank))

    def mark(of: _Value, has_equal: bool) -> str | None:
        # The user's have numbers, in the order of the user, which nothing beside them changes.
        return None if of[:2] in places and not has_equal else mark_of(of)

    return apart(wished, _PARTS, _COUNTS, ranks.__getitem__, mark)


def _row(
    group: Group, ids: Sequence[str | None], of_values: Mapping[_Value, str]
) -> dict[str, Any]:
    who = {"agent": group.agent, "model": group.model, "provider": group.provider or None}
    if group.dataset is not None:
        who |= {"dataset": group.dataset.name, "version": group.dataset.version}
    metadata = {name: value for name, value in who.items() if value is not None}
    metrics: dict[str, Any] = dict(
        zip(_COUNTS, (group.counts.found, group.counts.scored), strict=True)
    )
    for of, _, outcome in _values(group):
        key, own = of[-1], of_values[of]
        if outcome.values[key] is None:
            continue
        metrics[own] = outcome.values[key]
        sure = outcome.uncertainty.get(key)
        if sure is not None:
            parts = zip(_PARTS, (sure.stderr, sure.low, sure.high), strict=True)
            metrics |= {f"{own}{part}": value for part, value in parts if value is not None}
    known = [each for each in ids if each is not None and _UUID.fullmatch(each)]
    return {"metadata": metadata, "metrics": metrics, "trial_ids": known}


def _one_column_each(of_groups: Sequence[tuple[Group, _Named]]) -> dict[_Value, str]:
    """The column of each value, in all rows.

    Raises:
        UsageError: a column would be of one value in a row alone, and of another in another row.
    """
    holding: dict[str, tuple[_Value, tuple[Group, Outcome, str]]] = {}
    for group, values in of_groups:
        alone = _called(values)
        for of, _, outcome in values:
            own = of, (group, outcome, of[-1])
            for name in (f"{alone[of]}{part}" for part in ("", *_PARTS)):
                holder = holding.setdefault(name, own)
                if holder[0] != of:
                    raise _differing(name, holder[1], own[1])
    return _called([value for _, values in of_groups for value in values])


def _refuse_two_rules(groups: Sequence[Group]) -> None:
    """Refuse rows of which some leave out what counts as 0 in others.

    Raises:
        UsageError: there are such rows.
    """
    leaving = [group for group in groups if group.counts.left_out]
    counting = [group for group in groups if group.counts.unrewarded]
    skipping = one_policy(outcome for group in groups for outcome in group.metrics) == "skip"
    if leaving and counting and not skipping:
        raise UsageError(
            f"trials without a valid reward are left out of {title(leaving[0])}, as Harbor does "
            f"since 0.26, and count as 0 in {title(counting[0])}: one column would hold numbers by "
            "both rules",
            "--missing skip leaves them out of all, or write the rows of one job at a time",
        )


def _differing(name: str, *of_rows: tuple[Group, Outcome, str]) -> UsageError:
    (row, outcome, _), (other_row, _, _) = of_rows
    one, other = ({**_said(of), "value": value} for _, of, value in of_rows)
    field = next(field for field in one if one[field] != other[field] or field == "origin")
    if field == "origin" and one[field] == other[field]:
        field = "value"
    whose = f" of {names(outcome).metric}" if outcome.type == UV_SCRIPT else ""
    return UsageError(
        f"a leaderboard has one metric a column, and `{printable(name)}` would be two: `{field}`"
        f"{whose} is {shown(one[field])} ({title(row)}) and {shown(other[field])} "
        f"({title(other_row)})",
        "say whose metrics all rows have (--registry FILE, or --metric with --only-asked), or "
        "write the rows of one job at a time",
    )


def _said(outcome: Outcome) -> dict[str, Any]:
    """What can tell two metrics of one name apart, the plainest first."""
    digests = {of: getattr(outcome.script or None, of, None) for of in _OF_SCRIPTS}
    return {
        "name": outcome.name,
        "type": outcome.type,
        "kwargs": outcome.kwargs,
        **{of: digest and digest[:12] for of, digest in digests.items()},
        "origin": outcome.origin,
    }


def _values(group: Group) -> Iterator[tuple[_Value, str, Outcome]]:
    """Each value, the name that it would have alone, and what it is of.

    Raises:
        UsageError: a metric failed, and a row without it would look whole.
    """
    for outcome in group.metrics:
        if outcome.status == "failed":
            why = outcome.error.message if outcome.error else ""
            raise UsageError(f"a row needs every metric, and {outcome.name} failed: {why}")
        for key in outcome.values:
            only = is_only(outcome, key)
            name = outcome.name if only else f"{outcome.name}_{key}"
            yield (outcome.name, told_by(outcome), only, key), _column(name), outcome
