"""Which sources a trial was found in, as several can have it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property

from .counts import identity_in_group, identity_of
from .source import Source
from .trial import GroupKey, LineTrials, Trial, group_key


class Owners:
    """Which sources have a trial; `none`: whether there is a source without a job."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.none = any(source.job is None for source in sources)
        self._sources = [s for s in sources if not isinstance(s.trials, LineTrials)]

    def of(self, trial: Trial, groups: Collection[GroupKey]) -> list[Source]:
        """Those that have this trial, several where it was found more than once.

        `groups` are those that have become the group of the trial: a copy may be in another one.
        """
        identity = identity_in_group(trial)
        if identity is None:
            return []
        own = {group_key(trial), *groups}
        places = {place for group in own for place in self._known.get((*group, *identity), ())}
        return [self._sources[place] for place in sorted(places)]

    @cached_property
    def _known(self) -> dict[tuple[str | None, ...], list[int]]:
        known: dict[tuple[str | None, ...], list[int]] = {}
        for place, source in enumerate(self._sources):
            for trial in source.trials:
                identity = identity_of(trial)
                if identity is not None:
                    known.setdefault(identity, []).append(place)
        return known
