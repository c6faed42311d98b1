"""One model under two names: since 0.25 Harbor writes the provider where it wrote none before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from ..documents.diagnostics import Diagnostic
from ..documents.wording import listed, printable
from .pool import Pool
from .repeated import Repeated
from .source import Job
from .trial import GroupKey

Pools = dict[GroupKey, Pool]


def by_short_names(pools: Pools, diagnostics: list[Diagnostic]) -> Pools:
    """The groups by the models' short names, each pool knowing the provider that Harbor wrote.

    A name is taken apart where the jobs configured it as it is written. Groups of different jobs
    are joined where all jobs configured the very same name, else the short one is that of the other
    group; `diagnostics` gets both. Groups of one job stay as Harbor has them, and so do those of
    two models with one short name.
    """
    named, repeated = dict(pools), Repeated()
    targets = {key: _shortened(key, pool) for key, pool in pools.items()}
    times = Counter(targets.values())
    diagnostics += _by_full_names(targets)
    for key in sorted(pools, key=lambda key: [part or "" for part in key]):
        provider, _, short = (key.model or "").partition("/")
        target = targets[key]
        if target is None:
            diagnostics += _unshortened(key, pools)
            continue
        # One short name for two models would be that of either.
        if times[target] > 1:
            continue
        other = named.get(target)
        if other is None:
            own = msgspec.structs.replace(named.pop(key), provider=provider, written=key.model)
            named[target] = own
        elif _jobs_of(named[key]) <= _jobs_of(other):
            continue
        elif _share_a_job(other, named[key]) or not _is_same_model(other, str(key.model)):
            reason = (
                f"not all trials of {printable(short)} are of jobs that are known to mean "
                f"{printable(str(key.model))}, so {printable(short)} means the other model alone"
            )
            diagnostics.append(_apart(short, str(key.model), reason))
        else:
            joined = other.united(named.pop(key), repeated)
            named[target] = msgspec.structs.replace(joined, provider=provider)
            diagnostics.append(_joined(short, str(key.model)))
    diagnostics += repeated.diagnostics()
    return named


def _shortened(key: GroupKey, pool: Pool) -> GroupKey | None:
    """The group by the model's short name, None where its jobs did not configure the full one."""
    _, slash, short = (key.model or "").partition("/")
    configured = pool.jobs and all(key.model in job.models for _, job in pool.jobs)
    return key._replace(model=short) if slash and configured else None


def _unshortened(key: GroupKey, pools: Pools) -> Iterator[Diagnostic]:
    """That a group which some job of it did not configure by its name is not that of its short one.

    Such a job may be a copy of which no trial counts.
    """
    short = (key.model or "").partition("/")[2]
    other = pools.get(key._replace(model=short))
    if short and other is not None and not _jobs_of(pools[key]) <= _jobs_of(other):
        name = str(key.model)
        yield _apart(short, name, f"not all jobs of {printable(name)} configured it by that name")


def _by_full_names(targets: dict[GroupKey, GroupKey | None]) -> Iterator[Diagnostic]:
    """That models which have one short name in a group keep their full ones."""
    models: dict[GroupKey, set[str]] = {}
    for key, target in targets.items():
        if target is not None:
            models.setdefault(target, set()).add(str(key.model))
    for target, names in models.items():
        if len(names) > 1:
            yield Diagnostic(
                rule="model-names-apart",
                message=f"{listed(sorted(names))} are shown by their full names, for "
                f"{printable(str(target.model))} would be any of them",
            )


def _is_same_model(pool: Pool, name: str) -> bool:
    """Whether every job of a group of a short name configured that model, and no other like it."""
    return bool(pool.jobs) and all(_meant(job, name) == {name} for _, job in pool.jobs)


def _meant(job: Job, name: str) -> set[str]:
    short = name.partition("/")[2]
    return {model for model in job.models if short in (model, model.partition("/")[2])}


def _share_a_job(first: Pool, second: Pool) -> bool:
    return bool(_jobs_of(first) & _jobs_of(second))


def _jobs_of(pool: Pool) -> set[str]:
    return {path for path, _ in pool.jobs}


def _joined(short: str, name: str) -> Diagnostic:
    return Diagnostic(
        rule="model-names-joined",
        message=f"trials of {short} and of {name} are pooled: the jobs configured {name}, "
        "and Harbor writes the provider since 0.25",
    )


def _apart(short: str, name: str, reason: str) -> Diagnostic:
    return Diagnostic(
        rule="model-names-apart",
        message=f"{printable(short)} and {printable(name)} are shown apart: {reason}",
    )
