"""What a computation has to say of the entries that it uses: found by the rules, as warnings.

The rules are loaded only where an entry is not plain, so a healthy registry costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from ..contract.spec import ARRAYS, DEFAULT_TYPE, FIELDS, UV_SCRIPT, in_harbor
from ..documents.diagnostics import Diagnostic, Severity
from ..documents.document import Finding
from ..registries.registry import IN_DATASET, Dataset

_OF_DATASETS = ("not-in-harbor", "unknown-metric-type", "script-twice")
# What leads to a field of a dataset: the dataset's index, and the name.
_FIELD = 2
_OF_METRICS = ("unknown-metric-field", "misplaced-kwargs")


def remarks_on_dataset(dataset: Dataset) -> list[Diagnostic]:
    """What is wrong with the metrics of a dataset that run all the same, where it stands."""
    entries = [(entry, True) for entry in dataset.metrics]
    entries += [(entry, False) for entry in dataset.extra_metrics]
    misspelt = _may_misspell_metrics(dataset)
    plain = all(_is_plain(entry, dataset.registry, for_harbor=first) for entry, first in entries)
    if plain and not misspelt:
        return []
    # For weight: entries of Harbor's own types, which most are, need no rule.
    from .rules import View, run

    view = View(dataset.document.value, dataset.registry, only=dataset.index)
    findings = [*run(view, (*_OF_METRICS, *_OF_DATASETS))]
    if misspelt:
        fields = [finding for finding in run(view, ("unknown-field",)) if len(finding.at) == _FIELD]
        findings += [finding for finding in fields if finding.severity is Severity.ERROR]
    return dataset.document.resolve([*map(_warning, findings)])


def remarks_on_repetition(dataset: Dataset) -> list[Diagnostic]:
    """That the dataset stands in its registry before, with the same name and version."""
    # For weight: entries of Harbor's own types, which most are, need no rule.
    from .rules import View, run

    findings = run(View(dataset.document.value, dataset.registry), ("duplicate-dataset",))
    of_this = [_warning(finding) for finding in findings if finding.at[0] == dataset.index]
    return dataset.document.resolve(of_this)


def remarks_on_job(path: str, entries: Sequence[Any]) -> list[Diagnostic]:
    """What is wrong with a job's own metrics, which Harbor has run all the same."""
    if all(_is_plain(entry, None, for_harbor=False) for entry in entries):
        return []
    # For weight: entries of Harbor's own types, which most are, need no rule.
    from .rules import View, run

    view = View([{ARRAYS[0]: list(entries)}], "-", title=f"job {path}")
    return [_warning(finding).diagnostic(None) for finding in run(view, _OF_METRICS)]


def _may_misspell_metrics(dataset: Dataset) -> bool:
    """Whether a dataset lacks `metrics`, and has fields that could be meant for it."""
    fields = dataset.document.value[dataset.index].keys()
    return ARRAYS[0] not in fields and not fields <= IN_DATASET


def _is_plain(entry: Any, registry: str | None, *, for_harbor: bool) -> bool:
    """Whether no rule has anything to say of an entry, which Harbor is to load or not."""
    if not isinstance(entry, dict) or not entry.keys() <= set(FIELDS):
        return False
    type_, kwargs = entry.get("type", DEFAULT_TYPE), entry.get("kwargs", {})
    if not isinstance(type_, str) or not isinstance(kwargs, dict):
        return False
    path = kwargs.get("script_path") if type_ == UV_SCRIPT else None
    if isinstance(path, str) and registry is not None:
        # For weight: few metrics are scripts.
        from ..registries.script_file import other_copy

        if other_copy(path, registry):
            return False
    return in_harbor(entry) if for_harbor else True


def _warning(finding: Finding) -> Finding:
    """The finding as it is for who computes: the numbers are there, so it is not an error."""
    is_error = finding.severity is Severity.ERROR
    return msgspec.structs.replace(finding, severity=Severity.WARNING) if is_error else finding
