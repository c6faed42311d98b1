"""A metric that will run: which one, by whose word, and what computes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from ..contract.metric import Bound
from ..contract.spec import MetricSpec
from ..documents.wording import without_passwords_in
from ..errors import MetricFailure
from .result import Origin, ScriptRef

if TYPE_CHECKING:
    from ..registries.script_file import Script

# By whose word it runs: the user's, that of a registry which only a job names, or of a job's own
# configuration. The latter two are data that came with the job.
# Who stands in a folder has named nothing in it: a registry that lies elsewhere has not either.
NamedBy = Literal["user", "registry of a job", "job", "current folder"]


class Planned(msgspec.Struct, frozen=True, kw_only=True):
    """A metric that will run: its name as written, the entry that it means, who asked for it.

    Either `bound` is what computes it; or `failure` says why nothing can; or it is a script, which
    lies in the file `script` or in a git repository. `file` is where a user's own function stands.
    Scripts are looked for `beside` the registry, or the configuration of a job, that names them.
    """

    name: str
    spec: MetricSpec
    origin: Origin
    registry: str | None = None
    beside: str | None = None
    named_by: NamedBy = "user"
    bound: Bound | None = None
    script: Script | None = None
    failure: MetricFailure | None = None
    file: ScriptRef | None = None

    @property
    def entry(self) -> str:
        """What it is asked for with, as one text."""
        # For weight: most computations have one source. It writes every text and every integer.
        import json

        return json.dumps([self.spec.type, self.spec.kwargs], sort_keys=True)

    @property
    def runs_script(self) -> bool:
        """Whether a script computes it, as far as is known before it runs."""
        return self.bound is None and self.failure is None

    @property
    def reads_labels(self) -> bool:
        """Whether it may ask for labels of trials; a script is given all there are."""
        return self.runs_script or (self.bound is not None and self.bound.reads_labels)

    @property
    def reads_texts(self) -> bool:
        """Whether it may compare texts of trials; a script is given all there are."""
        return self.runs_script or (self.bound is not None and self.bound.reads_texts)

    @property
    def of_strangers(self) -> bool:
        """Whether code that is not ours computes it, which may look at every trial."""
        return self.runs_script or (self.bound is not None and not self.bound.is_ours)

    @property
    def shown_kwargs(self) -> dict[str, Any]:
        """The kwargs as a result may hold them: without a password in an address."""
        hidden: dict[str, Any] = without_passwords_in(self.spec.kwargs)
        return hidden


def each_once(metrics: Sequence[Planned], asked: Sequence[Planned]) -> list[Planned]:
    """The metrics, and of those that were asked for the ones that do not run already.

    What runs already, and is asked for, runs by the word of who asks, by the name, and in the order
    in which it was asked for.
    """
    whole = list(metrics)
    places: list[int] = []
    again: set[int] = set()
    for metric in asked:
        alike = [i for i, other in enumerate(whole) if _computes(other, metric)]
        same = alike[0] if alike else len(whole)
        if not alike:
            whole.append(metric)
        elif whole[same].origin != "command-line" and metric.origin == "command-line":
            whole[same] = _by_the_word_of(whole[same], metric)
        again.update(alike[1:])
        if same not in places:
            places.append(same)
    in_order = [whole[place] for place in places]
    for place, metric in zip(sorted(places), in_order, strict=True):
        whole[place] = metric
    return [metric for i, metric in enumerate(whole) if i not in again]


def _by_the_word_of(metric: Planned, asked: Planned) -> Planned:
    """The metric as it was asked for: a registry says the same otherwise, and is no user."""
    if metric.bound is not None:
        return asked
    return msgspec.structs.replace(
        metric, name=asked.name, named_by=asked.named_by, origin=asked.origin
    )


def _computes(other: Planned, asked: Planned) -> bool:
    """Whether it computes what is asked for: the same function of the same kwargs."""
    if asked.bound is not None:
        return asked.bound == other.bound
    return asked.spec == other.spec and asked.script == other.script and other.failure is None
