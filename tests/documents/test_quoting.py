"""Of what lies where a link leads out, diagnostics say their rules alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harbor_metrics.documents.diagnostics import Diagnostic
from harbor_metrics.documents.quoting import without_quotes
from harbor_metrics.documents.wording import shown_path


def said(path: str | None, message: str = "hunter2") -> Diagnostic:
    return Diagnostic(rule="duplicate-key", message=message, path=path, notes=("hunter2",))


@pytest.mark.parametrize("name", ["job", "j\udcff\udcfeb"])
def test_the_rule_alone_is_said_of_what_was_named_by_a_link_and_of_what_is_below(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "private" / "trial").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    try:
        os.symlink("../private", name)
    except OSError:
        pytest.skip("names are UTF-8 here")
    below = shown_path(f"{name}/trial/result.json")
    found = without_quotes([said(below), said(shown_path(name)), said(below, "b")], [name])
    # Once for each rule: how often it speaks is told of nothing either.
    assert [each.rule for each in found] == ["duplicate-key"]
    assert "hunter2" not in str(found)
    # Of what was not named, too.
    os.symlink("../private", "registry.json")
    assert "hunter2" not in str(without_quotes([said("registry.json")], []))


def test_of_all_else_everything_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job").mkdir()
    (tmp_path / "near").symlink_to("job")
    every = [said(None), said("job"), said("near/x"), said("gone")]
    assert without_quotes(every, ["job", "near"]) == every
