"""The parts of metric scripts and of registries that name them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

HEAD = """\
import argparse, json, os, sys, time
p = argparse.ArgumentParser()
p.add_argument("-i"); p.add_argument("-o")
a = p.parse_args()
def answer(**values): open(a.o, "w").write(json.dumps(values))
"""
BLOCK = "# /// script\n# dependencies = []\n# ///\n"
linux = pytest.mark.skipif(sys.platform != "linux", reason="what confines scripts is Linux's")


# Answers with the number of lines.
COUNT = """\
import argparse, json
p = argparse.ArgumentParser(); p.add_argument("-i"); p.add_argument("-o"); a = p.parse_args()
n = len(open(a.i).readlines())
open(a.o, "w").write(json.dumps({"n": n}))
"""


def metric(path: str, **more: Any) -> str:
    return json.dumps({"type": "uv-script", "kwargs": {"script_path": path, **more}})


def registry_of(folder: Path, *metrics: dict[str, Any]) -> Path:
    dataset = {"name": "d", "version": "1", "description": "", "tasks": [], "metrics": metrics}
    path = folder / "registry.json"
    path.write_text(json.dumps([dataset], indent=2))
    return path
