"""Files whose names begin with `-`, as a shell gives them for `*`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Run

from harbor_metrics.cli import COMMANDS

EVIL = """\
from harbor_metrics import Column

open("ran", "w")


def f(rewards: Column) -> float:
    \"\"\"One.\"\"\"
    return 1.0
"""
FORGED = "--metric=evil.py:f"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of a stranger's: trials, a file of code, and a name that is an option."""
    (tmp_path / "r.jsonl").write_text('{"reward": 1}\n')
    (tmp_path / "evil.py").write_text(EVIL)
    (tmp_path / FORGED).write_text("")
    return tmp_path


@pytest.mark.parametrize("command", ["compute", "validate", "audit", "report", "convert"])
def test_shell_gives_no_option_by_a_pattern(command: str, folder: Path) -> None:
    program = f"'{sys.executable}' -m harbor_metrics {command} *"
    done = subprocess.run(["bash", "-c", program], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == (
        f"error: `{FORGED}` is the name of a file here, and would be taken for an option\n"
        f"  = help: write ./{FORGED}, or `--` before all names; for the option, rename the file\n"
    )
    assert {path.name for path in folder.iterdir()} == {"r.jsonl", "evil.py", FORGED}


@pytest.mark.parametrize("command", [*COMMANDS, "script check"])
@pytest.mark.parametrize("name", [FORGED, "--help", "-h", "-o", "-oresult.json", "-q", "-x.json"])
def test_every_command_refuses_such_a_name(cli: Run, folder: Path, command: str, name: str) -> None:
    (folder / name).touch()
    for words in ([*command.split(), name], ["--", *command.split(), "a", name]):
        done = cli(*words)
        assert done.returncode == 2
        assert f"`{name}` is the name of a file here" in done.stderr


def test_broken_link_and_folder_are_names_too(cli: Run, folder: Path) -> None:
    (folder / "-o").symlink_to("nowhere")
    (folder / "--also=csv:x").mkdir()
    (folder / "--also=csv:x" / "y.csv").touch()
    for name in ("-o", "--also=csv:x", "--also=csv:x/y.csv"):
        done = cli("compute", "r.jsonl", name)
        assert f"`{name}` is the name of a file here" in done.stderr


def test_what_comes_after_two_dashes_is_a_name(cli: Run, folder: Path) -> None:
    (folder / FORGED).write_text('{"reward": 0}\n')
    for words in (["--", FORGED], [f"./{FORGED}"], ["r.jsonl", "--", FORGED]):
        done = cli("compute", *words)
        assert done.returncode == 0, done.stderr
    assert not (folder / "ran").exists()


@pytest.mark.parametrize("before", [["-o"], ["--also", "csv:other.csv", "-o"], ["--output"]])
def test_value_of_an_option_is_the_users_own(cli: Run, folder: Path, before: list[str]) -> None:
    (folder / "-x.json").touch()
    done = cli("compute", "r.jsonl", *before, "-x.json")
    assert done.returncode == 0, done.stderr
    assert (folder / "-x.json").read_text().startswith("{")


def test_values_are_those_of_letters_in_one_word_too(cli: Run, folder: Path) -> None:
    (folder / "-x.json").touch()
    assert "is the name of a file" in cli("compute", "r.jsonl", "-ores.json", "-x.json").stderr
    assert "is the name of a file" in cli("validate", "-q", "-x.json").stderr


def test_standard_input_is_no_name(cli: Run, folder: Path) -> None:
    (folder / "-").touch()
    assert cli("compute", "-", input='{"reward": 1}\n').returncode == 0


def test_name_is_printed_without_commands_to_the_terminal(cli: Run, folder: Path) -> None:
    name = "--\x1b[2J"
    (folder / name).touch()
    assert "\x1b" not in cli("compute", name).stderr
