"""A pattern means what it means to Python's `glob`, and nothing is left out without a word."""

from __future__ import annotations

import glob
import os
import re
import shlex
from pathlib import Path

import pytest
from conftest import as_somebody_else
from hypothesis import given
from hypothesis import strategies as st

from harbor_metrics.documents.patterns import check_hides_nothing, matching
from harbor_metrics.errors import InputError

NAMES = ("a", "ab", ".h", "[a]", "r.json")
PARTS = (*NAMES, "*", "?", "**", "[ab]*", ".*", "[!a]*", "[[]a]", "*.json", ".", "..")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders, files, and links to each and to nothing."""
    # As deep as a pattern leads up: above lie folders of other tests, with links that lead round.
    top = tmp_path_factory.mktemp("tree") / "w/x/y/z"
    for path in ("a/a/ab", "a/.h", "ab/[a]/a", ".h/a", "[a]"):
        (top / path).mkdir(parents=True)
    for path in ("a/r.json", "a/a/ab/r.json", "ab/[a]/r.json", ".h/r.json", "r.json", "a/a/.h"):
        (top / path).write_text("")
    for path, to in {"ab/ab": "../a", "[a]/r.json": "none", "[a]/[a]": "../r.json"}.items():
        (top / path).symlink_to(to)
    return top


@given(st.lists(st.sampled_from(PARTS), min_size=1, max_size=4), st.booleans(), st.booleans())
def test_a_pattern_matches_what_glob_finds(
    tree: Path, parts: list[str], in_full: bool, of_folders: bool
) -> None:
    pattern = "/".join([*([f"{tree}/a"] if in_full else []), *parts, *([""] * of_folders)])
    here = os.getcwd()
    os.chdir(tree / "a")
    try:
        # Python 3.11 gives `x/` for `x/**` also where no `x` is.
        found = {*filter(os.path.lexists, glob.glob(pattern, recursive=True))}
        # And for `**/**` a folder twice.
        twice = {path for path in found if path[-1:] == "/" and path[:-1] in found}
        assert matching(pattern) == sorted(found - twice)
    finally:
        os.chdir(here)


@pytest.mark.parametrize(
    "pattern", ["*/r.json", "**/r.json", "*/*", "b*/r.json", "b/r*", "b/c/*", "**/", "a/*/r.json"]
)
def test_a_pattern_that_leads_into_what_is_shut_is_refused(
    pattern: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b/c"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "r.json").write_text("[]")
    (tmp_path / "a" / "link").symlink_to("../b/c")
    monkeypatch.chdir(tmp_path)
    matching(pattern)
    Path("b").chmod(0)
    try:
        with as_somebody_else(), pytest.raises(InputError, match="says: Permission denied"):
            matching(pattern)
    finally:
        Path("b").chmod(0o700)


@pytest.mark.parametrize("name", ["r[1].json", "[a]/r.json", "r?.json", "**/r.json", "r*.json"])
def test_a_name_that_others_fit_is_refused_unless_they_are_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_text("name")
    # Alone it stays a name, as a shell and pre-commit hand it over.
    check_hides_nothing(name, [name])
    other = name.replace("[a]", "a").replace("[1]", "1").replace("**", "b").replace("r*", "rx")
    other = other.replace("?", "x")
    Path(other).parent.mkdir(exist_ok=True)
    Path(other).write_text("other")
    check_hides_nothing(name, [name, f"./{other}"])
    check_hides_nothing(other, [])
    with pytest.raises(InputError, match="neither is taken for what is meant") as refusal:
        check_hides_nothing(name, [name])
    # It says how to write either.
    of_name, of_pattern = re.fullmatch(
        r"write (\S+) for what is called so, (\S+) for the pattern", refusal.value.help
    ).groups()  # type: ignore[union-attr]
    of_name, of_pattern = shlex.split(f"{of_name} {of_pattern}")
    assert [Path(path).read_text() for path in matching(of_name)] == ["name"]
    assert other in matching(of_pattern)
    for path in (of_name, of_pattern):
        assert not os.path.lexists(path)


def test_a_name_with_several_signs_for_any_folders_is_not_searched_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    deep = Path(*["**"] * 20)
    deep.mkdir(parents=True)
    (deep / "r.json").write_text("")
    with pytest.raises(InputError, match="several"):
        check_hides_nothing(str(deep / "r.json"), [])


def test_a_pattern_that_links_lead_round_and_round_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "registry.json").write_text("[]")
    (tmp_path / "a" / "x").symlink_to(".")
    # A kernel that starts a path anew, for something was mounted meanwhile, counts its links twice:
    # how many of the 41 paths of up to 40 links lead anywhere is another number at times.
    ways = {f"a/{'x/' * links}b/registry.json" for links in range(41)}
    found = matching("**/registry.json")
    assert ways >= {*found, *glob.glob("**/registry.json", recursive=True)}
    assert len(found) > 1
    monkeypatch.setattr("harbor_metrics.documents.patterns._MOST_REPEATED", 1_000)
    (tmp_path / "c").mkdir()
    for name in "yz":
        (tmp_path / "c" / name).symlink_to(".")
    for pattern in ("**/registry.json", "c/**", f"{tmp_path}/**", "?/**/*.json"):
        with pytest.raises(InputError, match="through links into the same folders more than"):
            matching(pattern)
    assert ways >= {*matching("a/**/registry.json")}


def test_a_pattern_that_links_double_at_each_level_is_refused(tmp_path: Path) -> None:
    for level in range(30):
        (tmp_path / str(level)).mkdir()
        for name in "xy":
            (tmp_path / str(level) / name).symlink_to(f"../{level + 1}")
    with pytest.raises(InputError, match="through links into the same folders more than"):
        matching(f"{tmp_path}/0/**/registry.json")
