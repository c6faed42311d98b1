"""Files of a size alone: they have few bytes on the disk, and would fill the memory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import Run
from metric_scripts import linux

from harbor_metrics.documents.contents import contents
from harbor_metrics.documents.sizes import MOST_DATA, MOST_WRITTEN, whole


def vast(path: Path, size: int, head: bytes = b"") -> None:
    """A file of that size that begins so; what follows is nothing."""
    path.write_bytes(head)
    os.truncate(path, size)


def test_a_file_of_the_most_bytes_is_read_and_no_larger_one(tmp_path: Path) -> None:
    vast(tmp_path / "x", 3 << 20)
    with (tmp_path / "x").open("rb") as file:
        assert len(whole(file, 3 << 20)) == 3 << 20
    with (tmp_path / "x").open("rb") as file, pytest.raises(OSError, match="larger than 2 MiB"):
        whole(file, 2 << 20)


@pytest.mark.parametrize("name", ["result.json", "config.json"])
def test_a_vast_document_of_a_job_is_said_and_its_trials_count(
    name: str, cli: Run, job: Path
) -> None:
    vast(job / name, MOST_DATA + 1)
    done = cli("compute", job)
    assert done.returncode == 0
    assert f"{name} of the job cannot be read: larger than 16384 MiB" in " ".join(
        done.stderr.split()
    )


def test_a_vast_trial_is_said(cli: Run, job: Path) -> None:
    trial = min(job.glob("*__*"))
    vast(trial / "result.json", MOST_DATA + 1)
    done = cli("compute", job)
    assert "larger than 16384 MiB" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_vast_log_is_said(cli: Run, tmp_path: Path) -> None:
    head = b'{"version": 2, "status": "success", "eval": {}, "plan": {}, "samples": []}'
    vast(tmp_path / "x.json", MOST_DATA + 1, head)
    done = cli("compute", "--as", "inspect", "x.json")
    assert done.returncode == 3
    assert "x.json: a sparse file: nobody has written" in " ".join(done.stderr.split())


@linux
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("config.json", "config.json of the job cannot be read: a sparse file"),
        ("t/result.json", "a sparse file: nobody has written what follows byte"),
    ],
)
def test_a_document_that_nobody_has_written_takes_no_memory(
    name: str, says: str, cli: Run, job: Path
) -> None:
    trial = min(job.glob("*__*"))
    vast(job / name.replace("t/", f"{trial.name}/"), MOST_WRITTEN + 1, b"{}")
    done = cli("compute", job)
    assert says in " ".join(done.stderr.split())
    assert done.returncode in (0, 1)


@linux
@pytest.mark.parametrize("name", ["x.jsonl", "x.csv", "x.json"])
def test_a_source_that_nobody_has_written_is_refused(name: str, cli: Run, tmp_path: Path) -> None:
    vast(
        tmp_path / name, MOST_WRITTEN + 1, b"task,reward\n" if name == "x.csv" else b'{"reward":1}'
    )
    for command in ("compute", "convert", "audit"):
        done = cli(command, name)
        assert (done.returncode, done.stdout) == (3, "")
        assert f"{name}: a sparse file: nobody has written what follows byte" in done.stderr


@linux
def test_a_large_file_that_was_written_is_read(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(bytes(MOST_WRITTEN + 1))
    with (tmp_path / "x").open("rb") as file:
        assert len(whole(file, MOST_DATA)) == MOST_WRITTEN + 1


@linux
def test_a_folder_with_what_nobody_has_written_is_not_hashed(tmp_path: Path) -> None:
    vast(tmp_path / "x", MOST_WRITTEN + 1)
    with pytest.raises(OSError, match="a sparse file"):
        contents(str(tmp_path))
