"""Which registries and manifests are found in a folder: those that git would list."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Run
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor_metrics.confinement.removal import remove
from harbor_metrics.errors import InputError
from harbor_metrics.validation.search import NAMES, Besides, search
from harbor_metrics.validation.validation import validate

DATASET = {"name": "d", "version": "1", "description": "", "tasks": [{"name": "t", "path": "p"}]}
DATASETS = json.dumps([DATASET])
_FOLDERS = ["", "a", "b", "a/b", "a/c", "b/a", "b/a/c"]
_PATTERNS = [
    *("a", "a/", "/a", "b", "b/a", "a/b", "*.json", "registry.json", "!registry.json", "/*.toml"),
    *("**/c", "!b/", "*/c/", "# a", "", "!a/registry.json", "a/**", "!a/b/", "\\!x", "[ab]/c"),
]


def listed_by_git(top: Path, folder: Path) -> list[str]:
    """What git lists below a folder that is one of our documents, sorted."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    ran = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=True, env=outside(top)
    )
    paths = [path for path in ran.stdout.split("\0") if os.path.basename(path) in NAMES]
    return sorted(paths, key=lambda path: path.split("/"))


def outside(top: Path) -> dict[str, str]:
    """An environment in which git knows of no other repository, and of the user's exclusions."""
    home = str(top.parent / "home")
    return {**os.environ, "HOME": home, "XDG_CONFIG_HOME": f"{home}/.config"}


def found_by_us(folder: Path) -> list[str]:
    """What the search finds below a folder, relative to it."""
    unread: list[InputError] = []
    paths = [os.path.relpath(path, folder) for path in search(str(folder), unread)]
    assert not unread
    return sorted(paths, key=lambda path: path.split("/"))


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(st.sampled_from(_FOLDERS), st.lists(st.sampled_from(_PATTERNS)), max_size=3),
    st.lists(st.sampled_from(_PATTERNS), max_size=2),
    st.sampled_from(["", "a", "b/a"]),
    st.sampled_from([None, "a/c", "b"]),
)
def test_what_git_lists_is_found(
    ignored: dict[str, list[str]], by_user: list[str], below: str, other: str | None
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        top = Path(folder) / "top"
        for name in _FOLDERS:
            (top / name).mkdir(parents=True, exist_ok=True)
            for file in NAMES:
                (top / name / file).write_text("")
        subprocess.run(["git", "init", "-q", top], check=True, env=outside(top))
        if other is not None and other != below and not below.startswith(f"{other}/"):
            subprocess.run(["git", "init", "-q", top / other], check=True, env=outside(top))
        for name, patterns in ignored.items():
            (top / name / ".gitignore").write_text("\n".join(patterns))
        user = Path(folder) / "home" / ".config" / "git"
        user.mkdir(parents=True)
        (user / "ignore").write_text("\n".join(by_user))
        for name, value in outside(top).items():
            patch.setenv(name, value)
        assert found_by_us(top / below) == listed_by_git(top, top / below)


def test_folders_are_searched_outside_of_repositories_too(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "dataset.toml").write_text("[dataset]\n")
    (tmp_path / "a" / "registry.json").write_text("[1]")
    (tmp_path / "a" / "c").symlink_to(tmp_path / "a" / "b")
    for arguments in ([], ["."], ["a"]):
        done = cli("validate", *arguments, "--format", "concise")
        lines = [line.partition(" ")[0] for line in done.stdout.splitlines()]
        assert (done.returncode, lines) == (1, ["a/b/dataset.toml:1:1:", "a/registry.json:1:2:"])


def test_folder_or_pattern_without_a_document_says_so(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "registry.json").write_text("[]")
    done = cli("validate", "a")
    assert done.returncode == 3
    assert "there is no registry.json or dataset.toml in a" in done.stderr
    done = cli("validate", "registry.json", "a/*.json", "a")
    assert done.returncode == 3
    assert "no file matches a/*.json" in done.stderr
    assert "dataset.toml in a" in done.stderr
    assert "empty-registry" in done.stdout


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all")
def test_folder_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "registry.json").write_text("[]")
    (tmp_path / "a").mkdir(mode=0)
    report = validate(tmp_path)
    assert report.n_files == 1
    assert [str(tmp_path / "a") in str(error) for error in report.unread] == [True]


@pytest.mark.parametrize("line", ["!", "\\", "\\\\\\", "[z-a]", "[a-\\]", "/\\"])
def test_a_line_that_is_no_pattern_leaves_nothing_out(line: str, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    for folder in ("a", "b", "c"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "registry.json").write_text("[]")
    (tmp_path / ".gitignore").write_text(f"/a\n{line}\r\n/b\r\n")
    found = [os.path.relpath(path, tmp_path) for path in search(str(tmp_path), [])]
    assert found == listed_by_git(tmp_path, tmp_path) == ["c/registry.json"]


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """A folder with as many in one another as a path has room for; the last has a registry."""
    home = os.getcwd()
    os.chdir(tmp_path)
    n = (os.pathconf("/", "PC_PATH_MAX") - len(f"{tmp_path}/registry.json")) // 2 - 1
    for _ in range(n):
        os.mkdir("a")
        os.chdir("a")
    Path("registry.json").write_text(DATASETS)
    os.chdir(home)
    yield tmp_path
    remove(str(tmp_path / "a"))


def test_folders_may_be_nested_as_deep_as_a_path_is_long(deep: Path, cli: Run) -> None:
    (path,) = search(str(deep), unread := [])
    assert path.endswith("/a/registry.json")
    assert not unread
    assert "1 file, 1 dataset" in cli("validate", ".").stdout
    assert cli("validate", "**/registry.json").returncode in (0, 3)
    (deep / ".gitignore").write_text("b\n")
    assert len(list(search(str(deep), []))) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere each folder on the way is asked")
def test_of_registries_in_one_another_no_way_is_gone_step_by_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path
    for _ in range(200):
        folder /= "a"
        folder.mkdir()
        (folder / "registry.json").write_text(DATASETS)
    asked = []
    lstat = os.lstat
    monkeypatch.setattr(os, "lstat", lambda *args, **kw: asked.append(1) or lstat(*args, **kw))
    assert validate(tmp_path).n_files == 200
    assert len(asked) < 2_000


def test_rules_that_are_no_file_or_too_large_are_none(tmp_path: Path) -> None:
    for make in (os.mkfifo, lambda path: os.truncate(path.touch() or path, (100 << 20) + 1)):
        make(tmp_path / ".gitignore")
        (tmp_path / "registry.json").write_text("[]")
        assert len(list(search(str(tmp_path), []))) == 1
        (tmp_path / ".gitignore").unlink()


def test_patterns_are_read_through_no_link_of_the_repository(tmp_path: Path) -> None:
    top, secret = tmp_path / "top", tmp_path / "secret"
    secret.write_text("a\n")
    subprocess.run(["git", "init", "-q", top], check=True)
    (top / "a").mkdir()
    (top / "a" / "registry.json").write_text("[]")
    (top / ".gitignore").symlink_to(secret)
    assert len(list(search(str(top), []))) == len(listed_by_git(top, top)) == 1
    assert len(list(search(str(top / "a"), []))) == 1
    (top / ".gitignore").unlink()
    exclude = top / ".git" / "info" / "exclude"
    exclude.unlink(missing_ok=True)
    exclude.parent.mkdir(exist_ok=True)
    exclude.symlink_to(secret)
    assert len(list(search(str(top), []))) == 1
    exclude.unlink()
    exclude.write_text("a\n")
    assert not list(search(str(top), []))


def test_what_patterns_leave_out_is_said_in_every_format(cli: Run, tmp_path: Path) -> None:
    for path in (".git", "good", "out/deep", "out/clone", "b"):
        (tmp_path / path).mkdir(parents=True)
    for path in ("good", "out/deep", "out/clone", "b", "."):
        (tmp_path / path / "registry.json").write_text(DATASETS if path == "good" else "[1]")
    (tmp_path / ".gitignore").write_text("/registry.json\n/out/\n/b/registry.json\n")
    left = "4 documents were not looked at, which patterns of .gitignore leave out: "
    left += "b/registry.json, registry.json, out/clone/registry.json, out/deep/registry.json"
    for format_ in ("text", "concise", "json", "jsonl", "github", "sarif"):
        done = cli("validate", "--format", format_)
        assert done.returncode == 0
        assert left in " ".join(done.stdout.split())
        assert "ignored-registry" in done.stdout
    assert "Found 1 note in 1 file, 1 dataset." in cli("validate").stdout
    named = cli("validate", ".", "registry.json", "b/registry.json", "--format", "concise")
    assert named.returncode == 1
    assert "2 documents were not looked at" in named.stdout
    assert "ignored-registry" not in cli("validate", "--ignore", "ignored-registry").stdout
    alone = cli("validate", "b")
    assert alone.returncode == 3
    assert "name a file, such as b/registry.json" in alone.stderr


@pytest.mark.parametrize("is_of_git", [True, False])
@pytest.mark.parametrize("way", ["file", "folder", "lost", "link", "repository", "led", "tree"])
def test_what_is_called_as_a_repository_hides_nothing(
    way: str, is_of_git: bool, tmp_path: Path
) -> None:
    top = tmp_path / "top"
    inner = top / "a" / "b"
    inner.mkdir(parents=True)
    git = inner / ".git"
    (apart := tmp_path / "apart").mkdir()
    if way == "folder":
        git.mkdir()
    elif way == "link":
        git.symlink_to("nowhere")
    elif way in ("file", "lost"):
        git.write_text("" if way == "file" else "gitdir: nowhere\n")
    elif way == "tree":
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        for call in (
            ("init", "-q", "."),
            (*who, "commit", "-q", "--allow-empty", "-m", "x"),
            ("worktree", "add", "-q", inner),
        ):
            subprocess.run(["git", *call], cwd=apart, check=True)
    else:
        options = ["--separate-git-dir", apart] if way == "led" else []
        subprocess.run(["git", "init", "-q", *options, inner], check=True)
    (inner / "registry.json").write_text("[1]")
    (top / "registry.json").write_text(DATASETS)
    if is_of_git:
        subprocess.run(["git", "init", "-q", top], check=True)
    report = validate(top)
    if way in ("repository", "led", "tree"):
        said = "1 document was not looked at, which repositories inside the folder hold: "
        assert [d.message for d in report.found] == [f"{said}{inner}/registry.json"]
    else:
        assert report.n_files == 2
    if is_of_git:
        listed = listed_by_git(top, top)
        assert len(listed) == report.n_files


def test_of_ignored_folders_what_is_near_is_gone_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harbor_metrics.validation.search.MOST_LEFT_OUT", 30)
    for i in range(50):
        (tmp_path / "out" / "a" / str(i)).mkdir(parents=True)
    (tmp_path / "out" / "b").mkdir()
    for path in ("good", "out", "out/b", "out/a/49"):
        (tmp_path / path).mkdir(exist_ok=True)
        (tmp_path / path / "registry.json").write_text(DATASETS)
    (tmp_path / ".gitignore").write_text("/out\n")
    besides = Besides()
    assert len(list(search(str(tmp_path), [], besides))) == 1
    assert [os.path.relpath(path, tmp_path) for path in besides.ignored] == ["out/registry.json"]
    assert besides.is_cut


def test_more_patterns_with_signs_than_any_repository_needs_are_refused(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "registry.json").write_text(DATASETS)
    patterns = tmp_path / ".gitignore"
    patterns.write_text("".join(f"name{i}\n" for i in range(20_000)) + "*.log\n")
    assert validate(str(tmp_path)).n_files == 1
    patterns.write_text("".join(f"*name{i}\n" for i in range(10_001)))
    with pytest.raises(InputError, match=r"gitignore: more than 10,000 patterns with signs"):
        validate(str(tmp_path))


def test_more_files_of_patterns_in_one_another_than_any_repository_needs_are_refused(
    tmp_path: Path,
) -> None:
    (tmp_path / ".git").mkdir()
    folder = tmp_path
    for n in range(101):
        (folder / ".gitignore").write_text("x*\n" * 99)
        (folder / "registry.json").write_text(DATASETS)
        if n == 99:
            assert validate(str(tmp_path)).n_files == 100
        folder /= "a"
        folder.mkdir()
    with pytest.raises(InputError, match=r"gitignore: more than 100 files in one another hold"):
        validate(str(tmp_path))
    (tmp_path / "a" / ".gitignore").write_text("x*\n" * 9_999)
    with pytest.raises(InputError, match=r"a/.gitignore: more than 10,000 patterns with signs"):
        validate(str(tmp_path))


def test_a_link_to_a_folder_that_is_called_a_registry_is_said(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "good").mkdir()
    (tmp_path / "good" / "registry.json").write_text(DATASETS)
    (tmp_path / "registry.json").symlink_to("good")
    for option in ((), ("--fix",)):
        done = cli("validate", *option)
        assert done.returncode == 3
        assert "registry.json: Is a directory" in done.stderr
        assert "1 file, 1 dataset" in done.stdout


@pytest.mark.parametrize("name", ["registry.json", "dataset.toml"])
@pytest.mark.parametrize("way", ["{}", "./{}", "*/{}", "**/{}", "."])
def test_a_folder_in_the_place_of_a_document_is_no_document(
    cli: Run, tmp_path: Path, name: str, way: str
) -> None:
    """A pull request had one, with a valid registry in it, and passed."""
    for folder in (tmp_path / name, tmp_path / "a" / name):
        folder.mkdir(parents=True)
        (folder / "registry.json").write_text("[]")
    done = cli("validate", way.format(name))
    assert done.returncode == 3
    assert f"{name}: Is a directory" in done.stderr
    assert cli("validate", f"{name}/registry.json").returncode == 0
