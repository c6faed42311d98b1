"""What every command does: streams, signals, `--version`, odd arguments."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from conftest import Run
from metric_scripts import metric as script

import harbor_metrics


def test_closed_pipe_is_quiet(job: Path) -> None:
    command = f"'{sys.executable}' -m harbor_metrics compute '{job}' --format json | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_signal_ends_the_script_too(name: str, tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text("import time, os\nprint(os.getpid())\ntime.sleep(60)\n")
    (tmp_path / "r.jsonl").write_text('{"reward": 1}\n')
    metric = json.dumps({"type": "uv-script", "kwargs": {"script_path": "s.py"}})
    command = [sys.executable, "-m", "harbor_metrics", "compute", "r.jsonl", "--metric", metric]
    run = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # What a shell starts in the background ignores Ctrl-C, and so does all that it starts.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    time.sleep(1.0)
    run.send_signal(getattr(signal, name))
    _, stderr = run.communicate(timeout=10)
    assert run.returncode == {"SIGTERM": 143, "SIGINT": 130}[name]
    assert "Traceback" not in stderr
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    assert str(tmp_path / "s.py") not in listed


@pytest.mark.parametrize("shown", ["", "1"])
def test_what_nobody_has_foreseen_is_one_line_and_could_not_be_done(
    shown: str, tmp_path: Path
) -> None:
    program = (
        "from harbor_metrics import cli\n"
        "def fail(*_, **__): raise KeyError('\\x1b[31m of a stranger')\n"
        "cli.group.invoke = fail\n"
        "cli.run()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "HARBOR_METRICS_TRACEBACK": shown},
    )
    assert done.returncode == 3
    assert "\x1b" not in done.stderr
    assert ("Traceback" in done.stderr) == ("of a stranger" in done.stderr) == bool(shown)
    *_, said, help_ = done.stderr.splitlines()
    assert re.fullmatch(r"error: a mistake of harbor-metrics: KeyError in cli/\w+\.py:\d+", said)
    assert "HARBOR_METRICS_TRACEBACK=1" in help_


def test_version_and_help_are_printed(cli: Run) -> None:
    assert cli("--version").stdout == f"harbor-metrics {harbor_metrics.__version__}\n"
    assert "compute" in cli("--help").stdout
    assert cli("compute", "--help").returncode == 0


def test_undecodable_paths_and_arguments_give_no_traceback(tmp_path: Path) -> None:
    odd = tmp_path / "odd\udcff"
    odd.mkdir()
    (odd / "r.jsonl").write_text('{"r": 1}\n')
    command = [sys.executable, "-m", "harbor_metrics", "compute", "r.jsonl"]
    for more, code in (
        (["--metric", script("gone.py"), "--format", "json"], 1),
        (["--dataset", "\udcff", "--format", "json"], 0),
        (["--metric", '{"type": "\udcff"}'], 2),
    ):
        done = subprocess.run([*command, *more], cwd=odd, capture_output=True, text=True)
        assert "Traceback" not in done.stderr
        assert done.returncode == code, done.stderr


@pytest.mark.parametrize("closing", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_do_no_harm(closing: str, job: Path) -> None:
    line = f"'{sys.executable}' -m harbor_metrics compute '{job}' {closing}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        *(["compute", "secret.jsonl"], ["compute", "secret.csv"], ["convert", "secret.jsonl"]),
        ["compute", "r.jsonl", "--registry", "secret.jsonl"],
        ["compute", "r.jsonl", "--registry=secret.jsonl"],
        ["compare", "r.jsonl", "r.jsonl", "--registry", "secret.jsonl"],
        ["report", "secret.jsonl", "-o", "page.html"],
        ["compute", "r.jsonl", "--labels", "secret.jsonl"],
        *(["add", "secret.jsonl", "a", "mean"], ["remove", "secret.jsonl", "a", "mean"]),
        *(["validate", "secret.jsonl"], ["script", "check", "secret.py"]),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("hidden", [False, True], ids=["elsewhere", "hidden"])
def test_where_a_link_leads_is_not_quoted(
    cli: Run, tmp_path: Path, arguments: list[str], hidden: bool
) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "r.jsonl").write_text('{"reward": 1}\n')
    place = tmp_path / "here" / ".env" if hidden else tmp_path / "netrc"
    place.write_text("machine a login me password PASSWORD\n")
    for name in ("secret.jsonl", "secret.csv", "secret.py"):
        (tmp_path / "here" / name).symlink_to(place)
    done = cli(*arguments, cwd=tmp_path / "here")
    assert done.returncode != 0
    assert "PASSWORD" not in done.stdout + done.stderr
    assert "name the file itself, if it is yours" in " ".join(done.stderr.split())
