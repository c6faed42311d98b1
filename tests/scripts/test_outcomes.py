"""What is made of a script's end and of its answer."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from metric_scripts import BLOCK, HEAD, linux

from harbor_metrics.confinement.workplace import Workplace
from harbor_metrics.errors import MetricFailure
from harbor_metrics.evaluation.asked import plan_asked
from harbor_metrics.registries.script_file import find
from harbor_metrics.scripts import execution
from harbor_metrics.scripts.cache import ENVIRONMENTS, cache_folder
from harbor_metrics.scripts.execution import Inputs, Ran, execute
from harbor_metrics.scripts.options import ScriptOptions
from harbor_metrics.scripts.outcomes import ScriptRunner
from harbor_metrics.trials.table import Table
from harbor_metrics.trials.trial import Trial

TABLE = Table([Trial(task="t", rewards={"reward": 1.0})])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import sys; sys.exit('the reason')", ["exit code 1", "the reason"]),
        ("import os; os.kill(os.getpid(), 11)", ["SIGSEGV"]),
        ("raise ValueError('caf\\xe9 \\x1b[31m')", ["ValueError", "\\x1b[31m"]),
        ("", ["wrote no output"]),
        (HEAD + "open(a.o, 'w').write('{')", ["not JSON", "ends inside an object"]),
        (HEAD + "open(a.o, 'w')", ["not JSON", "empty"]),
        (HEAD + "open(a.o, 'w').write('[1]')", ["an array"]),
        (HEAD + "open(a.o, 'w').write('{}')", ["empty object"]),
        (HEAD + "open(a.o, 'w').write('{\"a\": NaN}')", ["`NaN`"]),
        (HEAD + "open(a.o, 'w').write('{\"a\": 1e999}')", ["out of range"]),
        (HEAD + "open(a.o, 'w').write('{\"a\": true}')", ["`a`", "a boolean"]),
        (HEAD + "open(a.o, 'w').write('{\"a\": {\"b\": 1}}')", ["`a`", "an object"]),
        (HEAD + "open(a.o, 'w').write('{\"a\": 1, \"a\": 2}')", ["duplicate key `a`"]),
        (HEAD + "json.dump({str(i): 1 for i in range(1001)}, open(a.o, 'w'))", ["1001 keys"]),
        (HEAD + "open(a.o, 'w').write(' ' * 2_000_000)", ["larger than"]),
        (HEAD + "os.mkfifo(a.o)", ["not a regular file"]),
        (HEAD + "os.mkdir(a.o)", ["not a regular file"]),
        (HEAD + "os.symlink('/etc/hostname', a.o)", ["symbolic link"]),
        ("# /// script\n# dependencies = [\n# ///\n", ["PEP 723", "not TOML"]),
        (
            "# /// script\n# a = 1\n# ///\nx = 1\n# /// script\n# a = 1\n# ///\n",
            ["more than one PEP 723"],
        ),
        ("# /// script\n# requires-python = '>=3.99'\n# ///\n", ["environment", "3.99"]),
        ("# /// script\n# requires-python = 'new'\n# ///\n", ["requires-python"]),
    ],
)
def test_failed_script_says_why(text: str, words: list[str], outcome) -> None:
    one, done = outcome(text)
    assert done.returncode == 1
    assert one["status"] == "failed"
    for word in words:
        assert word in one["error"]["message"]
    assert "\x1b" not in done.stdout


def test_folder_that_cannot_be_used_fails_one_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def execute(script: Any, *more: Any, **how: Any) -> Ran:
        if script.path.endswith("m0.py"):
            raise PermissionError(13, "Permission denied", "/x")
        return execution.execute(script, *more, **how)

    monkeypatch.setattr("harbor_metrics.scripts.outcomes.execute", execute)
    for i in range(2):
        (tmp_path / f"m{i}.py").write_text(HEAD + "answer(n=1)")
    planned = [plan_asked(f"uv-script script_path={tmp_path}/m{i}.py") for i in range(2)]
    shut, other = ScriptRunner(ScriptOptions())(planned, TABLE)
    assert shut.status == "failed"
    assert shut.error is not None
    assert "could not be run: [Errno 13] Permission denied: '/x'" in shut.error.message
    assert other.values == {"n": 1}


@linux
def test_script_that_shuts_our_folders_takes_no_numbers_from_the_next(tmp_path: Path) -> None:
    shuts = (
        "run = os.path.dirname(os.environ['HARBOR_METRICS_TRIALS'])\n"
        "os.chmod(os.path.dirname(os.path.dirname(sys.prefix)), 0)\n"
        "os.chmod(os.path.dirname(run), 0)\n"
        "answer(n=1)\n"
    )
    (tmp_path / "a.py").write_text(BLOCK + HEAD + shuts)
    (tmp_path / "b.py").write_text(BLOCK + HEAD + "answer(n=2)\n")
    options = ScriptOptions(layers=("landlock",))
    with Workplace() as place:
        for name, n in (("a.py", 1), ("b.py", 2), ("a.py", 1), ("b.py", 2)):
            ran = execute(find(str(tmp_path / name), None), Inputs.of(TABLE), options, place)
            if ran.finished.layers != options.layers:
                pytest.skip(f"not here: {ran.finished.missing}")
            assert ran.values == {"n": n}
            assert not [entry for entry in os.listdir(place.folder) if entry.startswith("run-")]
        assert os.stat(cache_folder(ENVIRONMENTS)).st_mode & 0o777 == 0o700


def test_folder_that_could_not_be_removed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("harbor_metrics.confinement.workplace._TO_CLOSE", 0.1)
    stopped = []

    def execute(script, inputs, options, place, required, *, logins):
        os.kill(place._pid, signal.SIGSTOP)
        stopped.append(place.folder)
        raise MetricFailure("script-failed", "no answer")

    monkeypatch.setattr("harbor_metrics.scripts.outcomes.execute", execute)
    (tmp_path / "m.py").write_text(HEAD + "answer(n=1)")
    runner = ScriptRunner(ScriptOptions())
    runner([plan_asked(f"uv-script script_path={tmp_path}/m.py")], TABLE)
    (said,) = runner.diagnostics
    assert (said.rule, stopped[0] in said.message) == ("script-folder-left", True)
