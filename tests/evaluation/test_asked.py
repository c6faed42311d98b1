"""A metric that a caller asks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from harbor_metrics import Column
from harbor_metrics.contract.spec import MetricSpec
from harbor_metrics.errors import UsageError
from harbor_metrics.evaluation.asked import plan_asked

# What `inspect/accuracy` implies.
SKIPPING = {"reducer": "mean", "missing": "skip"}
CODE = '''
from harbor_metrics import Column
def best(rewards: Column, *, plus: int = 0) -> float:
    """Best reward."""
    return max(rewards.values) + plus
'''


def first(rewards: Column, *, plus: int = 0) -> float:
    """First reward."""
    return rewards.values[0] + plus


@pytest.mark.parametrize(
    ("asked", "name", "type_", "kwargs"),
    [
        ("max", "max", "max", {}),
        (' {"type": "quantile", "kwargs": {"q": 0.5}}', "quantile", "quantile", {"q": 0.5}),
        (MetricSpec(type="mean", kwargs={"key": "r"}), "mean", "mean", {"key": "r"}),
        ("pass_rate", "pass_rate", "pass-rate", {}),
        ("inspect/accuracy", "inspect/accuracy", "accuracy", SKIPPING),
        (first, "first", "first", {}),
    ],
)
def test_name_entry_spec_alias_and_function_are_metrics(
    asked: object, name: str, type_: str, kwargs: dict[str, object]
) -> None:
    planned = plan_asked(asked)
    assert (planned.name, planned.spec.type, planned.spec.kwargs) == (name, type_, kwargs)
    assert planned.origin == "command-line"
    assert planned.bound is not None


def test_function_of_a_file_stands_beside_the_digest_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CODE)
    planned = plan_asked(MetricSpec(type=f"{tmp_path}/mine.py:best", kwargs={"plus": 2}))
    assert planned.bound is not None
    assert planned.file is not None
    assert planned.file.path == f"{tmp_path}/mine.py"
    assert planned.bound.arguments == {"plus": 2}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("men", "did you mean `mean`"),
        ("{", "--metric {"),
        ('{"type": "mean", "kwarg": {}}', "kwarg"),
        ('{"type": "mean", "kwargs": {"q": 1}}', "takes no `q`"),
        (lambda rewards: 1, "the first parameter must be a Column or Table"),
        (len, "is no function"),
    ],
)
def test_what_is_not_a_metric_is_refused_with_what_was_asked(asked: object, words: str) -> None:
    with pytest.raises(UsageError) as refused:
        plan_asked(asked)
    assert words in str(refused.value)


def test_kwarg_that_a_function_of_a_file_lacks_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CODE)
    with pytest.raises(UsageError, match="did you mean `plus`"):
        plan_asked(MetricSpec(type=f"{tmp_path}/mine.py:best", kwargs={"plsu": 2}))
