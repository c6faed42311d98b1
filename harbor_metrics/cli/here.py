"""`harbor-metrics` alone: what lies in this folder, and the command for it."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ..documents.paths import strayed
from ..documents.wording import columns, in_command, listed, plural, printable
from ..output.streams import print_text

_REGISTRIES = ("registry.json", "dataset.toml")
# Where Harbor puts jobs unless it is told otherwise.
_JOBS = "jobs"
# Folders that are looked into: whoever stands in a home folder waits for no search.
_MOST = 100


def show() -> int:
    """Print what can be done here."""
    found = list(_found())
    if not found:
        print_text(
            f"There is neither a ./{_JOBS} nor a registry.json here.\n\n"
            "  harbor-metrics compute JOB     the score of a Harbor job, or of any log of rewards\n"
            "  harbor-metrics validate FILE   every mistake in a registry\n\n"
        )
    for what, commands in found:
        width = max(map(columns, commands)) + 3
        lines = [
            f"  {command}{' ' * (width - columns(command)) if said else ''}{said}\n"
            for command, said in commands.items()
        ]
        print_text(f"{what}\n{''.join(lines)}\n")
    print_text("All commands, and examples: harbor-metrics --help\n")
    return 0


def _found() -> Iterator[tuple[str, dict[str, str]]]:
    """What lies here, and the commands for it; of several what each is about."""
    # Inside, for weight: other commands do not look.
    from ..readers.harbor.documents import looks_like_job
    from ..readers.harbor.job import jobs_in
    from ..readers.harbor.newest import newest_job

    if looks_like_job("."):
        yield "This folder is a Harbor job.", {"harbor-metrics compute .": ""}
        return
    folders = [".", *_folders(".")]
    for folder in folders:
        path = os.path.normpath(os.path.join(folder, _JOBS))
        jobs = jobs_in(path)
        if not jobs:
            continue
        last = newest_job(path) or jobs[-1]
        compute = {_call("compute", last): ""}
        if len(jobs) > 1:
            compute[_call("compute", last)] = f"the last job{_who(last)}"
            compute[_call("compute", path)] = f"all {len(jobs)} jobs"
        said = f", the last one {printable(last)}" if len(jobs) > 1 else f": {printable(last)}"
        yield f"{printable(path)} holds {plural(len(jobs), 'Harbor job')}{said}.", compute
    for folder in folders:
        for name in _REGISTRIES:
            path = os.path.normpath(os.path.join(folder, name))
            if os.path.isfile(path) and strayed(path) is None:
                kind = "a registry" if name == _REGISTRIES[0] else "a dataset"
                yield f"{printable(path)} is {kind}.", {_call("validate", path): ""}


def _who(job: str) -> str:
    """` (agent on dataset)` by a job's configuration; empty where it does not say."""
    # Inside, for weight: other commands do not look.
    from ..readers.harbor.documents import fields

    config = fields(os.path.join(job, "config.json"))

    def named(what: str) -> str:
        entries = config.get(what)
        entries = entries if isinstance(entries, list) else []
        found = [entry.get("name") for entry in entries if isinstance(entry, dict)]
        return listed([name for name in found if isinstance(name, str)])

    said = " on ".join(filter(None, map(named, ("agents", "datasets"))))
    return f" ({said})" if said else ""


def _call(command: str, path: str) -> str:
    return f"harbor-metrics {command} {in_command(path)}"


def _folders(path: str) -> list[str]:
    try:
        with os.scandir(path) as entries:
            names = [entry.name for entry in entries if entry.name[0] != "." and entry.is_dir()]
    except OSError:
        return []
    return sorted(names)[:_MOST]
