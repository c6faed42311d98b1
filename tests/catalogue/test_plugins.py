"""Metrics of installed packages."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from catalogue.page_of_plugins import CHECK, ENTRY, WORST
from conftest import ROOT, run_cli
from printed import outcomes

GOOD = '''
from harbor_metrics import Column

def spread(rewards: Column, *, digits: int = 3) -> float:
    """Distance of the best reward from the worst."""
    return round(max(rewards.values) - min(rewards.values), digits)

def second(attempts):
    """Second attempt."""
    return attempts[1]
'''
EVSYS = '''
class Solved:
    """Tasks solved at least once."""
    name = "solved"
    def compute(self, task_rewards):
        return float(sum(any(r >= 1 for r in task) for task in task_rewards))
'''


def install(target: Path, name: str, code: str, points: str) -> None:
    """A wheel made by hand, installed by uv as any other."""
    module = name.replace("-", "_")
    info = f"{module}-1.2.dist-info"
    files = {
        f"{module}.py": code,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": points,
    }
    record = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    wheel = target.parent / f"{module}-1.2-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in [*files.items(), (f"{info}/RECORD", record)]:
            archive.writestr(path, text)
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    command += ["--python", sys.executable, "--target", str(target), str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A directory of installed packages."""
    return tmp_path / "site"


def run(site: Path, *args: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    done = run_cli(*args, cwd=cwd, env={"PYTHONPATH": f"{site}:{ROOT}"})
    assert "\nTraceback" not in f"\n{done.stderr}", done.stderr
    return done


def test_a_good_plugin_is_a_metric_like_ours(site: Path, rewards: Path, tmp_path: Path) -> None:
    points = "[harbor_metrics.metrics]\nspread = harbour_spread:spread\n"
    points += "[harbor_metrics.reducers]\nsecond = harbour_spread:second\n"
    install(site, "harbour-spread", GOOD, points)
    asked = ["spread", '{"type": "spread", "kwargs": {"digits": 1}}']
    asked += ['{"type": "mean", "kwargs": {"reducer": "second"}}']
    asked += ['{"type": "grouped", "kwargs": {"metric": "spread", "by": "task"}}']
    options = [part for one in asked for part in ("--metric", one)]
    done = run(site, "compute", rewards, *options, "--format", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    _, one, two, mean, grouped = outcomes(done)
    assert one["values"] == {"spread": 0.75}
    whose = [{"distribution": "harbour-spread", "version": "1.2"}]
    assert one["plugins"] == mean["plugins"] == grouped["plugins"] == whose
    assert two["values"] == {"spread": 0.8}
    assert mean["values"] == {"mean": 0.5}
    assert grouped["values"] == {"a": 0.75, "b": 0.25, "all": 0.75}
    listed = run(site, "list", cwd=tmp_path)
    assert "Plugin harbour-spread 1.2 (metrics)" in listed.stdout
    assert "Distance of the best reward" in listed.stdout
    assert listed.stderr == ""
    explained = run(site, "explain", "spread", cwd=tmp_path)
    assert "of the plugin harbour-spread 1.2" in explained.stdout
    wrong = run(site, "compute", rewards, "--metric", '{"type":"spread","kwargs":{"digit":1}}',
                cwd=tmp_path)  # fmt: skip
    assert wrong.returncode == 2
    assert "did you mean `digits`" in wrong.stderr
    registry = tmp_path / "registry.json"
    entry = {"type": "spread", "kwargs": {"digits": "x"}}
    dataset = {"name": "d", "version": "1", "description": "", "tasks": []}
    registry.write_text(json.dumps([{**dataset, "extra_metrics": [entry, {"type": "spraed"}]}]))
    validated = run(site, "validate", registry, cwd=tmp_path)
    assert "`digits` of `spread` must be an integer, not a string" in validated.stdout
    added = run(site, "add", registry, "d", "spread", cwd=tmp_path)
    assert "`extra_metrics`" in added.stdout


def test_clash_of_plugins_is_refused_and_breaks_nothing_else(
    site: Path, rewards: Path, tmp_path: Path
) -> None:
    install(site, "one-plugin", GOOD, "[harbor_metrics.metrics]\nspread = one_plugin:spread\n")
    two = "[harbor_metrics.metrics]\nspread = two_plugin:spread\nmean = two_plugin:spread\n"
    install(site, "two-plugin", GOOD, two)
    done = run(site, "compute", rewards, "--metric", "spread", cwd=tmp_path)
    assert done.returncode == 2
    assert "`spread` is brought by one-plugin 1.2 and two-plugin 1.2; uninstall" in done.stderr
    fine = run(site, "compute", rewards, "--metric", "mean", "--format", "json", cwd=tmp_path)
    assert outcomes(fine)[0]["values"] == {"mean": 0.625}
    listed = run(site, "list", cwd=tmp_path)
    assert listed.returncode == 0
    assert "`mean` of two-plugin 1.2 is a name of harbor-metrics' own" in listed.stderr
    assert "one-plugin 1.2 and two-plugin 1.2" in listed.stderr


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("raise RuntimeError('no licence')", "cannot be imported: RuntimeError: no licence"),
        ("import nowhere", "cannot be imported: ModuleNotFoundError"),
        ("raise SystemExit(3)", "cannot be imported: SystemExit: 3"),
        ("bad = 3", "is not what it should be: broken_one:bad is no function"),
        ("def bad(): pass", "the first parameter must be the rewards"),
        ("def bad(rewards): pass", "the first parameter must be a Column or Table"),
        (
            "from harbor_metrics import Column\ndef bad(rewards: Column, k): pass",
            "parameters after the first must be keyword-only",
        ),
        (
            "from harbor_metrics import Column\ndef bad(rewards: Column, *, k=1): pass",
            "parameter `k` has no annotation",
        ),
        (
            "from harbor_metrics import Column\ndef bad(rewards: Column, *, k: 'No' = 1): pass",
            "an annotation cannot be read",
        ),
        (
            "from harbor_metrics import Column\ndef bad(rewards: Column, *, k: complex = 1): pass",
            "bad",
        ),
        ("class C:\n    def __call__(self, x): pass\nbad = C()", "is no function"),
    ],
)
def test_a_broken_plugin_is_named(
    site: Path, rewards: Path, tmp_path: Path, code: str, words: str
) -> None:
    install(site, "broken-one", code, "[harbor_metrics.metrics]\nbad = broken_one:bad\n")
    asked = run(site, "compute", rewards, "--metric", "bad", cwd=tmp_path)
    assert asked.returncode == 2
    for word in ("broken-one 1.2", words):
        assert word in asked.stderr
    listed = run(site, "list", cwd=tmp_path)
    assert listed.returncode == 0
    assert "broken-one 1.2" in listed.stderr
    assert run(site, "--help", cwd=tmp_path).returncode == 0
    assert run(site, "compute", rewards, cwd=tmp_path).stderr == ""


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return 1 / 0", "harbour_odd.py, line 4: ZeroDivisionError: division by zero"),
        ("return float('nan')", "returned nan, which is no finite number"),
        ("return True", "returned True"),
        ("return {}", "returned {}, which is no object of named numbers"),
        ("return {1: 0.5}", "which is no object of named numbers"),
        ("raise SystemExit(7)", "SystemExit: 7"),
        ("return 'x'", "returned 'x'"),
        ("return {'a': None}", "returned None"),
    ],
)
def test_a_plugin_that_fails_fails_alone(
    site: Path, rewards: Path, tmp_path: Path, body: str, words: str
) -> None:
    code = f"from harbor_metrics import Column\ndef odd(rewards: Column):\n    'Odd.'\n    {body}\n"
    install(site, "harbour-odd", code, "[harbor_metrics.metrics]\nodd = harbour_odd:odd\n")
    done = run(
        site, "compute", rewards, "--metric", "odd", "--metric", "max", "--format", "json",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 1
    _, odd, best = outcomes(done)
    assert odd["status"] == "failed"
    assert "harbour-odd 1.2" in odd["error"]["message"]
    assert words in odd["error"]["message"]
    assert best["values"] == {"max": 1.0}
    inside = '{"type": "grouped", "kwargs": {"metric": "odd", "by": "task"}}'
    grouped = run(site, "compute", rewards, "--metric", inside, "--format", "json", cwd=tmp_path)
    assert words in outcomes(grouped)[1]["error"]["message"]


def test_subclass_of_float_is_a_number_and_nan_is_not(
    site: Path, rewards: Path, tmp_path: Path
) -> None:
    code = """
from harbor_metrics import Column
class Like(float):
    pass
def odd(rewards: Column):
    'Odd.'
    print("said aside")
    return {"like": Like(0.5), "big": 10**400}
def worse(attempts):
    'Worse.'
    return float("nan")
"""
    points = "[harbor_metrics.metrics]\nodd = harbour_odd:odd\n"
    points += "[harbor_metrics.reducers]\nworse = harbour_odd:worse\n"
    install(site, "harbour-odd", code, points)
    asked = '{"type": "mean", "kwargs": {"reducer": "worse"}}'
    done = run(
        site, "compute", rewards, "--metric", "odd", "--metric", asked, "--format", "json",
        cwd=tmp_path,
    )  # fmt: skip
    _, odd, reduced = outcomes(done)
    assert odd["values"] == {"like": 0.5, "big": None}
    assert "binary64" in odd["reasons"]["big"]
    assert "said aside" in done.stderr
    assert "`worse` of harbour-odd 1.2 returned nan" in reduced["error"]["message"]


def test_slow_plugin_is_noted(site: Path, rewards: Path, tmp_path: Path) -> None:
    points = "[harbor_metrics.metrics]\nspread = slow_one:spread\n"
    install(site, "slow-one", f"import time\ntime.sleep(1.1)\n{GOOD}", points)
    done = run(site, "compute", rewards, "--metric", "spread", "--format", "json", cwd=tmp_path)
    (note,) = outcomes(done)[1]["notes"]
    assert re.fullmatch(r"plugin slow-one 1.2 took 1\.\d s to import", note)


def test_metrics_for_evsys_run_unchanged(site: Path, rewards: Path, tmp_path: Path) -> None:
    install(site, "for-evsys", EVSYS, "[evsys_sdk.metrics]\nsolved = for_evsys:Solved\n")
    done = run(site, "compute", rewards, "--metric", "solved", "--format", "json", cwd=tmp_path)
    assert outcomes(done)[1]["values"] == {"solved": 1.0}
    assert outcomes(done)[1]["n"] == {"solved": 2}
    assert "Tasks solved at least once." in run(site, "explain", "solved", cwd=tmp_path).stdout


def test_metric_of_the_readme_works_in_a_package(site: Path, rewards: Path, tmp_path: Path) -> None:
    points = ENTRY.replace("project.entry-points.", "").replace('"', "")
    install(site, "worst", WORST, points)
    done = run(site, "compute", rewards, "--metric", "worst-task", "--format", "json", cwd=tmp_path)
    assert outcomes(done)[1]["values"] == {"worst-task": 0.625}
    checked = subprocess.run(
        [sys.executable, "-c", CHECK], env={"PYTHONPATH": f"{site}:{ROOT}"}, capture_output=True
    )
    assert checked.returncode == 0, checked.stderr


def test_plugin_that_takes_a_name_from_another_system_is_noted(
    site: Path, rewards: Path, tmp_path: Path
) -> None:
    points = "[harbor_metrics.metrics]\nexact_match = harbour_exact:spread\n"
    install(site, "harbour-exact", GOOD, points)
    done = run(
        site, "compute", rewards, "--metric", "exact_match", "--format", "json", cwd=tmp_path
    )
    _, outcome = outcomes(done)
    (note,) = outcome["notes"]
    assert note == "`exact_match` is that of plugin harbour-exact 1.2, not `lm-eval/exact_match`"


@pytest.mark.parametrize("command", ["validate", "--dry-run"])
def test_plugin_that_a_file_names_is_said_to_be_imported(
    command: str, site: Path, rewards: Path, tmp_path: Path
) -> None:
    install(site, "harbour-a", GOOD, "[harbor_metrics.metrics]\nspread = harbour_a:spread\n")
    install(site, "harbour-b", GOOD, "[harbor_metrics.metrics]\nother = harbour_b:spread\n")
    dataset = {"name": "a", "version": "1", "description": "", "tasks": []}
    registry = [{**dataset, "metrics": [], "extra_metrics": [{"type": "spread"}]}]
    (tmp_path / "registry.json").write_text(json.dumps(registry))
    arguments: list[object] = ["validate", "registry.json"]
    if command == "--dry-run":
        arguments = ["compute", rewards, "--registry", "registry.json", "--dataset", "a", command]
    done = run(site, *arguments, cwd=tmp_path)
    assert "note: plugin harbour-a 1.2 was imported\n" in done.stderr
    assert "harbour-b" not in done.stderr
