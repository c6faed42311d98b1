"""Texts are read where a metric needs them, and only of sources that lack them."""

from __future__ import annotations

import io
import json
import shutil
import sys
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from conftest import HERE, Run
from inspect_logs import archived, log, sample, write

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


def test_texts_that_another_metric_reads_change_nothing_else(tmp_path: Path) -> None:
    """Samples have more than their summaries, of which a long log is read."""
    samples = [
        sample(
            f"s{i}",
            i % 2,
            input="q" * 8_000,
            scores={"num": {"value": i % 2, "answer": "x" if i % 3 else "y"}},
            metadata={"suite": "ab"[i % 2], "task": {"weight": i % 3 + 1}},
            limit={"type": "time", "limit": 1} if i == 90 else None,
        )
        for i in range(100)
    ]
    rows = [each | {"metadata": {"suite": each["metadata"]["suite"]}} for each in samples]
    rows[90]["limit"] = None
    path = write(tmp_path / "long.eval", archived(log(samples), rows))
    asked = ["weighted-mean weight=task.weight", "frequency label=inspect/limit", "mean"]
    alone = compute(path, metrics=asked, level=None).groups[0].metrics
    texts = compute(path, metrics=[*asked, "exact-match"], level=None).groups[0].metrics
    assert texts[: len(alone)] == alone
    assert texts[-1].values == {"exact-match": 0.66}


def test_copies_of_a_log_are_the_same_with_and_without_texts(tmp_path: Path) -> None:
    samples = [sample(f"s{i}", i % 2, input="q" * 8_000) for i in range(100)]
    write(tmp_path / "long.eval", archived(log(samples), samples))
    (tmp_path / "long.json").write_text(json.dumps(log(samples)))
    for asked in ("max", "exact-match"):
        result = compute(tmp_path, metrics=asked, level=None)
        assert [(said["rule"], said["severity"]) for said in result.diagnostics] == [
            ("repeated-trial", "note")
        ]


@pytest.fixture
def copies(cli: Run, tmp_path: Path) -> Path:
    """A long log, and two copies of its trials of which one has other texts."""
    samples = [sample(f"s{i}", i % 2, input="q" * 8_000) for i in range(100)]
    log_file = write(tmp_path / "log.eval", archived(log(samples), samples))
    assert cli("convert", log_file, "-o", "copy.jsonl").returncode == 0
    lines = [json.loads(line) for line in (tmp_path / "copy.jsonl").read_text().splitlines()]
    for name, changed in {
        "nameless": {"dataset": None},
        "other": {"texts": {"reference": "z"}},
    }.items():
        rows = [{**line, **changed} for line in lines]
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return tmp_path


@pytest.mark.parametrize("asked", ["max", "exact-match"])
@pytest.mark.parametrize(
    ("names", "severity"),
    [
        (("log.eval", "copy.jsonl"), "note"),
        (("log.eval", "nameless.jsonl"), "note"),
        (("nameless.jsonl", "log.eval"), "note"),
        (("copy.jsonl", "nameless.jsonl"), "note"),
        *((names, "error") for names in permutations(("log.eval", "copy.jsonl", "other.jsonl"))),
        (("other.jsonl", "nameless.jsonl"), "error"),
    ],
)
def test_texts_of_copies_are_compared_where_two_have_them_whatever_the_order(
    names: tuple[str, ...], severity: str, asked: str, copies: Path
) -> None:
    result = compute(*(copies / name for name in names), metrics=asked, dataset="t", level=None)
    said = [each for each in result.diagnostics if each["rule"] == "repeated-trial"]
    assert max(each["severity"] == "error" for each in said) == (severity == "error")


def test_a_sample_that_is_missing_is_an_error_where_texts_are_read(tmp_path: Path) -> None:
    samples = [sample(f"s{i}", i % 2, input="q" * 8_000) for i in range(100)]
    members = archived(log(samples), samples)
    del members["samples/s50_epoch_1.json"]
    path = write(tmp_path / "long.eval", members)
    for asked, severity in (("max", "warning"), ("exact-match", "error")):
        result = compute(path, metrics=asked, level=None)
        assert [(said["rule"], said["severity"]) for said in result.diagnostics] == [
            ("samples-missing", severity)
        ]


@pytest.mark.parametrize("ends", [["", "x"], ["x", ""], ["x", "y"]])
def test_copies_of_trials_with_other_texts_have_other_contents(
    ends: list[str], tmp_path: Path
) -> None:
    for name, text in zip("ab", ends, strict=True):
        trial = {"task": "t", "trial": "t__1", "rewards": {"r": 1}}
        trial |= {"texts": {"reference": "x", "prediction": text}} if text else {}
        (tmp_path / f"{name}.jsonl").write_text(f"{json.dumps(trial)}\n")
    result = compute(tmp_path / "a.jsonl", tmp_path / "b.jsonl", metrics="exact-match")
    assert [(said["rule"], said["severity"]) for said in result.diagnostics] == [
        ("repeated-trial", "error")
    ]


def test_samples_that_contradict_their_summaries_count_where_texts_are_read(tmp_path: Path) -> None:
    samples = [sample(f"s{i}", i % 2, input="q" * 8_000) for i in range(100)]
    rows = [*samples[:91], samples[91] | {"scores": {"num": {"value": 0}}}, *samples[92:]]
    path = write(tmp_path / "long.eval", archived(log(samples), rows))
    for asked, rules, mean in (("max", [], 0.49), ("exact-match", ["summaries-differ"], 0.5)):
        result = compute(path, metrics=["mean", asked], level=None)
        assert [said["rule"] for said in result.diagnostics] == rules
        assert result.groups[0].metrics[0].values == {"mean": mean}


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
