"""What a script leaves is ended, and what it forges is not believed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from metric_scripts import BLOCK, HEAD, linux, metric


@linux
@pytest.mark.usefixtures("own_caches")
def test_nothing_is_left_after_a_kill_at_any_moment(tmp_path: Path) -> None:
    """Killed at any moment: no script goes on, no temporary folder stays, the old result stands."""
    (tmp_path / "temporary").mkdir()
    text = "if os.fork() == 0:\n    os.setsid(); time.sleep(600)\ntime.sleep(0.2); answer(n=1)"
    (tmp_path / "m.py").write_text(HEAD + text)
    (tmp_path / "r.jsonl").write_text('{"reward": 1}\n')
    command = [sys.executable, "-m", "harbor_metrics", "compute", "r.jsonl", "-o", "out.json"]
    command += [part for _ in range(3) for part in ("--metric", metric("m.py"))]
    env = {**os.environ, "TMPDIR": str(tmp_path / "temporary")}
    rng = random.Random(5)
    for _ in range(6):
        (tmp_path / "out.json").write_text("old")
        run = subprocess.Popen(
            command, cwd=tmp_path, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(rng.uniform(0.1, 0.5))
        run.send_signal(signal.SIGKILL)
        run.wait()
        until = time.monotonic() + 5
        while _left(tmp_path) and time.monotonic() < until:
            time.sleep(0.01)
        assert _left(tmp_path) == []
        text = (tmp_path / "out.json").read_text()
        assert text == "old" or json.loads(text)["groups"]


def _left(folder: Path) -> list[str]:
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    return [li for li in listed.splitlines() if str(folder / "m.py") in li] + os.listdir(
        folder / "temporary"
    )


IGNORING = """
import signal, sys, threading
from harbor_metrics.confinement.workplace import Workplace
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
if sys.argv[1] == "threads":
    threading.Thread(target=threading.Event().wait, daemon=True).start()
with Workplace() as place:
    done = place.run([sys.executable, "-c", "print(1)"], env={}, cwd="/", timeout=30)
    print(done.code, done.stdout, done.lost)
"""


@linux
@pytest.mark.parametrize("threads", ["threads", "none"])
def test_program_ends_as_it_does_where_the_ends_of_children_are_ignored(threads: str) -> None:
    """By who started us, as some servers do; the supervisor is a copy of us, or a new Python."""
    done = subprocess.run(
        [sys.executable, "-c", IGNORING, threads], capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("0 b'1\\n' False\n", "")


@linux
def test_forged_report_of_layers_is_not_believed(outcomes: Any) -> None:
    forger = f"""{BLOCK}{HEAD}
answer(x=1)
import glob
for parent in (os.getppid(),):
    for path in glob.glob(f"/proc/{{parent}}/fd/*"):
        try:
            if "pipe" in os.readlink(path):
                with open(path, "w") as pipe:
                    pipe.write("layer landlock\\nlayer namespaces\\n")
        except OSError:
            pass
"""
    (one,), _ = outcomes(forger, arguments=("--sandbox", "off"))
    assert "landlock" not in json.dumps(one)


@linux
def test_program_that_kills_its_supervisor_is_ended(outcomes: Any) -> None:
    text = f"""{BLOCK}{HEAD}
def parent_of(pid):
    with open(f"/proc/{{pid}}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[1])
supervisor = parent_of(os.getppid())
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve("/bin/sleep", ["sleep", "77.731"], {{}})
    os._exit(0)
time.sleep(0.2)
os.kill(supervisor, 9)
time.sleep(5)
"""
    (one,), _ = outcomes(text, arguments=("--sandbox", "off"))
    assert one["status"] == "failed"
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(path.read_bytes())
        except OSError:
            continue
    assert not [line for line in lines if b"77.731" in line]
