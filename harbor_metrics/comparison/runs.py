"""The runs that are compared: what the user calls each, and its trials by dataset."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence

import msgspec

from ..documents.paths import STANDARD_INPUT, is_address
from ..documents.patterns import is_pattern, matching
from ..documents.wording import in_command, listed, printable
from ..errors import MetricFailure, UsageError
from ..evaluation.distinct import apart, mark_of
from ..evaluation.plan import Plan
from ..trials.labelled import TASK, label_text
from ..trials.owners import Owners
from ..trials.pool import Pool
from ..trials.table import Table
from ..trials.trial import GroupKey, Trial

_WITHOUT = "without a name"
# What tells runs apart that is not a label of trials.
BY = ("run", "agent", "model")


class Part(msgspec.Struct, frozen=True):
    """The trials of one agent, model and dataset, and the metrics that run on them."""

    key: GroupKey
    pool: Pool
    plan: Plan


class Run(msgspec.Struct, frozen=True):
    """A column: its name, and by dataset the trials in it."""

    name: str
    parts: dict[str | None, Part]


def named_sources(sources: Sequence[str]) -> dict[str, list[str]]:
    """NAME -> its sources, from `NAME=SOURCE`; without a name as `names_of` says.

    Raises:
        UsageError: see `separate`; or two paths are told apart by what cannot be printed.
    """
    named = [separate(source) for source in sources]
    given = {name for name, _ in named if name is not None}
    names = names_of([path for name, path in named if name is None], given)
    printed: dict[str, str] = {}
    for path, name in names.items():
        if os.path.normpath(printed.setdefault(name, path)) != os.path.normpath(path):
            raise UsageError(
                f"two sources would both be called {name}", "give each a name: NAME=SOURCE"
            )
    runs: dict[str, list[str]] = {}
    for given_name, path in named:
        runs.setdefault(names[path] if given_name is None else given_name, []).append(path)
    return runs


def separate(source: str) -> tuple[str | None, str]:
    """The NAME and the SOURCE of `NAME=SOURCE`, where NAME has no `/`; else a path alone.

    What is a path as a whole is one only where SOURCE is none: whoever has made the current folder
    would else say what a name in a command leads to.

    Raises:
        UsageError: it can be read both ways, or a part is empty.
    """
    name, equals, path = source.partition("=")
    if not equals or "/" in name:
        return None, source
    if os.path.exists(source):
        if not path or not _leads_somewhere(path):
            return None, source
        raise UsageError(
            f"{source} is a path here, and so is {path}: neither is taken for what is meant",
            f"write {in_command(os.path.join(os.curdir, source))} for the path"
            + _written_otherwise(name, path),
        )
    if not name or not path:
        raise UsageError(f"{source}: a run is written NAME=SOURCE, and neither part is empty")
    return name, path


def _leads_somewhere(source: str) -> bool:
    """Whether a source may be there: what lies on storage, and standard input, are not asked."""
    if source == STANDARD_INPUT or is_address(source) or os.path.lexists(source):
        return True
    return is_pattern(source) and bool(matching(source))


def _written_otherwise(name: str, path: str) -> str:
    """How `NAME=SOURCE` is written so that nothing is there of that path, where it can be."""
    if path == STANDARD_INPUT or is_address(path):
        return ""
    ways = (os.path.join(os.curdir, path), os.path.relpath(path), os.path.abspath(path))
    for way in ways:
        if not os.path.lexists(f"{name}={way}"):
            return f", {in_command(f'{name}={way}')} for a run called {name}"
    return ""


def names_of(paths: Sequence[str], taken: Collection[str] = ()) -> dict[str, str]:
    """Path -> as many of its last parts as no other path and nothing that is taken has."""
    parts = {path: os.path.normpath(path).split(os.sep) for path in paths}
    names: dict[str, str] = {}
    for path, own in parts.items():
        others = [other for key, other in parts.items() if key != path]
        n = 1
        while n < len(own) and (
            _printed(own, n) in taken or own[-n:] in [other[-n:] for other in others]
        ):
            n += 1
        name = _printed(own, n)
        # Not the run of that name: who made the current folder would add to it.
        names[path] = name if name not in taken else f"{os.curdir}/{name}"
    return names


def _printed(parts: Sequence[str], n: int) -> str:
    return printable("/".join(parts[-n:]))


def run_of(name: str, parts: Sequence[Part]) -> Run:
    """The run of these groups.

    Raises:
        UsageError: two of them are of one dataset.
    """
    by_dataset: dict[str | None, Part] = {}
    for part in parts:
        first = by_dataset.setdefault(part.key.dataset, part)
        if first is not part:
            raise UsageError(
                f"{name} has two groups{_on(part.key.dataset)}: {_who(first.key)}, and "
                f"{_who(part.key)}",
                f"compare them with --by {_differing(first.key, part.key)}, or choose with --only "
                f"{_choice(first.key, part.key)}",
            )
    return Run(name, by_dataset)


def runs_by(parts: Sequence[Part], by: str | None, owners: Owners) -> list[Run]:
    """The runs that the groups of one pool are, by agent, model or a label.

    Without `by`, whatever of agent and model differs. `owners` are the sources of the trials.

    Raises:
        UsageError: nothing differs, or trials lack the label.
    """
    if by not in (None, "agent", "model"):
        return _by_label(parts, str(by), owners)
    fields = ["agent", "model"] if by is None else [by]
    if by is None:
        fields = [f for f in fields if len({_value_of(part, f, parts) for part in parts}) > 1]
    columns: dict[tuple[str | None, ...], list[Part]] = {}
    for part in parts:
        columns.setdefault(tuple(_value_of(part, f, parts) for f in fields), []).append(part)
    if len(columns) < 2:
        what = f"have one {by}" if by else "are of one agent and one model"
        raise UsageError(
            f"all trials {what}, so there is nothing to compare",
            "name two sources, or tell runs apart with --by agent, --by model or --by LABEL",
        )
    # Whoever is called as another's parts together, or as one without, is another run, and the
    # name is nobody's: `--base` would name a stranger's.
    order = sorted(columns, key=lambda of: [(value is not None, value or "") for value in of])
    wished = {of: " · ".join(v if v is not None else _WITHOUT for v in of) for of in order}
    names = apart(wished, rank=lambda _: (), mark=lambda of, _: mark_of(of))
    return [
        run_of(names[of], own) for of, own in sorted(columns.items(), key=lambda c: names[c[0]])
    ]


def _value_of(part: Part, field: str, parts: Sequence[Part]) -> str | None:
    """An agent or a model, by its full name where two models of these have the short one."""
    value: str | None = getattr(part.key, field)
    if field != "model" or part.pool.provider is None:
        return value
    providers = {each.pool.provider for each in parts if each.key.model == value}
    return value if len(providers - {None}) < 2 else f"{part.pool.provider}/{value}"


def _by_label(parts: Sequence[Part], label: str, owners: Owners) -> list[Run]:
    columns: dict[str, list[Part]] = {}
    for part in parts:
        try:
            tables = part.pool.table.split([label])
        except MetricFailure as failure:
            raise UsageError(f"--by {label}: {failure}") from failure
        for (value,), table in tables.items():
            left_out = _with_value(part.pool.left_out, label, [value])
            own = msgspec.structs.replace(part, pool=part.pool.part(table, left_out, owners))
            columns.setdefault(value, []).append(own)
    if len(columns) < 2:
        raise UsageError(f"--by {label}: all trials have the same, so there is nothing to compare")
    return [run_of(name, own) for name, own in sorted(columns.items())]


def chosen(parts: Sequence[Part], only: Sequence[str], owners: Owners) -> list[Part]:
    """The groups, and of these the trials, that fit each KEY of `KEY=VALUE` with any of its values.

    Raises:
        UsageError: it is not of that form, or nothing fits it.
    """
    wanted: dict[str, list[str]] = {}
    for choice in only:
        key, equals, value = choice.partition("=")
        if not equals or not key:
            raise UsageError(f"--only {choice} is not KEY=VALUE, such as model=sail-1")
        wanted.setdefault(key, []).append(value)
    kept = list(parts)
    for key, choices in wanted.items():
        if key in ("agent", "model", "dataset"):
            values = {str(_value_of(part, key, parts)) for part in kept}
            kept = [part for part in kept if _value_of(part, key, parts) in choices]
        else:
            kept, values = _with_label(kept, key, choices, owners)
        if not kept:
            asked = " ".join(f"--only {key}={value}" for value in choices)
            known = listed(sorted(values), 5) or "unknown"
            raise UsageError(f"{asked}: no trial fits; {key} is {known}")
    return kept


def _with_label(
    parts: Sequence[Part], name: str, wanted: Sequence[str], owners: Owners
) -> tuple[list[Part], set[str]]:
    kept, values = [], set()
    for part in parts:
        values |= {_value(trial, name) for trial in part.pool.table}
        table = _with_value(part.pool.table, name, wanted)
        if len(table):
            left_out = _with_value(part.pool.left_out, name, wanted)
            pool = part.pool.part(table, left_out, owners)
            kept.append(msgspec.structs.replace(part, pool=pool))
    return kept, values


def _with_value(table: Table, name: str, wanted: Sequence[str]) -> Table:
    return Table([trial for trial in table if _value(trial, name) in wanted])


def _value(trial: Trial, name: str) -> str:
    return label_text(trial.task if name == TASK else trial.labels.get(name))


def _on(dataset: str | None) -> str:
    return f" on dataset {dataset}" if dataset is not None else ""


def _who(key: GroupKey) -> str:
    return key.who or "no agent or model named"


def _differing(first: GroupKey, second: GroupKey) -> str:
    return "model" if first.agent == second.agent else "agent"


def _choice(first: GroupKey, second: GroupKey) -> str:
    field = _differing(first, second)
    return in_command(f"{field}={getattr(first, field) or getattr(second, field)}")
