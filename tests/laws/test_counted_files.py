"""Files that are read once and counted say what their trials say, in any order and any parts."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest
from conftest import CASES

import harbor_metrics
from harbor_metrics import readers
from harbor_metrics.contract.spec import MetricSpec
from harbor_metrics.readers import counting
from harbor_metrics.readers.files import fork
from harbor_metrics.testing import trials


def write_parts(folder: Path, lines: list[bytes], n: int) -> list[Path]:
    """The lines dealt out to so many files."""
    paths = [folder / f"{n}-{i}.jsonl" for i in range(n)]
    for i, path in enumerate(paths):
        path.write_bytes(b"".join(line + b"\n" for line in lines[i::n]))
    return [path for path in paths if path.stat().st_size]


def document(paths: list[Path], entry: MetricSpec) -> Any:
    """The document, without what differs between files of the same trials."""
    found = json.loads(harbor_metrics.compute(*paths, metrics=[entry], only_asked=True).to_json())
    return found["groups"], [source["trials"] for source in found["sources"]]


def is_counted(paths: list[Path]) -> bool:
    return all(readers.read(str(path), counts=True)[0].counted is not None for path in paths)


@pytest.mark.parametrize("name", sorted(CASES))
def test_every_case_says_the_same_of_files_that_were_counted(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fork, "pays", lambda: False)
    cases = [case for case in CASES[name] if case["rewards"]]
    were_counted: list[bool] = []
    for number, case in enumerate(cases):
        folder = tmp_path / str(number)
        folder.mkdir()
        entry = MetricSpec(type=name, kwargs=case.get("kwargs", {}))
        lines = [msgspec.json.encode(row) for row in trials(case)]
        shuffled = random.Random(name).sample(lines, len(lines))
        monkeypatch.setattr(counting, "COUNTS_PAY", 1 << 40)
        kept, n_kept = document(write_parts(folder, lines, 1), entry)
        monkeypatch.setattr(counting, "COUNTS_PAY", 0)
        for order, n_parts in ((lines, 1), (shuffled, 1), (shuffled, 3)):
            paths = write_parts(folder, order, n_parts)
            counted, n_counted = document(paths, entry)
            were_counted.append(is_counted(paths))
            assert counted == kept, case["what"]
            assert sum(n_counted) == sum(n_kept)
    # A file with a number beyond binary64 is not.
    assert were_counted.count(True) > were_counted.count(False)
