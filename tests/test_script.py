"""Metric scripts: how they are found, what they see, and what is made of their answers."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, Run

from harbor_metrics.scripts import file as script
from harbor_metrics.scripts.file import ScriptError

HEAD = """\
import argparse, json, os, sys
p = argparse.ArgumentParser()
p.add_argument("-i"); p.add_argument("-o")
a = p.parse_args()
"""


@pytest.fixture
def outcome(cli: Run, tmp_path: Path):
    """Runs one script over two trials and gives its outcome and what was printed."""

    def run(text: str, *arguments: str, **options: object):
        (tmp_path / "m.py").write_text(text)
        (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\nnull\n')
        metric = json.dumps({"type": "uv-script", "kwargs": {"script_path": "m.py"}})
        done = cli(
            "compute", "r.jsonl", "--metric", metric, "--format", "json", *arguments, **options
        )
        (group,) = json.loads(done.stdout)["groups"]
        return group["metrics"][-1], done

    return run


def test_answer_with_its_digest(outcome) -> None:
    text = (
        HEAD
        + "n = len(open(a.i).readlines())\nopen(a.o, 'w').write(json.dumps({'n': n, 'x': 0.5}))"
    )
    one, done = outcome(text)
    assert done.returncode == 0
    assert one["values"] == {"n": 2, "x": 0.5}
    assert one["n"] == {"n": 2, "x": 2}
    assert len(one["script"]["sha256"]) == 64


def test_input_is_harbors(outcome) -> None:
    one, _ = outcome(
        HEAD + "assert open(a.i).read() == '{\"reward\": 1.0}\\nnull\\n', open(a.i).read()"
    )
    assert "wrote no output" in one["error"]["message"]


def test_no_secret_reaches_it(outcome) -> None:
    text = HEAD + "open(a.o, 'w').write(json.dumps({k: 1 for k in os.environ}))"
    one, _ = outcome(text, env={"OPENAI_API_KEY": "secret", "PYTHONPATH": "/nowhere"})
    assert "PATH" in one["values"]
    assert not {"OPENAI_API_KEY", "PYTHONPATH", "VIRTUAL_ENV"} & one["values"].keys()


def test_works_in_an_empty_directory_without_installed_packages(outcome) -> None:
    text = HEAD + (
        "assert os.listdir('.') == []\n"
        "try:\n    import msgspec\nexcept ImportError:\n    open(a.o, 'w').write('{\"alone\": 1}')"
    )
    one, _ = outcome(text)
    assert one["values"] == {"alone": 1}


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
def test_what_went_wrong_is_said(text: str, words: list[str], outcome) -> None:
    one, done = outcome(text)
    assert done.returncode == 1
    assert one["status"] == "failed"
    for word in words:
        assert word in one["error"]["message"]
    assert "\x1b" not in done.stdout


def test_time_limit_ends_all_that_was_started(outcome) -> None:
    text = (
        "import subprocess, sys, time\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(61.25)'])\n"
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    )
    one, _ = outcome(text, "--script-timeout", "0.5")
    assert "did not end within 0.5 s" in one["error"]["message"]
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    assert "time.sleep(61.25)" not in listed


def test_flood_of_output_is_drained(outcome) -> None:
    text = HEAD + "sys.stdout.write('x' * 50_000_000)\nopen(a.o, 'w').write('{\"a\": 1}')"
    one, _ = outcome(text)
    assert one["values"] == {"a": 1}


def test_nothing_is_left_beside_the_script(outcome, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\nversion = "1"\n')
    (tmp_path / "helper.py").write_text("VALUE = 3\n")
    block = "# /// script\n# dependencies = []\n# ///\n"
    text = HEAD + "import helper\nopen(a.o, 'w').write(json.dumps({'v': helper.VALUE}))"
    before = set(os.listdir(tmp_path)) | {"m.py", "r.jsonl"}
    assert outcome(text)[0]["values"] == {"v": 3}
    assert outcome(block + text)[0]["values"] == {"v": 3}
    assert set(os.listdir(tmp_path)) == before


def test_environment_with_a_dependency(outcome) -> None:
    one, done = outcome((ROOT / "registry" / "metrics" / "spread.py").read_text())
    assert done.returncode == 0, one
    assert one["values"] == {"coverage": 0.5, "spread": 0.0}


def test_home_that_cannot_be_written_does_no_harm(outcome) -> None:
    text = (
        "# /// script\n# dependencies = []\n# ///\n" + HEAD + "open(a.o, 'w').write('{\"a\": 1}')"
    )
    assert outcome(text, env={"HOME": "/proc/nope"})[0]["values"] == {"a": 1}


def test_temporary_directory_that_cannot_be_written(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("")
    (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\n')
    metric = '{"type": "uv-script", "kwargs": {"script_path": "m.py"}}'
    done = cli("compute", "r.jsonl", "--metric", metric, env={"TMPDIR": "/proc"})
    assert done.returncode == 3
    assert "TMPDIR" in done.stderr


class TestFind:
    """Where a script may lie."""

    def test_beside_the_registry_before_here(self, tmp_path: Path, monkeypatch) -> None:
        (tmp_path / "here").mkdir()
        (tmp_path / "there").mkdir()
        (tmp_path / "here" / "m.py").write_text("1")
        monkeypatch.chdir(tmp_path / "here")
        registry = str(tmp_path / "there" / "registry.json")
        assert script.find("m.py", registry).text == b"1"
        (tmp_path / "there" / "m.py").write_text("2")
        assert script.find("m.py", registry).text == b"2"

    @pytest.mark.parametrize(
        ("path", "words"),
        [
            ("/etc/passwd", "absolute"),
            ("../secret.py", "outside"),
            ("link.py", "outside"),
            ("gone.py", "not found; looked for"),
            ("folder", "is a directory"),
            ("pipe", "not a regular file"),
            ("m\0.py", "NUL"),
        ],
    )
    def test_refused(self, path: str, words: str, tmp_path: Path, monkeypatch) -> None:
        home = tmp_path / "home"
        (home / "folder").mkdir(parents=True)
        (tmp_path / "secret.py").write_text("")
        (home / "link.py").symlink_to("../secret.py")
        os.mkfifo(home / "pipe")
        monkeypatch.chdir(home)
        with pytest.raises(ScriptError, match=words):
            script.find(path, str(home / "registry.json"))

    def test_outside_when_allowed(self, tmp_path: Path) -> None:
        (tmp_path / "secret.py").write_text("")
        (tmp_path / "home").mkdir()
        registry = str(tmp_path / "home" / "registry.json")
        assert script.find("../secret.py", registry, allow_outside=True).path
