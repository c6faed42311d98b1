"""A metric that is not known to read labels is the same whether trials have any.

Labels of a job are read where some metric reads them, which may be another one's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from conftest import CASES
from metrics_said import said

from harbor_metrics.contract.spec import MetricSpec
from harbor_metrics.errors import HarborMetricsError
from harbor_metrics.evaluation.asked import plan_asked
from harbor_metrics.testing import trials
from harbor_metrics.trials.labelled import TASK
from harbor_metrics.trials.table import Table


def texts_of(kwargs: Any) -> Iterator[str]:
    """All texts of kwargs, which a label could be called as."""
    if isinstance(kwargs, str):
        yield kwargs
    elif isinstance(kwargs, dict | list):
        for value in kwargs.values() if isinstance(kwargs, dict) else kwargs:
            yield from texts_of(value)


def with_task_for(kwargs: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The kwargs, and each with `task` for a text."""
    yield kwargs
    yield from (kwargs | {name: TASK} for name, value in kwargs.items() if isinstance(value, str))


@pytest.mark.parametrize("name", sorted(CASES))
def test_labels_that_are_not_asked_for_change_nothing(name: str) -> None:
    for case in CASES[name]:
        rows = [msgspec.structs.replace(trial, labels={}) for trial in trials(case)]
        names = {*texts_of(case.get("kwargs", {})), TASK, "prediction", "reference", "label"}
        for kwargs in with_task_for(case.get("kwargs", {})):
            entry = {"type": name, "kwargs": kwargs}
            try:
                reads = plan_asked(MetricSpec(**entry)).reads_labels
            except HarborMetricsError:
                continue
            if reads:
                continue
            labelled = [
                msgspec.structs.replace(trial, labels=dict.fromkeys(names, i % 3))
                for i, trial in enumerate(rows)
            ]
            plain, beside = said(entry, Table(rows)), said(entry, Table(labelled))
            assert msgspec.to_builtins(plain) == msgspec.to_builtins(beside), kwargs
