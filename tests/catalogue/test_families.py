"""Our own metrics and reducers by name."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import pytest

from harbor_metrics.catalogue.families import families, metric_names
from harbor_metrics.catalogue.plugins import Kind
from harbor_metrics.contract.signature import public_functions


@pytest.mark.parametrize("kind", ["metrics", "reducers"])
def test_names_read_from_the_source_are_those_of_the_functions(kind: Kind) -> None:
    package = import_module(f"harbor_metrics.{kind}")
    functions = {
        name: module.__name__
        for found in pkgutil.iter_modules(package.__path__)
        for module in [import_module(f"{package.__name__}.{found.name}")]
        for name in public_functions(module)
    }
    assert families(kind) == functions


def test_a_script_is_a_metric_without_a_function() -> None:
    assert "uv-script" in metric_names()
    assert "uv-script" not in families("metrics")
