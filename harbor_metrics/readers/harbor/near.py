"""Where the files may lie that a job names: in itself, or near it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache

from ...documents.paths import (
    holds_everything,
    is_below,
    leads_inside,
    leads_nowhere,
    may_be_there,
    real_path,
)
from .documents import fields, looks_like_job
from .folders import job_folders

# Of a path that a system takes.
_LONGEST = 4_096


class Near:
    """Where what a job names may lie: in the job, or in a folder above it.

    Not in one that holds all that a person has, and not hidden: a job may come from a stranger, who
    can name any file of its reader. Nor is it looked for from the current directory, which may be a
    stranger's when the job is not; nor in another job beside it. What a job names it names from
    where it ran: where it still lies as its `jobs_dir` says, that folder is asked first and, if the
    path is there, alone.
    """

    def __init__(self, job: str) -> None:
        folder = own = real_path(job)
        self._above: list[str] = []
        while folder != (folder := os.path.dirname(folder)):
            self._above.append(folder)
        self._ran_in = _ran_in(own)
        if self._ran_in in self._above:
            self._above = self._above[self._above.index(self._ran_in) :]
        self._own, self._is_job = own, cache(_is_job)
        self._roots = [own, *(each for each in self._above if not holds_everything(each))]

    def places(self, path: str) -> Iterator[str]:
        """What there is, or may be, of a path from each folder above the job, the nearest first."""
        return (place for place, is_read in self._asked(path) if is_read)

    def strays(self, path: str) -> list[str]:
        """Links on the way to such places that lead away, or to nowhere: what is there is not read.

        The job may have run with it, where something lies at another of the places, too.
        """
        return [place for place, is_read in self._asked(path) if not is_read]

    def _asked(self, path: str) -> Iterator[tuple[str, bool]]:
        """Each place, and whether it is one that is read or a link that is not."""
        for folder in self._above[:1] if os.path.isabs(path) else self._above:
            place = os.path.join(folder, path)
            is_near = any(leads_inside(place, r) for r in self._roots)
            is_read = is_near and may_be_there(place) and not leads_nowhere(place)
            if not is_read:
                place = next(filter(self._leads_away, _ways(folder, path)), "")
            if not place or self._is_of_another(place, folder):
                continue
            yield place, is_read
            if folder == self._ran_in:
                return

    def _leads_away(self, place: str) -> bool:
        """Whether what lies in one of the folders that are asked is a link out of them all."""
        if not os.path.islink(place) or not any(is_below(place, r) for r in self._roots):
            return False
        return leads_nowhere(place) or not any(leads_inside(place, r) for r in self._roots)

    def _is_of_another(self, place: str, folder: str) -> bool:
        """Whether it lies in another job, or a link on the way to it does."""
        for way in {real_path(place), *map(real_path, _ways(folder, place[len(folder) :]))}:
            # Up to what holds the job that asks, too.
            while not is_below(self._own, way) and not is_below(way, self._own):
                if self._is_job(way):
                    return True
                way = os.path.dirname(way)
        return False


def _ways(folder: str, path: str) -> list[str]:
    """What a path from a folder leads through, and to; `..` is left to who follows it."""
    parts = path.split("/")
    return [os.path.join(folder, *parts[:n]) for n in range(1, len(parts) + 1)]


def _is_job(path: str) -> bool:
    """Whether a folder is a job, or one of jobs."""
    try:
        return looks_like_job(path) or any(looks_like_job(f"{path}/{n}") for n in job_folders(path))
    except OSError:
        return False  # whoever reads what lies there says why


def _ran_in(job: str) -> str | None:
    """The folder that a job ran in, if it still lies there as it says itself."""
    said = fields(f"{job}/config.json").get("jobs_dir")
    folder = os.path.dirname(job)
    if not isinstance(said, str) or os.path.isabs(said) or len(said) > _LONGEST:
        return None
    inside = os.path.normpath(said)
    if inside == os.curdir:
        return folder
    return folder[: -len(inside) - 1] or "/" if folder.endswith(f"/{inside}") else None
