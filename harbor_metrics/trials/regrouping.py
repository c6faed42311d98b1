"""Pools under the dataset that a user names, and with the labels that a user gives."""

from __future__ import annotations

from ..documents.diagnostics import Diagnostic
from ..documents.wording import plural, printable
from ..errors import InputError
from . import labels as task_labels
from .labels import Labels
from .pool import Pool
from .repeated import Repeated
from .trial import GroupKey, part_of

Pools = dict[GroupKey, Pool]


def of_dataset(pools: Pools, name: str, diagnostics: list[Diagnostic]) -> Pools:
    """The groups of that dataset; a group that names none is taken to be of it.

    A trial of both counts as that of the dataset; `diagnostics` gets that. Those of its scorers and
    filters (`name:scorer`) keep their names.

    Raises:
        InputError: no group is of that dataset.
    """
    kept: Pools = {}
    repeated = Repeated()
    for key, pool in sorted(pools.items(), key=lambda item: item[0].dataset is None):
        if key.dataset in (None, name) or part_of(key.dataset) == name:
            named = key._replace(dataset=name) if key.dataset is None else key
            kept[named] = kept[named].united(pool, repeated) if named in kept else pool
    if not kept:
        others = ", ".join(sorted({str(key.dataset) for key in pools}))
        raise InputError(
            f"no source has trials of dataset {name}; they are of {others or 'none'}",
            "name one of these with --dataset",
        )
    diagnostics += repeated.diagnostics()
    return kept


def nameless(pools: Pools) -> list[GroupKey]:
    """The groups whose source names neither a dataset nor a job."""
    return [key for key, pool in pools.items() if key.dataset is None and not pool.jobs]


def named(pools: Pools, name: str, diagnostics: list[Diagnostic]) -> Pools:
    """The groups, those without a dataset under this one; otherwise as `of_dataset`.

    `diagnostics` gets what was pooled with sources that name the dataset, for nobody asked for it.
    """
    groups, repeated = dict(pools), Repeated()
    n = 0
    for key in nameless(pools):
        pool = groups.pop(key)
        target = key._replace(dataset=name)
        n += len(pool.everything) if target in groups else 0
        groups[target] = groups[target].united(pool, repeated) if target in groups else pool
    if n:
        diagnostics.append(_taken(n, name))
    diagnostics += repeated.diagnostics()
    return groups


def _taken(n: int, name: str) -> Diagnostic:
    return Diagnostic(
        rule="dataset-taken",
        message=f"{plural(n, 'trial')} that {'names' if n == 1 else 'name'} no dataset "
        f"{'is' if n == 1 else 'are'} pooled with those of {printable(name)}, the only one of the "
        "registry",
        help="compute apart what is of another dataset",
    )


def labelled(pools: Pools, labels: Labels, path: str) -> Pools:
    """The groups with every trial labelled as the file at `path` says for its task.

    Raises:
        InputError: no task is labelled, or a trial has another value of a label.
    """
    tasks = {task for pool in pools.values() for task in pool.table.tasks}
    if not labels.keys() & tasks:
        examples = f"it has {min(labels)}, the trials have {min(tasks)}" if tasks else "no trials"
        raise InputError(f"{path} labels no task of these trials: {examples}")
    return {
        key: pool.labelled(lambda table: task_labels.joined(table, labels, path=path))
        for key, pool in pools.items()
    }
