"""Every rule that the package utters has one home, and every command that tells of rules knows it.

The homes are the table of `documents/rules.py` and the functions of `validation/rules/`.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest
from conftest import ROOT, Run
from documents.uttered import Utterances

from harbor_metrics.documents.diagnostics import Diagnostic, Severity
from harbor_metrics.documents.rules import OF_DOCUMENTS, OF_RUNS, RULES
from harbor_metrics.errors import UsageError
from harbor_metrics.render.sarif import sarif
from harbor_metrics.validation.explanations import explain, other_rule_names, rule_names
from harbor_metrics.validation.rules import rules

PACKAGE = ROOT / "harbor_metrics"
UTTERED = Utterances(
    {path.relative_to(PACKAGE).as_posix(): path.read_text() for path in PACKAGE.rglob("*.py")}
)
ALL = sorted({*UTTERED.places, *RULES, *rules()})


def home(name: str) -> list[str]:
    """Where the rule stands: the table, or the file of the function."""
    homes = ["documents/rules.py"] if name in RULES else []
    if name in rules():
        file = Path(inspect.getsourcefile(rules()[name]) or "")
        homes.append(file.relative_to(PACKAGE).as_posix())
    return homes


@pytest.mark.parametrize("name", ALL)
def test_a_rule_has_one_home(name: str) -> None:
    assert len(home(name)) == 1, (name, home(name), UTTERED.places.get(name))


def test_every_rule_that_is_uttered_can_be_seen() -> None:
    assert not UTTERED.unclear


def test_no_rule_stands_in_the_table_that_nothing_utters() -> None:
    assert not [name for name in RULES if name not in UTTERED.places]


def test_a_severity_stands_where_the_rule_does() -> None:
    assert not UTTERED.needless
    for name, rule in RULES.items():
        assert Diagnostic(rule=name, message="").severity is rule.severity
    warned = Diagnostic(rule="json-syntax", message="", severity=Severity.WARNING)
    assert warned.severity is Severity.WARNING


@pytest.mark.parametrize("name", ALL)
def test_explain_and_sarif_say_what_a_rule_means(name: str) -> None:
    title, paragraph = explain(name).split("\n\n", 1)
    assert title == name
    assert len(paragraph.split()) > 5
    # Below it stand files and commands as they are.
    assert all(len(line) <= 100 for line in paragraph.partition("\n\n")[0].splitlines())
    (run,) = json.loads(sarif([Diagnostic(rule=name, message="x")], explain))["runs"]
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["id"] == name
    assert rule["help"]["text"].split() == paragraph.split()


def test_a_rule_is_either_of_validate_or_of_other_commands() -> None:
    assert {*rule_names()} | {*other_rule_names()} == {*ALL}
    assert not {*rule_names()} & {*other_rule_names()}
    assert not OF_DOCUMENTS.keys() & OF_RUNS.keys()


def test_the_list_of_rules_is_whole_and_a_slip_gets_a_suggestion(cli: Run) -> None:
    listed = cli("explain").stdout.replace(",", " ").split()
    assert not {*ALL} - {*listed}
    for name in ALL:
        with pytest.raises(UsageError, match=f"did you mean `{name}`"):
            explain(f"{name}x")


def test_validate_selects_and_ignores_its_own_rules_alone(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "registry.json").write_text("[]")
    own = [part for name in rule_names() for part in ("--ignore", name)]
    assert cli("validate", "registry.json", *own).returncode == 0
    for option in ("--select", "--ignore"):
        done = cli("validate", "registry.json", option, "trials-missing")
        assert done.returncode == 2
        assert "`validate` never finds `trials-missing`" in done.stderr
    (tmp_path / "pyproject.toml").write_text(
        '[tool.harbor-metrics]\nignore = { "script-failed" = "flaky" }\n'
    )
    done = cli("validate", "registry.json")
    assert (done.returncode, "never finds `script-failed`" in done.stderr) == (2, True)
    (tmp_path / "pyproject.toml").write_text('[tool.harbor-metrics]\nselect = ["emty-registry"]\n')
    done = cli("validate", "registry.json")
    assert (done.returncode, "did you mean `empty-registry`?" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    "line",
    [
        'Diagnostic(rule="brand-new", message="x")',
        'MetricFailure("brand-new", "x")',
        'document.find([], rule="brand-new", message="x")',
        'say("brand-new", "x")',
        'found.say("x", "brand-new")',
        'fields = {"rule": "brand-new", "message": "x"}',
        'Diagnostic(rule="brand-new" if x else "json-syntax", message="x")',
        "MetricFailure(NAME, 'x')",
        "MetricFailure(errors.NAME, 'x')",
    ],
)
def test_a_rule_without_a_home_is_noticed(line: str) -> None:
    source = f"""
NAME = "brand-new"
class MetricFailure(Exception):
    def __init__(self, rule, message): ...
class Found:
    def say(self, message, rule): ...
def say(rule, message):
    Diagnostic(rule=rule, message=message)
def f(x):
    {line}
"""
    assert "brand-new" in Utterances({"new.py": source}).places
    assert not home("brand-new")


def test_a_rule_that_is_computed_is_noticed() -> None:
    source = 'def f(x):\n    rule = x + "-y"\n    Diagnostic(rule=rule, message="x")'
    assert Utterances({"new.py": source}).unclear == ["new.py:3: rule"]
