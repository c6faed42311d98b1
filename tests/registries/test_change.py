"""Adding and removing metrics of a registry file."""

from __future__ import annotations

import difflib
import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT
from registries_by_hand import DATASET

from harbor_metrics.documents.diagnostics import InvalidDocumentError
from harbor_metrics.errors import HarborMetricsError, OutputError
from harbor_metrics.registries.change import add, remove
from harbor_metrics.registries.edit import EditError


def changed_lines(before: str, after: str) -> tuple[int, int]:
    signs = [line[0] for line in difflib.ndiff(before.split("\n"), after.split("\n"))]
    return signs.count("-"), signs.count("+")


def test_diff_is_the_smallest(tmp_path: Path) -> None:
    before = (ROOT / "registry" / "registry.json").read_text()
    path = tmp_path / "registry.json"
    path.write_text(before)
    add(str(path), "buoys", "max", {})
    assert changed_lines(before, path.read_text()) == (0, 3)
    add(str(path), "charts", "mean", {"missing": "skip"})
    assert changed_lines(before, path.read_text()) == (0, 4)
    remove(str(path), "charts", "4")
    remove(str(path), "buoys", "max")
    assert path.read_text() == before


def test_what_harbor_cannot_load_goes_to_extra_metrics(tmp_path: Path) -> None:
    path = tmp_path / "registry.json"
    path.write_text(json.dumps([DATASET]))
    assert "`extra_metrics`" in add(str(path), "a", "mean", {"missing": "skip"}).message
    git = {"git_url": "https://x.org/m", "git_commit_id": "0" * 40, "script_path": "m.py"}
    add(str(path), "a", "uv-script", git)
    add(str(path), "a@1", "uv-script", {"script_path": "m.py"})
    (dataset,) = json.loads(path.read_text())
    assert [m["type"] for m in dataset["extra_metrics"]] == ["mean", "uv-script"]
    assert [m["type"] for m in dataset["metrics"]] == ["uv-script"]


@pytest.mark.parametrize(
    ("metrics", "added", "said"),
    [
        (None, "max", True),
        ([], "max", True),
        (None, "mean", False),
        (None, "std", False),  # it goes to `extra_metrics`, and the default runs on
        ([{"type": "sum"}], "max", False),
    ],
)
def test_first_metric_of_a_dataset_says_that_the_default_is_gone(
    metrics: list[object] | None, added: str, said: bool, tmp_path: Path
) -> None:
    path = tmp_path / "r 1.json"
    own = {} if metrics is None else {"metrics": metrics}
    path.write_text(json.dumps([{**DATASET, **own}]))
    note = add(str(path), "a", added, {}).note
    assert ("Harbor ran its default, `mean`" in note) == said
    if said:
        command = shlex.split(note.partition("To keep it: ")[2])
        assert command == ["harbor-metrics", "add", str(path), "a@1", "mean"]
        assert add(*command[2:], {}).note == ""
        assert [m["type"] for m in json.loads(path.read_text())[0]["metrics"]] == [added, "mean"]


def test_concurrent_adds_lose_no_metric(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps([DATASET], indent=2))
    code = "import sys; from harbor_metrics.registries.change import add\n"
    code += "for i in range(10):\n"
    code += "    add(sys.argv[1], 'a', 'uv-script', {'script_path': sys.argv[2] + str(i)})"
    runs = [subprocess.Popen([sys.executable, "-c", code, str(path), f"{n}-"]) for n in range(4)]
    assert [run.wait() for run in runs] == [0] * 4
    paths = {m["kwargs"]["script_path"] for m in json.loads(path.read_text())[0]["metrics"]}
    assert paths == {f"{n}-{i}" for n in range(4) for i in range(10)}


def test_editor_without_the_lock_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from harbor_metrics.registries import change, edit

    path = tmp_path / "r.json"
    path.write_text(json.dumps([DATASET]))
    real = edit.with_metric

    def slow(*args: object) -> str:
        path.write_text("[]")
        return real(*args)

    monkeypatch.setattr(change.edit, "with_metric", slow)
    with pytest.raises(EditError, match="another program"):
        add(str(path), "a", "mean", {})
    assert path.read_text() == "[]"


def test_killed_at_any_moment_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps([DATASET], indent=2))
    code = (
        "import sys; from harbor_metrics.registries.change import add, remove; print(flush=True)\n"
    )
    code += "while True: add(sys.argv[1], 'a', 'max', {}); remove(sys.argv[1], 'a', 'max')"
    for i in range(10):
        run = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
        assert run.stdout is not None
        run.stdout.readline()
        time.sleep(0.004 * i)
        run.kill()
        run.communicate()
        assert json.loads(path.read_text())[0].get("metrics", []) in ([], [{"type": "max"}])


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_full_disk_leaves_the_old_file(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps([DATASET]))

    def full(*args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, full)
    with pytest.raises(OutputError, match="No space left"):
        add(str(path), "a", "mean", {})
    monkeypatch.undo()
    assert path.read_text() == json.dumps([DATASET])
    assert os.listdir(tmp_path) == ["r.json"]
    with pytest.raises(HarborMetricsError):
        add(str(tmp_path / "gone" / "r.json"), "a", "mean", {})


def test_diff_holds_only_the_added_metric(tmp_path: Path) -> None:
    path = tmp_path / "registry.json"
    path.write_text((ROOT / "registry" / "registry.json").read_text())
    diff = add(str(path), "buoys", "max", {}).diff("registry.json").splitlines()
    changes = [line for line in diff[2:] if line.startswith(("+", "-"))]
    assert changes == ["+      },", "+      {", '+        "type": "max"']


def test_a_registry_with_mistakes_is_refused_with_their_places_and_exits_one(
    tmp_path: Path,
) -> None:
    path = tmp_path / "registry.json"
    path.write_text('[{"name": "a", "version": "1",}]')
    with pytest.raises(InvalidDocumentError, match="nothing was changed") as refused:
        add(str(path), "a", "mean", {})
    assert refused.value.exit_code == 1
    assert [(d.rule, d.span.column) for d in refused.value.diagnostics] == [("trailing-comma", 30)]
    assert refused.value.text == path.read_text()


def test_a_registry_that_cannot_be_read_exits_three(tmp_path: Path) -> None:
    path = tmp_path / "registry.json"
    path.write_text('[{"version": "1"}]')
    with pytest.raises(InvalidDocumentError) as refused:
        add(str(path), "a", "mean", {})
    assert refused.value.exit_code == 3
