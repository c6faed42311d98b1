"""`uv-script` metrics x table -> outcomes: side by side, in the order they were asked for."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec

from ..diagnostics import Diagnostic, Severity
from ..evaluate import Planned
from ..metric import UV_SCRIPT, ScriptKwargs
from ..process import Finished, Workplace
from ..result import Failure, Outcome, ScriptRef
from ..signature import SpecError, converted
from ..syntax import printable
from ..table import Table
from . import git
from .environment import Environment
from .execution import Inputs, RunError, execute
from .file import Script, ScriptError, find
from .options import ScriptOptions


class ScriptRunner:
    """Runs scripts over tables, and remembers what the system lacked to confine them.

    `sources` are the paths that the trials came from; a failed script is repeated with them.
    """

    def __init__(self, options: ScriptOptions, sources: Sequence[str] = ()) -> None:
        self.options = options
        self.sources = list(sources)
        self.missing: dict[str, None] = {}
        self.differing: dict[str, None] = {}
        self._taken: list[Workplace] = []
        self._abandoned = False

    def __call__(self, planned: Sequence[Planned], table: Table) -> list[Outcome]:
        """An outcome a script, in order; a failed one never stops the others."""
        inputs = Inputs.of(table)
        n = len(table)
        # Before there are threads: a process with some is slower to start a supervisor.
        places = [
            Workplace(adopt=self.options.adopt)
            for _ in range(min(len(planned), os.cpu_count() or 1))
        ]
        try:
            if len(places) == 1:
                return [self._outcome(one, n, inputs, places) for one in planned]
            return self._side_by_side(planned, n, inputs, places)
        finally:
            for place in places:
                place.close()

    def _side_by_side(
        self, planned: Sequence[Planned], n: int, inputs: Inputs, places: list[Workplace]
    ) -> list[Outcome]:
        from concurrent.futures import ThreadPoolExecutor

        pool = ThreadPoolExecutor(max_workers=len(places))
        try:
            return list(pool.map(lambda one: self._outcome(one, n, inputs, places), planned))
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
        found = [
            Diagnostic(
                rule="script-not-repeatable",
                severity=Severity.WARNING,
                message=f"script {printable(path)} gave other numbers when it was run again",
                help="seed what is random, and sort what has no order of its own",
            )
            for path in self.differing
        ]
        if not self.missing:
            return found
        return [
            *found,
            Diagnostic(
                rule="sandbox-missing",
                severity=Severity.NOTE,
                message="metric scripts ran without a part of the sandbox, which this system "
                f"lacks: {'; '.join(self.missing)}",
                help="--sandbox require refuses to run them so, --sandbox off asks for none",
            ),
        ]

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
                place.close()
                place = Workplace(adopt=self.options.adopt)
            places.append(place)

    def _outcome(self, one: Planned, n: int, inputs: Inputs, places: list[Workplace]) -> Outcome:
        reference: ScriptRef | msgspec.UnsetType = msgspec.UNSET
        script: Script | None = None
        try:
            kwargs = converted(UV_SCRIPT, one.spec.kwargs, ScriptKwargs)
        except SpecError as error:
            return _failed(one, error.rule, str(error), reference)
        try:
            with self._place(places) as place:
                script = self._find(one, kwargs, place)
                reference = ScriptRef(path=kwargs.script_path, sha256=script.sha256)
                _check_pin(one, script)
                if not n:
                    return _outcome(one, status="undefined", script=reference)
                ran = execute(script, inputs, self.options, place)
                if self.options.verify_repeat:
                    again = execute(script, inputs, self.options, place)
                    if again.values != ran.values:
                        self.differing[kwargs.script_path] = None
        except RunError as error:
            reference = self._reference(kwargs, error.environment, error.finished, script)
            return _failed(one, error.rule, f"{error}\n{self._repeat(script)}", reference)
        except ScriptError as error:
            return _failed(one, error.rule, str(error), reference)
        return _outcome(
            one,
            status="ok",
            values=dict(ran.values),
            n=dict.fromkeys(ran.values, n),
            script=self._reference(kwargs, ran.environment, ran.finished, script),
        )

    def _find(self, one: Planned, kwargs: ScriptKwargs, place: Workplace) -> Script:
        outside = self.options.allow_outside
        if kwargs.git_url is None:
            return find(kwargs.script_path, one.registry, allow_outside=outside)
        free = outside or one.registry is None
        return git.fetch(
            kwargs.git_url,
            kwargs.git_commit_id or "",
            kwargs.script_path,
            place,
            allow_outside=free,
        )

    def _reference(
        self, kwargs: ScriptKwargs, made: Environment, finished: Finished, script: Script | None
    ) -> ScriptRef:
        for why in finished.missing:
            self.missing[why] = None
        sandbox = "+".join(finished.layers)
        if not sandbox:
            sandbox = "off" if self.options.sandbox == "off" else "none"
        return ScriptRef(
            path=kwargs.script_path,
            sha256=script.sha256 if script else "",
            lock_sha256=made.lock,
            uv=made.uv,
            python=made.python,
            sandbox=None
            if finished.lost
            else sandbox + (", network" if self.options.allow_network else ""),
        )

    def _repeat(self, script: Script | None) -> str:
        command = ["harbor-metrics", "script", "check", script.shown if script else ""]
        for source in self.sources[:1]:
            command += ["--rewards", source]
        return f"to repeat it: {printable(shlex.join(command))}"


def _check_pin(one: Planned, script: Script) -> None:
    pin = one.spec.sha256
    if pin is not None and pin.lower() != script.sha256:
        raise ScriptError(
            f"the script has the sha256 {script.sha256}, and not {printable(pin)!r}, which the "
            "metric names: it was changed since, and was not run",
            "script-pin",
        )


def _outcome(one: Planned, **fields: Any) -> Outcome:
    return Outcome(
        name=one.name, type=one.spec.type, kwargs=one.spec.kwargs, origin=one.origin, **fields
    )


def _failed(
    one: Planned, rule: str, message: str, script: ScriptRef | msgspec.UnsetType
) -> Outcome:
    error = Failure(rule=rule, message=message)
    return _outcome(one, status="failed", error=error, script=script)
