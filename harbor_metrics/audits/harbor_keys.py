"""Which group a key of result.json is of, where Harbor wrote the name of its model otherwise."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping
from itertools import islice

from ..evaluation.result import Group


class Keys:
    """The groups of a job, to be found by the keys that result.json has.

    Args:
        groups: those of the trials, by their own keys: agent, model and dataset.
        models: the names that the job configured, one of which a group without a model has.
    """

    def __init__(self, groups: Mapping[str, Group], models: Collection[str]) -> None:
        self._groups = groups
        self._configured = _Names({_bare(model): [] for model in models})
        # By what stands before and behind the model, which may hold `__` itself.
        self._parts: dict[str, dict[str, _Part]] = {}
        for name, group in groups.items():
            tail = f"__{group.dataset.name if group.dataset else 'adhoc'}"
            parts = self._parts.setdefault(f"{group.agent}__", {})
            parts.setdefault(tail, _Part()).add(name, group.model)
        self._heads = sorted({len(head) for head in self._parts})
        self._tails = {head: sorted(set(map(len, tails))) for head, tails in self._parts.items()}

    def group_of(self, key: str) -> str | None:
        """The group that a key is of: by its name, or as the only one with its agent and dataset
        whose model may be called so.
        """
        if key in self._groups:
            return key
        found: dict[str, None] = {}
        for n in self._heads:
            for m in self._tails.get(key[:n], ()):
                part = self._parts[key[:n]].get(key[-m:])
                if part is not None:
                    given = _bare(key[n:-m])
                    found |= dict.fromkeys(islice(part.named(given, self._configured), 2))
        return next(iter(found)) if len(found) == 1 else None


class _Names:
    """Bare names of models, and what is called so."""

    def __init__(self, of: dict[str, list[str]]) -> None:
        self._of = of
        self._lengths = sorted({len(bare) for bare in of})
        # Those that end alike stand together.
        self._reversed = sorted(bare[::-1] for bare in of)

    def ending(self, given: str) -> Iterator[str]:
        """The names that a given one ends with, or that end with it."""
        for n in self._lengths:
            if n < len(given) and (bare := given[len(given) - n :]) in self._of:
                yield bare
        end = given[::-1]
        for other in islice(self._reversed, bisect_left(self._reversed, end), None):
            if not other.startswith(end):
                break
            yield other[::-1]

    def called(self, given: str) -> Iterator[str]:
        """What has one of these names."""
        for bare in self.ending(given):
            yield from self._of[bare]


class _Part:
    """The groups of one agent and dataset."""

    def __init__(self) -> None:
        self._all: list[str] = []
        self._without: list[str] = []
        self._by_model: dict[str, list[str]] = {}
        self._names: _Names | None = None

    def add(self, name: str, model: str | None) -> None:
        """Add a group; none is added when one was asked for."""
        self._all.append(name)
        of = self._by_model.setdefault(_bare(model), []) if model else self._without
        of.append(name)

    def named(self, given: str, configured: _Names) -> Iterator[str]:
        """The groups whose model may be called so; all, where nothing is given."""
        if not given:
            yield from self._all
            return
        self._names = self._names or _Names(self._by_model)
        yield from self._names.called(given)
        if any(True for _ in configured.ending(given)):
            yield from self._without


def _bare(model: str) -> str:
    """A model's name without what versions of Harbor write otherwise: `z-ai/glm`, `z-ai-glm`."""
    return re.sub(r"[^0-9a-z]", "", model.lower())
