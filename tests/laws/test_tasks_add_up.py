"""What a mean is made of by task is what it is made of."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from conftest import CASES

from harbor_metrics.catalogue.names import bind
from harbor_metrics.contract.estimate import Estimate
from harbor_metrics.contract.spec import MetricSpec
from harbor_metrics.evaluation.measurement import outputs
from harbor_metrics.testing import trials
from harbor_metrics.trials.table import Table

EVERY = [
    pytest.param(name, case, id=f"{name}: {case['what']}")
    for name, cases in CASES.items()
    for case in cases
]


@pytest.mark.parametrize(("name", "case"), EVERY)
def test_the_tasks_of_every_mean_add_up_to_it(name: str, case: dict[str, Any]) -> None:
    table = Table(trials(case))
    spec = MetricSpec(type=name, kwargs=case.get("kwargs", {}))
    for output in outputs(bind(spec), spec, table, missing=None):
        if not isinstance(output.value, Estimate):
            continue
        for _, units in output.value.known.strata:
            assert units.tasks is not None
            tasks = units.tasks()
            ones = [1] * len(tasks.names)
            assert set(tasks.names) <= set(table.tasks)
            assert len(set(tasks.names)) == len(tasks.names)
            top, bottom = sum(tasks.numerators), sum(tasks.denominators or ones)
            assert Fraction(top, bottom * tasks.scale) == units.mean
