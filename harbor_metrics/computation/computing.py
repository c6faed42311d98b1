"""The second half of a computation: the metrics run over what was prepared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, get_args

import msgspec

from ..documents.diagnostics import Diagnostic
from ..errors import UsageError
from ..evaluation.agreement import differing_scripts
from ..evaluation.evaluate import evaluate
from ..evaluation.group import (
    group_of,
    not_added,
    pooled_versions,
    reference_of,
    unscored,
)
from ..evaluation.planned import Planned
from ..evaluation.result import Outcome, Result
from ..numbers.uncertainty import Over
from ..trials.table import Missing, Table
from .preparation import Prepared, prepare
from .request import Request

if TYPE_CHECKING:
    from ..scripts.options import ScriptOptions

MAX_SECONDS = 1_000_000


def compute_request(request: Request) -> Result:
    """What `api.compute` does, and raises, of a request."""
    return finish(request, prepare(request))


def finish(request: Request, prepared: Prepared) -> Result:
    """The second half of `compute`: run the metrics.

    Raises:
        UsageError: the level, the policy, what varies or a limit of scripts is not one.
    """
    level, missing = request.level, request.missing
    if level is not None and not 0 < level < 1:
        raise UsageError(f"a level lies between 0 and 1, as 0.95 does, and {level} does not")
    if missing not in (None, *get_args(Missing)):
        raise UsageError(f"missing must be one of {', '.join(get_args(Missing))}, not {missing!r}")
    if request.over not in get_args(Over):
        raise UsageError(f"over must be one of {', '.join(get_args(Over))}, not {request.over!r}")
    diagnostics = list(prepared.diagnostics)
    run_scripts = Scripts(request.scripts, [source.path for source in prepared.sources])
    groups = []
    for group in prepared.groups:
        outcomes = evaluate(
            group.plan.metrics,
            group.pool.table,
            missing=missing,
            level=level,
            over=request.over,
            run_scripts=run_scripts,
        )
        of_engine = any(source.engine for source in prepared.sources)
        if any(outcome.needs_rows for outcome in outcomes) and not of_engine:
            return finish(request, prepare(request, keep=True))
        diagnostics += unscored(group.key, group.pool)
        diagnostics += pooled_versions(group.key, group.pool)
        if of_engine:
            diagnostics += (said for said in not_added(group.pool.table) if said not in diagnostics)
        made = group_of(group.key, group.pool, group.plan, outcomes, only_asked=request.only_asked)
        groups.append(made)
    diagnostics += differing_scripts((g.key.dataset, g.plan.metrics) for g in prepared.groups)
    diagnostics += run_scripts.diagnostics
    if not groups:
        diagnostics.append(
            Diagnostic(rule="nothing-scored", message="no trial was found in any source")
        )
    return Result(
        sources=[reference_of(source) for source in prepared.sources],
        groups=groups,
        diagnostics=[diagnostic.as_json() for diagnostic in diagnostics],
    )


class Scripts(msgspec.Struct):
    """Runs scripts; loaded for weight where there is one: its imports take as long as all others.

    Raises:
        UsageError: the time limit is not one.
    """

    options: ScriptOptions | None
    sources: list[str]
    diagnostics: list[Diagnostic] = []

    def __post_init__(self) -> None:
        timeout = self.options.timeout if self.options is not None else 1
        if not 0 < timeout < MAX_SECONDS:
            raise UsageError(f"a script takes between 0 and {MAX_SECONDS} s, not {timeout} s")

    def __call__(self, planned: Sequence[Planned], table: Table) -> list[Outcome]:
        """An outcome a script, in order."""
        # For weight: most computations run no script.
        from ..scripts.options import ScriptOptions
        from ..scripts.outcomes import ScriptRunner

        runner = ScriptRunner(self.options or ScriptOptions(), self.sources)
        outcomes = runner(planned, table)
        self.diagnostics += [d for d in runner.diagnostics if d not in self.diagnostics]
        return outcomes
