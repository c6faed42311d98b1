"""The recorded commands, how one is run, and recording some of them anew.

`python tests/recorded/record.py NAME...` runs the named cases of cases.json and replaces what is
recorded of them. Nothing else writes there.
"""

from __future__ import annotations

import gc
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

HERE = Path(__file__).parent
TESTS = HERE.parent
EXPECTED = HERE / "expected"
# In a case's folder: what the command wrote to its streams, and a folder of the files it wrote.
STDOUT, STDERR, WRITTEN = "stdout.txt", "stderr.txt", "written"


@dataclass(frozen=True)
class Case:
    """A command: `inputs` are the files and folders that it finds, place -> path in tests/."""

    name: str
    args: list[str]
    exit: int
    inputs: dict[str, str] = field(default_factory=dict)
    stdin: str | None = None


@dataclass(frozen=True)
class Outcome:
    """What a command did, byte for byte; `files` are those that it wrote or changed."""

    exit: int
    stdout: bytes
    stderr: bytes
    files: dict[str, bytes]


CASES = [Case(**case) for case in json.loads((HERE / "cases.json").read_text(encoding="utf-8"))]
# The arguments and what is on standard input -> exit code and the two streams.
Program = Callable[[list[str], bytes], tuple[int, bytes, bytes]]


def run(case: Case, folder: Path, program: Program) -> Outcome:
    """Run the case in an empty folder, where all paths are relative."""
    for place, path in case.inputs.items():
        source, target = TESTS / path, folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copyfile(source, target)
    before = _files(folder)
    stdin = b"" if case.stdin is None else (TESTS / case.stdin).read_bytes()
    back = os.getcwd()
    os.chdir(folder)
    try:
        code, stdout, stderr = program(case.args, stdin)
    finally:
        os.chdir(back)
    after = _files(folder)
    assert before.keys() <= after.keys(), f"removed: {sorted(before.keys() - after.keys())}"
    written = {place: data for place, data in after.items() if before.get(place) != data}
    return Outcome(code, stdout, stderr, written)


def in_this_process(args: list[str], stdin: bytes) -> tuple[int, bytes, bytes]:
    """Call `main` as `python -m harbor_metrics` does, without the time that it takes to start."""
    from harbor_metrics.__main__ import main
    from harbor_metrics.output import writer

    out, err = io.BytesIO(), io.BytesIO()
    streams = {
        "stdin": io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"),
        "stdout": io.TextIOWrapper(out, encoding="utf-8", write_through=True),
        "stderr": io.TextIOWrapper(err, encoding="utf-8", write_through=True),
    }
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        with (
            mock.patch.multiple(sys, argv=["harbor-metrics", *args], **streams),
            # `main` ends its process at once; here it only has to say so.
            mock.patch.object(os, "_exit", sys.exit),
            mock.patch.object(writer, "write", lambda at, data: {1: out, 2: err}[at].write(data)),
        ):
            try:
                main()
                code = 0
            except SystemExit as end:
                code = int(end.code or 0)
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
    finally:
        gc.enable()
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return code, out.getvalue(), err.getvalue()


def in_a_process_of_its_own(args: list[str], stdin: bytes) -> tuple[int, bytes, bytes]:
    """Run it as a user does."""
    command = [sys.executable, "-m", "harbor_metrics", *args]
    done = subprocess.run(command, input=stdin, capture_output=True, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


def recorded(case: Case) -> Outcome:
    """What is recorded of a case; a stream without a file is empty."""
    folder = EXPECTED / case.name

    def stream(name: str) -> bytes:
        return (folder / name).read_bytes() if (folder / name).exists() else b""

    return Outcome(case.exit, stream(STDOUT), stream(STDERR), _files(folder / WRITTEN))


def documents() -> list[Path]:
    """The result documents among what is recorded."""
    found = (path for path in EXPECTED.rglob("*.json") if path.parent.name == WRITTEN)
    return sorted(path for path in found if b'\n  "groups": ' in path.read_bytes())


def _files(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def _record(case: Case) -> None:
    with tempfile.TemporaryDirectory() as folder:
        outcome = run(case, Path(folder), in_a_process_of_its_own)
        said = [outcome.stdout, outcome.stderr, *outcome.files.values()]
        for place in (os.path.realpath(folder), str(TESTS.parent), str(Path.home())):
            if any(place.encode() in data for data in said):
                raise SystemExit(f"{case.name}: it holds {place}, a place of this machine")
    if outcome.exit != case.exit:
        raise SystemExit(f"{case.name}: exit code {outcome.exit}, and cases.json says {case.exit}")
    target = EXPECTED / case.name
    if target.exists():
        shutil.rmtree(target)
    files = {STDOUT: outcome.stdout, STDERR: outcome.stderr}
    files = {name: data for name, data in files.items() if data}
    files |= {f"{WRITTEN}/{place}": data for place, data in outcome.files.items()}
    for place, data in files.items():
        path = target / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _main(names: list[str]) -> None:
    by_name = {case.name: case for case in CASES}
    unknown = [name for name in names if name not in by_name]
    if unknown or not names:
        said = f"there is no case {', '.join(unknown)}" if unknown else "name the cases to record"
        raise SystemExit(f"{said}; cases.json has: {' '.join(by_name)}")
    for name in names:
        _record(by_name[name])
        sys.stdout.write(f"recorded {name}\n")


if __name__ == "__main__":
    _main(sys.argv[1:])
