"""What `explain` shows of the rules of commands that run: files, a command, what to write."""

from __future__ import annotations

import os
import shlex
import zipfile
from pathlib import Path

import pytest
from conftest import Run

from harbor_metrics.documents.rules import OF_RUNS
from harbor_metrics.validation.explanations import explain
from harbor_metrics.validation.run_examples import run_examples

pytestmark = pytest.mark.one_python

# What cannot be broken on the machine of a test, and why.
_NOT_HERE = {
    "not-installed": "the packages are installed",
    "script-sandbox": "there is a sandbox, or its absence breaks the other half",
    "script-folder-left": "the folder for temporary files answers",
    "sandbox-missing": "there is a sandbox, or its absence breaks the other half",
}
if not hasattr(os, "geteuid") or os.geteuid() == 0:
    _NOT_HERE["unread-job"] = "root reads every folder"


def laid_out(text: str, folder: Path) -> list[str]:
    """The commands of an example whose files now lie in the folder."""
    commands: list[str] = []
    files: dict[str, str] = {}
    name = ""
    for line in text.split("\n"):
        if line.startswith("$ "):
            commands.append(line[2:])
        elif line.startswith("  "):
            files[name] += line[2:] + "\n"
        elif line:
            assert line.endswith(":"), line
            name = line[:-1]
            files[name] = ""
    for name, content in files.items():
        archive, _, member = name.partition(".eval/")
        path = folder / (f"{archive}.eval" if member else name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if member:
            with zipfile.ZipFile(path, "a") as packed:
                packed.writestr(member, content)
        else:
            path.write_text(content)
    return commands


def said(cli: Run, text: str, folder: Path) -> str:
    """All that the commands of an example print."""
    folder.mkdir()
    found, here = "", folder
    for command in laid_out(text, folder):
        program, *args = shlex.split(command)
        if program == "chmod":
            (folder / args[1]).chmod(int(args[0], 8))
            continue
        if program == "ln":
            (folder / args[2]).symlink_to(args[1])
            continue
        if program == "cd":
            here = folder / args[0]
            continue
        assert program == "harbor-metrics"
        plain = "--format" in args or args[0] == "convert"
        form = () if plain else ("--format", "json")
        done = cli(*args, *form, cwd=here, env={"PYTHONPATH": str(folder)})
        found += done.stdout + done.stderr
    return found


def names(output: str, rule: str) -> bool:
    """Whether a rule was said: as a line, in a result, or as GitHub is told."""
    return any(form in output for form in (f"[{rule}]", f'"rule": "{rule}"', f"({rule})"))


@pytest.mark.parametrize("rule", sorted(OF_RUNS))
def test_what_is_wrong_breaks_the_rule_and_what_is_right_does_not(
    rule: str, cli: Run, tmp_path: Path
) -> None:
    if rule in _NOT_HERE:
        pytest.skip(_NOT_HERE[rule])
    example = run_examples()[rule]
    wrong = said(cli, f"{example.files}\n{example.wrong}", tmp_path / "wrong")
    assert names(wrong, rule)
    right = said(cli, f"{example.files}\n{example.right}", tmp_path / "right")
    assert not names(right, rule)


@pytest.mark.parametrize("rule", sorted(OF_RUNS))
def test_the_page_of_a_rule_shows_the_whole_example(rule: str) -> None:
    page = explain(rule)
    example = run_examples()[rule]
    assert "$ harbor-metrics" in example.wrong
    assert "$ harbor-metrics" in example.right
    for text in example:
        assert all(f"  {line}" in page for line in text.split("\n"))


def test_every_example_is_of_a_rule() -> None:
    assert run_examples().keys() == OF_RUNS.keys()
