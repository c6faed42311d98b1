"""The reading of one file, until there is a source."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from harbor_metrics.documents.diagnostics import Diagnostic, Severity
from harbor_metrics.readers.files.file import File, opened
from harbor_metrics.readers.reading import Reading
from harbor_metrics.trials.trial import GroupKey, Trial

LINES = b'{"a": 1}\n\n{"a"}\nnull\n{"a": 2}'


@pytest.fixture
def reading(tmp_path: Path) -> Reading:
    path = str(tmp_path / "x")
    (tmp_path / "x").write_bytes(LINES)
    return Reading(File(path, path))


def test_digest_is_that_of_the_bytes_however_they_are_read(reading: Reading) -> None:
    digest = hashlib.sha256(LINES).hexdigest()
    assert b"".join(block for _, block in reading.blocks()) == LINES
    assert reading.source().sha256 == digest
    for way in ("content", "skim"):
        again = Reading(reading.file)
        getattr(again, way)()
        assert again.source().sha256 == digest
    again = Reading(reading.file)
    with again.text() as stream:
        assert list(stream) == LINES.decode().splitlines(keepends=True)
    assert again.source().sha256 == digest


@pytest.mark.parametrize("way", ["blocks", "content", "text"])
def test_file_is_read_as_far_as_it_went_at_first(way: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(LINES)
    with opened(str(path)) as file:
        path.write_bytes(LINES * 2)
        reading = Reading(file)
        if way == "text":
            with reading.text() as stream:
                stream.read()
        else:
            list(getattr(reading, way)())
        assert reading.source().sha256 == hashlib.sha256(LINES).hexdigest()


def test_line_that_cannot_be_read_is_refused_and_the_others_are_rows(reading: Reading) -> None:
    def decode(line: bytes) -> int:
        value = json.loads(line)
        if value is None:
            raise ValueError("nothing")
        return int(value["a"])

    rows = list(reading.salvage(LINES, 1, decode, lambda document, number: []))
    assert rows == [(1, 1), (5, 2)]
    assert reading.n_unread == 2
    slip, plain = reading.diagnostics
    assert (slip.span.line, plain.rule) == (3, "unread-line")
    assert plain.message == "line 4: nothing"


def test_explanation_stands_in_place_of_the_error(reading: Reading) -> None:
    why = Diagnostic(rule="invalid-reward", message="why")

    def refuse(line: bytes) -> None:
        raise ValueError

    assert list(reading.salvage(b"{}\n", 7, refuse, lambda document, number: [why] * number)) == []
    assert reading.diagnostics == [why] * 7
    assert reading.n_unread == 1


def test_unread_trials_are_of_the_only_group_there_is(reading: Reading) -> None:
    reading.trials = [Trial(task=t, rewards=None, agent="x") for t in "ba"]
    reading.refuse()
    source = reading.source()
    assert source.unread == [GroupKey("x", None, None)]
    assert [trial.task for trial in source.trials] == ["a", "b"]
    reading.trials.append(Trial(task="c", rewards=None, agent="y"))
    assert reading.source().unread == [None]


def test_note_is_of_the_file_with_the_severity_of_its_rule(reading: Reading) -> None:
    reading.note(rule="samples-missing", message="m", advice="do it")
    reading.note(rule="samples-missing", message="m", severity=Severity.NOTE)
    first, second = reading.diagnostics
    assert (first.path, first.help) == (reading.path, "do it")
    assert second.severity == Severity.NOTE
    assert first.severity == Diagnostic(rule="samples-missing", message="").severity
