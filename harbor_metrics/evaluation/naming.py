"""What a metric and each of its values are called in a table: as people call them."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

import msgspec

from ..contract.spec import UV_SCRIPT
from ..documents.wording import printable
from .distinct import apart
from .result import Group, Outcome

# Types that people call by their k.
_OF_K = {"pass-at-k": "pass@", "pass-hat-k": "pass^"}
# The units that no name says.
_UNITS = {"cost-per-task": "USD", "cost-per-solved-task": "USD", "total-cost": "USD"}
_UNITS_OF = {"cost": "USD", "seconds": "s"}
_Cell = TypeVar("_Cell")


class Identity(NamedTuple):
    """What two metrics have in common that are one, on whatever trials; not what they gave.

    `ours`: no script's and no plugin's. The digests are of a script, and of what is pinned with it.
    """

    type: str
    kwargs: bytes = b"{}"
    ours: bool = True
    origin: str = ""
    digests: tuple[str | None, ...] = ()


def standing(metric: Identity, origin: str) -> tuple[bool, ...]:
    """What metrics are ranked by where several would have one name.

    Nobody takes a name from ours, nor from what the user asks for, nor from the one with default
    kwargs.
    """
    return not metric.ours, origin != "command-line", metric.kwargs != b"{}"


def in_columns(
    lines: Iterable[Iterable[tuple[Identity, Hashable, str, _Cell]]],
    taken: Collection[str] = (),
    asked: Collection[Identity] = (),
) -> list[dict[str, _Cell]]:
    """Each line's cells by the column they are in, from metric, value, the name of both, and cell.

    The metrics that the user has `asked` for choose their names before others do.

    A value of a metric has one column in all lines, and none with anything else; the same cell
    twice is there once, another cell of the same has a column of its own.
    """
    wished: dict[tuple[Identity, Hashable, int], str] = {}
    numbered = []
    for line in lines:
        own: dict[tuple[Identity, Hashable, int], _Cell] = {}
        for metric, value, name, cell in line:
            n = 0
            while own.setdefault((metric, value, n), cell) != cell:
                n += 1
            wished.setdefault((metric, value, n), name)
        numbered.append(own)

    places = {metric: i for i, metric in enumerate(dict.fromkeys(of[0] for of in wished))}

    def rank(of: tuple[Identity, Hashable, int]) -> tuple[int, ...]:
        metric, _, n = of
        origin = "command-line" if metric in asked else metric.origin
        return *standing(metric, origin), places[metric], n

    called = apart(wished, taken=taken, rank=rank)
    return [{called[of]: cell for of, cell in own.items()} for own in numbered]


def asked_for(groups: Iterable[Group], without: Collection[str] = ()) -> set[Identity]:
    """The metrics of these groups that the user has asked for."""
    return {
        told_by(outcome, without)
        for group in groups
        for outcome in group.metrics
        if outcome.origin == "command-line"
    }


def told_by(outcome: Outcome, without: Collection[str] = ()) -> Identity:
    """What tells the metric of an outcome from others; some kwargs are said elsewhere.

    Two scripts of one name are two where their texts are, or what is pinned with these, or one is
    the user's and one is not.
    """
    kwargs = {k: v for k, v in outcome.kwargs.items() if k not in without}
    encoded = msgspec.json.encode(kwargs, order="deterministic")
    script = outcome.script or None
    if outcome.type != UV_SCRIPT:
        # For weight: most results have one group, whose columns nobody else's stand beside.
        from ..catalogue.families import families

        ours = not outcome.plugins and script is None and outcome.type in families("metrics")
        return Identity(outcome.type, encoded, ours, digests=(script.sha256,) if script else ())
    digests = script and (
        *(script.sha256, script.modules_sha256, script.packages_sha256, script.lock_sha256),
    )
    return Identity(outcome.type, encoded, False, outcome.origin, digests or ())


def model_of(group: Group) -> str | None:
    """A group's model, with the provider where it is known."""
    return f"{group.provider}/{group.model}" if group.provider else group.model


class Names(msgspec.Struct, frozen=True):
    """The name of a metric with its kwargs, and of each of its values within it.

    `alone`: the values need no heading above them, for their own names say all.
    """

    metric: str
    values: dict[str, str]
    alone: bool = False

    def whole(self, value: str) -> str:
        """What a value is called where nothing stands above it."""
        own = self.values.get(value, value)
        only = own == self.metric and len(self.values) == 1
        return own if self.alone or only else f"{self.metric}: {own}"


def names(outcome: Outcome, without: Collection[str] = ()) -> Names:
    """What the metric of an outcome and its values are called; some kwargs are said elsewhere."""
    kwargs = {k: v for k, v in outcome.kwargs.items() if k not in without}
    if outcome.type == UV_SCRIPT:
        label = script_name(outcome.kwargs)
        return Names(printable(label), {value: printable(value) for value in outcome.values})
    label = printable(name(_written(outcome), outcome.type, kwargs))
    sign = _sign_of_values(outcome)
    values, alone = {}, True
    for value in outcome.values:
        key, _, k = value.rpartition("/")
        if sign is not None and k.isdecimal():
            own = f"{key}: {sign}{k}" if key else f"{sign}{k}"
            alone = alone and not key and label == f"{sign}k"
        else:
            own = label if is_only(outcome, value) else value
            alone = alone and own == label
        values[value] = printable(own)
    return Names(label, values, alone)


def is_only(outcome: Outcome, value: str) -> bool:
    """Whether a value is all that a metric gave, and no reward beside others that is called so."""
    return value == outcome.type and len(outcome.values) == 1


def _written(outcome: Outcome) -> str:
    """The name of its metric, as it is written where it can mean that, else the type.

    What a document calls a metric, whoever has written it, may be the name of another.
    """
    if outcome.name == outcome.type:
        return outcome.name
    # For weight: most entries say our own type.
    from ..catalogue.aliases import METRICS, meanings

    meant = meanings(outcome.name, METRICS)
    means_it = any(
        one.type == outcome.type
        and (one.type == "grouped" or one.kwargs.keys() <= outcome.kwargs.keys())
        for one in meant
    )
    return outcome.name if means_it else outcome.type


def script_name(kwargs: Mapping[str, Any]) -> str:
    """A script as people call it, by its file: `m.py`, and `script mean` where the file is `mean`.

    So none is called as a metric of ours.
    """
    path = kwargs.get("script_path")
    if not isinstance(path, str):
        return UV_SCRIPT
    file = path.rpartition("/")[2]
    return file if file.endswith(".py") else f"script {file}"


def name(written: str, type_: str, kwargs: Mapping[str, Any]) -> str:
    """A metric as people call it: `pass@5`, `mean grouped by category`, `mean (missing=skip)`."""
    implied: dict[str, Any] = {}
    if written != type_:
        # For weight: most entries say our own type.
        from ..catalogue.aliases import implied_kwargs

        implied = implied_kwargs(written)
    rest = {k: v for k, v in kwargs.items() if not (k in implied and implied[k] == v)}
    sign = _sign(written, type_)
    if sign is not None and "k" in kwargs:
        k = kwargs["k"]
        written = f"{sign}{k}" if isinstance(k, int) else f"{sign}k"
        rest.pop("k", None)
    if type_ == "grouped" and {"metric", "by"} <= rest.keys():
        inner, by = rest.pop("metric"), rest.pop("by")
        labels = " and ".join(map(_plain, by)) if isinstance(by, list) else _plain(by)
        written = f"{_plain(inner)} {written} by {labels}"
    given = f" ({', '.join(f'{k}={_plain(v)}' for k, v in rest.items())})" if rest else ""
    return f"{written}{given}"


def unit(type_: str, kwargs: Mapping[str, Any]) -> str | None:
    """The unit of a metric's values, where its name does not say it."""
    inner = kwargs.get("metric") if type_ == "grouped" else None
    if isinstance(inner, dict) and isinstance(inner.get("type"), str):
        own = inner.get("kwargs")
        return unit(inner["type"], own if isinstance(own, dict) else {})
    if isinstance(inner, str):
        type_ = inner
    if type_ == "usage-quantile":
        return _UNITS_OF.get(str(kwargs.get("of")))
    return _UNITS.get(type_)


def _sign_of_values(outcome: Outcome) -> str | None:
    """What stands before the k of several that each value is of, also within groups."""
    name, type_, kwargs = outcome.name, outcome.type, outcome.kwargs
    inner = kwargs.get("metric") if type_ == "grouped" else None
    if isinstance(inner, dict) and isinstance(inner.get("type"), str):
        name = type_ = inner["type"]
        kwargs = own if isinstance(own := inner.get("kwargs"), dict) else {}
    return _sign(name, type_) if isinstance(kwargs.get("k"), list) else None


def _sign(written: str, type_: str) -> str | None:
    """What stands before the k; None for other metrics, and for names of other systems."""
    return None if "/" in written else _OF_K.get(type_)


def _plain(value: Any) -> str:
    """A kwarg: a text as it is, a metric or reducer by its name, else JSON."""
    if isinstance(value, dict) and isinstance(value.get("type"), str):
        kwargs = value.get("kwargs")
        own = value["type"]
        return name(own, own, kwargs if isinstance(kwargs, dict) else {})
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
