"""What is read from git's index is what `git ls-files` lists, in each of its forms."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from conftest import as_somebody_else
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor_metrics.errors import InputError
from harbor_metrics.validation import tracked
from harbor_metrics.validation.repositories import git_folder
from harbor_metrics.validation.search import Besides, search
from harbor_metrics.validation.tracked import names_in
from harbor_metrics.validation.validation import validate

pytestmark = pytest.mark.one_python

DATASETS = (
    '[{"name": "d", "version": "1", "description": "", "tasks": [{"name": "t", "path": "p"}]}]'
)
_WHO = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.autocrlf=false")
_NAMES = ["registry.json", "dataset.toml", "x", "registry.json.x", "ö", "a b", "l" * 200]
_FOLDERS = ["", "a/", "a/b/", "ab/", "é/", "a/b/c/d/", "m" * 250 + "/"]
_PATHS = st.sampled_from([folder + name for folder in _FOLDERS for name in _NAMES])


def git(folder: Path, *arguments: str | Path) -> str:
    """What git prints, with settings of nobody."""
    home = {"HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", "XDG_CONFIG_HOME": str(folder)}
    ran = subprocess.run(
        ["git", *_WHO, *arguments],
        cwd=folder,
        env={**os.environ, **home},
        capture_output=True,
        check=True,
    )
    return os.fsdecode(ran.stdout)


def put(top: Path, paths: list[str], text: str = DATASETS) -> None:
    """Write files and add them, whatever is ignored."""
    for path in paths:
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_text(text)
    if paths:
        git(top, "add", "--force", *paths)


def listed(top: Path) -> set[str]:
    """What git has in its index."""
    return {*filter(None, git(top, "ls-files", "-z").split("\0"))}


def read(top: Path) -> set[str]:
    """What we find in the index of git."""
    return {*map(os.fsdecode, names_in(git_folder(str(top))))}


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """An empty repository."""
    (tmp_path / "top").mkdir()
    git(tmp_path / "top", "init", "-q")
    return tmp_path / "top"


@settings(max_examples=40, deadline=None)
@given(
    st.lists(_PATHS, unique=True, min_size=1, max_size=12),
    st.lists(_PATHS, unique=True, max_size=6),
    st.lists(_PATHS, unique=True, max_size=6),
    st.sampled_from(["2", "3", "4"]),
    st.sampled_from(["sha1", "sha256"]),
    st.booleans(),
    st.booleans(),
)
def test_what_git_lists_is_read(
    first: list[str],
    then: list[str],
    removed: list[str],
    version: str,
    digest: str,
    is_split: bool,
    is_worktree: bool,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder) / "top"
        top.mkdir()
        git(top, "init", "-q", f"--object-format={digest}")
        put(top, first)
        if is_worktree:
            git(top, "commit", "-q", "-m", "x")
            git(top, "worktree", "add", "-q", "../further")
            top = Path(folder) / "further"
        git(top, "update-index", "--index-version", version)
        if is_split:
            git(top, "update-index", "--split-index")
        put(top, then, "other")
        # What is only intended to be added makes an entry longer.
        (top / "intended").write_text("")
        git(top, "add", "--intent-to-add", "intended")
        for path in {*removed} & listed(top):
            git(top, "rm", "-q", "--force", "--cached", path)
        assert read(top) == listed(top)


def test_an_index_without_a_checksum_is_read(top: Path) -> None:
    put(top, ["a/registry.json", "x"])
    index = top / ".git" / "index"
    index.write_bytes(index.read_bytes()[:-20] + bytes(20))
    assert read(top) == listed(top) == {"a/registry.json", "x"}


def test_a_submodule_has_its_own_index(top: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "other")
    put(tmp_path / "other", ["a/registry.json"])
    git(tmp_path / "other", "commit", "-q", "-m", "x")
    add = ("submodule", "--quiet", "add", "../other", "sub")
    git(top, "-c", "protocol.file.allow=always", *add)
    assert read(top / "sub") == {"a/registry.json"}
    assert read(top) == listed(top) == {".gitmodules", "sub"}


def test_a_folder_of_a_sparse_index_stands_for_all_in_it(top: Path) -> None:
    put(top, ["a/x/registry.json", "b/y/registry.json"])
    git(top, "commit", "-q", "-m", "x")
    git(top, "sparse-checkout", "set", "--cone", "--sparse-index", "a")
    assert read(top) == {"a/x/registry.json", "b/"}
    (top / ".git" / "info" / "exclude").write_text("/b/\n")
    (top / "b" / "y").mkdir(parents=True)
    (top / "b" / "y" / "registry.json").write_text("[1]")
    found = [os.path.relpath(path, top) for path in search(str(top), [])]
    assert found == ["a/x/registry.json", "b/y/registry.json"]


@pytest.mark.parametrize("pattern", ["*", "/bad/", "registry.json", "/bad/*/registry.json"])
def test_what_git_tracks_is_looked_at_whatever_patterns_say(pattern: str, top: Path) -> None:
    (top / ".gitignore").write_text(f"{pattern}\n")
    put(top, ["good/registry.json"])
    put(top, ["bad/deep/registry.json"], "[1]")
    (top / "bad" / "dataset.toml").write_text("")
    for folder, n in ((top, 2), (top / "bad", 1), (top / "bad" / "deep", 1)):
        report = validate(folder, ignore={"manifest": ""})
        assert not report.ok
        assert report.n_files == n or pattern in ("registry.json", "/bad/*/registry.json")


def test_what_git_does_not_track_is_left_out_beside_what_it_does(top: Path) -> None:
    (top / ".gitignore").write_text("/out/\n")
    put(top, ["out/a/registry.json", "out/a/registries.json"])
    for path in ("out/dataset.toml", "out/b/registry.json", "out/a/registries2.json"):
        (top / path).parent.mkdir(exist_ok=True)
        (top / path).write_text("")
    found = [*search(str(top), [], besides := Besides())]
    assert found == [f"{top}/out/a/registry.json"]
    assert besides.others == [f"{top}/out/a/registries.json"]
    assert besides.ignored == [f"{top}/out/dataset.toml", f"{top}/out/b/registry.json"]


def test_what_is_tracked_in_a_folder_that_became_a_repository_is_looked_at(top: Path) -> None:
    put(top, ["sub/registry.json"])
    (top / "sub" / "dataset.toml").write_text("")
    git(top, "init", "-q", "sub")
    found = [*search(str(top), [], besides := Besides())]
    assert found == [f"{top}/sub/registry.json"]
    assert besides.in_repositories == [f"{top}/sub/dataset.toml"]


@pytest.mark.parametrize("way", ["cut", "changed", "empty", "pipe", "shared", "version", "kind"])
def test_where_the_index_is_damaged_everything_is_looked_at_and_that_is_said(
    way: str, top: Path
) -> None:
    put(top, ["good/registry.json"])
    (top / ".gitignore").write_text("/bad/\n")
    (top / "bad").mkdir()
    (top / "bad" / "registry.json").write_text("[1]")
    assert validate(top).ok
    index = top / ".git" / "index"
    data = index.read_bytes()
    if way == "shared":
        git(top, "update-index", "--split-index")
        for path in (top / ".git").glob("sharedindex.*"):
            path.unlink()
    elif way == "pipe":
        index.unlink()
        os.mkfifo(index)
    else:
        bad = {
            "cut": data[:-25] + bytes(20),
            "changed": data[:40] + b"x" + data[41:],
            "empty": b"",
            "version": data[:7] + b"\x09" + data[8:-20] + bytes(20),
            "kind": data[:-20] + b"what" + bytes(4) + bytes(20),
        }
        index.write_bytes(bad[way])
    report = validate(top)
    assert (report.ok, report.n_files) == (False, 2)
    (said,) = [d.message for d in report.found if d.rule == "unread-index"]
    assert "what git tracks is not known" in said
    assert f"{index}: " in said or way == "shared"
    (top / ".gitignore").unlink()
    assert "unread-index" not in {d.rule for d in validate(top).found}


@pytest.mark.parametrize("is_file", [False, True])
def test_a_repository_that_is_shut_leaves_nothing_out(is_file: bool, open_to_all: Path) -> None:
    Path("registry.json").write_text("[{}]")
    Path(".gitignore").write_text("registry.json\n")
    shut = Path(".git")
    if is_file:
        shut.write_text("gitdir: elsewhere\n")
    else:
        shut.mkdir()
    with pytest.raises(InputError):
        validate(str(open_to_all))
    validate("registry.json")
    shut.chmod(0)
    try:
        with as_somebody_else():
            report = validate(str(open_to_all))
    finally:
        shut.chmod(0o700)
    assert (report.ok, report.n_files) == (False, 1)
    assert any(".git: Permission denied" in d.message for d in report.found)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_bytes_of_an_index_end_in_a_traceback(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        git(top, "init", "-q")
        put(top, ["good/registry.json", "good/x"])
        if data.draw(st.booleans()):
            git(top, "update-index", "--split-index")
            put(top, ["y"])
        git(top, "update-index", "--index-version", data.draw(st.sampled_from(["2", "4"])))
        (top / ".gitignore").write_text("/good\n")
        index = bytearray((top / ".git" / "index").read_bytes()[:-20])
        # git makes an index of one size now, and of another one then.
        places, byte = st.integers(0, 9_999), st.integers(0, 255)
        for at, value in data.draw(st.lists(st.tuples(places, byte), max_size=4)):
            index[at % len(index)] = value
        del index[12 + data.draw(places) % (len(index) - 11) :]
        (top / ".git" / "index").write_bytes(index + bytes(20))
        (top / "registry.json").write_text(DATASETS)
        assert validate(top).n_files > 0


@pytest.mark.parametrize("bound", ["_LONGEST_NAME", "_MOST_OF_NAMES"])
def test_names_of_an_index_are_no_longer_than_paths_are(
    bound: str, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In version 4 each is written as what differs from the one before: 3.9 MB took 1.8 GB."""
    put(top, [f"{'a' * n}.json" for n in range(1, 20)])
    git(top, "update-index", "--index-version", "4")
    assert len(read(top)) == 19
    monkeypatch.setattr(tracked, bound, 20)
    with pytest.raises(tracked._DamagedError, match="longer names than any, or too many"):
        read(top)
