"""How many trials a Harbor job planned, and over how many of them its numbers are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from types import MappingProxyType

import msgspec

from ..numbers import exact
from ..registries.registry import Dataset
from ..trials.source import Job, Reported, Source
from .reach import Missing
from .row import Answer, Known, Unknown
from .tables import incomplete

_CANCELLED = "CancelledError"
_AS_SAID = "the other numbers of the job say so, which are not all verified"


class Plan:
    """What a job can have planned, by its lock, configuration, registry and trials.

    `source` is the job with no more missing trials than its numbers can be over; `lacking` says why
    these are not the trials on disk, empty where they are. `n_late` trials ended when the job had
    written its numbers.
    """

    def __init__(
        self,
        source: Source,
        numbers: Sequence[Reported],
        entries: Sequence[Dataset],
        more_errors: Mapping[str, Sequence[str]] = MappingProxyType({}),
    ) -> None:
        # By trial, with those of its steps, which Harbor counts since 0.26.
        self._more_errors = more_errors
        self._job = source.job or Job()
        self._trials = source.trials
        self._found = len(source.trials) + len(source.unread)
        self._said = {each.metric: each.value for each in numbers if "evals_key" not in each.params}
        self._absent = incomplete(source)
        self._by_registry = _by_registry(self._job, entries)
        claims = [self._of("n_completed"), self._of("n_total"), self._most(self.total)]
        over = min((n for n in claims if n is not None), default=self._found)
        job = msgspec.structs.replace(
            self._job, n_total_trials=over if over > self._found else None
        )
        self.source = msgspec.structs.replace(source, job=job)
        self.lacking = incomplete(self.source)
        self.missing = Missing(self.source)
        self.counted = cache(self._counted)
        self.n_late = 0
        if self._job.running and 0 < self._found - over <= (self._of("n_running") or 0):
            self.n_late = self._found - over
            noun = f"{over} of the {self._found} trials on disk"
            self.lacking = f"the run is not finished: its numbers are over {noun}"

    def _of(self, metric: str) -> int | None:
        value = self._said.get(metric)
        return value if isinstance(value, int) else None

    def _most(self, total: Answer) -> int | None:
        """How many trials there are at most, whatever the job reports; None where it can be so."""
        if self._job.n_planned is not None:
            return self._job.n_planned
        if self._by_registry is not None:
            return self._by_registry
        return self._found if isinstance(total, Known) and total.value is None else None

    @cached_property
    def total(self) -> Answer:
        """The number of planned trials, None where the one that is reported cannot be it."""
        job, said = self._job, self._of("n_total")
        if job.n_planned is not None:
            return Known(job.n_planned, "by the lock or the tasks of the job")
        if said is None:
            return Known(self._found)
        each, n_tasks = job.n_each, len({(t.dataset, t.task) for t in self._trials})
        if said % each:
            rule = f"each task has {each} trials by config.json, and so the number is a multiple"
            return Known(None, rule)
        if said < each * n_tasks:
            return Known(None, f"{n_tasks} tasks have {each} trials each by config.json")
        by_registry = self._by_registry
        if by_registry is not None and said != by_registry:
            reason = f"by the tasks of the registry it is {by_registry}"
            # The registry may have grown since then.
            same = said == self._found
            return Unknown(reason, by_registry) if same else Known(by_registry, reason)
        if by_registry is None and said > self._found:
            return Unknown(self._absent, self._found)
        return Known(self._found if by_registry is None else by_registry)

    @cached_property
    def progress(self) -> Mapping[str, Answer]:
        """How many trials ran, waited, were cancelled or tried again when the job was written."""
        if not self._trials:
            of_none = Unknown("no trial is on disk")
            return dict.fromkeys(("n_running", "n_pending", "n_cancelled", "n_retries"), of_none)
        finished = Known(0, "the run is finished")
        running = Unknown("what was running has no result")
        return {
            "n_running": running if self._job.running else finished,
            "n_pending": self._pending(),
            "n_cancelled": self._cancelled(),
            "n_retries": self._retries(),
        }

    def _counted(self, metric: str) -> Known:
        """What the trials have of something together."""
        if metric == "n_completed":
            return Known(len(self._trials))
        if metric == "n_errors":
            return Known(sum(trial.error is not None for trial in self._trials))
        values = [v for trial in self._trials if (v := getattr(trial.usage, metric)) is not None]
        return Known(exact.total(values)) if values else Known(None, "no trial says it")

    def _pending(self) -> Answer:
        total, done, running = map(self._of, ("n_total", "n_completed", "n_running"))
        if total is None or done is None or running is None:
            return Unknown(_AS_SAID)
        left = max(total - done - running, 0)
        if self._of("n_pending") != left:
            return Known(left, "n_total_trials less those that are completed or running")
        verified = total == done == len(self._trials) and not running
        return Known(left) if verified else Unknown(_AS_SAID, left)

    def _cancelled(self) -> Answer:
        n = sum(_CANCELLED in self._more_errors.get(str(t.trial), [t.error]) for t in self._trials)
        said = self._of("n_cancelled")
        if said is not None and said > n and self._job.running:
            return Unknown("a trial that is being cancelled has no result", n)
        return Known(n)

    def _retries(self) -> Answer:
        if self._job.n_retries == 0:
            return Known(0, "by config.json no trial is tried again")
        return Unknown("of a trial that was tried again only the last result is kept")


def _by_registry(job: Job, entries: Sequence[Dataset]) -> int | None:
    """How many trials the tasks of the job's datasets make; None where these are not all known."""
    # How many tasks the entries of a name have, and those of one version.
    sizes: dict[tuple[str | None, str | None], set[int]] = {}
    for entry in entries:
        for version in {None, entry.version} if entry.tasks else ():
            sizes.setdefault((entry.name, version), set()).add(len(entry.tasks))
    n = 0
    for named in job.datasets:
        tasks = sizes.get((named.name, named.version), set())
        if not named.whole or len(tasks) != 1:
            return None
        n += next(iter(tasks))
    return n * job.n_each or None
