"""What CONTRIBUTING shows is enough: its examples are added to a copy of the package and work."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import HERE, ROOT

pytestmark = pytest.mark.one_python

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return TEXT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def block(title: str, language: str) -> str:
    return blocks(title, language)[-1]


def blocks(title: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", section(title), re.DOTALL)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The package and the tests of metrics, to add to."""
    ignored = shutil.ignore_patterns("__pycache__", "recorded", "logs", "jobs", "hostile_scripts")
    shutil.copytree(ROOT / "harbor_metrics", tmp_path / "harbor_metrics", ignore=ignored)
    shutil.copytree(ROOT / "schemas", tmp_path / "schemas")
    for name in ("metrics", "reducers"):
        folder = tmp_path / "tests" / name
        folder.mkdir(parents=True)
        for path in (*(HERE / name).glob("*.json*"), HERE / name / f"test_{name}.py"):
            shutil.copy(path, folder)
    (tmp_path / "tests" / "laws").mkdir()
    shutil.copy(HERE / "laws" / "test_every_metric.py", tmp_path / "tests" / "laws")
    # Beside conftest.py stands what it imports.
    for path in (*HERE.glob("[!t]*.py"), ROOT / "pyproject.toml"):
        shutil.copy(path, tmp_path / path.relative_to(ROOT))
    shutil.copytree(HERE / "pages", tmp_path / "tests" / "pages")
    return tmp_path


def run(copy: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", *args],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy)},
        capture_output=True,
        text=True,
        timeout=300,
    )


def append(path: Path, code: str) -> None:
    path.write_text(f"{path.read_text()}\n\n{code}")


def test_a_metric_is_one_function_and_one_file_of_cases(copy: Path) -> None:
    append(copy / "harbor_metrics" / "metrics" / "order.py", block("Add a metric", "python"))
    (copy / "tests" / "metrics" / "midrange.json").write_text(block("Add a metric", "json"))
    laws = run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", "-k", "midrange")
    assert laws.returncode == 0, laws.stdout
    # The cases, no trials, nothing scored, order and partition, the schema, whole and mutated.
    passed = re.search(r"(\d+) passed", laws.stdout)
    assert passed is not None, laws.stdout
    assert int(passed[1]) >= 6
    assert "midrange" in run(copy, "-m", "harbor_metrics", "list").stdout
    assert "Half way between" in run(copy, "-m", "harbor_metrics", "explain", "midrange").stdout
    assert '"kwargs-midrange"' in run(copy, "-m", "harbor_metrics", "schema", "metric").stdout


def test_the_laws_notice_a_metric_that_cannot_do_without_trials(copy: Path) -> None:
    code = block("Add a metric", "python")
    guard = "    if not rewards.values:\n        return Undefined(NO_VALUES)\n"
    assert guard in code
    append(copy / "harbor_metrics" / "metrics" / "order.py", code.replace(guard, ""))
    (copy / "tests" / "metrics" / "midrange.json").write_text(block("Add a metric", "json"))
    laws = run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", "-k", "midrange")
    failed = re.findall(r"^FAILED (\S+)", laws.stdout, re.MULTILINE)
    assert any("test_no_trials_give_no_number" in name for name in failed), laws.stdout


def test_a_command_is_one_file_and_one_line(copy: Path) -> None:
    start = '"""Count."""\n\nfrom __future__ import annotations\n\nimport click\n\n\n'
    commands = copy / "harbor_metrics" / "cli" / "__init__.py"
    (commands.parent / "size.py").write_text(start + block("Add a command", "python"))
    commands.write_text(
        commands.read_text().replace(
            "COMMANDS = {\n", 'COMMANDS = {\n    "size": "How many trials.",\n'
        )
    )
    (copy / "r.jsonl").write_text('{"reward": 1}\nnull\n')
    done = run(copy, "-m", "harbor_metrics", "size", "r.jsonl")
    assert (done.stdout, done.stderr, done.returncode) == ("2\n", "", 0)
    assert "How many trials." in run(copy, "-m", "harbor_metrics", "--help").stdout


def test_a_rule_is_one_function(copy: Path) -> None:
    append(copy / "harbor_metrics/validation/rules/datasets.py", block("Add a rule", "python"))
    (copy / "registry.json").write_text(
        '[{"name": "LOUD", "version": "1", "description": "", "tasks": []}]'
    )
    done = run(copy, "-m", "harbor_metrics", "validate", "registry.json")
    assert "warning[shouting-name]: a name in capitals" in done.stdout
    assert '"LOUD"' in done.stdout
    assert "in capitals" in run(copy, "-m", "harbor_metrics", "explain", "shouting-name").stdout


def test_a_reader_is_one_module_and_one_line(copy: Path) -> None:
    line, code = blocks("Add a reader", "python")
    readers = copy / "harbor_metrics" / "readers"
    head = (readers / "evsys.py").read_text().partition("_REWARDS")[0].partition('"""')[2]
    (readers / "mine.py").write_text(f'"""{head}{code}')
    table = readers / "formats.py"
    table.write_text(
        table.read_text().replace("FORMATS = (\n", f"FORMATS = (\n    {line.strip()},\n", 1)
    )
    log = '{"my_version": 1, "runs": [{"task": "a", "score": 1}, {"task": "b", "score": null}]}'
    (copy / "log.json").write_text(log)
    done = run(copy, "-m", "harbor_metrics", "compute", "log.json")
    assert "2 trials, 2 tasks, 1 missing" in done.stdout, done.stderr
    assert "0.5" in done.stdout
    (copy / "log.json").write_text(log.replace("null", "nul"))
    broken = run(copy, "-m", "harbor_metrics", "compute", "log.json", "--as", "mine")
    assert broken.returncode == 3
    assert "log.json is not a log of mine that can be read" in broken.stderr
    assert "Traceback" not in broken.stderr
    assert "mine" in run(copy, "-m", "harbor_metrics", "compute", "--help").stdout


def test_a_rule_about_a_field_that_is_not_there_points_at_the_dataset(copy: Path) -> None:
    code = block("Add a rule", "python").replace('"name", severity', '"nowhere", severity')
    append(copy / "harbor_metrics/validation/rules/datasets.py", code)
    (copy / "registry.json").write_text(
        '[{"name": "LOUD", "version": "1", "description": "", "tasks": []}]'
    )
    done = run(copy, "-m", "harbor_metrics", "validate", "registry.json")
    assert "registry.json:1:2" in done.stdout, done.stderr


def test_an_infinite_value_of_a_metric_of_our_own_is_no_number(copy: Path) -> None:
    code = block("Add a metric", "python")
    middle = "exact.middle(ordered[cut], ordered[-1 - cut])"
    append(
        copy / "harbor_metrics" / "metrics" / "order.py", code.replace(middle, "ordered[0] * 10")
    )
    (copy / "r.jsonl").write_text('{"reward": 1e308}\n' * 2)
    command = ["compute", "r.jsonl", "--metric", "midrange", "--format", "json"]
    done = run(copy, "-m", "harbor_metrics", *command)
    document = json.loads(done.stdout)
    outcome = document["groups"][0]["metrics"][1]
    assert outcome["status"] == "undefined", done.stderr
    assert "beyond the largest binary64" in outcome["reasons"]["midrange"]
