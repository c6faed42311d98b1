"""Trials as Parquet, a column for each reward key, label, text and amount used."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from ..documents.wording import printable
from ..errors import OutputError
from ..readers.columns import USAGE, folded
from ..trials.labelled import label_text
from ..trials.trial import Label, Trial
from .extras import literal, require

_TEXTS = ("task", "trial", "id", "started_at", "agent", "model", "dataset", "task_version", "error")
# Every integer up to this is a float of its own.
_WHOLE = 2**53
_LABEL = "label."


def parquet(trials: Iterable[Trial]) -> bytes:
    """The trials as a Parquet file, the columns named as those of a CSV that is read.

    Raises:
        OutputError: rewards of one key are integers and floats, and no column holds them exactly;
            a trial is left out, or has rewards without any key; two columns would have one name; or
            labels of several types would make other groups or clusters as texts.
        InputError: DuckDB is not installed.
    """
    kept = list(trials)
    if any(trial.left_out for trial in kept):
        raise OutputError(
            "trials are left out of Harbor's own numbers, and no column of Parquet says so",
            "write a trials file instead: -o trials.jsonl",
        )
    if any(trial.rewards == {} for trial in kept):
        raise OutputError(
            "trials have rewards without any key, which count as 0; in Parquet they would have "
            "none, and be missing",
            "write a trials file instead: -o trials.jsonl",
        )
    rows = [_row(trial) for trial in kept]
    types = _types(rows)
    _check_names(types)
    _check_labels(kept, types)
    return written([{n: _fit(v, types[n]) for n, v in row.items()} for row in rows], types)


def written(rows: Iterable[Mapping[str, Any]], types: Mapping[str, str]) -> bytes:
    """Rows as a Parquet file with columns of these types; what a row lacks is null.

    Raises:
        InputError: DuckDB is not installed.
    """
    duckdb = require("duckdb", "engine")
    columns = {name: f"c{place}" for place, name in enumerate(types)}
    fitted = ({columns[name]: value for name, value in row.items()} for row in rows)
    with tempfile.TemporaryDirectory(prefix="harbor-metrics-") as folder:
        lines, target = os.path.join(folder, "rows.jsonl"), os.path.join(folder, "rows.parquet")
        with open(lines, "wb") as file:
            file.write(msgspec.json.Encoder().encode_lines(fitted))
        # One thread: the same rows give the same bytes.
        connection = duckdb.connect(config={"threads": 1})
        relation = connection.read_json(
            literal(lines),
            columns={column: types[name] for name, column in columns.items()},
            format="newline_delimited",
        )
        renamed = ", ".join(f"{column} as {_quoted(name)}" for name, column in columns.items())
        relation.project(renamed).write_parquet(target, compression="zstd")
        connection.close()
        with open(target, "rb") as file:
            return file.read()


def _check_names(names: Iterable[str]) -> None:
    """Refuse names that engines take for one.

    Raises:
        OutputError: so they do.
    """
    known: dict[str, str] = {}
    for name in names:
        other = known.setdefault(folded(name), name)
        if other != name:
            raise OutputError(
                f"Parquet has no two columns whose names differ in case alone: "
                f"`{printable(other)}` and `{printable(name)}`",
                "write a trials file instead: -o trials.jsonl",
            )


def _check_labels(trials: Sequence[Trial], types: Mapping[str, str]) -> None:
    """Refuse labels that become one as texts and were two, or become two and were one.

    Raises:
        OutputError: there are some.
    """
    for name in sorted({name for trial in trials for name in trial.labels}):
        if types.get(_LABEL + name) != "VARCHAR":
            continue
        by_value: dict[Label, Label] = {}
        by_text: dict[str, Label] = {}
        for trial in trials:
            value = trial.labels.get(name)
            if value is None:
                continue
            text = label_text(value)
            equal, same = by_value.setdefault(value, value), by_text.setdefault(text, value)
            if same != value or label_text(equal) != text:
                one, other = (same, value) if same != value else (equal, value)
                raise OutputError(
                    f"no column of Parquet holds what label `{printable(name)}` has: "
                    f"{_shown(one)} and {_shown(other)}, which as texts would be "
                    + ("one" if same != value else "two"),
                    "write a trials file instead: -o trials.jsonl",
                )


def _shown(value: Label) -> str:
    """A label as JSON has it, so that its type is seen."""
    return printable(msgspec.json.encode(value).decode())


def _quoted(name: str) -> str:
    """The name of a column in SQL."""
    return '"' + name.replace('"', '""') + '"'


def _row(trial: Trial) -> dict[str, Any]:
    row: dict[str, Any] = {name: getattr(trial, name) for name in (*_TEXTS, "attempt")}
    rewards = trial.rewards or {}
    row |= {"reward" if key == "reward" else f"reward.{key}": n for key, n in rewards.items()}
    row |= {_LABEL + name: value for name, value in trial.labels.items()}
    row |= {f"text.{name}": value for name, value in trial.texts.items()}
    row |= {name: getattr(trial.usage, name) for name in USAGE}
    return {name: value for name, value in row.items() if value is not None}


def _types(rows: list[dict[str, Any]]) -> dict[str, str]:
    """The type of each column, by name; `task` and a reward are always there."""
    values: dict[str, set[type]] = {"task": {str}}
    largest: dict[str, int] = {}
    for row in rows:
        for name, value in row.items():
            values.setdefault(name, set()).add(type(value))
            if type(value) is int:
                largest[name] = max(largest.get(name, 0), abs(value))
    if not any(name == "reward" or name.startswith("reward.") for name in values):
        values["reward"] = {float}
    order = [*_TEXTS[:1], "attempt", *_TEXTS[1:]]
    names = [name for name in order if name in values]
    names += sorted(values.keys() - set(names))
    return {name: _type(name, values[name], largest.get(name, 0)) for name in names}


def _type(name: str, kinds: set[type], largest: int) -> str:
    numbers = kinds <= {int, float}
    if numbers and largest > _WHOLE and (float in kinds or largest >= 2**63):
        raise OutputError(
            f"no column of Parquet holds the integers and floats of `{printable(name)}` exactly: "
            f"one is {largest}",
            "write a trials file instead: -o trials.jsonl",
        )
    if kinds == {int}:
        return "BIGINT"
    if numbers:
        return "DOUBLE"
    if kinds == {bool}:
        return "BOOLEAN"
    return "VARCHAR[]" if list in kinds else "VARCHAR"


def _fit(value: Any, kind: str) -> Any:
    """A value as its column has it: of labels of several types the text."""
    if kind == "VARCHAR":
        return label_text(value)
    return [value] if kind == "VARCHAR[]" and isinstance(value, str) else value
