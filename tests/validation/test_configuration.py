"""The table of pyproject.toml."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from conftest import Run, as_somebody_else
from registries_by_hand import DATASET

from harbor_metrics.cli.validate import FORMATS
from harbor_metrics.errors import UsageError
from harbor_metrics.validation.configuration import read


def test_configuration_ignores_with_a_reason(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "registry.json").write_text(
        '[{"name": "a__b", "version": "1", "description": "", "tasks": []}]'
    )
    table = '[tool.harbor-metrics.ignore]\nempty-dataset = "filled by a script"\n'
    table += 'name-breaks-results = "old"\n'
    (tmp_path / "pyproject.toml").write_text(table)
    done = cli("validate", "registry.json")
    assert done.stdout == "No mistakes in 1 file, 1 dataset.\n"
    assert done.stderr == (
        "note: 2 findings left out by pyproject.toml: 1 x empty-dataset (ignored: filled by a "
        "script), 1 x name-breaks-results (ignored: old)\n"
    )
    for wrong in (
        'ignore = ["x"]',
        'ignore = {"empty-dataset" = ""}',
        "more = 1",
        'select = ["zz"]',
    ):
        (tmp_path / "pyproject.toml").write_text(f"[tool.harbor-metrics]\n{wrong}\n")
        assert cli("validate", "registry.json").returncode == 2
    (tmp_path / "pyproject.toml").write_text('[tool.harbor-metrics]\nselect = ["empty-dataset"]\n')
    assert "warning[name-breaks-results]" not in cli("validate", "registry.json").stdout


@pytest.mark.parametrize("wanted", ['ignore = {"empty-dataset" = "x"}', "more = 1", "="])
def test_isolated_from_what_a_pull_request_sets(cli: Run, tmp_path: Path, wanted: str) -> None:
    (tmp_path / "registry.json").write_text(
        '[{"name": "a", "version": "1", "description": "", "tasks": []}]'
    )
    (tmp_path / "pyproject.toml").write_text(f"[tool.harbor-metrics]\n{wanted}\n")
    done = cli("validate", "registry.json", "--isolated")
    assert "warning[empty-dataset]" in done.stdout
    assert (done.returncode, done.stderr) == (0, "")
    # What the command line says counts.
    alone = cli("validate", "registry.json", "--isolated", "--ignore", "empty-dataset")
    assert "empty-dataset" not in alone.stdout


def test_what_a_configuration_does_not_select_is_counted(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "registry.json").write_text(
        '[{"name": "a__b", "version": "1", "description": "", "tasks": []}]'
    )
    (tmp_path / "pyproject.toml").write_text('[tool.harbor-metrics]\nselect = ["package-name"]\n')
    left_out = (
        "note: 2 findings left out by pyproject.toml: 1 x empty-dataset (not selected), "
        "1 x name-breaks-results (not selected)\n"
    )
    assert cli("validate", "registry.json", "--quiet").stderr == left_out
    assert cli("validate", "registry.json", "--format", "github").stderr.count(left_out) == 1
    # Who selects on the command line knows what is left out.
    chosen = cli("validate", "registry.json", "--select", "package-name")
    assert (chosen.stdout, chosen.stderr) == ("No mistakes in 1 file, 1 dataset.\n", "")


@pytest.mark.parametrize("more", [(), ("--quiet",)])
@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize(
    ("table", "why"),
    [
        ('ignore = {"unknown-metric-type" = "we like it"}', "ignored: we like it"),
        ('select = ["duplicate-task"]', "not selected"),
        (
            'select = ["duplicate-task"]\nignore = {"unknown-metric-type" = "we like it"}',
            "not selected",
        ),
    ],
)
def test_what_settings_leave_out_is_said_in_every_format(
    table: str, why: str, format_: str, more: tuple[str, ...], cli: Run, tmp_path: Path
) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "registry.json").write_text(
        json.dumps([{**DATASET, "metrics": [{"type": "nonsense"}]}])
    )
    (tmp_path / "pyproject.toml").write_text(f"[tool.harbor-metrics]\n{table}\n")
    said = f"note: 1 finding left out by ../pyproject.toml: 1 x unknown-metric-type ({why})"
    also = ("--also", "text:found.txt")
    done = cli("validate", "--format", format_, *also, *more, cwd=tmp_path / "work")
    assert done.returncode == 0
    assert [said in line for line in done.stderr.splitlines()].count(True) == 1
    assert said in (tmp_path / "work" / "found.txt").read_text()
    assert "pyproject" not in done.stdout


def test_reason_of_a_stranger_is_one_short_line(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "registry.json").write_text(
        '[{"name": "a", "version": "1", "description": "", "tasks": []}]'
    )
    reason = json.dumps("x\n::error::forged\x1b[2K" + " y" * 10_000)
    (tmp_path / "pyproject.toml").write_text(
        f"[tool.harbor-metrics.ignore]\nempty-dataset = {reason}\n"
    )
    done = cli("validate", "--quiet")
    assert len(done.stderr) < 500
    assert done.stderr.count("\n") == 1
    assert "\x1b" not in done.stderr


@pytest.mark.parametrize("text", ["[tool.harbor-metrics\n", "[tool]\nharbor-metrics = 3\n"])
def test_broken_configuration_is_refused(text: str, cli: Run, tmp_path: Path) -> None:
    (tmp_path / "registry.json").write_text("[]")
    (tmp_path / "pyproject.toml").write_text(text)
    assert cli("validate", "registry.json").returncode == 2


def test_settings_that_cannot_be_read_are_not_those_of_the_folder_above(
    open_to_all: Path,
) -> None:
    (open_to_all / "work").mkdir()
    (open_to_all / "pyproject.toml").write_text("[tool.harbor-metrics]\n")
    (open_to_all / "work" / "pyproject.toml").write_text("[tool.harbor-metrics]\n")
    read("work")
    (open_to_all / "work" / "pyproject.toml").chmod(0)
    for path in (open_to_all, *open_to_all.rglob("*")):
        os.chown(path, 65534 if os.geteuid() == 0 else -1, -1)
    with as_somebody_else(), pytest.raises(UsageError, match="Permission denied"):
        read("work")


def test_no_settings_are_read_through_a_link_out(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "registry.json").write_text("[]")
    (tmp_path / "private.toml").write_text("[tool.harbor-metrics]\nsecret = 1\n")
    (tmp_path / "work" / "pyproject.toml").symlink_to(tmp_path / "private.toml")
    done = cli("validate", "registry.json", cwd=tmp_path / "work")
    assert done.returncode == 2
    assert "pyproject.toml is a link out of its folder" in done.stderr
    assert "secret" not in done.stderr


@pytest.mark.parametrize("text", ["x" + ".x" * 30_000 + " = 1", "# " + "x" * (1 << 20)])
def test_settings_that_would_take_long_to_read_are_refused(
    text: str, cli: Run, tmp_path: Path
) -> None:
    (tmp_path / "registry.json").write_text("[]")
    (tmp_path / "pyproject.toml").write_text(f"[tool.harbor-metrics]\n{text}\n")
    done = cli("validate", "registry.json")
    assert done.returncode == 2
    assert "pyproject.toml cannot be read as TOML: " in done.stderr
    (tmp_path / "pyproject.toml").write_text(f"{text}\n")
    assert cli("validate", "registry.json").returncode == 0


def test_a_huge_file_of_settings_is_not_read(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "registry.json").write_text("[]")
    (tmp_path / "pyproject.toml").touch()
    os.truncate(tmp_path / "pyproject.toml", (64 << 20) + 1)
    done = cli("validate", "registry.json")
    assert done.returncode == 2
    assert "pyproject.toml: larger than 64 MiB" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives things away")
def test_settings_of_somebody_else_above_are_none(cli: Run, tmp_path: Path) -> None:
    table = '[tool.harbor-metrics.ignore]\nempty-dataset = "none of your business"\n'
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "registry.json").write_text('[{"name": "a", "version": "1", "tasks": []}]')
    (tmp_path / "pyproject.toml").write_text(table)
    said = cli("validate", "work/registry.json").stderr
    os.chown(tmp_path / "pyproject.toml", 65_534, 65_534)
    assert "none of your business" in said
    assert "none of your business" not in cli("validate", "work/registry.json").stderr
    # As a repository that is somebody else's, in a container.
    os.chown(tmp_path, 65_534, 65_534)
    assert cli("validate", "work/registry.json").stderr == said
