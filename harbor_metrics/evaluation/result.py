"""The result document: every number with its count, its origin and what it was computed from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal, Self

import msgspec
from msgspec import Meta

from .. import __version__
from ..documents.diagnostics import Diagnostic, RuleName, Severity, found_in
from ..documents.document import parse, repeated_keys
from ..documents.files import read_bytes, write_atomically
from ..documents.limits import check_limits
from ..documents.wording import encodable
from ..errors import InputError, NeedsRowsError
from ..numbers.exact import Number
from ..numbers.uncertainty import Over
from ..trials.table import Missing
from .contradictions import check_counts, contradictions

Origin = Literal["registry", "job", "extra", "command-line", "default"]
# Where a stranger may name metrics.
OF_REGISTRY: tuple[Origin, ...] = ("registry", "extra", "job")
Status = Literal["ok", "undefined", "failed"]


# What is said of a source that has not what was planned, which may have no trial, and so no group.
_INCOMPLETE = {"job-not-finished", "trial-without-result", "trials-missing"}
# How many there are of something, and a share of all.
Count = Annotated[int, Meta(ge=0, lt=1 << 53)]
Share = Annotated[int, Meta(ge=0, le=1)] | Annotated[float, Meta(ge=0, le=1)]


class Struct(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of the result document."""


class Tool(Struct, frozen=True, kw_only=True):
    """What wrote the document."""

    name: str = "harbor-metrics"
    version: str = __version__


class EngineRef(Struct, frozen=True, kw_only=True):
    """The engine that held the trials of a relation."""

    name: str
    version: str


class SourceRef(Struct, frozen=True, kw_only=True):
    """Where trials came from, and the digest of what: a file's bytes, or a job's trials as read.

    Older documents do not say of what. Of a relation there is instead the digest of what its engine
    answered, which is the same on every engine.
    """

    path: str
    kind: str
    trials: Count
    sha256: str | None
    digest_of: Literal["bytes", "trials"] | msgspec.UnsetType = msgspec.UNSET
    answers_sha256: str | msgspec.UnsetType = msgspec.UNSET
    engine: EngineRef | msgspec.UnsetType = msgspec.UNSET


class DatasetRef(Struct, frozen=True, kw_only=True):
    """The dataset of a group, and the registry file that its metrics were found in."""

    name: str
    version: str | None = None
    registry: str | None = None


class Counts(Struct, frozen=True, kw_only=True):
    """Trials planned, read, unreadable, with rewards, without, with an exception; and tasks.

    `left_out`, where there are any: those without of which no number is, since the harness leaves
    them out of its own.
    """

    expected: Count | None
    found: Count
    unread: Count
    scored: Count
    missing: Count
    errored: Count
    tasks: Count
    left_out: Count | msgspec.UnsetType = msgspec.UNSET

    @property
    def counting(self) -> int:
        """How many trials the numbers are over."""
        return self.found - (self.left_out or 0)

    @property
    def has_more(self) -> bool:
        """Whether there are more trials than were planned."""
        return self.expected is not None and self.found > self.expected

    @property
    def unrewarded(self) -> int:
        """How many of these have no rewards, which most metrics count as 0."""
        return self.missing - (self.left_out or 0)


class Spent(Struct, frozen=True, kw_only=True):
    """Totals over the trials that say what they used; null where none does."""

    n_input_tokens: Number | None = None
    n_cache_tokens: Number | None = None
    n_output_tokens: Number | None = None
    cost_usd: Number | None = None


class Failure(Struct, frozen=True, kw_only=True):
    """Why a metric failed."""

    rule: RuleName
    message: str


def not_as_planned(incomplete: Iterable[Counts]) -> str:
    """What is not as it was planned where trials have these counts, in words."""
    more, there = "there are more trials than were planned", "planned trials are missing"
    found = dict.fromkeys(more if counts.has_more else there for counts in incomplete)
    return " and ".join(found or [there])


class ScriptRef(Struct, frozen=True, kw_only=True):
    """The script that computed a metric, by its path as written, and what it ran in.

    Null is what was not used or, where the script was not run, not there.
    """

    path: str
    sha256: str
    modules_sha256: str | None = None
    packages_sha256: str | None = None
    lock_sha256: str | None = None
    python: str | None = None
    uv: str | None = None
    sandbox: str | None = None


class PluginRef(Struct, frozen=True, kw_only=True):
    """The installed distribution that a metric's function came from."""

    distribution: str
    version: str


class Uncertainty(Struct, frozen=True, kw_only=True):
    """How sure a value is: standard error, and an interval at a level by a named method.

    `over`: what would vary, tasks or the attempts at these. `n_effective`: how many independent
    rewards would vary as much. Older documents say neither. `reason` says why a part is null.
    """

    stderr: Number | None
    low: Number | None
    high: Number | None
    level: Share
    method: str
    over: Over | msgspec.UnsetType = msgspec.UNSET
    n_effective: Number | msgspec.UnsetType | None = msgspec.UNSET
    reason: str | None = None


class Reading(Struct, frozen=True, kw_only=True):
    """A value once more, with the trials that lack the reward counted the other way."""

    missing: Missing
    value: Number
    n: Count


class Basis(Struct, frozen=True, kw_only=True):
    """What a value is over: trials, their tasks, and how many of the trials pass.

    `passed` where the value is the share that does. `otherwise` where trials lack the reward.
    """

    trials: Count
    tasks: Count
    passed: Count | msgspec.UnsetType = msgspec.UNSET
    otherwise: Reading | msgspec.UnsetType = msgspec.UNSET


class Outcome(Struct, frozen=True, kw_only=True):
    """What one metric gave; `reasons` has an entry for each value that is null.

    `notes` are what a reader of the numbers should know, such as that they rest on few tasks.
    """

    name: str
    type: str
    kwargs: dict[str, Any]
    origin: Origin
    status: Status
    values: dict[str, Number | None] = {}
    n: dict[str, Count] = {}
    basis: dict[str, Basis] | msgspec.UnsetType = msgspec.UNSET
    reasons: dict[str, str] = {}
    uncertainty: dict[str, Uncertainty] = {}
    notes: list[str] = []
    higher_is_better: bool | msgspec.UnsetType = msgspec.UNSET
    plugins: list[PluginRef] | msgspec.UnsetType = msgspec.UNSET
    error: Failure | msgspec.UnsetType = msgspec.UNSET
    script: ScriptRef | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        for wrong in contradictions(self):
            raise ValueError(wrong)

    @property
    def needs_rows(self) -> bool:
        """Whether it failed for no other reason than that the trials were not kept."""
        return self.error is not msgspec.UNSET and self.error.rule == NeedsRowsError.RULE

    @property
    def known_basis(self) -> dict[str, Basis]:
        """What each value is over; empty where the document is older than that."""
        return self.basis if isinstance(self.basis, dict) else {}


class Group(Struct, frozen=True, kw_only=True):
    """One agent and model on one dataset.

    `provider` is of the model, where the log writes it before the model's name.
    """

    agent: str | None
    model: str | None
    provider: str | msgspec.UnsetType = msgspec.UNSET
    dataset: DatasetRef | None
    evals_key: str | None
    complete: bool
    counts: Counts
    exceptions: dict[str, Count]
    usage: Spent
    pass_at_k: dict[str, Share]
    metrics: list[Outcome]


class Written(Struct, frozen=True, kw_only=True):
    """A whole document, as it is written to a file and read from one; NOUN is what it is called."""

    NOUN: ClassVar[str]

    def to_json(self) -> str:
        """The document as text: two spaces, shortest numbers, a newline at the end."""
        try:
            encoded = msgspec.json.encode(self)
        except UnicodeEncodeError:
            # Names of files need not be UTF-8.
            encoded = msgspec.json.encode(encodable(msgspec.to_builtins(self)))
        return msgspec.json.format(encoded, indent=2).decode() + "\n"

    def write(self, path: str) -> None:
        """Replace the file at `path` as a whole, or leave it as it is.

        Raises:
            OutputError: it cannot be written.
        """
        write_atomically(path, self.to_json().encode())

    def check(self) -> None:
        """Look at what the types of a document do not say.

        Raises:
            ValueError: it contradicts itself.
        """

    @classmethod
    def read(cls, path: str) -> Self:
        """The inverse of `write`.

        Raises:
            InputError: it cannot be read, or is not such a document.
        """
        data = read_bytes(path)
        try:
            check_limits(data)
            document = msgspec.json.decode(data, type=cls)
            document.check()
        except InputError as error:
            raise InputError(f"{path} is not a {cls.NOUN} document: {error}") from error
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            _, diagnostics = parse(data, path)
            reason = diagnostics[0].message if diagnostics else str(error)
            raise InputError(f"{path} is not a {cls.NOUN} document: {reason}") from error
        # A number that stands twice is one of two, and the document does not say which.
        for repeated in repeated_keys(data, path):
            raise InputError(f"{path} is not a {cls.NOUN} document: {repeated.message}")
        return document


class Result(Written, frozen=True, kw_only=True):
    """Everything that one computation found; shows itself as a table in a notebook."""

    NOUN = "result"

    schema_version: Literal["1"] = "1"
    tool: Tool = Tool()
    sources: list[SourceRef]
    groups: list[Group]
    diagnostics: list[dict[str, Any]] = []

    def check(self) -> None:
        """See `Written`."""
        found_in(self.diagnostics)
        for i, group in enumerate(self.groups):
            check_counts(group.counts, f"$.groups[{i}].counts")

    @property
    def found(self) -> list[Diagnostic]:
        """The diagnostics as objects."""
        return found_in(self.diagnostics)

    @property
    def ok(self) -> bool:
        """Whether nothing was found that an exit code must tell."""
        return (
            not any(d.severity == Severity.ERROR for d in self.found)
            and not any(o.status == "failed" for g in self.groups for o in g.metrics)
            and not any(g.counts.unread or not g.counts.scored for g in self.groups)
        )

    @property
    def complete(self) -> bool:
        """Whether every planned trial was found and has been read."""
        groups = all(group.complete for group in self.groups)
        return groups and not any(said.rule in _INCOMPLETE for said in self.found)

    @property
    def not_as_planned(self) -> str:
        """What is not as it was planned, in words."""
        return not_as_planned(group.counts for group in self.groups if not group.complete)

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with a row for each value, as in the CSV.

        Args:
            backend: `pandas`, `polars` or `pyarrow`; None for the first that is installed.

        Raises:
            UsageError: there is no such library.
            InputError: it, narwhals or nanoarrow is not installed.
        """
        from ..engines.frames import frame_of

        return frame_of(self, backend)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        from ..render.frame import arrow_stream

        return arrow_stream(self, requested_schema)

    def _repr_html_(self) -> str:
        from ..render.notebook import html

        return html(self)

    def _repr_markdown_(self) -> str:
        from ..render.notebook import markdown

        return markdown(self)

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        from ..render.notebook import text

        printer.text(text(self))
