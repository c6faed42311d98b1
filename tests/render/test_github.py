"""Annotations of a workflow."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import Run
from validation.validated import FOLDERS, report_of

from harbor_metrics.render.github import PER_STEP, github

COMMAND = re.compile(r"::(error|warning|notice) (.*?)::(.*)")


def decoded(text: str) -> str:
    for code, char in (("%0A", "\n"), ("%0D", "\r"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, char)
    return text


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f.name)
def test_every_annotation_reads_back(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = report_of(folder, monkeypatch)
    lines = [COMMAND.fullmatch(line) for line in github(report.found).splitlines()]
    read = []
    for match in lines:
        assert match
        properties = dict(pair.split("=", 1) for pair in match[2].split(","))
        severity = {"notice": "note"}.get(match[1], match[1])
        rule = decoded(properties["title"])[len("harbor-metrics (") : -1]
        message = decoded(match[3]).split("\n")[0]
        read.append((severity, rule, int(properties["line"]), properties.get("col"), message))
    wanted = [
        (
            str(d.severity),
            d.rule,
            d.span.line,
            str(d.span.column) if d.span.line == d.span.end_line else None,
            d.message + (f" (in {d.subject})" if d.subject else ""),
        )
        for d in report.found
    ]
    shown = [(a, b, c, d, m.encode("unicode_escape")) for a, b, c, d, m in read]
    assert sorted(s[:4] for s in shown) == sorted(w[:4] for w in wanted)
    assert {m for *_, m in read} == {m for *_, m in wanted}


def test_annotations_are_escaped_limited_and_worst_first(cli: Run, tmp_path: Path) -> None:
    bad = [
        {"name": f"a__{i}, b:%\n", "version": "1", "description": "", "tasks": []}
        for i in range(14)
    ]
    (tmp_path / "registry.json").write_text(json.dumps([*bad, {"name": 1}]))
    done = cli("validate", "registry.json", "--format", "github")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("::error ")
    assert sum(line.startswith("::warning ") for line in lines) == PER_STEP
    assert re.fullmatch(r"\d+ more: GitHub shows 10 of a kind; the log has all", lines[-1])
    assert "error[" in done.stderr
    assert done.returncode == 1
