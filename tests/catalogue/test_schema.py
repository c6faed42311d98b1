"""The schema of a metric's entry knows the kwargs of each type."""

from __future__ import annotations

import json
from importlib.metadata import EntryPoint

import jsonschema
import pytest
from conftest import ROOT

from harbor_metrics.catalogue import names, plugins
from harbor_metrics.catalogue.families import metric_names, reducer_names
from harbor_metrics.catalogue.plugins import Kind
from harbor_metrics.catalogue.schema import composed
from harbor_metrics.contract.strangers import Loaded, Plugin
from harbor_metrics.documents import schemas
from harbor_metrics.trials.column import Column


def test_the_committed_schema_of_a_metric_lists_no_metric() -> None:
    committed = json.loads((ROOT / "schemas" / "metric.schema.json").read_text())
    assert committed.keys().isdisjoint({"allOf", "$defs"})
    assert composed("metric").items() >= committed.items()


def test_every_metric_and_reducer_is_in_the_composed_schema() -> None:
    definitions = composed("registry")["$defs"]
    assert {f"kwargs-{name}" for name in metric_names()} <= definitions.keys()
    assert {f"reducer-kwargs-{name}" for name in reducer_names()} <= definitions.keys()


@pytest.mark.parametrize("name", ["rewards", "trials", "result", "diagnostics"])
def test_a_schema_without_metrics_is_the_committed_one(name: str) -> None:
    assert composed(name) == schemas.bundled(name)


def test_the_kwargs_of_a_plugin_are_in_the_schema_which_then_has_no_id(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def spread(rewards: Column, *, least: float) -> float:
        """Largest reward above the least."""
        return max(rewards.values) - least

    plugin = Plugin("acme/spread~1", "acme", "1.0", EntryPoint("a", "b", "c"))
    monkeypatch.setattr(plugins, "installed", lambda kind: _installed(kind, plugin))
    monkeypatch.setattr(plugins, "load", lambda kind, name: Loaded(plugin, spread, 0.0))
    names.find.cache_clear()
    schema = composed("metric")
    names.find.cache_clear()
    assert "$id" not in schema
    assert "$id" in schemas.bundled("metric")
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid({"type": plugin.name, "kwargs": {"least": 0.5, "missing": "skip"}})
    assert not validator.is_valid({"type": plugin.name, "kwargs": {"most": 0.5}})
    assert not validator.is_valid({"type": plugin.name})


def _installed(kind: Kind, plugin: Plugin) -> dict[str, tuple[Plugin, ...]]:
    return {plugin.name: (plugin,)} if kind == "metrics" else {}


@pytest.mark.parametrize(
    ("entry", "valid"),
    [
        ({"type": "mean"}, True),
        ({}, True),
        ({"type": "mean", "kwargs": {"missing": "skip"}}, True),
        ({"type": "mean", "kwargs": {"missing": "drop"}}, False),
        ({"type": "mean", "kwargs": {"k": 1}}, False),
        ({"type": "uv-script", "kwargs": {"script_path": "m.py"}}, True),
        ({"type": "uv-script"}, False),
        ({"type": "from-a-plugin", "kwargs": {"k": 1}}, True),
    ],
)
def test_schema_knows_the_kwargs_of_each_type(entry: dict[str, object], valid: bool) -> None:
    import jsonschema_rs

    schema = composed("metric")
    assert jsonschema.Draft202012Validator(schema).is_valid(entry) is valid
    assert jsonschema_rs.validator_for(schema).is_valid(entry) is valid
