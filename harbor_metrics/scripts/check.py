"""Try a script as a metric would run it, on rewards of every shape that a job can give it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..confinement.workplace import Workplace
from ..documents.wording import last_lines
from ..errors import MetricFailure
from ..numbers.exact import Number
from ..registries.script_file import Script
from ..trials.table import Table
from ..trials.trial import Rewards, Trial
from .environment import environment
from .execution import Inputs, RunError, run
from .kept import Environment
from .options import ScriptOptions
from .place import place_needed

CASES: Mapping[str, Sequence[Rewards | None]] = {
    "one key": [{"reward": 1.0}, {"reward": 0.0}, {"reward": 0.5}],
    "several keys, one of them missing once": [
        {"accuracy": 1.0, "seconds": 12},
        {"accuracy": 0.0, "seconds": 7},
        {"accuracy": 1.0},
    ],
    "a trial without rewards and an empty one": [{"reward": 1.0}, None, {}],
    "no rewards at all": [None, None],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What a script gave for one set of rewards, or why it gave nothing; seconds it took."""

    case: str
    n: int
    seconds: float
    values: dict[str, Number] = field(default_factory=dict)
    error: str = ""
    # What it said beside its answer; an error has it already.
    said: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """Everything that a check tells about a script; `refused` is what the sandbox stopped."""

    script: Script
    environment: Environment
    prepared_in: float
    tried: list[Tried]
    layers: tuple[str, ...]
    filtered: bool
    missing: tuple[str, ...]
    refused: list[str]
    differing: list[str]

    @property
    def ok(self) -> bool:
        """Whether there was an answer every time."""
        return not any(tried.error for tried in self.tried)


def built_in() -> dict[str, Table]:
    """The cases that every script will meet."""
    return {name: _table(rewards) for name, rewards in CASES.items()}


def _table(rewards: Iterable[Rewards | None]) -> Table:
    return Table(
        [Trial(task=f"task-{i}", attempt=1, rewards=row) for i, row in enumerate(rewards, 1)]
    )


def check(script: Script, tables: Mapping[str, Table], options: ScriptOptions) -> Check:
    """Run the script on each table, and on the first once more, watched.

    Raises:
        MetricFailure: its environment cannot be made, or the sandbox is required and missing.
    """
    with place_needed(), Workplace(adopt=options.adopt) as place:
        started = time.monotonic()
        prepared = environment(script, place, options)
        prepared_in = time.monotonic() - started
        tried: list[Tried] = []
        layers: tuple[str, ...] = ()
        missing: tuple[str, ...] = ()
        filtered = False
        for case, table in tables.items():
            try:
                ran = run(script, prepared, Inputs.of(table), options, place)
            except RunError as error:
                finished = error.finished
                attempt = Tried(case=case, n=len(table), seconds=finished.seconds, error=str(error))
            else:
                finished = ran.finished
                attempt = Tried(
                    case=case,
                    n=len(table),
                    seconds=finished.seconds,
                    values=ran.values,
                    said=last_lines(finished.stderr).removeprefix(": "),
                )
            layers, missing, filtered = finished.layers, finished.missing, finished.filtered
            tried.append(attempt)
        refused: list[str] = []
        differing: list[str] = []
        for attempt, table in zip(tried, tables.values(), strict=True):
            values = _watched(script, prepared, table, options, place, refused)
            if not attempt.error and values is not None and values != attempt.values:
                differing.append(attempt.case)
    return Check(
        script=script,
        environment=prepared,
        prepared_in=prepared_in,
        tried=tried,
        layers=layers,
        filtered=filtered,
        missing=missing,
        refused=list(dict.fromkeys(refused)),
        differing=differing,
    )


def _watched(
    script: Script,
    prepared: Environment,
    table: Table,
    options: ScriptOptions,
    place: Workplace,
    refused: list[str],
) -> dict[str, Number] | None:
    try:
        return run(script, prepared, Inputs.of(table), options, place, refused=refused).values
    except MetricFailure:
        return None
