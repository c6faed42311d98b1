"""`harbor-metrics validate`: formats, selections, several files, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import HERE, ROOT, Run
from registries_by_hand import DATASET


def test_example_registry_is_clean(cli: Run) -> None:
    done = cli("validate", ROOT / "registry" / "registry.json")
    assert (done.returncode, done.stdout) == (0, "No mistakes in 1 file, 2 datasets.\n")
    assert cli("validate", ROOT / "registry" / "registry.json", "--quiet").stdout == ""


def test_computed_result_is_valid(cli: Run, job: Path) -> None:
    assert cli("compute", job, "-o", "result.json").returncode == 0
    assert cli("validate", "result.json").returncode == 0


def test_select_and_ignore_choose_the_rules(cli: Run) -> None:
    file = HERE / "validation" / "registries" / "unknown-metric-field" / "registry.json"
    concise = cli("validate", file, "--format", "concise").stdout.splitlines()
    assert concise[0].startswith(f"{file}:14:9: error[unknown-metric-field] unknown field `typ`")
    lines = cli("validate", file, "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line)["line"] for line in lines] == [14, 18, 22]
    assert cli("validate", file, "--ignore", "unknown-metric-field").returncode == 0
    assert cli("validate", file, "--select", "duplicate-task").returncode == 0
    wrong = cli("validate", file, "--select", "bogus")
    assert (wrong.returncode, "no rule `bogus`" in wrong.stderr) == (2, True)


def test_standard_input_files_and_patterns_are_validated(cli: Run, tmp_path: Path) -> None:
    registry = (ROOT / "registry" / "registry.json").read_text()
    assert cli("validate", "-", "--ignore", "script-path", input=registry).returncode == 0
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "registry.json").write_text("[]")
    done = cli("validate", "**/registry.json", "a/registry.json")
    assert done.stdout.endswith("Found 2 warnings in 2 files, 0 datasets.\n")
    assert cli("validate", "no*").returncode == 3
    assert cli("validate", "a").returncode == 0
    assert cli("validate", "gone.json").returncode == 3


def test_a_folder_that_is_called_as_a_pattern_hides_nothing(cli: Run, tmp_path: Path) -> None:
    for name, text in (("a", "[1]"), ("**", "[]")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "registry.json").write_text(text)
    done = cli("validate", "**/registry.json")
    assert done.returncode == 3
    assert "neither is taken for what is meant" in done.stderr
    # As pre-commit and shells hand over what there is.
    assert cli("validate", "**/registry.json", "a/registry.json").returncode == 1
    (tmp_path / "a" / "registry.json").unlink()
    assert cli("validate", "**/registry.json").returncode == 0
    (tmp_path / "*").mkdir()
    (tmp_path / "x.json").write_text("[1]")
    done = cli("validate", "*")
    assert done.returncode == 3
    assert "write '*/' for what is called so" in done.stderr
    assert "there is no registry.json or dataset.toml in */" in cli("validate", "*/").stderr


def test_validate_runs_no_script(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("open('ran', 'w')\n")
    metrics = [{"type": "uv-script", "kwargs": {"script_path": "m.py"}}]
    dataset = {"name": "d", "version": "1", "description": "", "tasks": [], "metrics": metrics}
    (tmp_path / "registry.json").write_text(json.dumps([dataset]))
    assert "script" in cli("validate", "registry.json").stdout
    assert not (tmp_path / "ran").exists()


def test_file_that_cannot_be_read_hides_no_other(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[1]")
    (tmp_path / "sub.json").mkdir()
    done = cli("validate", "a.json", "gone.json")
    assert done.returncode == 3
    assert "wrong-type" in done.stdout
    assert "gone.json" in done.stderr
    assert cli("validate", "*.json").returncode == 1
    twice = cli("validate", "-", "-", input="[]")
    assert twice.stdout.endswith("in 1 file, 0 datasets.\n")


def test_sarif_exits_0_and_also_writes_a_copy(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "registry.json").write_text("[1]")
    done = cli("validate", "registry.json", "--format", "sarif", "--also", "concise:c.txt")
    assert done.returncode == 0
    assert json.loads(done.stdout)["version"] == "2.1.0"
    assert (tmp_path / "c.txt").read_text().startswith("registry.json:1:2: error[wrong-type]")
    assert cli("validate", "registry.json", "--also", "bogus:x").returncode == 2
    assert cli("validate", "registry.json", "--also", "text:no/such").returncode == 3


def test_also_never_replaces_an_input(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "registry.json").write_text("[1]")
    done = cli("validate", "registry.json", "--also", "sarif:./registry.json")
    assert done.returncode == 2
    assert (tmp_path / "registry.json").read_text() == "[1]"


def test_hints_are_said_where_they_are_asked_for(cli: Run) -> None:
    file = HERE / "validation" / "registries" / "script-digest" / "registry.json"
    assert cli("validate", file).stdout == "No mistakes in 1 file, 1 dataset.\n"
    done = cli("validate", file, "--select", "hints", "--format", "concise")
    assert done.returncode == 0
    assert "note[script-digest] mine.py is not pinned" in done.stdout
    one = cli("validate", file, "--select", "script-digest", "--format", "concise")
    assert one.stdout == done.stdout
    hidden = cli("validate", file, "--select", "hints", "--ignore", "script-digest")
    assert hidden.stdout == "No mistakes in 1 file, 1 dataset.\n"
    assert "with --select hints\n  same-metric, script-dependency" in cli("explain").stdout


def test_names_behind_a_link_out_are_not_shown(cli: Run, tmp_path: Path) -> None:
    work = tmp_path / "work"
    for name in ("one", "other"):
        (tmp_path / "private" / f"client-{name}").mkdir(parents=True)
        (tmp_path / "private" / f"client-{name}" / "registry.json").write_text("[]")
    work.mkdir()
    (work / "linked").symlink_to(tmp_path / "private")
    (work / "registry.json").write_text("[]")
    for pattern in ("**/registry.json", "*/client-*/registry.json"):
        for more in ((), ("--fix",), ("--format", "github")):
            done = cli("validate", "registry.json", pattern, *more, cwd=work)
            assert done.returncode == 3
            assert done.stderr.count("error: linked: a link to ") == 1
            assert "client-o" not in done.stdout + done.stderr
    (work / "**").mkdir()
    (work / "**" / "registry.json").write_text("[]")
    (work / "registry.json").unlink()
    done = cli("validate", "**/registry.json", cwd=work)
    assert "a pattern that linked fits, too" in done.stderr
    assert "client-o" not in done.stdout + done.stderr


def test_link_to_what_only_its_reader_may_see_is_not_shown(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("password hunter2\n")
    work = tmp_path / "work"
    (work / ".git").mkdir(parents=True)
    (work / ".git" / "config").write_text("password hunter2\n")
    (work / "there").mkdir()
    (work / "there" / "registry.json").write_text("[]")
    for link, target in (
        ("registry.json", tmp_path / "mine"),
        ("there/dataset.toml", "../.git/config"),
    ):
        (work / link).symlink_to(target)
    for more in ((), ("--fix",), ("--format", "github")):
        done = cli("validate", ".", *more, cwd=work)
        assert done.returncode == 3
        assert "hunter2" not in done.stdout + done.stderr
        assert done.stderr.count("a link to") >= 2
        # Nor by a path from elsewhere.
        done = cli("validate", work / "registry.json", *more)
        assert done.returncode == 3
        assert "hunter2" not in done.stdout + done.stderr
    (work / "own.json").symlink_to("there/registry.json")
    assert cli("validate", "own.json", cwd=work).returncode == 0
    assert cli("validate", work / "own.json").returncode == 0


def test_what_is_called_like_a_registry_and_not_looked_at_is_said(cli: Run, tmp_path: Path) -> None:
    for path in (
        "registry.json",
        "a/my.Registry.json",
        "a/registries.json",
        "a/gone-registry.json",
    ):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("[]")
    for path in ("registry.schema.json", "result.json", "a/registry.txt"):
        (tmp_path / path).write_text("{}")
    (tmp_path / ".gitignore").write_text("gone-*\n")
    (tmp_path / ".git").mkdir()
    done = cli("validate")
    assert done.stderr == (
        "note: 2 files called like a registry, but not registry.json, were not looked at; "
        "name a file or a pattern: a/my.Registry.json, a/registries.json\n"
    )
    assert "1 file was" not in cli("validate", ".", "a/*.json").stderr
    assert cli("validate", "--quiet").stderr == ""
    alone = cli("validate", "a")
    assert alone.returncode == 3
    assert "name a file, such as a/my.Registry.json, a/registries.json" in alone.stderr


def test_what_fix_leaves_and_why_is_said_once(cli: Run, tmp_path: Path) -> None:
    path = tmp_path / "registry.json"
    path.write_text(json.dumps([{**DATASET, "metrics": [{"type": "maen"}, {"type": "meen"}]}]))
    done = cli("validate", "registry.json", "--fix")
    assert 'help: write `"type": "mean"`' in done.stdout
    assert done.stderr.count("--fix writes only what has one right answer") == 1
    assert "--fix" not in cli("validate", "registry.json").stderr
    path.write_text(json.dumps([{**DATASET, "metrics": [{"type": "Mean"}]}]))
    assert "note" not in cli("validate", "registry.json", "--fix").stderr


@pytest.mark.parametrize("field", ["metrics", "extra_metrics"])
def test_harbor_refuses_an_unknown_type_only_where_it_reads_it(
    field: str, cli: Run, tmp_path: Path
) -> None:
    (tmp_path / "registry.json").write_text(json.dumps([{**DATASET, field: [{"type": "maen"}]}]))
    said = cli("validate", "registry.json").stdout
    assert ("Harbor refuses every dataset" in said) is (field == "metrics")
    assert ("Harbor ignores `extra_metrics`; in `compute`" in said) is (field == "extra_metrics")
