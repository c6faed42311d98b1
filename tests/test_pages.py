"""Every command and program of README.md and of docs/, in order, as a reader follows them."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from difflib import unified_diff
from pathlib import Path

import pytest
from conftest import ROOT
from pages.page import SET_UP, Page, matches

from harbor_metrics.cli import COMMANDS

pytestmark = pytest.mark.one_python

PAGES = [Page(path) for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))]

SPEC = importlib.util.spec_from_file_location("write", ROOT / "docs" / "write.py")
assert SPEC is not None
assert SPEC.loader is not None
write = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(write)
WRITTEN = [page for page in PAGES if "<!-- written: " in page.text]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path.stem)
def test_page_prints_what_it_shows(
    page: Page, programs: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    path = f"{programs}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path}
    outcomes = page.run(tmp_path / "checkout", env)
    if request.config.getoption("--update"):
        page.path.write_text(page.with_outputs(outcomes), encoding="utf-8")
        return
    wrong = ""
    for step, (printed, code) in zip(page.steps, outcomes, strict=True):
        if not matches(step.printed, printed) or code != step.code:
            rows = unified_diff(step.printed.splitlines(), printed.splitlines(), lineterm="", n=1)
            said = "\n".join(list(rows)[2:])
            at = f"{page.path.name}:{step.line}"
            wrong += f"{at}: {step.shown}exits {code}, the page says {step.code}\n{said}\n"
    if wrong:
        pytest.fail(wrong, pytrace=False)


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.path.stem)
def test_what_a_page_takes_from_the_program_is_current(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert page.text == write.written(page.text), "run `python docs/write.py`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path.stem)
def test_every_link_leads_somewhere(page: Page) -> None:
    outside_code = re.sub(r"```.*?```", "", page.text, flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", outside_code):
        path, _, anchor = target.partition("#")
        if target.startswith("https://"):
            continue
        linked = page.path.parent / path if path else page.path
        assert linked.exists(), target
        said = linked.read_text(encoding="utf-8") if anchor else ""
        headings = re.findall(r"^#+ (.*)$", said, re.MULTILINE)
        anchors = [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in headings]
        assert not anchor or anchor in anchors, target


def test_the_readme_can_be_read_at_once_and_names_every_command() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    table = text.partition("## All commands")[2]
    assert set(COMMANDS) <= set(re.findall(r"`([a-z]+)`", table))
    # Nothing of this name is published yet.
    assert not re.search(r"install (--with )?harbor-metrics", text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path.stem)
def test_a_block_that_is_not_run_says_why(page: Page) -> None:
    for line, why in page.not_run.items():
        assert len(why.split()) > 2, f"{page.path.name}:{line}"


def test_test_command_is_what_ci_runs() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (command,) = [line for line in text.splitlines() if line.startswith("$ ") and "pytest" in line]
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert command.removeprefix("$ " + SET_UP) in ci


def test_map_in_contributing_names_every_room() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for path in (ROOT / "harbor_metrics").iterdir():
        if not path.name.startswith("_") and path.suffix in ("", ".py"):
            assert path.name in text, path.name


def test_an_ellipsis_stands_for_any_text_and_alone_for_any_lines() -> None:
    assert matches("a …\nb\n", "a 1 2\nb\n")
    assert matches("a\n…\nz\n", "a\nb\nc\nz\n")
    assert not matches("a …\nb\n", "a\nb\n")
    assert not matches("a\n…\nz\n", "a\nb\n")
