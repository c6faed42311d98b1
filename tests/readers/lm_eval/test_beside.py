"""What lies beside samples of lm-eval is listed, read and made numbers of once."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import as_somebody_else
from lm_eval_folders import STAMP, folder

from harbor_metrics import compute, readers
from harbor_metrics.audits import audit
from harbor_metrics.errors import InputError
from harbor_metrics.readers.lm_eval import beside

N = 12


def counted(monkeypatch: pytest.MonkeyPatch, where: Any, name: str) -> list[Any]:
    """The first arguments of each call from now on."""
    real, calls = getattr(where, name), []

    def call(*args: Any) -> Any:
        calls.append(args[0])
        return real(*args)

    monkeypatch.setattr(where, name, call)
    return calls


@pytest.mark.parametrize("command", [audit, compute])
def test_a_folder_that_cannot_be_listed_is_no_folder_without_results(
    command: Any, open_to_all: Path
) -> None:
    samples = sorted(folder(open_to_all, tasks=1).glob("samples_*"))
    command(*map(str, samples))
    open_to_all.chmod(0o711)
    with as_somebody_else(), pytest.raises(InputError, match="says: Permission denied"):
        command(*map(str, samples))


@pytest.mark.parametrize("command", [audit, compute])
def test_a_results_file_is_read_once_for_all_tasks(
    command: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder(tmp_path, tasks=N)
    reads, lists = counted(monkeypatch, beside, "_read"), counted(monkeypatch, beside, "_Folder")
    # In a folder an audit looks for results files that are of no samples, too.
    n_lists = 2 if command is audit else 1
    command(str(tmp_path))
    assert (len(reads), len(lists)) == (1, n_lists)
    # The next command reads it again: it may be another one by then.
    command(*map(str, sorted(tmp_path.glob("samples_*"))))
    assert (len(reads), len(lists)) == (2, n_lists + 1)


def test_the_numbers_of_a_group_are_made_once(tmp_path: Path) -> None:
    sources = readers.read(str(folder(tmp_path, tasks=N)))
    of_groups = [n for source in sources for n in source.reported() if n.members]
    assert len(of_groups) == N
    assert len(set(map(id, of_groups))) == 1


def test_what_is_of_no_samples_is_told_by_the_first_task_alone(tmp_path: Path) -> None:
    folder(tmp_path, tasks=N)
    for i in range(N // 2, N):
        (tmp_path / f"samples_task{i}_{STAMP}.jsonl").unlink()
    first, *others = readers.read(str(tmp_path))
    tasks = {n.group.dataset for n in first.reported() if not n.members}
    assert tasks == {"task0", *(f"task{i}" for i in range(N // 2, N))}
    assert all(len({n.group.dataset for n in s.reported() if not n.members}) == 1 for s in others)


def test_of_many_results_files_each_is_compared_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder(tmp_path, tasks=N)
    for i in range(N):
        shutil.copy(tmp_path / f"results_{STAMP}.json", tmp_path / f"m{i}_results_{STAMP}.json")
    strays = counted(monkeypatch, beside, "stray")
    sources = readers.read(str(tmp_path))
    assert len(strays) == N + 1
    assert all(source.reported() and len(source.files) == N + 1 for source in sources)
