"""A script runs at once in the environment of before; what changed files answer is no answer."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from metric_scripts import BLOCK, HEAD, linux

from harbor_metrics.confinement.workplace import Workplace
from harbor_metrics.errors import MetricFailure
from harbor_metrics.registries.script_file import Script, find
from harbor_metrics.scripts import execution
from harbor_metrics.scripts.environment import environment
from harbor_metrics.scripts.execution import Inputs, execute
from harbor_metrics.scripts.kept import Environment
from harbor_metrics.scripts.options import ScriptOptions
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import Trial

INPUTS = Inputs.of(Table([Trial(task="t", rewards={"reward": 1.0})]))
# 1, and 2 where something was put among its packages.
NUMBER = "import sys\nanswer(n=1 + ('sitecustomize' in sys.modules))\n"


@pytest.fixture
def script(tmp_path: Path) -> Script:
    (tmp_path / "m.py").write_text(f"{BLOCK}{HEAD}{NUMBER}")
    return find(str(tmp_path / "m.py"), None)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The environments in which a script was run, in order."""
    folders: list[str] = []
    run = execution.run

    def counted(script: Script, made: Environment, *rest: object, **options: object) -> object:
        folders.append(made.command[0])
        return run(script, made, *rest, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(execution, "run", counted)
    return folders


def packages(made: Environment) -> Path:
    (found,) = Path(made.readable[0]).glob("lib/python*/site-packages")
    return found


@linux
def test_answer_of_changed_files_is_not_taken(script: Script, runs: list[str]) -> None:
    with Workplace() as place:
        clean = execute(script, INPUTS, ScriptOptions(), place)
        (packages(clean.environment) / "sitecustomize.py").write_text("")
        again = execute(script, INPUTS, ScriptOptions(), place)
    assert clean.values == again.values == {"n": 1}
    first, changed, new = runs
    assert first == changed != new


@linux
@pytest.mark.parametrize("end", ["raise SystemExit(9)", "import os; os.kill(os.getpid(), 9)"])
def test_failure_of_changed_files_is_none_of_the_scripts(
    script: Script, runs: list[str], end: str
) -> None:
    with Workplace() as place:
        clean = execute(script, INPUTS, ScriptOptions(), place)
        (packages(clean.environment) / "sitecustomize.py").write_text(end)
        assert execute(script, INPUTS, ScriptOptions(), place).values == {"n": 1}
    assert len(runs) == 3


@linux
def test_script_that_fails_is_run_once(tmp_path: Path, runs: list[str]) -> None:
    (tmp_path / "m.py").write_text(f"{BLOCK}raise SystemExit(3)\n")
    script = find(str(tmp_path / "m.py"), None)
    with Workplace() as place:
        environment(script, place)
        with pytest.raises(MetricFailure, match="the script"):
            execute(script, INPUTS, ScriptOptions(), place)
    assert len(runs) == 1


@linux
def test_times_alone_are_no_change(script: Script, runs: list[str]) -> None:
    with Workplace() as place:
        made = environment(script, place)
        os.utime(packages(made).parents[2] / "pyvenv.cfg", ns=(5, 5))
        for _ in range(2):
            assert execute(script, INPUTS, ScriptOptions(), place).values == {"n": 1}
    assert runs == [made.command[0]] * 2


@pytest.mark.parametrize("free", [ScriptOptions(sandbox="off"), ScriptOptions(layers=())])
def test_where_nothing_confines_files_are_looked_at_before(
    script: Script, free: ScriptOptions, tmp_path: Path
) -> None:
    with Workplace() as place:
        clean = execute(script, INPUTS, free, place)
        mark = tmp_path / "ran"
        changed = packages(clean.environment) / "sitecustomize.py"
        changed.write_text(f"open({str(mark)!r}, 'w')\n")
        assert execute(script, INPUTS, free, place).values == {"n": 1}
    assert not mark.exists()


@linux
def test_it_is_looked_at_while_the_script_runs(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    running: list[bool] = []
    run = Workplace.run

    def noted(place: Workplace, argv: list[str], **options: object) -> object:
        meanwhile: Callable[[], object] | None = options["meanwhile"]  # type: ignore[assignment]
        assert meanwhile is not None

        def note() -> None:
            running.append(True)
            meanwhile()
            running.append(False)

        finished = run(place, argv, **{**options, "meanwhile": note})  # type: ignore[arg-type]
        running.append(finished.code == 0)
        return finished

    with Workplace() as place:
        environment(script, place)
        monkeypatch.setattr(Workplace, "run", noted)
        execute(script, INPUTS, ScriptOptions(), place)
    assert running == [True, False, True]
