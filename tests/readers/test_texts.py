"""Texts are read where a metric needs them, and only of sources that lack them."""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import HERE

from harbor_metrics import compute, readers

LOGS = HERE / "logs" / "inspect"


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """Each reading: of which file, and whether its texts were asked for."""
    done: list[tuple[str, bool]] = []
    read = readers.read

    def noted(path: str, *arguments: Any, **options: Any) -> list[readers.Source]:
        done.append((Path(path).name, options.get("with_texts", False)))
        return read(path, *arguments, **options)

    monkeypatch.setattr(readers, "read", noted)
    return done


@pytest.fixture
def sources(tmp_path: Path) -> tuple[Path, Path]:
    """A log, of which summaries are read, and a trials file with texts of its own."""
    log = shutil.copy(LOGS / "reducers.eval", tmp_path / "log.eval")
    trials = tmp_path / "trials.jsonl"
    trials.write_text(
        '{"task": "t", "rewards": {"r": 1}, "texts": {"reference": "a", "prediction": "a"}}\n'
    )
    return log, trials


def test_only_a_source_that_lacks_texts_is_read_again(
    sources: tuple[Path, Path], reads: list[tuple[str, bool]]
) -> None:
    result = compute(*sources, metrics="exact-match", level=None)
    assert reads == [("log.eval", False), ("trials.jsonl", False), ("log.eval", True)]
    outcomes = {group.dataset.name if group.dataset else None: group for group in result.groups}
    assert outcomes[None].metrics[1].values == {"exact-match": 1}


def test_nothing_is_read_again_for_metrics_of_rewards(
    sources: tuple[Path, Path], reads: list[tuple[str, bool]]
) -> None:
    compute(*sources, metrics="std", level=None)
    assert reads == [("log.eval", False), ("trials.jsonl", False)]


def test_a_source_with_texts_is_itself(sources: tuple[Path, Path]) -> None:
    (source,) = readers.read(str(sources[1]))
    assert readers.with_texts(source) is source


def test_standard_input_has_its_texts_at_once(
    sources: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(sources[0].read_bytes())))
    (source,) = readers.read("-")
    assert not source.lacks_texts
    assert all("reference" in trial.texts for trial in source.trials)
