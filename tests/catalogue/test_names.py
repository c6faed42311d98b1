"""A wrong name or kwarg is refused when it is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Run
from registries_by_hand import entry


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("meen", "did you mean `mean`"),
        ("inspect/acuracy", "did you mean `inspect/accuracy`"),
        (entry("ci", methd="t"), "takes no `methd`; did you mean `method`?"),
        (entry("ci", method="wald"), "`method` of `ci`"),
        (entry("pass-at-k"), "needs `k`"),
        (entry("mean", reducer="best"), "unknown reducer `best`"),
        (entry("mean-reward", reducer="max"), "takes no `reducer`"),
        (entry("uv-script", script_path="m.py", key="x"), "takes no `key`"),
        (entry("grouped", metric="uv-script", by="x"), "does not run scripts"),
        (entry("grouped", metric={"type": "mean", "kwarg": {}}, by="x"), "`metric`"),
    ],
)
def test_wrong_use_is_refused_when_it_is_read(cli: Run, job: Path, asked: str, words: str) -> None:
    done = cli("compute", job, "--metric", asked)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout == ""
