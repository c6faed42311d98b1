"""`add` and `remove`: the smallest change that does it, or none."""

from __future__ import annotations

import difflib
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT, Run
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor_metrics.change import add, parse_kwargs, remove
from harbor_metrics.document import parse
from harbor_metrics.edit import EditError, Place, with_metric, without_metric
from harbor_metrics.errors import HarborMetricsError, OutputError

DATASET = {
    "name": "a",
    "version": "1",
    "description": "é \u2028",
    "tasks": [{"name": "t", "path": "p"}],
}
SHAPES = [
    DATASET,
    {**DATASET, "metrics": []},
    {**DATASET, "metrics": [{"type": "max"}]},
    {**DATASET, "metrics": [{"type": "max"}, {"type": "min", "kwargs": {}}]},
    {"metrics": [], **DATASET},
    {"tasks": [], "name": "a", "version": "1", "description": ""},
    {"name": "a", "version": "1"},
]
STYLES = [
    {"indent": 2},
    {"indent": 4},
    {"indent": "\t"},
    {},
    {"separators": (",", ":")},
    {"indent": 3, "ensure_ascii": False},
]
ENTRIES = [{"type": "mean"}, {"type": "uv-script", "kwargs": {"script_path": "é.py"}}]


def changed_lines(before: str, after: str) -> tuple[int, int]:
    signs = [line[0] for line in difflib.ndiff(before.split("\n"), after.split("\n"))]
    return signs.count("-"), signs.count("+")


@pytest.mark.parametrize("entry", ENTRIES, ids=["mean", "script"])
@pytest.mark.parametrize("end", ["", "\n", "\r\n"], ids=repr)
@pytest.mark.parametrize("style", STYLES, ids=str)
@pytest.mark.parametrize("shape", range(len(SHAPES)))
def test_remove_undoes_add(
    shape: int, style: dict[str, object], end: str, entry: dict[str, object]
) -> None:
    text = json.dumps([DATASET, {**SHAPES[shape], "name": "b"}], **style) + end
    if end == "\r\n":
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    document, found = parse(text.encode(), "x")
    assert not found
    n = len(SHAPES[shape].get("metrics", []))
    after = with_metric(document, Place(1, "metrics", n), entry)
    assert json.loads(after)[1]["metrics"][n] == entry
    assert ("\r\n" in after) == ("\r\n" in text)
    edited, _ = parse(after.encode(), "x")
    assert without_metric(edited, Place(1, "metrics", n)) == text


@settings(max_examples=200)
@given(st.integers(0, 10**9))
def test_any_metric_can_be_removed(seed: int) -> None:
    rng = random.Random(seed)
    metrics = [{"type": rng.choice(["mean", "max", "min"])} for _ in range(rng.randint(1, 4))]
    style = rng.choice(STYLES)
    document, _ = parse(json.dumps([{**DATASET, "metrics": metrics}], **style).encode(), "x")
    index = rng.randrange(len(metrics))
    value = json.loads(without_metric(document, Place(0, "metrics", index)))
    assert value[0].get("metrics", []) == metrics[:index] + metrics[index + 1 :]


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


def test_adding_what_is_there_changes_nothing(cli: Run, tmp_path: Path) -> None:
    text = json.dumps([{**DATASET, "metrics": [{"kwargs": {}}]}])
    (tmp_path / "r.json").write_text(text)
    stamp = (tmp_path / "r.json").stat().st_mtime_ns
    done = cli("add", "r.json", "a", "mean")
    assert (done.returncode, "nothing was changed" in done.stdout) == (0, True)
    assert (tmp_path / "r.json").stat().st_mtime_ns == stamp


@pytest.mark.parametrize(
    ("text", "arguments", "code", "words"),
    [
        ('[{"name": "a", "name": "b"}]', ["add", "a", "mean"], 1, "duplicate key"),
        ("[1 2]", ["add", "a", "mean"], 1, "missing comma"),
        (json.dumps([DATASET]), ["add", "b", "mean"], 1, "no dataset b; the registry has a@1"),
        (json.dumps([DATASET, {**DATASET, "version": "2"}]), ["add", "a", "mean"], 1, "a@1, a@2"),
        (json.dumps([DATASET, DATASET]), ["add", "a@1", "mean"], 1, "more than once"),
        (json.dumps([{**DATASET, "metrics": None}]), ["add", "a", "mean"], 3, "must be an array"),
        (json.dumps(DATASET), ["add", "a", "mean"], 3, "array of datasets"),
        (json.dumps([DATASET]), ["add", "a", "men"], 2, "did you mean `mean`"),
        (json.dumps([DATASET]), ["add", "a", "mean", "-k", "q=1"], 2, "takes no `q`"),
        (json.dumps([DATASET]), ["add", "a", "mean", "-k", "missing"], 2, "NAME=VALUE"),
        (json.dumps([DATASET]), ["add", "a", "uv-script"], 2, "needs `script_path`"),
        (json.dumps([DATASET]), ["remove", "a", "mean"], 1, "no metric `mean`"),
        (json.dumps([{**DATASET, "metrics": [{}]}]), ["remove", "a", "3"], 1, "no index 3"),
        (
            json.dumps([{**DATASET, "metrics": [{}, {}]}]),
            ["remove", "a", "mean"],
            1,
            "0: {}, 1: {}",
        ),
    ],
)
def test_what_is_refused_changes_nothing(
    text: str, arguments: list[str], code: int, words: str, cli: Run, tmp_path: Path
) -> None:
    (tmp_path / "r.json").write_text(text)
    verb, *rest = arguments
    done = cli(verb, "r.json", *rest)
    assert done.returncode == code
    assert words in done.stderr
    assert (tmp_path / "r.json").read_text() == text


def test_mark_mode_and_link_stay(cli: Run, tmp_path: Path) -> None:
    real = tmp_path / "real.json"
    before = b"\xef\xbb\xbf" + json.dumps([DATASET]).encode()
    real.write_bytes(before)
    real.chmod(0o640)
    (tmp_path / "r.json").symlink_to("real.json")
    assert cli("add", "r.json", "a", "max").returncode == 0
    assert real.read_bytes().startswith(b"\xef\xbb\xbf[")
    assert real.stat().st_mode & 0o777 == 0o640
    assert cli("remove", "r.json", "a", "max").returncode == 0
    assert real.read_bytes() == before
    assert (tmp_path / "r.json").is_symlink()


def test_kwargs_are_typed_by_the_metric() -> None:
    assert parse_kwargs("uv-script", ["script_path=4"]) == {"script_path": "4"}
    assert parse_kwargs("mean", ["missing=skip", "key=1"]) == {"missing": "skip", "key": "1"}


def test_many_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps([DATASET], indent=2))
    code = "import sys; from harbor_metrics.change import add\n"
    code += "for i in range(10):\n"
    code += "    add(sys.argv[1], 'a', 'uv-script', {'script_path': sys.argv[2] + str(i)})"
    runs = [subprocess.Popen([sys.executable, "-c", code, str(path), f"{n}-"]) for n in range(4)]
    assert [run.wait() for run in runs] == [0] * 4
    paths = {m["kwargs"]["script_path"] for m in json.loads(path.read_text())[0]["metrics"]}
    assert paths == {f"{n}-{i}" for n in range(4) for i in range(10)}


def test_editor_without_the_lock_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from harbor_metrics import change, edit

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
    code = "import sys; from harbor_metrics.change import add, remove; print(flush=True)\n"
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
def test_full_disk_loses_nothing(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps([DATASET]))

    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, full)
    with pytest.raises(OutputError, match="No space left"):
        add(str(path), "a", "mean", {})
    monkeypatch.undo()
    assert path.read_text() == json.dumps([DATASET])
    assert os.listdir(tmp_path) == ["r.json"]
    with pytest.raises(HarborMetricsError):
        add(str(tmp_path / "gone" / "r.json"), "a", "mean", {})


@pytest.mark.parametrize("inside", ["", " ", "\n    ", "\t"])
def test_empty_array_comes_back_as_it_was(inside: str) -> None:
    text = f'[\n  {{"name": "a", "version": "1", "metrics": [{inside}], "tasks": []}}\n]'
    document, _ = parse(text.encode(), "x")
    after = with_metric(document, Place(0, "metrics", 0), {"type": "mean"})
    edited, _ = parse(after.encode(), "x")
    assert without_metric(edited, Place(0, "metrics", 0)) == text


def test_name_with_an_at_is_reached(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps([{**DATASET, "name": "d@x y"}]))
    assert cli("add", "r.json", "d@x y@1", "min").returncode == 0
    assert cli("remove", "r.json", "d@x y", "9" * 5000).returncode == 1
    assert cli("add", "r.json", "d@x y", "uv-script", "-k", "script_path=\udcff").returncode == 2
