"""Diffs are those of `difflib`, and apply."""

from __future__ import annotations

import difflib
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor_metrics.registries import unified as module
from harbor_metrics.registries.unified import unified

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "@@ -1 +1\n", "\n"]), max_size=30)


@settings(max_examples=200)
@given(LINES, LINES, LINES, LINES, st.sampled_from([0, 100]))
def test_diff_is_that_of_difflib_and_of_larger_texts_it_applies(
    first: list[str], removed: list[str], added: list[str], last: list[str], around: int
) -> None:
    before, after = [*first, *removed, *last], [*first, *added, *last]
    theirs = "".join(difflib.unified_diff(before, after, "a/x", "b/x"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "_LOOKED_AT", around)
        mine = unified(before, after, "a/x", "b/x")
        patched.setattr(module, "_MOST_COMPARED", 0)
        assert applied(before, unified(before, after, "a/x", "b/x")) == after
    assert applied(before, mine) == after
    assert mine == theirs or not around


def applied(before: list[str], diff: str) -> list[str]:
    """The lines that a diff makes of those before; each of its own lines fits where it says."""
    after: list[str] = []
    at = 0
    for line in diff.splitlines(keepends=True)[2:]:
        if line.startswith("@@ "):
            start = int(line.split()[1].lstrip("-").partition(",")[0])
            length = line.split()[1].partition(",")[2]
            start = start if length == "0" else start - 1
            after += before[at:start]
            at = start
        elif line[0] == "+":
            after.append(line[1:])
        else:
            assert before[at] == line[1:]
            at += 1
            if line[0] == " ":
                after.append(line[1:])
    return after + before[at:]


@pytest.mark.parametrize("most", [0, 1_000])
def test_diff_applies_with_patch(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_COMPARED", most)
    before = [f"{i}\n" for i in range(50)]
    after = [*before[:20], "new\n", *before[20:30], *before[31:]]
    (tmp_path / "x").write_text("".join(before))
    diff = unified(before, after, "a/x", "b/x")
    assert diff.count("@@ ") == (2 if most else 1)
    git = ["git", "apply", "-p1", "-"]
    subprocess.run(git, cwd=tmp_path, input=diff, text=True, check=True)
    assert (tmp_path / "x").read_text() == "".join(after)


def test_of_many_lines_none_is_compared_but_at_both_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """340 KB of short lines took 15 s, and twice as many a minute."""
    sizes: list[int] = []

    def count(before: list[str], after: list[str], *more: object, n: int) -> list[str]:
        sizes.append(len(before) + len(after))
        return []

    monkeypatch.setattr(module, "unified_diff", count)
    lines = ["1,\n", "2,\n"] * 5_000
    unified(lines, [*lines[:7_000], "new\n", *lines[7_000:]], "a/x", "b/x")
    assert sizes == [401]
    whole = unified(lines, ["new\n", *lines, "new\n"], "a/x", "b/x")
    assert whole.count("\n") == 3 + 2 * len(lines) + 2
    assert len(sizes) == 1
