"""Metrics of files of the user's own."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import json
import pickle
import py_compile
import sys
from pathlib import Path

import pytest
from catalogue.page_of_plugins import WORST
from conftest import Run
from printed import outcomes

from harbor_metrics.catalogue import file_metric, sources
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import Trial

# A metric that gives what the sources beside it say, one of them imported when it is called.
BESIDE = """\
from harbor_metrics import Column
import helper
from package.inner import INNER
from folder.module import MODULE


def told(rewards: Column) -> float:
    \"\"\"What the modules say.\"\"\"
    from package.late import LATE
    import alone

    return helper.HELPER + INNER + MODULE + LATE + alone.ALONE
"""
MODULES = {
    "helper.py": "HELPER = 1",
    "package/__init__.py": "",
    "package/inner.py": "INNER = 10",
    "package/late.py": "LATE = 100",
    "folder/module.py": "MODULE = 1000",
    "alone.py": "ALONE = 10000",
}


def forged(path: Path, text: str, cache: str | None = None) -> None:
    """What a stranger can put beside a file: the code of another text, byte-compiled."""
    other = path.with_suffix(".txt")
    other.write_text(text)
    py_compile.compile(
        str(other),
        cfile=cache or importlib.util.cache_from_source(str(path)),
        doraise=True,
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )
    other.unlink()


def write_beside(folder: Path) -> None:
    (folder / "told.py").write_text(BESIDE)
    for name, text in MODULES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


@pytest.fixture
def as_before(monkeypatch: pytest.MonkeyPatch):
    """Modules that a file imports are forgotten, and byte-compiled code would be written."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    kept = {*sys.modules}
    yield
    for name in {*sys.modules} - kept:
        del sys.modules[name]


def test_function_of_a_file_is_a_metric(cli: Run, rewards: Path, tmp_path: Path) -> None:
    (tmp_path / "worst.py").write_text(WORST)
    asked = '{"type": "worst.py:worst_task", "kwargs": {"skip": 1}}'
    done = cli(
        "compute", rewards, "--metric", "worst.py:worst_task", "--metric", asked,
        "--format", "json",
    )  # fmt: skip
    _, first, second = outcomes(done)
    assert first["values"] == {"worst.py:worst_task": 0.625}
    assert first["script"]["path"] == "worst.py"
    assert len(first["script"]["sha256"]) == 64
    assert second["kwargs"] == {"skip": 1}
    wrong = cli("compute", rewards, "--metric", asked.replace("skip", "skp"))
    assert wrong.returncode == 2
    assert "did you mean `skip`" in wrong.stderr


@pytest.mark.parametrize(
    ("code", "code_is", "words"),
    [
        ("def f(", 2, "line 1: SyntaxError"),
        ("\nraise ValueError('no')", 2, "line 2: ValueError: no"),
        ("def g(): pass", 2, "has no function `f`; it has g"),
        ("def f(x): pass", 2, "is no metric"),
        (None, 3, "No such file"),
    ],
)
def test_file_without_that_metric_is_refused(
    cli: Run, rewards: Path, tmp_path: Path, code: str | None, code_is: int, words: str
) -> None:
    if code is not None:
        (tmp_path / "mine.py").write_text(code)
    done = cli("compute", rewards, "--metric", "mine.py:f")
    assert done.returncode == code_is
    assert words in done.stderr


def test_registry_never_runs_a_file(cli: Run, rewards: Path, tmp_path: Path) -> None:
    (tmp_path / "worst.py").write_text(f"open('ran', 'w')\n{WORST}")
    dataset = {"name": "d", "version": "1", "description": "", "tasks": []}
    entry = {"type": "worst.py:worst_task"}
    (tmp_path / "r.json").write_text(json.dumps([{**dataset, "extra_metrics": [entry]}]))
    done = cli("compute", rewards, "--registry", "r.json", "--dataset", "d", "--format", "json")
    assert outcomes(done)[1]["status"] == "failed"
    assert cli("validate", "r.json").returncode == 1
    assert not (tmp_path / "ran").exists()


def test_what_runs_is_what_was_hashed(cli: Run, rewards: Path, tmp_path: Path) -> None:
    """Byte-compiled code beside a file comes with a stranger's folder, and says what it likes."""
    worst = tmp_path / "worst.py"
    worst.write_text(WORST)
    forged(worst, f"open('ran', 'w')\n{WORST.replace('return means', 'return 42 + means')}")
    done = cli("compute", rewards, "--metric", "worst.py:worst_task", "--format", "json")
    _, metric = outcomes(done)
    assert metric["values"] == {"worst.py:worst_task": 0.625}
    assert metric["script"]["sha256"] == hashlib.sha256(worst.read_bytes()).hexdigest()
    assert not (tmp_path / "ran").exists()


def test_modules_beside_a_file_are_read_from_their_sources(
    cli: Run, rewards: Path, tmp_path: Path
) -> None:
    write_beside(tmp_path)
    for name, text in MODULES.items():
        forged(tmp_path / name, f"open('ran', 'w')\n{text}")
    done = cli("compute", rewards, "--metric", "told.py:told", "--format", "json")
    assert outcomes(done)[1]["values"] == {"told.py:told": 11111}
    assert not (tmp_path / "ran").exists()


def test_module_without_a_source_is_none(cli: Run, rewards: Path, tmp_path: Path) -> None:
    write_beside(tmp_path)
    (tmp_path / "helper.py").unlink()
    forged(tmp_path / "helper.py", "open('ran', 'w')", cache=str(tmp_path / "helper.pyc"))
    done = cli("compute", rewards, "--metric", "told.py:told")
    assert done.returncode == 2
    assert "line 2: ModuleNotFoundError: No module named 'helper'" in done.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.usefixtures("as_before")
def test_nothing_is_written_and_importing_is_as_before(tmp_path: Path) -> None:
    write_beside(tmp_path)
    finder = sys.path_importer_cache[str(tmp_path)] = sys.path_hooks[-1](str(tmp_path))
    before = [*sys.path], [*sys.path_hooks], {**sys.path_importer_cache}
    metric, _, _ = file_metric.load(f"{tmp_path}/told.py:told")
    column = Table([Trial(task="t", rewards={"reward": 1})]).column("reward", "zero")
    assert metric.bind({})(column) == 11111
    assert (sys.path, sys.path_hooks, sys.path_importer_cache) == before
    assert sys.path_importer_cache[str(tmp_path)] is finder
    assert not [*tmp_path.rglob("__pycache__")]


@pytest.mark.usefixtures("as_before")
def test_a_file_that_is_another_than_it_is_pinned_to_is_not_run(cli: Run, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(WORST)
    (tmp_path / "r.jsonl").write_text('{"reward": 1}\n')
    spec = {"type": "mine.py:worst_task", "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    assert cli("compute", "r.jsonl", "--metric", json.dumps(spec)).returncode == 0
    path.write_text(f"open('ran', 'w')\n{WORST}")
    done = cli("compute", "r.jsonl", "--metric", json.dumps(spec))
    assert (done.returncode, (tmp_path / "ran").exists()) == (2, False)
    assert "was changed since, and was not run" in " ".join(done.stderr.split())
    done = cli("compute", "r.jsonl", "--metric", json.dumps(spec | {"type": "mean"}))
    assert (done.returncode, "`sha256` is of a script" in done.stderr) == (2, True)


@pytest.mark.usefixtures("as_before")
def test_packages_installed_below_the_folder_keep_their_caches(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An environment lies in its project, and compiling all of it each time takes seconds."""
    installed = tmp_path / ".venv" / "site-packages"
    installed.mkdir(parents=True)
    (installed / "installed_here.py").write_text("")
    (tmp_path / "worst.py").write_text(f"import installed_here\n{WORST}")
    monkeypatch.syspath_prepend(installed)
    monkeypatch.setattr(sources, "_BEFORE", (str(installed),))
    file_metric.load(f"{tmp_path}/worst.py:worst_task")
    assert [path.parent for path in tmp_path.rglob("__pycache__")] == [installed]


@pytest.mark.usefixtures("as_before")
def test_file_is_a_module_like_others(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    text = f"""\
# coding: latin-1
from dataclasses import dataclass

UMLAUT = "\xe4"


@dataclass
class Point:
    x: "int" = 1


{WORST}"""
    path.write_bytes(text.encode("latin-1"))
    metric, _, _ = file_metric.load(f"{path}:worst_task")
    module = sys.modules[metric.function.__module__]
    assert module.UMLAUT == "\xe4"
    assert module.__file__ == str(path) == module.__spec__.origin
    assert pickle.loads(pickle.dumps(module.Point(2))) == module.Point(2)
    assert inspect.getsource(metric.function).startswith("def worst_task(")
    # What is written there afterwards is not what ran.
    path.write_text("")
    assert module.__loader__.get_source(module.__name__) == text


def test_error_of_a_call_says_its_line(cli: Run, rewards: Path, tmp_path: Path) -> None:
    write_beside(tmp_path)
    (tmp_path / "alone.py").write_text("\nraise ValueError('no')")
    done = cli("compute", rewards, "--metric", "told.py:told")
    assert "alone.py, line 2: ValueError: no" in done.stdout
