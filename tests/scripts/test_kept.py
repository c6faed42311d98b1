"""Which records of environments are believed."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from metric_scripts import BLOCK, linux

from harbor_metrics.confinement.workplace import Workplace
from harbor_metrics.registries.script_file import Script, find
from harbor_metrics.scripts import cache, kept, owners
from harbor_metrics.scripts.environment import environment


@pytest.fixture
def script(tmp_path: Path) -> Script:
    (tmp_path / "m.py").write_text(BLOCK)
    return find(str(tmp_path / "m.py"), None)


def record_of_all() -> Path:
    """The one that there is."""
    (record,) = Path(cache.cache_folder(cache.ENVIRONMENTS)).glob("*.json")
    return record


def forge(record: Path, **theirs: object) -> None:
    """Let a record say this besides, or instead."""
    line, _, rest = record.read_text().partition("\n")
    record.write_text(f"{json.dumps(json.loads(line) | theirs)}\n{rest}")


@linux
@pytest.mark.parametrize("shared", ["record", "folder"])
def test_what_others_could_write_is_made_anew(shared: str, script: Script) -> None:
    """The mode of a record can be taken back, and what stands in it by then cannot."""
    before = os.umask(0o002)
    try:
        with Workplace() as place:
            first = environment(script, place)
            record = record_of_all()
            assert record.stat().st_mode & 0o777 == 0o600
            assert environment(script, place) == first
        path = record if shared == "record" else Path(first.readable[0]).parent
        path.chmod(path.stat().st_mode | 0o020)
        with Workplace() as place:
            second = environment(script, place)
            assert second.command != first.command
            assert environment(script, place) == second
    finally:
        os.umask(before)


@linux
@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives things away")
def test_record_of_somebody_else_is_not_believed(script: Script) -> None:
    with Workplace() as place:
        first = environment(script, place)
        record = record_of_all()
        os.chown(record, 65_534, 65_534)
        assert environment(script, place).command != first.command


@linux
def test_record_names_nothing_that_is_run_or_read(script: Script, tmp_path: Path) -> None:
    with Workplace() as place:
        first = environment(script, place)
        record = record_of_all()
        own = record.read_text().partition("\n")[0]
        theirs = {"command": ["/bin/false"], "readable": [str(tmp_path)], "hidden": []}
        forge(record, **theirs, environment=theirs)
        assert environment(script, place) == first
    assert not any(f'"{name}"' in own for name in theirs)


@linux
def test_environment_that_was_brought_is_none(script: Script, tmp_path: Path) -> None:
    with Workplace() as place:
        first = environment(script, place)
    folder = Path(first.readable[0]).parent
    shutil.copytree(folder, tmp_path / "copy", symlinks=True)
    shutil.rmtree(folder)
    shutil.copytree(tmp_path / "copy", folder, symlinks=True)
    with Workplace() as place:
        assert environment(script, place).command != first.command


def test_environment_of_a_python_that_was_upgraded_is_made_anew(
    script: Script, tmp_path: Path
) -> None:
    with Workplace() as place:
        first = environment(script, place)
        assert environment(script, place) == first
    python = Path(first.command[0])
    upgraded = tmp_path / "python"
    shutil.copy(python, upgraded)
    record = record_of_all()
    # As in the place of the one before, which the record knows.
    text = record.read_text()
    own, other = python.stat(), upgraded.stat()
    assert str(own.st_ino) in text
    record.write_text(text.replace(str(own.st_ino), str(other.st_ino), 1))
    with Workplace() as place:
        assert environment(script, place).command != first.command


@linux
def test_record_that_came_with_what_we_work_on_changes_nothing_elsewhere(
    script: Script, tmp_path: Path
) -> None:
    """All that stands in one can be known beforehand, but for the identity of what is ours."""
    with Workplace() as place:
        environment(script, place)
    record = record_of_all()
    key = json.loads(record.read_text().partition("\n")[0])["key"]
    beside = record.with_name(f"{record.stem}-0")
    for theirs in (tmp_path / "shared", beside):
        theirs.mkdir()
        theirs.chmod(0o775)
        forge(record, folder=str(theirs))
        if theirs != beside:
            forge(record, identity=owners.identity(str(theirs)))
        with Workplace() as place:
            assert kept.find(str(record), key, place.kept) is None
        assert theirs.stat().st_mode & 0o777 == 0o775


@linux
@pytest.mark.parametrize(
    "forged",
    [
        {"listings": {}},
        {"folder": "/"},
        {"identity": [1, 2]},
    ],
    ids=["no listings", "another folder", "another identity"],
)
def test_record_that_is_none_of_ours_is_not_believed(
    forged: dict[str, object], script: Script
) -> None:
    with Workplace() as place:
        first = environment(script, place)
        record = record_of_all()
        forge(record, **forged)
        second = environment(script, place)
    assert second.command != first.command
    assert second.command[0].startswith(str(record.parent))
