"""What `explain` says of every rule, metric and reducer."""

from __future__ import annotations

import json

import pytest
from validation.validated import FOLDERS

from harbor_metrics.catalogue import aliases
from harbor_metrics.catalogue.families import metric_names, reducer_names
from harbor_metrics.validation.explanations import explain, rule_names

EVERYTHING = sorted(
    {
        *metric_names(),
        *reducer_names(),
        *(alias.name for alias in (*aliases.METRICS, *aliases.REDUCERS)),
        "evsys/pass@3",
        "inspect/pass_at_5",
        "pass_rate",
    }
)


@pytest.mark.parametrize("name", EVERYTHING)
def test_explanation_fits_the_terminal_and_its_example_binds(name: str) -> None:
    from harbor_metrics.catalogue.names import check

    text = explain(name)
    assert text.startswith(name) or name in ("evsys/pass@3", "inspect/pass_at_5", "pass_rate")
    assert all(len(line) <= 80 or line.startswith("  {") for line in text.splitlines())
    for line in text.splitlines():
        if line.startswith('  {"type"') and "{k}" not in text:
            example = json.loads(line)
            if example["type"] != "uv-script" and "It means" not in text:
                check(example["type"], example.get("kwargs", {}))


def test_every_rule_has_a_folder_and_a_paragraph() -> None:
    assert {folder.name for folder in FOLDERS} == set(rule_names())
    for name in [*rule_names(), *metric_names()]:
        assert len(explain(name).split("\n\n", 1)[1].split()) > 5, name
