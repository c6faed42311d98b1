"""The folders in a job, and in a folder of jobs: which can be trials, and which lead elsewhere."""

from __future__ import annotations

import errno
import os

from ...documents.paths import leads_nowhere, leads_out

# What Harbor writes in a job and in a trial; and where it keeps the trials that it tried again.
OF_HARBOR = ("config.json", "exception.txt", "job.log", "lock.json", "result.json", "trial.log")
_ARCHIVE = "_retries"


def trial_folders(job: str) -> tuple[list[str], set[str]]:
    """The names of the folders that a job's trials are read from, and of those that lead out.

    Of what links lead out to no word is read: it may be anybody's.
    """
    links: set[str] = set()
    names = folders_of_job(job, links)
    strays = {name for name in links if leads_out(f"{job}/{name}", job)}
    return [name for name in names if name not in strays] if strays else names, strays


def folders_of_job(job: str, links: set[str] | None = None) -> list[str]:
    """The names of the folders in a job that can be trials, as `folders` gives them."""
    return [name for name in folders(job, links) if name != _ARCHIVE]


def job_folders(path: str) -> list[str]:
    """The names of the folders in a folder of jobs that do not lead out of it, sorted."""
    links: set[str] = set()
    names = folders(path, links)
    return [name for name in names if name not in links or not leads_out(f"{path}/{name}", path)]


def folders(path: str, links: set[str] | None = None) -> list[str]:
    """The names of the folders in a folder, sorted; those that are links are put into `links`.

    What a link leads to that leads nowhere may have been one.
    """
    names = []
    # Entries are not kept: they take more memory than names.
    with os.scandir(path) as entries:
        for entry in filter(_is_folder, entries):
            names.append(entry.name)
            if links is not None and entry.is_symlink():
                links.add(entry.name)
    return sorted(names)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    if entry.name[0] == ".":
        return False
    try:
        if entry.is_dir():
            return True
        # Most entries are no links, which the system has told already.
        is_lost = entry.is_symlink() and leads_nowhere(entry.path)
        return is_lost and entry.name not in OF_HARBOR
    except OSError as error:
        # Where it is not known what is there, whoever reads it says why.
        return error.errno != errno.ELOOP
