"""What version 0.1.0 wrote and read, it goes on writing and reading: byte for byte.

`recorded/cases.json` lists commands with their exit codes, `recorded/expected/` holds what each of
them wrote: to its streams, and as files. This is a promise about registries, trials files and
result documents, so `pytest --update` does not touch it. A change that is meant is recorded with

    python tests/recorded/record.py NAME...

which replaces the named cases alone, and is explained in CHANGELOG.md. The numbers were recorded
with Python 3.11 on Linux. 3.12 and 3.13 give the same; another system's `log` and `exp` may differ
in the last digit of an interval.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from recorded import record
from recorded.record import CASES, EXPECTED, TESTS, Case, Outcome

import harbor_metrics
from harbor_metrics import Result

# Result documents and SARIF name the version that wrote them: the one thing that may differ.
TOOL = re.compile(rb'("name": "harbor-metrics",\s*"version": )"\d[^"]*"')
NAMING_THE_VERSION = ("compute", "compare", "validate")
TRIALS_FILES = sorted(EXPECTED.rglob("trials.jsonl"))


def of_this_version(case: Case, outcome: Outcome) -> Outcome:
    """What is recorded, with the version of today where a document names what wrote it."""
    if case.args[0] not in NAMING_THE_VERSION:
        return outcome

    def today(data: bytes) -> bytes:
        return TOOL.sub(rb'\g<1>"%b"' % harbor_metrics.__version__.encode(), data)

    files = {place: today(data) for place, data in outcome.files.items()}
    return Outcome(outcome.exit, today(outcome.stdout), outcome.stderr, files)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_recorded_command_does_the_same_again(case: Case, tmp_path: Path) -> None:
    was = of_this_version(case, record.recorded(case))
    now = record.run(case, tmp_path, record.in_this_process)
    assert now.stderr.decode() == was.stderr.decode()
    assert now.stdout.decode() == was.stdout.decode()
    assert now.files == was.files
    assert now.exit == was.exit


@pytest.mark.parametrize("path", record.documents(), ids=lambda path: path.parent.parent.name)
def test_a_recorded_result_read_and_written_again_is_the_same_bytes(path: Path) -> None:
    own = harbor_metrics.Comparison if b'\n  "comparisons": ' in path.read_bytes() else Result
    assert own.read(str(path)).to_json().encode() == path.read_bytes()


@pytest.mark.parametrize("path", TRIALS_FILES, ids=lambda path: path.parent.parent.name)
def test_a_recorded_trials_file_converted_again_is_the_same_bytes(
    path: Path, tmp_path: Path
) -> None:
    place = {"trials.jsonl": path.relative_to(TESTS).as_posix()}
    again = Case("again", ["convert", "trials.jsonl"], 0, place)
    now = record.run(again, tmp_path, record.in_this_process)
    assert (now.exit, now.stdout) == (0, path.read_bytes())


def test_a_process_of_its_own_does_what_this_process_does(tmp_path: Path) -> None:
    (case,) = (case for case in CASES if case.name == "rewards-broken")
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    here = record.run(case, tmp_path / "a", record.in_this_process)
    assert record.run(case, tmp_path / "b", record.in_a_process_of_its_own) == here


def test_the_order_of_shards_changes_only_the_order_of_the_sources() -> None:
    first, second = (
        json.loads((EXPECTED / name / "written" / "result.json").read_bytes())
        for name in ("shards-a-then-b", "shards-b-then-a")
    )
    assert first.pop("sources") == second.pop("sources")[::-1]
    assert first == second


def test_every_recorded_folder_belongs_to_one_case() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)
    assert {path.name for path in EXPECTED.iterdir()} <= set(names)


def test_the_recorded_version_is_replaced_in_documents_and_in_sarif() -> None:
    for name in ("job-table", "validate-and-also"):
        files = record.recorded(next(case for case in CASES if case.name == name)).files
        named = [data for place, data in files.items() if not place.endswith(".jsonl")]
        assert [len(TOOL.findall(data)) for data in named] == [1]
