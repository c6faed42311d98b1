"""What a command printed: the document of `compute --format json`, or text for people."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
from conftest import Run

from harbor_metrics.documents import schemas

Done = subprocess.CompletedProcess[str]


def document(done: Done) -> dict[str, Any]:
    """The document, which is valid."""
    printed: dict[str, Any] = json.loads(done.stdout)
    jsonschema.Draft202012Validator(schemas.bundled("result")).validate(printed)
    return printed


def group(done: Done) -> dict[str, Any]:
    """The only group."""
    (only,) = json.loads(done.stdout)["groups"]
    return only


def is_text(printed: str, *, commands: bool = False) -> bool:
    """Whether neither a terminal nor a runner of CI finds a command in it.

    Commands to GitHub at the start of a line are ours where `commands` says so.
    """
    return all(
        line.replace("\t", " ").isprintable()
        and (commands or not line.lstrip().startswith("::"))
        and not re.search(r"##\w{0,20}\[", line)
        for line in printed.split("\n")
    )


def values(done: Done) -> list[dict[str, Any]]:
    """The values of every metric of every group."""
    return [metric["values"] for group in document(done)["groups"] for metric in group["metrics"]]


def computed(cli: Run, text: str, *asked: str, cwd: Path) -> dict[str, Any]:
    """What `compute` says of a file with this text, by the type of the metric."""
    options = [part for metric in asked for part in ("--metric", metric)]
    (cwd / "in.jsonl").write_text(text)
    done = cli("compute", "in.jsonl", "--format", "json", *options)
    assert done.returncode == 0, done.stderr
    return {metric["type"]: metric for metric in document(done)["groups"][0]["metrics"]}


def outcomes(done: Done) -> list[dict[str, Any]]:
    """The metrics of the first group."""
    metrics: list[dict[str, Any]] = json.loads(done.stdout)["groups"][0]["metrics"]
    return metrics
