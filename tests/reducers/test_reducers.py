"""The cases beside this file, one file a reducer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import HERE

from harbor_metrics.catalogue.names import bind_reducer
from harbor_metrics.contract.estimate import Undefined
from harbor_metrics.contract.spec import ReducerSpec

REDUCERS = sorted((HERE / "reducers").glob("*.json"))


def cases(files: list[Any]) -> list[Any]:
    return [
        pytest.param(path.stem, case, id=f"{path.stem}: {case['what']}")
        for path in files
        for case in json.loads(path.read_text())
    ]


@pytest.mark.parametrize(("name", "case"), cases(REDUCERS))
def test_reducer_gives_the_value_of_its_case(name: str, case: dict[str, Any]) -> None:
    value = bind_reducer(ReducerSpec(type=name, kwargs=case.get("kwargs", {})))
    found = value.reducer.function(case["attempts"], **value.arguments)
    if "reason" in case:
        assert isinstance(found, Undefined)
        assert case["reason"] in found.reason
    else:
        assert found == case["value"]
        assert type(found) is type(case["value"])
