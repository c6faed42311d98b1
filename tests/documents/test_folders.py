"""Folders are gone through however deep they are nested."""

from __future__ import annotations

import glob
import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harbor_metrics.confinement.removal import remove
from harbor_metrics.documents.folders import check_hides_nothing, is_pattern, matching, walk
from harbor_metrics.engines.files import found
from harbor_metrics.engines.recognition import is_relation
from harbor_metrics.errors import InputError
from harbor_metrics.validation.validation import validate


@pytest.fixture
def nested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with more in one another than calls are possible."""
    with monkeypatch.context() as patch:
        patch.chdir(tmp_path)
        for _ in range(sys.getrecursionlimit() + 50):
            os.mkdir("a")
            os.chdir("a")
        Path("x.parquet").write_bytes(b"PAR1")
        Path("registry.json").write_text("[]")
    yield tmp_path
    remove(str(tmp_path / "a"))


def test_walk_is_that_of_the_system(tmp_path: Path) -> None:
    for path in ("a/b/c", "a/d", "e"):
        (tmp_path / path).mkdir(parents=True)
        (tmp_path / path / "x").write_text("")
    (tmp_path / "e" / "link").symlink_to(tmp_path / "a")
    assert list(walk(str(tmp_path))) == list(os.walk(tmp_path))
    refused: list[OSError] = []
    assert list(walk(str(tmp_path / "none"), refused.append)) == list(walk(str(tmp_path / "none")))
    assert [error.filename for error in refused] == [str(tmp_path / "none")]


def test_what_is_deep_is_found_or_said(nested: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(nested)
    assert sum(len(names) for _, _, names in walk(".")) == 2
    assert len(found(["."]).files) == 1
    assert validate(".").n_files == 1
    assert is_pattern("**/x.parquet")
    for ask in (matching, is_relation, validate):
        with pytest.raises(InputError, match="nested too deep for a pattern"):
            ask("**/registry.json")
    report = validate("**/registry.json", ".")
    assert (report.n_files, len(report.unread)) == (1, 1)


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
    once = len(matching("**/registry.json"))
    assert once == len(glob.glob("**/registry.json", recursive=True)) > 1
    monkeypatch.setattr("harbor_metrics.documents.folders._MOST_REPEATED", 1_000)
    (tmp_path / "c").mkdir()
    for name in "yz":
        (tmp_path / "c" / name).symlink_to(".")
    for pattern in ("**/registry.json", "c/**", f"{tmp_path}/**", "?/**/*.json"):
        with pytest.raises(InputError, match="through links into the same folders more than"):
            matching(pattern)
    assert len(matching("a/**/registry.json")) == once


def test_a_pattern_that_links_double_at_each_level_is_refused(tmp_path: Path) -> None:
    for level in range(30):
        (tmp_path / str(level)).mkdir()
        for name in "xy":
            (tmp_path / str(level) / name).symlink_to(f"../{level + 1}")
    with pytest.raises(InputError, match="through links into the same folders more than"):
        matching(f"{tmp_path}/0/**/registry.json")
