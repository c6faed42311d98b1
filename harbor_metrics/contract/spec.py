"""What an entry of a `metrics` array says, before anybody knows what its name means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from ..trials.table import Missing
from .parameters import Key

UV_SCRIPT = "uv-script"
DEFAULT_TYPE = "mean"
# The types that Harbor knows, with the kwargs that it takes for each.
_IN_HARBOR: dict[str, set[str]] = {
    **{type_: set() for type_ in ("sum", "min", "max", "mean")},
    UV_SCRIPT: {"script_path"},
}
HARBOR_TYPES = tuple(_IN_HARBOR)
# The fields of an entry; Harbor reads the first two of them.
FIELDS = ("type", "kwargs", "sha256")
HARBOR_FIELDS = FIELDS[:2]
# The fields of a dataset that hold entries; Harbor reads the first of them.
ARRAYS = ("metrics", "extra_metrics")
# What a metric reads: a column of rewards, one whose attempts it reduces itself, or all of a trial;
# `inner`: what the metric reads that it is given.
Takes = Literal["column", "attempts", "table", "inner"]


class MetricSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An entry of a `metrics` array: a metric's type, what to pass it, the digest of its script."""

    type: str = DEFAULT_TYPE
    kwargs: dict[str, Any] = {}
    sha256: str | None = None


def in_harbor(entry: Mapping[str, Any]) -> bool:
    """Whether Harbor can load a well-formed entry whole and make a metric of it."""
    takes = _IN_HARBOR.get(entry.get("type", DEFAULT_TYPE))
    return takes is not None and entry.get("kwargs", {}).keys() <= takes


class ScriptKwargs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The kwargs of `uv-script`; with a `git_url` the path is inside that repository."""

    script_path: Annotated[
        str, Meta(min_length=1, description="The script, relative to the registry's folder.")
    ]
    git_url: Annotated[str, Meta(description="A repository that holds the script.")] | None = None
    git_commit_id: Annotated[str, Meta(description="The full commit of the repository.")] | None = (
        None
    )


class CommonKwargs(msgspec.Struct, frozen=True, kw_only=True):
    """The kwargs that every metric over one reward key takes."""

    key: Key | None = None
    missing: (
        Annotated[
            Missing,
            Meta(
                description="A trial without the reward counts as 0 (`zero`, Harbor's rule), "
                "not at all (`skip`), or fails the metric (`error`)."
            ),
        ]
        | None
    ) = None
    reducer: ReducerKwarg | None = None


COMMON: dict[Takes, tuple[str, ...]] = {
    "column": ("key", "missing", "reducer"),
    "attempts": ("key", "missing"),
    "table": (),
    "inner": ("key", "missing", "reducer"),
}


class ReducerSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A reducer with what to pass it."""

    type: str
    kwargs: dict[str, Any] = {}


ReducerKwarg = Annotated[
    str | ReducerSpec,
    Meta(
        description="What makes a task's attempts one value: a reducer's name, or an object with "
        "`type` and `kwargs`."
    ),
]
