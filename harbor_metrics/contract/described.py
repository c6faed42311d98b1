"""A plain function as a metric or a reducer: its name, its kwargs, and whose it is."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from . import strangers
from .strangers import Loaded

_OURS = ("harbor_metrics.metrics.", "harbor_metrics.reducers.")


class Described(msgspec.Struct, frozen=True, kw_only=True):
    """A function over rewards, the struct that its kwargs are checked against, and its plugin."""

    name: str
    function: Callable[..., Any]
    kwargs: type[msgspec.Struct]
    plugin: Loaded | None = None

    @property
    def description(self) -> str:
        """The docstring of the function, without its indentation."""
        return inspect.getdoc(self.function) or ""

    @property
    def is_ours(self) -> bool:
        """Whether the function belongs to this package, and not to a plugin or the user."""
        return self.function.__module__.startswith(_OURS)

    @property
    def origin(self) -> str:
        """The name and the plugin that brings it, for a sentence that complains."""
        return f"`{self.name}`" + (f" of {self.plugin.plugin}" if self.plugin else "")

    def call(self, rewards: Any, arguments: Mapping[str, Any]) -> Any:
        """What the function returns; a stranger's is guarded and its answer checked.

        Raises:
            MetricFailure: a stranger's function raises or returns what is not a number.
        """
        if self.is_ours:
            return self.function(rewards, **arguments)
        return strangers.call(self.origin, self.function, rewards, arguments)
