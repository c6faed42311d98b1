"""Groups of trials parted by their labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import MetricFailure, NeedsRowsError
from ..trials.labelled import TASK, label_text, refuse_groups
from .overview import Overview, alike, overview
from .relation import Group, Relation


def parted(
    relation: Relation, group: Group, names: Sequence[str]
) -> list[tuple[Group, Overview, Relation]]:
    """The parts of a group by labels, how many trials each has, and the relation of the parts.

    Raises:
        MetricFailure: there is no such label.
        InputError: it is another label as it lies in a file.
    """
    refuse_groups(names)
    known = relation.layout.labels
    if TASK in names:
        raise NeedsRowsError("the task of every trial")
    absent = [name for name in names if name not in known]
    if absent:
        hint = f"; trials have {', '.join(f'`{k}`' for k in sorted(known))}" if known else ""
        raise MetricFailure("missing-label", f"the trials have no label `{absent[0]}`{hint}")
    for name in names:
        relation.layout.check_label(name)
    parts = relation.split(names)
    found = [
        (key, said, parts) for key, said in overview(parts).items() if key[: len(group)] == group
    ]
    _check_names(relation.asked.path, [key[len(group) :] for key, *_ in found])
    return found


def _check_names(path: str, parts: Sequence[Sequence[Any]]) -> None:
    """Refuse labels that differ and are written alike: of two groups one would have both names."""
    seen: set[tuple[str, ...]] = set()
    for labels in parts:
        if None in labels:
            continue  # a trial without a label is refused for that
        name = tuple(map(label_text, labels))
        if name in seen:
            raise alike(path, name[-1])
        seen.add(name)


def check_labels(names: Sequence[str], labels: Sequence[Any], n: int, whole: int) -> None:
    """Refuse trials that lack a label.

    Raises:
        MetricFailure: they do.
    """
    for name, label in zip(names, labels, strict=True):
        if label is None:
            raise MetricFailure("missing-label", f"{n} of {whole} trials have no label `{name}`")
