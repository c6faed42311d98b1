"""`harbor-metrics list`."""

from __future__ import annotations

import json

from conftest import Run

from harbor_metrics.catalogue import aliases
from harbor_metrics.catalogue.families import metric_names, reducer_names


def test_list_names_everything_once(cli: Run) -> None:
    done = cli("list")
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    entries = json.loads(cli("list", "--format", "json").stdout)
    names = [(one["kind"], one["name"]) for one in entries]
    assert len(set(names)) == len(names)
    assert {name for kind, name in names if kind == "metric"} == {
        *metric_names(),
        *(alias.name for alias in aliases.METRICS),
    }
    assert {name for kind, name in names if kind == "reducer"} == {
        *reducer_names(),
        *(alias.name for alias in aliases.REDUCERS),
    }
    for name in {name for _, name in names}:
        assert name in done.stdout
