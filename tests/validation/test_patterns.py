"""Patterns of a .gitignore fit what git says that they fit."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harbor_metrics.validation.patterns import Patterns, patterns_in

# Of the system or of other programs: it is the same on every Python.
pytestmark = pytest.mark.one_python

_SIGNS = ["a", "b", "A", "*", "**", "?", "[", "]", "!", "^", "-", "\\", "/", "/", "#", " ", "\t"]
_SIGNS += ["é", "\r", "[a-b]", "[!a]", "[[:alpha:]]", "[[:x:]]", "[:", ":]", "**/", "/**", "***"]
# Pieces of which many patterns fit many paths.
_PIECES = ["a", "b", "ab", "*", "**", "***", "/", "**/", "/**", "[a]", "\\a"]
_NEAR = st.lists(st.sampled_from(["a", "b", "ab", "aab"]), min_size=1, max_size=3).map("/".join)
_NAMES = st.text("abAé*[]!\\- #^\t", min_size=1, max_size=4)
_PATHS = st.lists(_NAMES, min_size=1, max_size=4).map("/".join)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", top], check=True)
    return top


def fitting_by_git(top: Path, line: bytes, path: str, *, is_folder: bool) -> bool:
    """Whether git finds that the line is about the path itself."""
    (top / ".gitignore").write_bytes(line)
    place = top / path
    (place if is_folder else place.parent).mkdir(parents=True, exist_ok=True)
    if not is_folder:
        place.touch()
    ran = subprocess.run(
        ["git", "check-ignore", "--no-index", "-v", "-n", "-z", "--stdin"],
        cwd=top,
        input=os.fsencode(path),
        capture_output=True,
        env={
            **os.environ,
            "HOME": str(top),
            "XDG_CONFIG_HOME": str(top),
        },
    )
    shutil.rmtree(top / path.partition("/")[0]) if is_folder or "/" in path else place.unlink()
    assert ran.returncode in (0, 1), ran.stderr
    return ran.stdout.split(b"\0")[0] != b""


def fitting_by_us(line: bytes, path: str, *, is_folder: bool) -> bool:
    """The same, where a folder above that is left out has the last word."""
    names = os.fsencode(path).split(b"/")
    return any(
        pattern.fits(names[: n + 1], is_folder=is_folder or n + 1 < len(names))
        for pattern in patterns_in(line)
        for n in range(len(names))
        if pattern.leaves_out or n + 1 == len(names)
    )


@settings(max_examples=300)
@given(
    st.lists(st.sampled_from(_SIGNS), min_size=1, max_size=7).map("".join), _PATHS, st.booleans()
)
@example("**", "a", False)
@example("a/**", "a", True)
@example("/**/b", "b", False)
@example("a/**/**/b", "a/b", False)
@example("a\\ ", "a ", False)
@example("[a/b]", "a", False)
@example("[]-a]", "]", False)
@example("[a-]", "-", False)
@example("[!\\]]", "a", False)
@example("é?", "éb", False)
def test_a_line_fits_what_git_says(repository: Path, line: str, path: str, is_folder: bool) -> None:
    agree(repository, line, path, is_folder)


@settings(max_examples=300)
@given(
    st.lists(st.sampled_from(_PIECES), min_size=1, max_size=6).map("".join), _NEAR, st.booleans()
)
@example("a**/**", "a", False)
@example("a**/b", "ab", False)
@example("a/b**/b", "a/bb", True)
def test_a_line_of_stars_fits_what_git_says(
    repository: Path, line: str, path: str, is_folder: bool
) -> None:
    agree(repository, line, path, is_folder)


_LINES = ["a", "b/", "/a", "a/b", "!a", "!b/", "!/a/b", "ab/", "*", "!*b", "**/a", "!a/*", "a*/"]


@given(st.lists(st.sampled_from(_LINES), max_size=8), _NEAR, st.booleans())
def test_patterns_together_say_what_the_last_one_says_that_fits(
    lines: list[str], path: str, is_folder: bool
) -> None:
    patterns = patterns_in("\n".join(lines).encode())
    names = path.encode().split(b"/")
    fitting = [p.leaves_out for p in patterns if p.fits(names, is_folder=is_folder)]
    said = Patterns(patterns).leave_out(names, is_folder=is_folder)
    assert said == (fitting[-1] if fitting else None)


def test_patterns_without_signs_are_looked_up_and_not_tried() -> None:
    """Each was tried at each name: a pull request held CI for minutes."""
    lines = [
        f"{before}name{i}{end}"
        for i in range(50)
        for before in ("", "/", "!a/")
        for end in ("", "/")
    ]
    assert not Patterns(patterns_in("\n".join(lines).encode())).others


def agree(repository: Path, line: str, path: str, is_folder: bool) -> None:
    data = os.fsencode(line)
    ours = fitting_by_us(data, path, is_folder=is_folder)
    assert ours == fitting_by_git(repository, data, path, is_folder=is_folder)


@pytest.mark.parametrize(
    ("line", "path"),
    [
        (b"*a" * 100 + b"b", b"a" * 250),
        (b"*?" * 100 + b"b", b"a" * 250),
        (b"x/" + b"*[ab]" * 60 + b"/c", b"x/" + b"a" * 250 + b"/d"),
        (b"**/a/" * 200 + b"b", b"a/" * 2000 + b"c"),
        (b"**/*a*/" * 100 + b"b", b"aa/" * 1000 + b"c"),
        (b"*" * 10_000 + b"b", b"a" * 250),
    ],
    ids=range(6),
)
def test_no_line_takes_long(line: bytes, path: bytes) -> None:
    (pattern,) = patterns_in(line)
    # Taken one by one, the ways to fit are more than anybody can wait for.
    assert not pattern.fits(path.split(b"/"), is_folder=False)


@pytest.mark.parametrize("sign", ["[!a]", "[a-c]", "?", "[[:alpha:]]"])
def test_a_name_with_more_signs_than_any_has_is_none(sign: str) -> None:
    """An expression for 5,000 brackets took 16 s to make."""
    (whole,), (longer,) = (patterns_in((sign * n).encode()) for n in (255, 256))
    assert whole.fits([b"b" * 255], is_folder=False)
    assert not longer.fits([b"b" * 256], is_folder=False)
    assert patterns_in((sign * 256 + "/x").encode())[0].steps[1] == b"x"


def test_sets_are_written_as_ranges() -> None:
    (pattern,) = patterns_in(b"[!a]*[!\\]-]")
    (step,) = pattern.steps
    assert isinstance(step, re.Pattern)
    assert len(step.pattern) < 80
    for byte in range(1, 256):
        name = bytes([98, byte])
        assert pattern.fits([name], is_folder=False) == (byte not in b"]-")
        assert pattern.fits([name[::-1]], is_folder=False) == (byte not in b"a")
