"""Which Python a script gets: a version of one, and never a program that it names."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from metric_scripts import linux

from harbor_metrics.confinement.finished import Finished
from harbor_metrics.confinement.places import LAYERS
from harbor_metrics.confinement.workplace import Confinement, Workplace
from harbor_metrics.errors import MetricFailure
from harbor_metrics.registries.script_file import find
from harbor_metrics.scripts.cache import REPOSITORIES, cache_folder
from harbor_metrics.scripts.environment import environment
from harbor_metrics.scripts.interpreter import interpreter
from harbor_metrics.scripts.options import ScriptOptions
from harbor_metrics.scripts.steps import Work
from harbor_metrics.scripts.uv_access import find_uv

MANAGED = "cpython-3.99.1-linux-x86_64-gnu/bin"

pytestmark = pytest.mark.usefixtures("own_caches")


@linux
@pytest.mark.parametrize("asked", ["==={}", "=== {}", ">=3.8,==={}"])
def test_no_program_is_started_for_a_version(tmp_path: Path, asked: str) -> None:
    (tmp_path / "python").write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
    (tmp_path / "python").chmod(0o755)
    block = f'# /// script\n# requires-python = "{asked.format(tmp_path / "python")}"\n# ///\n'
    (tmp_path / "m.py").write_text(block)
    with Workplace() as place, pytest.raises(MetricFailure, match="requires-python"):
        environment(find(str(tmp_path / "m.py"), None), place)
    assert os.listdir(tmp_path).count("started") == 0


@pytest.mark.parametrize(
    "asked",
    [
        *("===3.12", "==3.12+local", "==9999999", "python", "==3.12/../x", "==३.12", ">=3.8\n"),
        *(">=3.8," * 30, "== 3.12\t", "@3.12", "==3.12-x86_64", "~=3", "==1!3.12"),
    ],
)
def test_a_version_has_one_form(asked: str) -> None:
    with Workplace() as place:
        work = Work.of(place, ScriptOptions())
        with pytest.raises(MetricFailure, match="requires-python"):
            interpreter({"requires-python": asked}, "/m.py", find_uv(), work)


@pytest.mark.parametrize("asked", ["", ">=3.8", ">= 3.8, <4", "~=3.8,!=3.9.*", ">3.8rc1 ,<=4.0"])
def test_what_a_version_may_be(asked: str) -> None:
    with Workplace() as place:
        work = Work.of(place, ScriptOptions())
        assert interpreter({"requires-python": asked}, "/m.py", find_uv(), work).version


@linux
@pytest.mark.parametrize(
    ("where", "below"),
    [
        ("PATH", ""),
        ("UV_PYTHON_INSTALL_DIR", MANAGED),
        ("XDG_DATA_HOME", f"uv/python/{MANAGED}"),
        ("HOME", f".local/share/uv/python/{MANAGED}"),
    ],
)
def test_python_that_came_with_what_we_work_on_is_not_run(
    where: str, below: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """uv runs what it finds to ask it: so it is not found, and could change nothing."""
    work = tmp_path / "work"
    program = work / below
    program.mkdir(parents=True)
    (program / "python3.99").write_text("#!/bin/sh\necho ran >&2; env >&2; exit 1\n")
    (program / "python3.99").chmod(0o755)
    (work / ".git").mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("UV_INDEX_URL", "https://me:hunter2@corp.example/simple")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    before = f":{os.environ['PATH']}" if where == "PATH" else ""
    monkeypatch.setenv(where, f"{work}{before}")
    steps: list[tuple[dict[str, str], Confinement, Finished]] = []
    step = Work.step

    def noted(
        work: Work, argv: list[str], env: dict[str, str], confined: Confinement, **more: Any
    ) -> Finished:
        finished = step(work, argv, env, confined, **{**more, "may_fail": True})
        steps.append((env, confined, finished))
        return finished

    monkeypatch.setattr(Work, "step", noted)
    with Workplace() as place, pytest.raises(MetricFailure, match="environment of the script"):
        interpreter(
            {"requires-python": ">=3.99"}, "/m.py", find_uv(), Work.of(place, ScriptOptions())
        )
    (env, confined, finished), *_ = steps
    assert (confined.network, confined.layers, confined.filtered) == (False, LAYERS, True)
    assert "hunter2" not in str(env)
    assert "hunter2" not in finished.stderr.decode()
    assert str(work) not in str(env)
    assert "ran" not in finished.stderr.decode().split()
    (writable,) = confined.writable
    assert "hunter2" not in str(env)
    assert "/harbor-metrics-" in writable


@linux
def test_what_a_python_says_that_uv_looks_at_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be a stranger's, and has read of the user's folders what lies beside Pythons."""
    program = tmp_path / "bin" / "python3.99"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho hunter2 >&2; echo hunter2; exit 1\n")
    program.chmod(0o755)
    (tmp_path / "wheels").mkdir()
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    reached: list[Confinement] = []
    step = Work.step

    def noted(
        work: Work, argv: list[str], env: dict[str, str], confined: Confinement, **more: Any
    ) -> Finished:
        reached.append(confined)
        return step(work, argv, env, confined, **more)

    monkeypatch.setattr(Work, "step", noted)
    with Workplace() as place, pytest.raises(MetricFailure) as raised:
        interpreter(
            {"requires-python": ">=3.99"}, "/m.py", find_uv(), Work.of(place, ScriptOptions())
        )
    assert "found no Python >=3.99 (no Python is downloaded" in str(raised.value)
    assert "hunter2" not in str(raised.value)
    (confined,) = reached
    assert not {str(tmp_path / "wheels"), "/m.py"} & {*confined.readable}
    assert not [
        path
        for path in confined.readable
        if str(tmp_path / "home") in path and not path.endswith(("/.pyenv", "/uv/python"))
    ]


@pytest.mark.parametrize("part", ["path", "prefix", "fetched", "neither"])
def test_python_that_says_it_lies_elsewhere_is_believed_there_as_little(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    (work / ".git").mkdir(parents=True)
    python = tmp_path / "python3.99"
    python.touch()
    fetched = Path(cache_folder(REPOSITORIES)) / "tree" / "python3.99"
    fetched.parent.mkdir(parents=True)
    fetched.touch()
    about = {
        "path": str(work / "python") if part == "path" else str(python),
        "prefix": str(work) if part == "prefix" else "/usr",
    }
    if part == "fetched":
        python.unlink()
        python.symlink_to(fetched)

    def step(_work: Work, argv: list[str], *_rest: Any, **_more: Any) -> Finished:
        said = json.dumps(["3.99.1", about["prefix"], about["path"]])
        return Finished(0, (str(python) if argv[1] == "python" else said).encode(), b"", False, 1.0)

    monkeypatch.setattr(Work, "step", step)
    with Workplace() as place:
        wanted = {"requires-python": ">=3.99"}, "/m.py", "uv", Work.of(place, ScriptOptions())
        if part == "neither":
            assert interpreter(*wanted).path == str(python)
        else:
            with pytest.raises(MetricFailure, match="install one elsewhere"):
                interpreter(*wanted)


@pytest.mark.parametrize("among_work", [True, False])
def test_uv_downloads_no_python_to_where_a_strangers_may_lie(
    among_work: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, pythons = tmp_path / "work", tmp_path / ("work" if among_work else "own") / "pythons"
    (work / ".git").mkdir(parents=True)
    monkeypatch.chdir(work)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("UV_PYTHON_INSTALL_DIR", str(pythons))
    monkeypatch.setenv("UV_PYTHON_DOWNLOADS", "automatic")
    steps: list[tuple[list[str], Confinement]] = []

    def step(
        _work: Work, argv: list[str], _env: dict[str, str], confined: Confinement, **_more: Any
    ) -> Finished:
        steps.append((argv, confined))
        return Finished(2, b"", b"none", False, 1.0)

    monkeypatch.setattr(Work, "step", step)
    where = "install one elsewhere" if among_work else "the environment of the script"
    with Workplace() as place, pytest.raises(MetricFailure, match=where):
        interpreter({"requires-python": ">=3.99"}, "/m.py", "uv", Work.of(place, ScriptOptions()))
    installs = [(argv, confined) for argv, confined in steps if argv[2] == "install"]
    assert [argv[3:] for argv, _ in installs if "--no-bin" not in argv] == []
    assert len(installs) == (0 if among_work else 1)
    for argv, confined in installs:
        assert argv[argv.index("--install-dir") + 1] == str(pythons)
        assert confined.layers == ("landlock",)
        assert str(pythons) in confined.writable
        assert str(tmp_path / "home") not in confined.writable


def test_python_among_what_we_work_on_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    finished = Finished(0, f"{tmp_path}/bin/python3.99\n".encode(), b"", False, 1.0)
    steps: list[list[str]] = []

    def step(_work: Work, argv: list[str], *_rest: Any, **_more: Any) -> Finished:
        steps.append(argv)
        return finished

    monkeypatch.setattr(Work, "step", step)
    with Workplace() as place, pytest.raises(MetricFailure, match="install one elsewhere"):
        interpreter({"requires-python": ">=3.99"}, "/m.py", "uv", Work.of(place, ScriptOptions()))
    assert len(steps) == 1
