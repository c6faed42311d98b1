"""What a task file may include, and what is said of a text that is no YAML."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import Run
from registries_by_hand import dataset

from harbor_metrics import InputError
from harbor_metrics.registries.lm_eval_file import load

SECRET = "hunter2"
NO_YAML = [
    (f"machine git login alice password: {SECRET}: x", "mapping values are not allowed here", 1),
    (f"a: *{SECRET}", "found undefined alias …", 1),
    (f"a: &{SECRET} 1\nb: &{SECRET} 2", "found duplicate anchor …; first occurrence", 2),
    (f"a: !{SECRET} 1", "could not determine a constructor for the tag …", 1),
    (f"a: !{SECRET}%27%22 1", "could not determine a constructor for the tag …", 1),
    (f"a: !h!{SECRET} 1", "found undefined tag handle …", 1),
    (f"a: !!int {SECRET}", "a value is not what its tag, or its form, says", 1),
    (f"a: !!bool {SECRET}", "a value is not what its tag, or its form, says", 1),
    (f'a: "{SECRET}\\z"', "found unknown escape character …", 1),
    (f"{SECRET}: [1\n{SECRET}: 2", "expected ',' or ']', but got …", 2),
    (f"a: 1\n{SECRET}\nb: 2", "could not find expected ':'", 3),
    (f"{SECRET}: @{SECRET}", "found character … that cannot start any token", 1),
    (f"{SECRET}: 1\n- {SECRET}", "expected <block end>, but found …", 2),
    ("a: 2001-99-42", "a value is not what its tag, or its form, says", 1),
]


@pytest.mark.parametrize(("text", "words", "line"), NO_YAML, ids=range(len(NO_YAML)))
def test_what_is_no_yaml_is_told_by_its_place_and_never_quoted(
    tmp_path: Path, text: str, words: str, line: int
) -> None:
    (tmp_path / "base.yaml").write_text(text)
    (tmp_path / "task.yaml").write_text("include: base.yaml")
    with pytest.raises(InputError, match="is no YAML") as raised:
        load(str(tmp_path / "task.yaml"))
    message = str(raised.value)
    assert words in message
    assert f"(line {line}, column " in message
    assert SECRET not in message


@pytest.mark.parametrize("data", [b"\xff" + SECRET.encode(), b"a: \x01" + SECRET.encode()])
def test_what_is_no_text_is_told_by_its_offset(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "task.yaml").write_bytes(data)
    with pytest.raises(InputError, match=r"at offset \d is no text$"):
        load(str(tmp_path / "task.yaml"))


def _doubled(levels: int, line: str) -> str:
    """Each value is the one before nine times."""
    lines = ["a0: &a0 [x]"] if "[" in line else ["a0: &a0 {x: 1}"]
    return "\n".join([*lines, *(line.format(n=n, last=n - 1) for n in range(1, levels))])


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [1, [*a]]",
        "a: &a {b: {c: *a}}",
        "? &a [*a]\n: 1",
        _doubled(9, "a{n}: &a{n} [" + ", ".join(["*a{last}"] * 9) + "]"),
        _doubled(9, "a{n}: &a{n} {{<<: [" + ", ".join(["*a{last}"] * 9) + "]}}"),
        f"a: 0x{'f' * 4_000}",
        f"a: -{'1:' * 4_000}1",
        f"a: {'1_' * 400}1",
        f"a: {'1:' * 100_000}1",
        f"a: {'1:' * 100_000}1.5",
    ],
    ids=range(10),
)
def test_no_value_is_larger_than_what_can_be_written(tmp_path: Path, text: str) -> None:
    (tmp_path / "task.yaml").write_text(text)
    with pytest.raises(InputError, match=r"a value holds itself|larger than any|quoted") as raised:
        load(str(tmp_path / "task.yaml"))
    assert "(line " in str(raised.value)


def test_what_is_said_once_may_be_meant_again(tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text("a: &a {b: [1, 2]}\nc: [*a, *a]\nd: {<<: *a, e: 1}\n")
    value = {"b": [1, 2]}
    assert load(str(tmp_path / "task.yaml")) == {
        "a": value,
        "c": [value] * 2,
        "d": value | {"e": 1},
    }


def test_what_is_nested_too_deep_is_no_yaml(tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text("[" * 5_000)
    with pytest.raises(InputError, match="nested too deep"):
        load(str(tmp_path / "task.yaml"))


@pytest.mark.parametrize("inside", [".git", "lib/python3.11/site-packages/"])
def test_what_lies_in_its_checkout_or_package_is_included(tmp_path: Path, inside: str) -> None:
    """As lm-eval's own tasks do."""
    if inside == ".git":
        root = tmp_path
        (root / ".git").write_text("gitdir: elsewhere")  # of a worktree
    else:
        root = tmp_path / ".venv" / inside / "lm_eval"
    folder = root / "tasks" / "minerva" / "es" / "more"
    folder.mkdir(parents=True)
    (root / "tasks" / "_default_template_yaml").write_text("metric_list: [{metric: acc}]")
    (folder / "task.yaml").write_text("include: ../../../_default_template_yaml")
    assert load(str(folder / "task.yaml")) == {"metric_list": [{"metric": "acc"}]}


@pytest.fixture
def around(tmp_path: Path) -> Path:
    """A folder with what is somebody's, and in it one for a task file."""
    (tmp_path / "project" / "tasks" / ".git").mkdir(parents=True)
    (tmp_path / "project" / "tasks" / "deep").mkdir()
    for path in (
        "creds.yml",
        "project/creds.yml",
        "project/tasks/.env",
        "project/tasks/.git/config",
        "project/tasks/deep/own.yaml",
    ):
        (tmp_path / path).write_text(f"token: {SECRET}")
    (tmp_path / "project" / "tasks" / "link.yaml").symlink_to("../creds.yml")
    (tmp_path / "project" / "tasks" / "seen.yaml").symlink_to(".env")
    (tmp_path / "project" / "tasks" / "next.yaml").write_text("include: ../creds.yml")
    return tmp_path


@pytest.mark.parametrize(
    "name",
    [
        *("../creds.yml", "../../creds.yml", "{}/creds.yml", "deep/../../creds.yml", "../gone.yml"),
        *("link.yaml", "seen.yaml", "next.yaml", ".env", ".git/config", "."),
    ],
)
def test_what_leads_out_of_its_checkout_is_not_included(around: Path, name: str) -> None:
    path = around / "project" / "tasks" / "task.yaml"
    path.write_text(f"include: {name.format(around)}")
    with pytest.raises(InputError, match="leads out of") as raised:
        load(str(path))
    assert "--from-lm-eval" in str(raised.value.help)


def test_a_task_file_in_no_checkout_includes_what_lies_below_its_folder(around: Path) -> None:
    (around / "project" / "tasks" / ".git" / "config").unlink()
    (around / "project" / "tasks" / ".git").rmdir()
    path = around / "project" / "tasks" / "task.yaml"
    path.write_text("include: deep/own.yaml")
    assert load(str(path)) == {"token": SECRET}
    path.write_text("include: ../creds.yml")
    with pytest.raises(InputError, match="leads out of"):
        load(str(path))


def test_a_task_file_among_all_that_somebody_has_includes_nothing(
    around: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(around))
    (around / ".git").mkdir()
    (around / "task.yaml").write_text("include: creds.yml")
    with pytest.raises(InputError, match="lies among all that somebody has"):
        load(str(around / "task.yaml"))
    (around / "project" / "task.yaml").write_text("include: ../creds.yml")
    with pytest.raises(InputError, match="leads out of"):
        load(str(around / "project" / "task.yaml"))


def test_a_path_that_no_file_can_have_is_not_included(tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text('include: "a\\0b"')
    with pytest.raises(InputError, match="holds a NUL"):
        load(str(tmp_path / "task.yaml"))


def test_the_command_says_what_it_refused(cli: Run, around: Path) -> None:
    (around / "registry.json").write_text(f"[{dataset('demo')}]".replace("'", '"'))
    path = around / "project" / "tasks" / "task.yaml"
    path.write_text("include: ../creds.yml")
    done = cli("add", around / "registry.json", "demo", "--from-lm-eval", path)
    assert done.returncode == 3
    assert done.stderr == (
        f"error: {path} includes ../creds.yml, which leads out of {os.path.dirname(path)}, or to "
        "what is hidden there: only what lies in the git checkout, the package or the folder of a "
        f"task file is included\n  = help: put a copy below {os.path.dirname(path)}, or name the "
        "file with --from-lm-eval itself\n"
    )


def test_a_file_that_several_include_is_read_once(tmp_path: Path) -> None:
    for i in range(50):
        (tmp_path / f"{i}.yaml").write_text(f"include: [{i + 1}.yaml, ./{i + 1}.yaml]\n")
    (tmp_path / "50.yaml").write_text("task: last\n")
    assert load(str(tmp_path / "0.yaml")) == {"task": "last"}


def test_more_files_than_any_task_has_are_not_included(tmp_path: Path) -> None:
    for i in range(2_000):
        (tmp_path / f"{i}.yaml").write_text(f"include: {i + 1}.yaml\n")
    (tmp_path / "2000.yaml").write_text("task: last\n")
    with pytest.raises(InputError, match="more than 100 files are included"):
        load(str(tmp_path / "0.yaml"))
    (tmp_path / "all.yaml").write_text(f"include: [{', '.join(f'{i}.yaml' for i in range(2000))}]")
    with pytest.raises(InputError, match="more than 100 files are included"):
        load(str(tmp_path / "all.yaml"))


def test_of_files_that_are_included_twice_the_first_place_counts(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("task: a\n")
    (tmp_path / "b.yaml").write_text("task: b\ngroup: b\n")
    (tmp_path / "m.yaml").write_text("include: [a.yaml, b.yaml, ./a.yaml]\n")
    assert load(str(tmp_path / "m.yaml")) == {"task": "a", "group": "b"}


def test_a_task_of_more_keys_than_any_has_is_none(tmp_path: Path) -> None:
    """A hundred files with each of them would be a hundred tables of them all."""
    (tmp_path / "m.yaml").write_text("".join(f"k{i}: 1\n" for i in range(1_001)))
    with pytest.raises(InputError, match="more than 1,000 keys"):
        load(str(tmp_path / "m.yaml"))


def test_a_long_text_is_repeated_a_few_times_only(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text(f"a: &a {'x' * 10**6}\nb: [{', '.join(['*a'] * 20)}]\n")
    with pytest.raises(InputError, match="a value holds itself, or 100,000 others"):
        load(str(tmp_path / "m.yaml"))
