"""The parts of metric scripts and of registries that name them."""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Mapping
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


def wheel_with_a_start_file(
    folder: Path,
    code: str,
    *,
    wants: str = "",
    body: str = "",
    more: Mapping[str, str] | None = None,
) -> None:
    """A package whose .pth runs code whenever an interpreter of its environment starts.

    `wants` are further lines of its METADATA, `body` is what one imports; `more` are other files.
    """
    files = {
        "eager.pth": f"import sys; exec({code!r})\n",
        "eager.py": body,
        "eager-1.dist-info/METADATA": f"Metadata-Version: 2.1\nName: eager\nVersion: 1\n{wants}",
        "eager-1.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        **(more or {}),
    }
    record = "".join(f"{name},,\n" for name in [*files, "eager-1.dist-info/RECORD"])
    with zipfile.ZipFile(folder / "eager-1-py3-none-any.whl", "w") as archive:
        for name, text in [*files.items(), ("eager-1.dist-info/RECORD", record)]:
            archive.writestr(name, text)
