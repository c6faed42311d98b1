"""Every ratio in one table, written to docs/performance.md: `uv run python benchmarks/run.py`.

It calls the other scripts of this folder one after another, so nothing else should run meanwhile.
`--harbor`, `--inspect` are Pythons that have these peers, `--check-jsonschema` is its program,
`--wheel` a wheel of this package; what is not given is not measured, and the page says so. Names
of scripts measure these alone and leave the other rows of the page as they are.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import harbor_metrics

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "performance.md"
# The scripts, and what each is called with: words in braces are options of this one.
SCRIPTS = {
    "start": [""],
    "compute": ["{harbor}", ""],
    "validate": ["{check_jsonschema}", ""],
    "readers": ["{inspect}", ""],
    "catalogue": [""],
    "report": [""],
    "compare": ["speed"],
    "counts": [""],
    "engines": [""],
    "scripts": [""],
    "inside_harbor": ["{wheel}"],
}
_NUMBER = r"[\d.,]+"
# What, ours, the other, the ratio, what was promised of it.
_RATIO = re.compile(
    rf"^(?P<what>.+?) {{1,}}(?P<ours>{_NUMBER}) (?P<unit>ms|s|MB)"
    rf"(?: +(?:against +)?(?P<other>{_NUMBER}) (?:ms|s|MB))? +(?P<ratio>(?:1/)?{_NUMBER}x) *"
    r"(?P<target>.*)$"
)
_AMOUNT = re.compile(rf"^(?P<what>.+?) {{2,}}(?P<ours>{_NUMBER}) (?P<unit>MB|kB) *(?P<target>.*)$")
_BOUND = re.compile(rf"^(?P<what>.+?) {{2,}}(?P<value>{_NUMBER}) +(?P<target>at most +{_NUMBER})")
_ROW = re.compile(r"^\| `(?P<script>\w+)` \|.*$", re.MULTILINE)


class Row(NamedTuple):
    """One line that a script printed."""

    script: str
    what: str
    ours: str
    other: str
    ratio: str
    target: str

    def as_markdown(self) -> str:
        cells = (f"`{self.script}`", *self[1:])
        return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def rows_of(script: str, printed: str) -> list[Row]:
    """The ratios and amounts among the lines that a script printed."""
    rows = []
    for line in printed.splitlines():
        if found := _RATIO.match(line):
            other = f"{found['other']} {found['unit']}" if found["other"] else ""
            ours = f"{found['ours']} {found['unit']}"
            cells = (found["what"].strip(), ours, other, found["ratio"], found["target"].strip())
            rows.append(Row(script, *cells))
        elif found := _AMOUNT.match(line):
            ours = f"{found['ours']} {found['unit']}"
            rows.append(Row(script, found["what"].strip(), ours, "", "", found["target"].strip()))
        elif found := _BOUND.match(line):
            target = " ".join(found["target"].split())
            rows.append(Row(script, found["what"], "", "", found["value"], target))
    return rows


def measured(script: str, options: dict[str, str | None]) -> list[Row] | None:
    """What a script measures with the peers that there are; None where it needs one."""
    for arguments in SCRIPTS[script]:
        needed = re.findall(r"\{(\w+)\}", arguments)
        if all(options[name] for name in needed):
            given = [part.format(**options) for part in arguments.split()]
            command = [sys.executable, str(HERE / f"{script}.py"), *given]
            print(" ".join(command), flush=True)
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            print(done.stdout, done.stderr, flush=True)
            return rows_of(script, done.stdout)
    return None


def machine() -> str:
    """The processor, the system and the versions, in a sentence each."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        found = re.search(r"model name\s*: (.*)", cpuinfo.read_text())
        model = found[1] if found else model
    names = ("click", "msgspec", "jsonschema-rs")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    load = os.getloadavg()[0]
    return (
        f"{os.cpu_count()} cores of {model}, {platform.system()} {platform.release()}, load "
        f"{load:.1f} at the start; Python {platform.python_version()}, harbor-metrics "
        f"{harbor_metrics.__version__}, {versions}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scripts", nargs="*", metavar="SCRIPT", help=", ".join(SCRIPTS))
    for name in ("harbor", "inspect", "check-jsonschema", "wheel"):
        parser.add_argument(f"--{name}")
    options = vars(parser.parse_args())
    chosen = options.pop("scripts") or list(SCRIPTS)
    if unknown := set(chosen) - SCRIPTS.keys():
        raise SystemExit(
            f"there is no {', '.join(sorted(unknown))}; there are {', '.join(SCRIPTS)}"
        )
    about = machine()
    subprocess.run(
        [sys.executable, "-m", "compileall", "-q", str(Path(harbor_metrics.__file__).parent)],
        check=False,
    )
    page = PAGE.read_text(encoding="utf-8")
    kept: dict[str, list[str]] = {}
    for row in _ROW.finditer(page):
        kept.setdefault(row["script"], []).append(row[0])
    missing = []
    for script in chosen:
        rows = measured(script, options)
        if rows is None:
            missing.append(script)
        else:
            kept[script] = [row.as_markdown() for row in rows]
    table = "\n".join(row for script in SCRIPTS for row in kept.get(script, ()))
    text = f"{about}\n\n| script | what | here | the other | ratio | promised |\n"
    text += f"| :--- | :--- | ---: | ---: | ---: | :--- |\n{table}\n"
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        text += f"\nNot measured, for the program to compare with was not given: {names}.\n"
    part = re.compile(r"(<!-- measured -->\n).*?(<!-- end -->)", re.DOTALL)
    PAGE.write_text(part.sub(lambda _: f"<!-- measured -->\n\n{text}\n<!-- end -->", page))
    print(json.dumps({script: len(rows) for script, rows in kept.items()}))


if __name__ == "__main__":
    main()
