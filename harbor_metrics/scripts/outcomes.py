"""`uv-script` metrics x table -> outcomes: side by side, in the order they were asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec

from ..confinement.finished import Finished
from ..confinement.places import FILTER
from ..confinement.workplace import Workplace
from ..contract.signature import converted
from ..contract.spec import UV_SCRIPT, ScriptKwargs
from ..documents.diagnostics import Diagnostic
from ..documents.paths import is_below, real_path
from ..documents.wording import in_command, printable
from ..errors import MetricFailure
from ..evaluation.planned import Planned
from ..evaluation.result import Failure, Outcome, ScriptRef
from ..registries.script_file import Script
from ..trials.table import Table
from . import git
from .bounds import Required, not_confined
from .execution import Inputs, RunError, execute
from .kept import Environment
from .options import ScriptOptions
from .pinned import check_pin, not_pinned
from .place import place_needed

_NOT_QUOTED = (
    "what it says is not shown, for only a job, or a registry that lies elsewhere, names it"
)
_NEED_LOGINS = ("script-git", "script-environment")
_NO_LOGINS = (
    "no login of yours is used for a script that only a job, or a registry that lies elsewhere, "
    "names"
)
# What is wrong with a script before it runs is told in words of its own: what it needs, and where
# that lies.
_OF_ITS_TEXT = {
    "script-metadata": "the PEP 723 block of the script is not one that can be used",
    "script-environment": "the environment of the script could not be made",
}


class ScriptRunner:
    """Runs scripts over tables, and remembers what the system lacked to confine them.

    `sources` are the paths that the trials came from; a failed script is repeated with them.
    """

    def __init__(self, options: ScriptOptions, sources: Sequence[str] = ()) -> None:
        self.options = options
        self.sources = list(sources)
        self.missing: dict[str, None] = {}
        self.differing: dict[str, None] = {}
        self.left: list[str] = []
        self._taken: list[Workplace] = []
        self._abandoned = False

    def __call__(self, planned: Sequence[Planned], table: Table) -> list[Outcome]:
        """An outcome a script, in order; a failed one never stops the others."""
        with place_needed():
            return self._outcomes(planned, len(table), Inputs.of(table))

    def _outcomes(self, planned: Sequence[Planned], n: int, inputs: Inputs) -> list[Outcome]:
        # Before there are threads: a process with some is slower to start a supervisor.
        places = [
            Workplace(adopt=self.options.adopt)
            for _ in range(min(len(planned), os.cpu_count() or 1))
        ]
        try:
            if len(places) == 1:
                return [self._outcome(metric, n, inputs, places) for metric in planned]
            return self._side_by_side(planned, n, inputs, places)
        finally:
            for place in places:
                self._close(place)

    def _close(self, place: Workplace) -> None:
        place.close()
        self.left += [place.left] if place.left else []

    def _side_by_side(
        self, planned: Sequence[Planned], n: int, inputs: Inputs, places: list[Workplace]
    ) -> list[Outcome]:
        # For weight: a single script needs no threads.
        from concurrent.futures import ThreadPoolExecutor

        pool = ThreadPoolExecutor(max_workers=len(places))
        try:
            return list(pool.map(lambda metric: self._outcome(metric, n, inputs, places), planned))
        except BaseException:
            # Whoever interrupts us does not wait for the others.
            self._abandoned = True
            pool.shutdown(wait=False, cancel_futures=True)
            for place in [*places, *self._taken]:
                place.abandon()
            raise
        finally:
            pool.shutdown()

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What there is to say about all scripts, once."""
        said = [
            Diagnostic(
                rule="script-not-repeatable",
                message=f"script {printable(path)} gave other numbers when it was run again",
                help="seed what is random, and sort what has no order of its own",
            )
            for path in self.differing
        ]
        said += [
            Diagnostic(
                rule="script-folder-left",
                message=f"the temporary folder {printable(folder)} was not removed in time",
                help="remove it, or set TMPDIR to a folder of another disk",
            )
            for folder in self.left
        ]
        if self.missing:
            said.append(
                Diagnostic(
                    rule="sandbox-missing",
                    message="metric scripts ran without a part of the sandbox, which this system "
                    f"lacks: {'; '.join(self.missing)}",
                    help="--sandbox require refuses to run them so, --sandbox off asks for none",
                )
            )
        return said

    @contextmanager
    def _place(self, places: list[Workplace]) -> Iterator[Workplace]:
        """One of the places that nobody works in; a new one for one whose supervisor was killed."""
        place = places.pop()
        self._taken.append(place)
        try:
            if self._abandoned:
                place.abandon()
            yield place
        finally:
            self._taken.remove(place)
            if not place.alive and not self._abandoned:
                self._close(place)
                place = Workplace(adopt=self.options.adopt)
            places.append(place)

    def _outcome(self, metric: Planned, n: int, inputs: Inputs, places: list[Workplace]) -> Outcome:
        reference: ScriptRef | msgspec.UnsetType = msgspec.UNSET
        script: Script | None = None
        try:
            kwargs = converted(UV_SCRIPT, metric.spec.kwargs, ScriptKwargs)
        except MetricFailure as error:
            return _failed(metric, error.rule, str(error), reference)
        try:
            if metric.named_by != "user":
                self._check_layers()
            with self._place(places) as place:
                script = self._find(metric, kwargs, place)
                reference = ScriptRef(
                    path=kwargs.script_path,
                    sha256=script.sha256,
                    modules_sha256=script.modules_sha256,
                    packages_sha256=script.packages_sha256,
                )
                check_pin(metric.spec.sha256, script)
                if not n:
                    return _outcome(metric, status="undefined", script=reference)
                by_user = metric.named_by == "user"
                required: Required = "no" if by_user else "one"
                given = (script, inputs, self.options, place, required)
                ran = execute(*given, logins=by_user)
                if self.options.verify_repeat:
                    again = execute(*given, logins=by_user)
                    if again.values != ran.values:
                        self.differing[kwargs.script_path] = None
        except RunError as error:
            reference = self._reference(kwargs, error.environment, error.finished, script)
            said = str(error) if _may_be_quoted(metric) else f"{error.plain}; {_NOT_QUOTED}"
            return _failed(metric, error.rule, f"{said}\n{self._repeat(script)}", reference)
        except MetricFailure as error:
            return _failed(metric, error.rule, self._why_not(metric, error, script), reference)
        except OSError as error:
            # Another script may have shut or removed what this one needs: the rest is not lost.
            message = f"the script could not be run: {printable(str(error))}"
            return _failed(metric, "script-failed", message, reference)
        return _outcome(
            metric,
            status="ok",
            values=dict(ran.values),
            n=dict.fromkeys(ran.values, n),
            script=self._reference(kwargs, ran.environment, ran.finished, script),
            notes=not_pinned(script),
        )

    def _why_not(self, metric: Planned, error: MetricFailure, script: Script | None) -> str:
        """Why a script did not run, and what to do about it."""
        if error.rule == "script-not-confined":
            return f"{error}\n{self._by_the_users_word(metric)}"
        message = str(error)
        if error.rule in _OF_ITS_TEXT and not _may_be_quoted(metric):
            message = f"{_OF_ITS_TEXT[error.rule]}; {_NOT_QUOTED}\n{self._repeat(script)}"
        if error.rule in _NEED_LOGINS and metric.named_by != "user":
            message += f"\n{_NO_LOGINS}; {self._by_the_users_word(metric)}"
        return message

    def _check_layers(self) -> None:
        """Nothing that a job brought is fetched where it is known that it will not run."""
        if self.options.sandbox == "off":
            raise not_confined("--sandbox off")
        if sys.platform != "linux":
            raise not_confined("only on Linux there is one")

    def _by_the_users_word(self, metric: Planned) -> str:
        if metric.registry is not None and metric.named_by != "current folder":
            named = f"--registry {in_command(metric.registry)}"
        else:
            named = f"--metric {in_command(msgspec.json.encode(metric.spec).decode())}"
        command = f"harbor-metrics compute {in_command(*self.sources)} {named}"
        return f"to run it by your own word: {printable(command)}"

    def _find(self, metric: Planned, kwargs: ScriptKwargs, place: Workplace) -> Script:
        outside = self.options.allow_outside
        if kwargs.git_url is None:
            assert metric.script is not None  # a script that is not there is a failure in the plan
            return metric.script
        free = outside or (metric.registry is None and metric.named_by == "user")
        return git.fetch(
            kwargs.git_url,
            kwargs.git_commit_id or "",
            kwargs.script_path,
            place,
            allow_outside=free,
            logins=metric.named_by == "user",
        )

    def _reference(
        self, kwargs: ScriptKwargs, prepared: Environment, finished: Finished, script: Script | None
    ) -> ScriptRef:
        for why in finished.missing:
            self.missing[why] = None
        sandbox = "+".join(finished.layers) or "none"
        if self.options.sandbox == "off":
            sandbox = "off"
        elif finished.filtered:
            sandbox += f", {FILTER}"
        return ScriptRef(
            path=kwargs.script_path,
            sha256=script.sha256 if script else "",
            modules_sha256=script.modules_sha256 if script else None,
            packages_sha256=script.packages_sha256 if script else None,
            lock_sha256=prepared.lock,
            uv=prepared.uv,
            python=prepared.python,
            sandbox=None
            if finished.lost
            else sandbox + (", network" if self.options.allow_network else ""),
        )

    def _repeat(self, script: Script | None) -> str:
        command = f"harbor-metrics script check {in_command(script.shown if script else '')}"
        for source in self.sources[:1]:
            command += f" --rewards {in_command(source)}"
        return f"to repeat it: {printable(command)}"


def _may_be_quoted(metric: Planned) -> bool:
    """Whether a script's words may be shown: lines of its text are among them where it fails.

    A job of a stranger's can name any script of the user's own.
    """
    if metric.named_by == "user" or metric.beside is None:
        return True
    # Nor is it known whether others may read a repository.
    folder = os.path.dirname(real_path(metric.beside))
    return metric.script is not None and is_below(metric.script.path, folder)


def _outcome(metric: Planned, **fields: Any) -> Outcome:
    return Outcome(
        name=metric.name,
        type=metric.spec.type,
        kwargs=metric.shown_kwargs,
        origin=metric.origin,
        **fields,
    )


def _failed(
    metric: Planned, rule: str, message: str, script: ScriptRef | msgspec.UnsetType
) -> Outcome:
    error = Failure(rule=rule, message=message)
    return _outcome(metric, status="failed", error=error, script=script)
