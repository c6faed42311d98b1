"""Sources with the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from harbor_metrics import compute

RULE = "source-copied"


@pytest.mark.parametrize(
    ("name", "text", "copied"),
    [
        ("t.jsonl", '{"task": "a", "rewards": {"reward": 1}}\n', True),
        ("r.jsonl", '{"reward": 1}\nnull\n', True),
        ("t.csv", "task,reward\na,1\n", True),
        ("i.jsonl", '{"task": "a", "id": "x", "rewards": {"reward": 1}}\n', False),
        (
            "m.jsonl",
            '{"task": "a", "id": "x", "rewards": {}}\n{"task": "a", "rewards": {}}\n',
            True,
        ),
    ],
)
def test_copies_without_ids_are_said(name: str, text: str, copied: bool, tmp_path: Path) -> None:
    paths = [tmp_path / name, tmp_path / f"copy-of-{name}"]
    for path in paths:
        path.write_text(text)
    rules = [said["rule"] for said in compute(*paths).diagnostics]
    assert (RULE in rules) == copied
    assert RULE not in [said["rule"] for said in compute(paths[0], paths[0]).diagnostics]
