"""The folders of registries/, and registries by hand, with what validation says of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import HERE

from harbor_metrics.validation.validation import Report, validate

FOLDERS = sorted(path for path in (HERE / "validation" / "registries").iterdir() if path.is_dir())
# A dataset without a mistake.
ONE: dict[str, Any] = {
    "name": "a",
    "version": "1.0",
    "description": "d",
    "tasks": [{"name": "t", "path": "p"}],
}


def report_of(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    """What is said of the only document in a folder, from inside it."""
    documents = (p for p in folder.rglob("*") if p.suffix in (".json", ".jsonl", ".toml"))
    (file,) = (str(p.relative_to(folder)) for p in documents)
    monkeypatch.chdir(folder)
    return validate(file)


def rules_of(path: Path) -> list[str]:
    """The rules that a file breaks, in order."""
    return [diagnostic.rule for diagnostic in validate(str(path)).found]
