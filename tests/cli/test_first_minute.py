"""What somebody meets who has read nothing: help with examples, topics, and near misses."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import click
import pytest
import yaml
from conftest import ROOT, Run

from harbor_metrics.catalogue.families import metric_names, reducer_names
from harbor_metrics.cli import COMMANDS, Examples, group
from harbor_metrics.cli.misses import _IN_OTHER_WORDS
from harbor_metrics.validation.explanations import (
    _ASKED,
    exists,
    other_rule_names,
    rule_names,
)
from harbor_metrics.validation.topics import TOPICS

pytestmark = pytest.mark.one_python

SCRIPT = re.search(r"( +# my_metric.py\n(?:  .*\n|\n(?=  ))+)", TOPICS["own-metric"].answer)


def command(name: str) -> click.Command:
    found = group.get_command(click.Context(group), name)
    assert found is not None
    return found


def examples(text: str) -> list[str]:
    """The commands in a text; what stands behind three spaces says what they do."""
    lines = (line.strip() for line in text.splitlines())
    return [line.split("   ")[0].split("  ")[0] for line in lines if line[:8] == "harbor-m"]


IN_HELP = [line for name in COMMANDS for line in examples(command(name).epilog or "")]
IN_TOPICS = [line for topic in TOPICS.values() for line in examples(topic.answer)]
SHOWN = [*examples(group.epilog or ""), *IN_HELP, *IN_TOPICS]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the files lie that examples name."""
    folder = tmp_path_factory.mktemp("around") / "world"
    shutil.copytree(ROOT / "registry", folder, dirs_exist_ok=True)
    shutil.rmtree(folder / "jobs" / "charts")
    (folder / "jobs" / "buoys").rename(folder / "jobs" / "old")
    (folder / "jobs" / "buoys-sail-2").rename(folder / "jobs" / "new")
    for path in [folder / "registry.json", *folder.glob("jobs/*/config.json")]:
        text = path.read_text().replace('"buoys"', '"my-dataset"').replace("registry/", "")
        path.write_text(text)
    for path in folder.glob("jobs/*/result.json"):
        path.write_text(path.read_text().replace("__buoys", "__my-dataset"))
    for path in folder.glob("jobs/*/*/*.json"):
        text = path.read_text().replace('"source": "buoys"', '"source": "my-dataset"')
        path.write_text(text.replace("registry/tasks", "tasks"))
    (folder / "rewards.jsonl").write_text('{"reward": 1}\nnull\n')
    (folder / "scores.csv").write_text("problem,score\na,1\nb,0\n")
    sides = "".join(f"buoy-{name},{name[0]}\n" for name in ("east", "north", "south", "west"))
    (folder / "sides.csv").write_text(f"task,side\n{sides}")
    assert SCRIPT is not None
    code = "\n".join(line.removeprefix("  ") for line in SCRIPT[1].splitlines())
    (folder / "my_metric.py").write_text(f"{code}\n")
    (folder / "metrics" / "mine.py").write_text(
        (ROOT / "registry" / "metrics" / "spread.py").read_text()
    )
    return folder


@pytest.fixture
def shell(programs: Path, world: Path, tmp_path: Path) -> Run:
    """Runs a line as a shell does, with a `harbor-metrics` that starts at once."""

    def run(line: str, folder: Path = world) -> subprocess.CompletedProcess[str]:
        path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        env = {**os.environ, "PATH": path}
        if "metrics cache" in line:
            env["XDG_CACHE_HOME"] = str(tmp_path)
        return subprocess.run(
            ["bash", "-c", line], cwd=folder, env=env, capture_output=True, text=True, timeout=100
        )

    return run


@pytest.mark.parametrize("line", sorted(set(SHOWN)))
def test_an_example_works(line: str, world: Path, shell: Run, tmp_path: Path) -> None:
    folder = world
    if re.search(r" (add|remove) | --fix", line):
        folder = tmp_path / "here"
        shutil.copytree(world, folder, ignore=shutil.ignore_patterns("jobs"))
    if "--new" in line:
        (folder / "metrics" / "mine.py").unlink()
    if line.startswith("harbor-metrics remove"):
        registry = json.loads((folder / "registry.json").read_text())
        registry[0]["metrics"].append({"type": "max"})
        (folder / "registry.json").write_text(json.dumps(registry))
    done = shell(line, folder)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_examples(name: str) -> None:
    found = command(name)
    inner = found.commands.values() if isinstance(found, click.Group) else [found]
    for one in inner:
        assert isinstance(one, Examples)
        assert examples(one.epilog or "")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_does(name: str) -> None:
    found = command(name)
    for one in found.commands.values() if isinstance(found, click.Group) else [found]:
        for parameter in one.params:
            if isinstance(parameter, click.Option) and parameter.name != "help":
                assert parameter.help, parameter.opts


def test_help_fits_eighty_columns(shell: Run) -> None:
    for name in ("", *COMMANDS):
        lines = shell(f"harbor-metrics {name} --help").stdout.splitlines()
        assert [line for line in lines if len(line) > 80 and "harbor-metrics" not in line] == []


def test_help_as_a_command_is_help(shell: Run) -> None:
    assert shell("harbor-metrics help").stdout == shell("harbor-metrics --help").stdout
    assert (
        shell("harbor-metrics help compute").stdout == shell("harbor-metrics compute --help").stdout
    )


@pytest.mark.parametrize(
    ("typed", "said", "help_"),
    [
        ("compue", "did you mean `compute`?", "harbor-metrics compute --help"),
        ("plot", "did you mean `report`?", "harbor-metrics report --help"),
        ("pass@5", "there is no command `pass@5`", "harbor-metrics explain pass@5"),
        ("intervals", "there is no command `intervals`", "harbor-metrics explain intervals"),
        ("jobs/new", "jobs/new is a path, not a command", "harbor-metrics compute jobs/new"),
        ("registry.json", "is a path, not a command", "harbor-metrics validate registry.json"),
        ("qwertz", "there is no command `qwertz`", "`harbor-metrics --help` lists the commands"),
        ("compute --metrics mean", "did you mean `--metric`?", "harbor-metrics compute --help"),
        ("compute --json", "has no option `--json`", "--format json"),
        ("compute --margin 1", "`harbor-metrics compare` has it", "harbor-metrics compute --help"),
        ("compute --qwertz", "has no option `--qwertz`", "harbor-metrics compute --help"),
        ("--qwertz", "`harbor-metrics` has no option", "harbor-metrics --help"),
        ("explain gate", "did you mean `gates`?", ""),
        ("explain no-worse", "did you mean `gates`?", ""),
        ("explain fail-if", "did you mean `gates`?", ""),
        ("explain intervalls", "did you mean `intervals`?", "`harbor-metrics explain` lists"),
        ("explain average", "did you mean `mean`?", "`harbor-metrics explain` lists"),
        ("explain unknown-metric-feld", "did you mean `unknown-metric-field`?", ""),
        ("compute jobs/new --metric pas@5", "did you mean `pass@5`?", ""),
        ("compute jobs/new --metric pass-at-k", "needs `k`", "harbor-metrics explain pass-at-k"),
        ("report jobs/new", "Missing option '-o'", "harbor-metrics report --help"),
        ("compute --missing zer jobs", "'zer' is not one of", "harbor-metrics compute --help"),
        ("schema results", "did you mean `result`?", "one of: "),
    ],
)
def test_a_near_miss_leads_to_the_right_command(
    typed: str, said: str, help_: str, shell: Run
) -> None:
    done = shell(f"harbor-metrics {typed}")
    first, *rest = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (2, "")
    assert said in first
    assert help_ in "".join(rest)


def test_other_words_are_words_for_commands() -> None:
    assert set(_IN_OTHER_WORDS.values()) <= COMMANDS.keys()
    assert _IN_OTHER_WORDS.keys().isdisjoint(COMMANDS)


def test_alone_it_says_what_can_be_done_here(shell: Run, world: Path, tmp_path: Path) -> None:
    done = shell("harbor-metrics")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "jobs holds 2 Harbor jobs, the last one jobs/new.\n"
        "  harbor-metrics compute jobs/new   the last job (oracle on my-dataset)\n"
        "  harbor-metrics compute jobs       all 2 jobs\n"
        "\n"
        "registry.json is a registry.\n"
        "  harbor-metrics validate registry.json\n"
        "\n"
        "All commands, and examples: harbor-metrics --help\n"
    )
    assert shell("harbor-metrics", world / "jobs" / "new").stdout.startswith(
        "This folder is a Harbor job.\n"
    )
    assert "registry/jobs holds 3 Harbor jobs" in shell("harbor-metrics", ROOT).stdout
    assert shell("harbor-metrics", tmp_path).stdout.startswith(
        "There is neither a ./jobs nor a registry.json"
    )


def test_alone_it_says_nothing_of_what_links_lead_to_elsewhere(
    shell: Run, world: Path, tmp_path: Path
) -> None:
    for name, target in (("jobs", world / "jobs"), ("mine", world)):
        (tmp_path / name).symlink_to(target)
    (tmp_path / "registry.json").symlink_to(world / "registry.json")
    (tmp_path / "ours" / "jobs").mkdir(parents=True)
    (tmp_path / "ours" / "jobs" / "new").symlink_to(world / "jobs" / "new")
    assert shell("harbor-metrics", tmp_path).stdout.startswith("There is neither a ./jobs nor")
    for given in (tmp_path, tmp_path / "ours"):
        done = shell(f"harbor-metrics compute {given}")
        assert done.returncode == 3
        assert "is not a Harbor job" in done.stderr
        assert re.search(r"holds \d", done.stderr) is None


def test_a_folder_that_holds_jobs_leads_to_them(shell: Run, world: Path) -> None:
    for given, holds in ((".", "jobs"), (world, world / "jobs"), (world.parent, world / "jobs")):
        done = shell(f"harbor-metrics compute {given}")
        assert done.returncode == 3
        assert f"{given} is not a Harbor job; {holds} holds 2 jobs" in done.stderr
        assert f"harbor-metrics compute {holds}" in done.stderr


def test_a_misspelt_source_leads_to_what_lies_there(shell: Run) -> None:
    done = shell("harbor-metrics compute jobs/nwe")
    assert done.returncode == 3
    assert "jobs/nwe: No such file or directory; did you mean `jobs/new`?" in done.stderr


def test_explain_alone_lists_every_topic_metric_reducer_and_rule(shell: Run) -> None:
    shown = shell("harbor-metrics explain").stdout
    for name, topic in TOPICS.items():
        assert re.search(rf"^  {name} +{re.escape(topic.question)}$", shown, re.MULTILINE)
        assert shell(f"harbor-metrics explain {name}").stdout.startswith(f"{topic.question}\n")
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_an_unknown_subcommand_of_script_leads_to_the_right_one(shell: Run) -> None:
    done = shell("harbor-metrics script chek m.py")
    assert done.returncode == 2
    assert "Did you mean 'check'?" in done.stderr


def test_what_people_ask_for_leads_to_a_topic_and_is_nothing_else() -> None:
    assert set(_ASKED.values()) <= TOPICS.keys()
    assert not [name for name in _ASKED if exists(name)]


def test_explain_lists_every_name_once(shell: Run) -> None:
    for kind in shell("harbor-metrics explain").stdout.split("\n\n")[2:]:
        names = " ".join(kind.splitlines()[1:]).split(", ")
        assert len(names) == len(set(names))


def test_error_bars_of_an_own_metric_are_those_of_the_same_metric_of_ours(shell: Run) -> None:
    own, ours = "my_metric.py:solved_twice", "at-least-k k=2"
    line = f"harbor-metrics compute jobs/new --metric {own} --metric '{ours}' --format json"
    metrics = json.loads(shell(line).stdout)["groups"][0]["metrics"]
    first, second = (
        [list(metric[part].values()) for part in ("values", "uncertainty")]
        for metric in metrics
        if metric["type"] in (own, "at-least-k")
    )
    assert first == second
    assert first[1]


def test_files_for_ci_are_what_they_say() -> None:
    parts = TOPICS["validate-in-ci"].answer.split("\n\n")
    files = [part for part in parts if part[:2] == "  " and "harbor-m" not in part.split("\n")[0]]
    workflow, step, hooks = map(yaml.safe_load, files)
    assert "harbor-metrics validate --format github" in str(workflow["jobs"]["validate"]["steps"])
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert step[0]["with"].keys() <= action["inputs"].keys()
    known = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hooks["repos"][0]["hooks"] == [
        {"id": known[0]["id"], "args": ["--isolated", *known[0]["args"]]}
    ]


def test_a_topic_has_a_name_of_its_own() -> None:
    others = {*metric_names(), *reducer_names(), *rule_names(), *other_rule_names()}
    assert TOPICS.keys().isdisjoint(others)
