"""The parts of an archive that are read: summaries where they do, else the samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from inspect_logs import Members, archived, log, metric, sample, write

from harbor_metrics.documents.diagnostics import Diagnostic, Severity
from harbor_metrics.readers.files.archive import Archive
from harbor_metrics.readers.files.file import File
from harbor_metrics.readers.inspect.document import of_archive, of_document, reductions
from harbor_metrics.readers.inspect.sample import Sample
from harbor_metrics.readers.reading import Reading

SAMPLES = [sample("a", 1.0, metadata={"note": "whole"}), sample("b", 0.0)]


def content(**summary: Any) -> Members:
    rows = [{**each, **summary} for each in SAMPLES]
    return archived(log(SAMPLES, metric("mean", 0.5)), rows)


def read(
    folder: Path, members: Members, *, with_texts: bool = False
) -> tuple[list[Sample], bool, list[Diagnostic]]:
    """Samples, whether they have their texts, and what is noted."""
    path = str(write(folder / "x.eval", members))
    file = File(path, path)
    reading = Reading(file)
    with Archive(file) as archive:
        _, samples, whole = of_archive(archive, reading, with_texts=with_texts)
        return list(samples), whole, reading.diagnostics


def test_summaries_do_unless_texts_are_asked_for(tmp_path: Path) -> None:
    members = content()
    assert read(tmp_path, members)[1:] == (False, [])
    assert read(tmp_path, members, with_texts=True)[1:] == (True, [])


USED = {"m": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, "total_cost": 5.0}}
WHOLE = {
    "model_usage": USED,
    "metadata": {"topic": "two  words\n", "n": {"at": 1}, "list": [1], "none": None},
    "error": {"message": "RuntimeError(x)", "traceback": "", "traceback_ansi": ""},
    "limit": {"type": "time", "limit": 3},
    "total_time": 2.5,
    "started_at": "2026-01-01T00:00:00+00:00",
    "uuid": "u",
}
SHORT = {**WHOLE, "error": "RuntimeError(x)", "limit": "time"}


def of_summary(tmp_path: Path, summary: dict[str, Any]) -> tuple[list[Sample], list[Diagnostic]]:
    """What is read of a sample that is WHOLE and has this summary."""
    document = log([sample("a", 1.0, **WHOLE)], metric("mean", 1))
    samples, _, notes = read(tmp_path, archived(document, [sample("a", 1.0, **summary)]))
    return samples, notes


@pytest.mark.parametrize(
    "other",
    [
        {"model_usage": {}},
        {"model_usage": {"m": {**USED["m"], "total_cost": 0.01}}},
        {"metadata": {"topic": "easy"}},
        {"metadata": {"more": 1}},
        {"metadata": {"n": {"at": 2}}},
        {"error": None},
        {"error": "ValueError(x)"},
        {"limit": "token"},
        {"total_time": 1},
        {"started_at": "2027-01-01T00:00:00+00:00"},
        {"uuid": "v"},
        {"scores": {"num": {"value": 1.0, "metadata": {"num_tokens": 3}}}},
    ],
    ids=str,
)
def test_summary_that_says_anything_else_is_not_believed(
    other: dict[str, Any], tmp_path: Path
) -> None:
    (found,), (note,) = of_summary(tmp_path, {**SHORT, **other})
    assert (note.rule, note.severity) == ("summaries-differ", Severity.ERROR)
    assert isinstance(found.model_usage, dict)
    assert found.model_usage["m"].total_cost == 5.0
    assert found.metadata == WHOLE["metadata"]


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"metadata": {"topic": "two words"}},
        {"metadata": {"n": {"at": 1}, "list": "Key removed from summary (> 1k)"}},
        {"metadata": {}},
        {"total_time": None, "started_at": None, "uuid": None, "limit": None},
    ],
    ids=str,
)
def test_summary_may_shorten_and_leave_out(other: dict[str, Any], tmp_path: Path) -> None:
    (found,), notes = of_summary(tmp_path, {**SHORT, **other})
    assert notes == []
    assert found.metadata == WHOLE["metadata"]


@pytest.mark.parametrize("left_out", ["metadata", "model_usage"])
def test_summary_of_an_older_inspect_lacks_what_it_did_not_note(
    left_out: str, tmp_path: Path
) -> None:
    document = log([sample("a", 1.0, **WHOLE)], metric("mean", 1))
    summary = sample("a", 1.0, **SHORT)
    del summary[left_out]
    assert read(tmp_path, archived(document, [summary]))[2] == []


@pytest.mark.parametrize("cut", ["A...", "Key removed from summary (> 1k)"])
def test_shortened_metadata_is_read_from_the_samples(cut: str, tmp_path: Path) -> None:
    samples, whole, _ = read(tmp_path, content(metadata={"note": cut}))
    assert (samples[0].metadata, whole) == ({"note": "whole"}, True)


def test_shortened_metadata_is_left_out_where_there_are_no_samples(tmp_path: Path) -> None:
    members = content(metadata={"note": "A...", "kind": "art"})
    members = {name: m for name, m in members.items() if not name.startswith("samples/")}
    samples, _, (note,) = read(tmp_path, members)
    assert [each.metadata for each in samples] == [{"kind": "art"}] * 2
    assert (note.rule, note.severity) == ("samples-missing", Severity.WARNING)
    assert "under samples/ none" in note.message


def test_missing_sample_is_an_error_where_its_text_is_needed(tmp_path: Path) -> None:
    members = content()
    del members["samples/a_epoch_1.json"]
    samples, whole, (note,) = read(tmp_path, members, with_texts=True)
    assert ({each.id for each in samples}, whole) == ({"a", "b"}, False)
    assert note.severity == Severity.ERROR


@pytest.mark.parametrize("with_texts", [False, True])
def test_samples_are_believed_where_summaries_say_something_else(
    with_texts: bool, tmp_path: Path
) -> None:
    members = content(scores={"num": {"value": 0.25}})
    samples, _, (note,) = read(tmp_path, members, with_texts=with_texts)
    assert [each.scores["num"].value for each in samples if each.scores] == [1.0, 0.0]
    assert note.rule == "summaries-differ"
    assert "a_epoch_1, b_epoch_1" in note.message


@pytest.mark.parametrize("with_texts", [False, True])
def test_samples_are_believed_where_summaries_leave_scores_out(
    with_texts: bool, tmp_path: Path
) -> None:
    samples, _, (note,) = read(tmp_path, content(scores=None), with_texts=with_texts)
    assert [each.scores["num"].value for each in samples if each.scores] == [1.0, 0.0]
    assert note.rule == "summaries-differ"


def test_of_large_logs_some_samples_are_set_beside_their_summaries(tmp_path: Path) -> None:
    whole = [sample(str(i), 1.0, input="x" * 600_000 if i else "x" * 60_000) for i in range(3)]
    rows = [{**each, "input": "x"} for each in whole]
    other = {**rows[1], "scores": {"num": {"value": 0.0}}}
    document = log(whole, metric("mean", 1))
    # The sample of the other summary is one of those that would take too long.
    assert read(tmp_path, archived(document, [rows[0], other, rows[2]]))[1:] == (False, [])
    other = {**rows[0], "scores": {"num": {"value": 0.0}}}
    _, _, (note,) = read(tmp_path, archived(document, [other, *rows[1:]]))
    assert note.rule == "summaries-differ"


def test_shortest_sample_is_set_beside_its_summary_also_where_it_is_long(tmp_path: Path) -> None:
    whole = [sample(str(i), 1.0, input="x" * (600_000 - i)) for i in range(3)]
    rows = [{**each, "input": "x", "scores": {"num": {"value": 0.0}}} for each in whole]
    samples, _, (note,) = read(tmp_path, archived(log(whole, metric("mean", 1)), rows))
    assert [each.scores["num"].value for each in samples if each.scores] == [1.0] * 3
    assert note.rule == "summaries-differ"


CHANCES = {"num": {"value": 1.0, "metadata": {"sum_log_probs": -5.0, "num_tokens": 2}}}


@pytest.mark.parametrize(
    ("whole", "less"),
    [
        ({"total_time": 10.0}, {"total_time": None}),
        ({"limit": {"type": "token", "limit": 5}}, {"limit": None}),
        ({"error": {"message": "", "traceback": "", "traceback_ansi": ""}}, {"error": None}),
        ({"scores": CHANCES}, {"scores": {"num": {"value": 1.0}}}),
    ],
    ids=str,
)
def test_what_counts_and_summaries_have_no_word_of_is_read_from_the_samples(
    whole: dict[str, Any], less: dict[str, Any], tmp_path: Path
) -> None:
    samples = [sample(f"{i}", 1.0, input="x" * (600_000 if i else 60_000)) for i in range(3)]
    samples = [{**each, **whole} for each in samples]
    rows = [{**each, "input": "x", **less} for each in samples]
    found, is_whole, notes = read(tmp_path, archived(log(samples, metric("mean", 1)), rows))
    assert (is_whole, notes) == (False, [])
    (name,) = whole
    of_samples = [getattr(msgspec.convert(each, Sample), name) for each in samples]
    assert [getattr(each, name) for each in found] == of_samples
    same = [{**each, "input": "x"} for each in samples]
    assert read(tmp_path, archived(log(samples, metric("mean", 1)), same))[1:] == (False, [])


def test_a_flag_is_no_number(tmp_path: Path) -> None:
    """Python takes true and 1 for equal, and by their frequency they are two."""
    members = archived(log([sample("a", True)], metric("mean", 1)), [sample("a", 1)])
    (note,) = read(tmp_path, members)[2]
    assert note.rule == "summaries-differ"


def test_nan_and_null_are_one_score(tmp_path: Path) -> None:
    members = archived(log([sample("a", float("nan"))], metric("mean", 0.5)), [sample("a", None)])
    assert read(tmp_path, members, with_texts=True)[2] == []


def test_document_is_a_header_with_its_samples() -> None:
    header, samples, _ = of_document("x", json.dumps(log(SAMPLES, metric("mean", 0.5))).encode())
    assert (header.eval.task, header.status) == ("t", "success")
    assert [each.id for each in samples] == ["a", "b"]


def test_reduced_scores_are_those_of_the_document_or_of_their_member(tmp_path: Path) -> None:
    kept = {"scorer": "num", "reducer": "max", "samples": [{"sample_id": 3, "value": 0.5}]}
    document = log(SAMPLES, metric("mean", 0.5), reductions=[kept])
    header, _, behind = of_document("x", json.dumps(document).encode())
    path = str(
        write(tmp_path / "x.eval", archived(document, SAMPLES) | {"reductions.json": [kept]})
    )
    with Archive(File(path, path)) as archive:
        assert reductions(archive, header) == behind
    assert [(r.scorer, r.reducer, r.samples[0].value) for r in behind] == [("num", "max", 0.5)]
    path = str(write(tmp_path / "y.eval", archived(document, SAMPLES)))
    with Archive(File(path, path)) as archive:
        assert reductions(archive, header) == []
    # Where the first versions kept them.
    document["results"]["sample_reductions"] = document.pop("reductions")
    header, _, older = of_document("x", json.dumps(document).encode())
    assert older == behind
    with Archive(File(path, path)) as archive:
        assert reductions(archive, header) == behind


def test_of_two_summaries_of_a_sample_the_last_counts(tmp_path: Path) -> None:
    """Inspect writes one more for a sample that is run again."""
    rows = [{**sample("1", value), "metadata": {}, "model_usage": {}} for value in (0, 1)]
    document = log([{**sample("1", 1), "metadata": {}, "model_usage": {}}])
    samples, _, notes = read(tmp_path, archived(document, rows))
    assert [(each.scores or {})["num"].value for each in samples] == [1]
    assert notes == []
