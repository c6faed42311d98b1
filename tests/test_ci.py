"""The hook and the action that others use this by."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest
import yaml
from comparison.runs_by_hand import write_run
from conftest import ROOT

pytestmark = pytest.mark.one_python


def test_hook_matches_registries_and_manifests_only() -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text()
    pattern = re.search(r"files: (\S+)", text)[1]
    assert re.search(pattern, "a/registry.json")
    assert re.search(pattern, "dataset.toml")
    assert not re.search(pattern, "a/dataset.tomlx")
    assert not re.search(pattern, "a/my-registry.json")


def is_of_types(path: Path, types: list[str], types_or: list[str]) -> bool:
    """Whether pre-commit hands a path over: a link is of no other type, wherever it leads."""
    tag = "symlink" if path.is_symlink() else "file" if path.is_file() else "directory"
    return {*types} <= {tag} and (not types_or or tag in types_or)


def hook(folder: Path, **own: object) -> tuple[list[str], subprocess.CompletedProcess[str]]:
    """The hook on all files of a folder, as pre-commit runs it: the entry, `args`, the files."""
    (given,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    given |= own
    paths = sorted(
        str(p.relative_to(folder))
        for p in folder.rglob("*")
        if is_of_types(p, given.get("types", ["file"]), given.get("types_or", []))
    )
    paths = [path for path in paths if re.search(given["files"], path)]
    program, *command = given["entry"].split()
    assert program == "python"
    done = subprocess.run(
        [sys.executable, *command, *given["args"], *paths],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": "src"},
        capture_output=True,
        text=True,
    )
    return paths, done


def test_hook_imports_nothing_of_the_checkout_by_pythonpath(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    for name in ("click.py", "sitecustomize.py"):
        (tmp_path / "src" / name).write_text("raise SystemExit('a stranger')")
    (tmp_path / "registry.json").write_text('[{"name": "a__b"}]')
    _, done = hook(tmp_path)
    assert "1 warning in 1 file, 1 dataset" in done.stdout, done.stderr
    assert "a stranger" not in done.stderr


def test_hook_that_passes_shows_what_settings_left_out(tmp_path: Path) -> None:
    (tmp_path / "registry.json").write_text('[{"name": "a__b"}]')
    (tmp_path / "pyproject.toml").write_text('[tool.harbor-metrics]\nselect = ["duplicate-task"]')
    (given,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    _, done = hook(tmp_path)
    assert done.returncode == 0
    assert "left out by pyproject.toml: " in done.stderr
    # Without it pre-commit shows what a hook says only where it fails.
    assert given["verbose"] is True


@pytest.mark.parametrize("own", [{}, {"args": ["--fix", "--"]}])
def test_hook_looks_at_files_that_are_called_like_options(
    own: dict[str, object], tmp_path: Path
) -> None:
    users = tmp_path / "registry.json"
    users.write_text("the user's own")
    checkout = tmp_path / "checkout"
    for folder in (f"--also=text:{users.parent}", "-x", "."):
        (checkout / folder).mkdir(parents=True, exist_ok=True)
        (checkout / folder / "registry.json").write_text('[{"name": "a__b"}]')
    paths, done = hook(checkout, **own)
    assert len(paths) == 3
    assert users.read_text() == "the user's own"
    assert "3 warnings in 3 files, 3 datasets" in done.stdout, done.stderr


def test_hook_looks_at_registries_that_are_links(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text("[1]")
    (tmp_path / "a").mkdir()
    (tmp_path / "registry.json").symlink_to("mine.json")
    (tmp_path / "a" / "registry.json").symlink_to("../mine.json")
    (tmp_path / "dataset.toml").mkdir()
    paths, done = hook(tmp_path)
    assert paths == ["a/registry.json", "registry.json"]
    assert done.returncode == 1
    assert "2 errors in 2 files" in done.stdout, done.stderr


def test_hook_refuses_what_would_be_taken_for_an_option(tmp_path: Path) -> None:
    """Where somebody's `args` do not end in `--`."""
    (tmp_path / "--also=text:users").mkdir()
    (tmp_path / "--also=text:users" / "registry.json").write_text("[]")
    paths, done = hook(tmp_path, args=["--fix"])
    assert done.returncode == 2
    assert f"`{paths[0]}` is the name of a file here" in done.stderr


def steps(path: Path) -> dict[str, dict[str, str]]:
    """The steps of an action by their names."""
    action = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {step["name"]: step for step in action["runs"]["steps"]}


def install(folder: Path) -> None:
    """The tool where the first step of an action would install it."""
    programs = folder / "harbor-metrics" / "bin"
    programs.mkdir(parents=True, exist_ok=True)
    for name, module in (("harbor-metrics", "-I -m harbor_metrics"), ("python", "")):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
        (programs / name).chmod(0o755)


def run_step(script: str, folder: Path, **given: str) -> subprocess.CompletedProcess[str]:
    """A step as a runner starts it."""
    env = {**os.environ, "RUNNER_TEMP": str(folder), **given}
    env["GITHUB_STEP_SUMMARY"] = str(folder / "summary.md")
    env["GITHUB_OUTPUT"] = str(folder / "outputs")
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
    )


def test_action_annotates_the_mistakes_and_summarises_them(tmp_path: Path) -> None:
    """The second step, as a runner would start it, with the tool in place of the installed one."""
    script = steps(ROOT / "action.yml")["Validate"]["run"]
    install(tmp_path)
    (tmp_path / "registry.json").write_text('[{"name": "a__b"}]')
    done = run_step(script, tmp_path, FILES="*.json\nregistry.json")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::error ")
    assert "error[missing-field]" in (tmp_path / "summary.md").read_text()


def test_action_summarises_nothing_of_an_earlier_step_of_its_job(tmp_path: Path) -> None:
    script = steps(ROOT / "action.yml")["Validate"]["run"]
    install(tmp_path)
    (tmp_path / "registry.json").write_text("[]")
    assert run_step(script, tmp_path, FILES="registry.json").returncode == 0
    (tmp_path / "pyproject.toml").write_text("[tool.harbor-metrics]\nx = 1\n")
    (tmp_path / "summary.md").write_text("")
    assert run_step(script, tmp_path, FILES="registry.json").returncode == 2
    assert (tmp_path / "summary.md").read_text() == ""


def test_action_that_is_isolated_reads_no_settings_of_the_pull_request(tmp_path: Path) -> None:
    script = steps(ROOT / "action.yml")["Validate"]["run"]
    install(tmp_path)
    (tmp_path / "registry.json").write_text('[{"name": "a__b"}]')
    table = '[tool.harbor-metrics.ignore]\nmissing-field = "mine"\n'
    (tmp_path / "pyproject.toml").write_text(table)
    codes = [
        run_step(script, tmp_path, FILES="registry.json", ISOLATED=isolated).returncode
        for isolated in ("false", "true", "yes")
    ]
    assert codes == [0, 1, 2]


def test_each_dependency_has_its_weight_licence_and_reason_in_contributing() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    wanted = {re.match(r"[\w.-]+", text)[0] for text in chain(project["dependencies"], *extras)}
    text = (ROOT / "CONTRIBUTING.md").read_text()
    table = text.partition("## What is installed, and why")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    rows = [row for row in rows if len(row) == 4][2:]
    assert {row[0].partition(" ")[0] for row in rows} == wanted
    assert all(float(row[1]) > 0 and row[2] and row[3] for row in rows)


COMPARE = ROOT / "compare" / "action.yml"
HALF = {f"t{i:02}": [i % 2] for i in range(40)}
MORE = {task: [int(i % 2 or i < 20)] for i, task in enumerate(HALF)}


def outputs(folder: Path) -> dict[str, str]:
    lines = (folder / "outputs").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)


def run_compare(folder: Path, **given: str) -> subprocess.CompletedProcess[str]:
    """The step that compares, with files that have spaces and `=` in their names."""
    install(folder)
    write_run(folder / "main run.jsonl", HALF, agent="a")
    write_run(folder / "new=run.jsonl", MORE, agent="b")
    inputs = {"BASE": "main run.jsonl", "CANDIDATE": "new=run.jsonl"}
    inputs |= {"GATES": "", "METRICS": "", "OPTIONS": "", **given}
    return run_step(steps(COMPARE)["Compare"]["run"], folder, **inputs)


def test_compare_without_gates_summarises(tmp_path: Path) -> None:
    done = run_compare(tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    found = outputs(tmp_path)
    assert (found["verdict"], found["outcome"], found["again"]) == ("better", "none", "")
    summary = (tmp_path / "summary.md").read_text()
    assert summary == Path(found["comment"]).read_text()
    assert summary.startswith("<!-- harbor-metrics compare -->\n> [!TIP]")
    folder = Path(found["document"]).parent
    assert {path.name for path in folder.iterdir()} == {
        "comparison.json", "comparison.html", "comment.md",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("gates", "outcome", "code"),
    [
        ("no-worse mean\n\n  better  mean:0.05 \n", "passed", 0),
        ("no-worse mean\r\nbetter mean:0.2\r\n", "undecided", 1),
        ("better mean:0.2\nfail-if tasks.better > 3", "failed", 1),
        ("fail-if `mean` > 0.1", "failed", 1),
    ],
)
def test_compare_tells_the_worst_outcome(
    gates: str, outcome: str, code: int, tmp_path: Path
) -> None:
    done = run_compare(tmp_path, GATES=gates, METRICS="pass@1\n  median\n")
    assert done.returncode == code, done.stderr
    assert outputs(tmp_path)["outcome"] == outcome
    assert ("::error title=harbor-metrics (gate-failed)::" in done.stdout) == (outcome == "failed")
    summary = (tmp_path / "summary.md").read_text()
    assert "| pass@1 |" in summary
    assert "| median |" in summary


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"GATES": "no-wurst mean"},
            "compare::a line of gates begins",
        ),
        ({"GATES": "no-worse maen"}, "compare::--no-worse maen: there is no `maen`; did you mean"),
        ({"GATES": "$(touch hacked); better mean"}, "a line of gates begins"),
        ({"OPTIONS": "-o x.json"}, "compare::a line of options begins with --, such as"),
        ({"OPTIONS": "--output x.json"}, "compare::the action itself says --output"),
        ({"OPTIONS": "--margin 5%"}, "5%25"),
        ({"CANDIDATE": "gone"}, "compare::gone: No such file"),
        ({"METRICS": "nope"}, "unknown metric type `nope`"),
    ],
)
def test_compare_says_what_is_wrong_with_its_inputs(
    given: dict[str, str], words: str, tmp_path: Path
) -> None:
    done = run_compare(tmp_path, **given)
    assert done.returncode in (2, 3)
    assert words in done.stdout
    assert done.stdout.count("::error title=harbor-metrics compare::") == 1
    assert outputs(tmp_path) == {"outcome": "error"}
    assert not (tmp_path / "hacked").exists()


ENDS = {
    "killed": "kill -KILL $$",
    "a full disk": "exit 3",
    "nothing written": 'rm -f "$RUNNER_TEMP"/harbor-metrics-compare/*.json; exit 0',
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_compare_says_error_where_the_command_did_not_end_as_it_should(
    end: str, tmp_path: Path
) -> None:
    run_compare(tmp_path)
    program = tmp_path / "harbor-metrics" / "bin" / "python"
    whole = f'"{sys.executable}" "$@"'
    # All gates pass, and it ends otherwise.
    program.write_text(f'#!/bin/sh\n{whole} || exit\ncase "$*" in *" compare "*) {end};; esac\n')
    for name in ("outputs", "summary.md"):
        (tmp_path / name).unlink()
    shutil.rmtree(tmp_path / "harbor-metrics-compare")
    inputs = {"BASE": "main run.jsonl", "CANDIDATE": "new=run.jsonl", "GATES": "better mean"}
    step = steps(COMPARE)["Compare"]["run"]
    done = run_step(step, tmp_path, **inputs, METRICS="", OPTIONS="")
    assert done.returncode > 1
    assert outputs(tmp_path) == {"outcome": "error"}
    assert not (tmp_path / "summary.md").exists()


def test_no_name_of_a_stranger_makes_an_output(tmp_path: Path) -> None:
    evil = "a\noutcome=passed\nverdict<<END\nbetter\nEND\n::set-output name=outcome::passed"
    install(tmp_path)
    write_run(tmp_path / "main", MORE, agent=evil, model=evil, dataset=evil)
    write_run(tmp_path / "new", HALF, agent=f"{evil}2", model=evil, dataset=evil)
    inputs = {"BASE": "main", "CANDIDATE": "new", "GATES": "no-worse mean", "METRICS": ""}
    done = run_step(steps(COMPARE)["Compare"]["run"], tmp_path, **inputs, OPTIONS="--by agent")
    assert done.returncode == 1, done.stderr
    assert outputs(tmp_path)["outcome"] == "failed"
    assert "\noutcome" not in (tmp_path / "summary.md").read_text() + done.stdout + done.stderr


def test_comments_are_left_out(tmp_path: Path) -> None:
    comment = "# what a release needs\n"
    done = run_compare(
        tmp_path, GATES=f"{comment}no-worse mean", METRICS=comment, OPTIONS=f"{comment}#--margin 0"
    )
    assert done.returncode == 0, done.stderr
    assert outputs(tmp_path)["outcome"] == "passed"


def test_a_job_compares_more_than_once(tmp_path: Path) -> None:
    found = []
    for _ in range(3):
        assert run_compare(tmp_path).returncode == 0
        found.append(outputs(tmp_path))
        (tmp_path / "outputs").unlink()
    assert [each["again"] for each in found] == ["", "-2", "-3"]
    assert len({each["document"] for each in found}) == 3
    assert all(Path(each["folder"], "comparison.html").exists() for each in found)
    kept = steps(COMPARE)["Keep the document and the page"]["with"]
    assert kept["name"].endswith("${{ steps.compare.outputs.again }}")
    assert kept["path"] == "${{ steps.compare.outputs.folder }}"


def test_options_are_handed_on(tmp_path: Path) -> None:
    done = run_compare(tmp_path, OPTIONS="--margin 0.9\n--missing skip\n")
    assert done.returncode == 0, done.stderr
    assert outputs(tmp_path)["verdict"] == "same"


def test_the_actions_give_every_input_to_a_step_and_every_output_from_one() -> None:
    for path in (ROOT / "action.yml", COMPARE):
        action = yaml.safe_load(path.read_text(encoding="utf-8"))
        used = str(action["runs"])
        assert all(f"inputs.{name} " in used for name in action["inputs"])
        for output in action.get("outputs", {}).values():
            name = re.search(r"steps\.compare\.outputs\.(\w+)", output["value"])[1]
            assert f"{name}=" in steps(path)["Compare"]["run"]
        # What a user gives comes by the environment, never into the text of a script.
        assert not any("${{" in step.get("run", "") for step in action["runs"]["steps"])


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A checkout with modules of the names that the steps import; each leaves a mark."""
    folder = tmp_path / "checkout"
    (folder / "harbor_metrics").mkdir(parents=True)
    names = ("venv", "pip", "ensurepip", "sitecustomize", "os", "sys", "harbor_metrics/__init__")
    for name in names:
        (folder / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    return folder


@pytest.mark.parametrize("path", [ROOT / "action.yml", COMPARE], ids=["validate", "compare"])
def test_installing_takes_no_module_of_the_checkout(path: Path, hostile: Path) -> None:
    script = steps(path)["Install harbor-metrics"]["run"]
    nothing = str(hostile / "nothing to install" / "x")
    done = run_step(script, hostile, PYTHON=sys.executable, PYTHONPATH=".", ACTION_PATH=nothing)
    assert "nothing to install" in done.stderr, "pip has run"
    assert not (hostile.parent / "ran").exists()


def test_comparing_takes_no_module_of_the_checkout(hostile: Path) -> None:
    done = run_compare(hostile)
    assert done.returncode == 0, done.stderr
    assert outputs(hostile)["verdict"] == "better"
    assert not (hostile.parent / "ran").exists()


def test_compare_installs_the_package_beside_it(tmp_path: Path) -> None:
    step = steps(COMPARE)["Install harbor-metrics"]
    assert step["env"]["ACTION_PATH"] == "${{ github.action_path }}"
    log = tmp_path / "log"
    python = tmp_path / "python"
    python.write_text(
        '#!/bin/sh\nmkdir -p "$4/bin"\n'
        f'printf \'#!/bin/sh\\nprintf "%%s " "$@" > {log}\\n\' > "$4/bin/python"\n'
        'chmod +x "$4/bin/python"\n'
    )
    python.chmod(0o755)
    place = str(ROOT / "compare")
    done = run_step(step["run"], tmp_path, ACTION_PATH=place, PYTHON=str(python))
    assert done.returncode == 0, done.stderr
    installed = log.read_text().split()[-1]
    assert (Path(installed) / "pyproject.toml").samefile(ROOT / "pyproject.toml")
