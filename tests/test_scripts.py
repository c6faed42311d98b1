"""Metric scripts: environments, git, pins, input, a sandbox that lacks parts, what is left."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any, ClassVar

import pytest
from conftest import HERE, Run, trial, write_job

import harbor_metrics
from harbor_metrics.process import Finished, Workplace
from harbor_metrics.scripts.environment import environment
from harbor_metrics.scripts.file import find
from harbor_metrics.scripts.options import ScriptOptions

HEAD = """\
import argparse, json, os, sys, time
p = argparse.ArgumentParser()
p.add_argument("-i"); p.add_argument("-o")
a = p.parse_args()
def answer(**values): open(a.o, "w").write(json.dumps(values))
"""
BLOCK = "# /// script\n# dependencies = []\n# ///\n"
FAULTS = [json.loads(line) for line in (HERE / "faults_scripts.jsonl").read_text().splitlines()]
linux = pytest.mark.skipif(sys.platform != "linux", reason="what confines scripts is Linux's")


@pytest.fixture(autouse=True)
def own_caches(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the tests stays in the caches of who runs them."""
    folder = tmp_path_factory.mktemp("caches")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    monkeypatch.setenv("UV_CACHE_DIR", str(folder / "uv"))


def metric(path: str, **more: Any) -> str:
    return json.dumps({"type": "uv-script", "kwargs": {"script_path": path, **more}})


def registry_of(folder: Path, *metrics: dict[str, Any]) -> Path:
    dataset = {"name": "d", "version": "1", "description": "", "tasks": [], "metrics": metrics}
    path = folder / "registry.json"
    path.write_text(json.dumps([dataset], indent=2))
    return path


@pytest.fixture
def outcomes(cli: Run, tmp_path: Path):
    """Runs scripts, by their texts, over two trials: the outcomes, and what was printed."""

    def run(*texts: str, arguments: tuple[str, ...] = (), **options: Any):
        for i, text in enumerate(texts):
            (tmp_path / f"m{i}.py").write_text(text)
        if not (tmp_path / "r.jsonl").exists():
            (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\nnull\n')
        metrics = [part for i in range(len(texts)) for part in ("--metric", metric(f"m{i}.py"))]
        done = cli("compute", "r.jsonl", *metrics, "--format", "json", *arguments, **options)
        (group,) = json.loads(done.stdout)["groups"]
        return group["metrics"][1:], done

    return run


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f["id"])
@linux
def test_fault(fault: dict[str, Any], cli: Run, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\nnull\n')
    scripts = _scripts(fault, tmp_path)
    metrics = [part for name in scripts for part in ("--metric", metric(name))]
    if fault["id"] == "S37":
        pinned = {"type": "uv-script", "kwargs": {"script_path": scripts[0]}, "sha256": "0" * 64}
        metrics = ["--metric", json.dumps(pinned)]
    more = ["--verify-repeat"] if fault["id"] == "S38" else ["--script-timeout", "1"]
    done = cli("compute", "r.jsonl", *metrics, "--format", "json", *more)
    assert fault["exit"] in (None, done.returncode), done.stdout
    (group,) = json.loads(done.stdout)["groups"]
    messages = [one["error"]["message"] for one in group["metrics"] if "error" in one]
    assert group["metrics"][0]["values"] == {"mean": 0.5}
    if fault["id"] == "S19":
        assert all(w in m for w, m in zip(fault["message_has"], messages, strict=True)), messages
    else:
        for message in messages:
            assert all(words in message for words in fault["message_has"]), message
    assert bool(fault["message_has"]) <= bool(messages)
    printed = done.stdout + done.stderr
    assert "\x1b" not in printed
    assert "secret" not in printed
    assert not any(line.lstrip().startswith("::") for line in printed.splitlines())
    if fault["id"] == "R21":
        assert [one["values"] for one in group["metrics"][1:]] == [{"score": 1}, {"score": 2}]
    if fault["id"] == "S38":
        assert "m.py gave other numbers" in done.stderr
    if fault["id"] == "S02":
        assert '{"pass": 1}' in messages[0]


def _scripts(fault: dict[str, Any], folder: Path) -> list[str]:
    """The scripts of a fault, written to a folder."""
    own = {
        "R21": ["answer(score=1)", "answer(score=2)"],
        "S02": ["print(json.dumps({'pass': 1}))\nprint('done')"],
        "S21": [
            "import threading as th\nt = th.Thread(target=int, args=('x',)); t.start(); answer(m=0)"
        ],
        "S35": ["answer(m=1)"],
        "S37": ["answer(m=1)"],
        "S38": ["import random\nanswer(m=random.random())"],
    }
    if fault["id"] == "S35":
        (folder / "uv.toml").write_text('index-url = "http://127.0.0.1:9/simple"\n')
        (folder / ".env").write_text("UV_INDEX_URL=http://127.0.0.1:9/simple\n")
        (folder / "sitecustomize.py").write_text("raise SystemExit(9)\n")
        (folder / "pyproject.toml").write_text('[project]\nname = "x"\n')
    names = []
    for number in (fault["recipe"] or "").removeprefix("attack/").split(","):
        for path in (HERE / "hostile_scripts").glob(f"{number}_*.py") if number.isdigit() else ():
            shutil.copy(path, folder)
            names.append(path.name)
    for i, text in enumerate(own.get(fault["id"], ())):
        names.append("m.py" if i == 0 else f"m{i}.py")
        (folder / names[-1]).write_text(BLOCK + HEAD + text)
    assert names, fault["id"]
    return names


class TestInput:
    """What a script is given to read."""

    def test_trials_file_and_folder(self, cli: Run, tmp_path: Path) -> None:
        trials = [trial("b", {"reward": 1}, 2), trial("b", None, 1), trial("a", {"é": 0.5}, 3)]
        job = write_job(tmp_path / "job", trials)
        (tmp_path / "data.txt").write_text("7")
        (tmp_path / "m.py").write_text(
            HEAD + "rows = [json.loads(li) for li in open(os.environ['HARBOR_METRICS_TRIALS'])]\n"
            "lines = open(a.i).read()\n"
            'assert lines == \'{"\\\\u00e9": 0.5}\\nnull\\n{"reward": 1}\\n\', lines\n'
            "assert [r['task'] for r in rows] == ['a', 'b', 'b'], rows\n"
            "assert [r['rewards'] for r in rows] == [{'é': 0.5}, None, {'reward': 1}]\n"
            "assert rows[0]['agent'] == 'oracle' and rows[0]['model'] == 'sail-1', rows[0]\n"
            "folder = os.environ['HARBOR_METRICS_SCRIPT_DIR']\n"
            "answer(v=int(open(os.path.join(folder, 'data.txt')).read()))"
        )
        done = cli("compute", job, "--metric", metric("m.py"), "--format", "json")
        (group,) = json.loads(done.stdout)["groups"]
        assert group["metrics"][1]["values"] == {"v": 7}, group["metrics"][1]

    def test_rewards_are_read_only_and_each_script_has_its_own(self, outcomes) -> None:
        text = HEAD + (
            "os.chmod(a.i, 0o644) if os.getuid() else None\n"
            "try: open(a.i, 'a').write('null\\n')\n"
            "except OSError: pass\n"
            "answer(n=1)"
        )
        reads = HEAD + "time.sleep(0.2); answer(n=len(open(a.i).readlines()))"
        found, _ = outcomes(text, reads, reads)
        assert [one["values"] for one in found][1:] == [{"n": 2}, {"n": 2}]

    def test_side_by_side_in_the_order_of_the_registry(self, outcomes) -> None:
        texts = [HEAD + f"time.sleep({1 - i / 5}); answer(i={i})" for i in range(5)]
        began = time.monotonic()
        found, _ = outcomes(*texts)
        assert [one["values"] for one in found] == [{"i": i} for i in range(5)]
        if (os.cpu_count() or 1) > 1:
            assert time.monotonic() - began < 1 + 0.8 + 0.6 + 0.4 + 0.2

    def test_one_variable_is_passed_through(self, outcomes, cli: Run, tmp_path: Path) -> None:
        text = HEAD + "answer(k=int(os.environ.get('KEY', 0)), o=int('OTHER' in os.environ))"
        env = {"KEY": "3", "OTHER": "4"}
        assert outcomes(text, env=env)[0][0]["values"] == {"k": 0, "o": 0}
        passed = outcomes(text, arguments=("--script-env", "KEY"), env=env)[0][0]
        assert passed["values"] == {"k": 3, "o": 0}
        done = cli("compute", "r.jsonl", "--script-env", "NOPE")
        assert (done.returncode, "NOPE" in done.stderr) == (2, True)


class TestEnvironment:
    """What uv makes, and when it is asked."""

    @pytest.fixture
    def steps(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """The programs that are run, by their last words."""
        seen: list[str] = []
        run = Workplace.run

        def watched(self: Workplace, argv: list[str], **more: Any) -> Finished:
            seen.append(" ".join(argv[1:3]))
            return run(self, argv, **more)

        monkeypatch.setattr(Workplace, "run", watched)
        return seen

    def test_unchanged_script_is_resolved_once(self, steps: list[str], tmp_path: Path) -> None:
        (tmp_path / "m.py").write_text(BLOCK + "1")
        with Workplace() as place:
            first = environment(find(str(tmp_path / "m.py"), None), place)
            assert steps[0] == "sync --quiet"
            steps.clear()
            (tmp_path / "m.py").write_text(BLOCK + "2")
            assert environment(find(str(tmp_path / "m.py"), None), place) == first
            assert steps == []
            (tmp_path / "m.py").write_text(BLOCK.replace("[]", "[ ]  # other") + "2")
            assert environment(find(str(tmp_path / "m.py"), None), place) == first
            assert steps == []
            (tmp_path / "m.py").write_text(BLOCK.replace("# d", '# requires-python=">=3"\n# d'))
            environment(find(str(tmp_path / "m.py"), None), place)
            assert steps[0] == "sync --quiet"

    def test_changed_environment_is_made_anew(self, tmp_path: Path) -> None:
        (tmp_path / "m.py").write_text(BLOCK)
        script = find(str(tmp_path / "m.py"), None)
        with Workplace() as place:
            made = environment(script, place)
            poison = Path(made.watched[0]) / "sitecustomize.py"
            poison.write_text("raise SystemExit(9)\n")
            assert environment(script, place).command == made.command
            assert not poison.exists()

    def test_lock_beside_the_script(self, outcomes, tmp_path: Path) -> None:
        from uv import find_uv_bin

        (tmp_path / "m0.py").write_text(BLOCK + HEAD + "answer(n=1)")
        lock = [find_uv_bin(), "lock", "-q", "--python", sys.executable, "--script", "m0.py"]
        subprocess.run(lock, cwd=tmp_path, check=True)
        (one,), _ = outcomes(BLOCK + HEAD + "answer(n=1)")
        digest = hashlib.sha256((tmp_path / "m0.py.lock").read_bytes()).hexdigest()
        assert one["values"] == {"n": 1}
        assert one["script"]["lock_sha256"] == digest
        assert one["script"]["uv"].count(".") == 2
        assert one["script"]["python"] == ".".join(map(str, sys.version_info[:3]))
        (one,), _ = outcomes(BLOCK.replace("[]", '["six"]') + HEAD)
        assert "uv lock --script" in one["error"]["message"]

    def test_build_code_is_not_run(self, outcomes, tmp_path: Path) -> None:
        (tmp_path / "evil").mkdir()
        (tmp_path / "evil" / "pyproject.toml").write_text(
            '[project]\nname = "evil"\nversion = "1"\n[build-system]\nrequires = []\n'
            'build-backend = "b"\nbackend-path = ["."]\n'
        )
        (tmp_path / "evil" / "b.py").write_text(f"open({str(tmp_path / 'built')!r}, 'w')\n")
        block = '# /// script\n# dependencies = ["evil"]\n# [tool.uv.sources]\n'
        block += '# evil = {path = "evil"}\n# ///\n'
        (one,), _ = outcomes(block)
        assert "--allow-build" in one["error"]["message"]
        assert not (tmp_path / "built").exists()
        outcomes(block, arguments=("--allow-build",))
        assert (tmp_path / "built").exists()

    def test_cache_that_cannot_be_written(self, outcomes) -> None:
        text = BLOCK + HEAD + "answer(n=1)"
        (one,), _ = outcomes(text, env={"XDG_CACHE_HOME": "/proc/nope"})
        assert one["values"] == {"n": 1}
        # uv gets one for this run alone.
        (one,), _ = outcomes(text + "#", env={"UV_CACHE_DIR": "/proc/n", "XDG_CACHE_HOME": "/proc"})
        assert one["values"] == {"n": 1}

    def test_two_runs_at_once_on_an_empty_cache(self, tmp_path: Path) -> None:
        (tmp_path / "m.py").write_text(BLOCK + HEAD + "answer(n=1)")
        (tmp_path / "r.jsonl").write_text("null\n{}\n")
        command = [sys.executable, "-m", "harbor_metrics", "compute", "r.jsonl", "--metric"]
        runs = [
            subprocess.Popen(
                [*command, metric("m.py")], cwd=tmp_path, stdout=subprocess.PIPE, text=True
            )
            for _ in range(3)
        ]
        assert all("m.py: n" in run.communicate(timeout=60)[0] for run in runs)

    def test_undeclared_import(self, outcomes) -> None:
        (one,), _ = outcomes("import numpy")
        assert "declare what it imports" in one["error"]["message"]


class TestGit:
    """Scripts in a repository, which the test makes on disk."""

    @pytest.fixture
    def repository(self, tmp_path: Path) -> tuple[Path, str]:
        """A repository with a script, things beside and elsewhere, and its only commit."""
        path = tmp_path / "repository"
        folder = path / "metrics" / "of it"
        (folder / "data").mkdir(parents=True)
        text = HEAD + "here = os.environ['HARBOR_METRICS_SCRIPT_DIR']\n"
        text += "answer(v=int(open(here + '/data/v.txt').read()), n=len(os.listdir(here)))\n"
        (folder / "m.py").write_text(text)
        (folder / "data" / "v.txt").write_bytes(b"5\r\n")
        (folder / "link.py").symlink_to("/etc/passwd")
        (path / "large.bin").write_bytes(b"x" * 1000)
        (path / ".gitattributes").write_text("* filter=evil ident\n")
        command = ["git", "-C", str(path), "-c", "user.name=n", "-c", "user.email=e"]
        for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
            subprocess.run([*command, *arguments], check=True, capture_output=True)
        head = subprocess.run([*command, "rev-parse", "HEAD"], capture_output=True, text=True)
        return path, head.stdout.strip()

    @staticmethod
    def compute(folder: Path, url: str, commit: str, path: str = "metrics/of it/m.py", **more: Any):
        kwargs = {"git_url": url, "git_commit_id": commit, "script_path": path}
        registry = registry_of(folder, {"type": "mean"}, {"type": "uv-script", "kwargs": kwargs})
        (folder / "r.jsonl").write_text('{"reward": 1.0}\n')
        result = harbor_metrics.compute(
            folder / "r.jsonl", registry=registry, scripts=ScriptOptions(**more)
        )
        mean, one = result.groups[0].metrics
        assert mean.values == {"mean": 1.0}
        return one

    def test_exactly_that_commit_with_its_folder(
        self, repository: tuple[Path, str], tmp_path: Path
    ) -> None:
        path, commit = repository
        one = self.compute(tmp_path, f"file://{path}", commit, allow_outside=True)
        assert one.values == {"v": 5, "n": 3}, one.error
        (kept,) = (Path(os.environ["XDG_CACHE_HOME"]) / "harbor-metrics" / "git").iterdir()
        files = {str(p.relative_to(kept)) for p in kept.rglob("*") if not p.is_dir()}
        here = "tree/metrics/of it"
        assert files == {f"{here}/m.py", f"{here}/data/v.txt", f"{here}/link.py"}
        assert (kept / here / "data" / "v.txt").read_bytes() == b"5\r\n"
        assert not (kept / here / "link.py").is_symlink()
        shutil.rmtree(path)
        again = self.compute(tmp_path, f"file://{path}", commit.upper(), allow_outside=True)
        assert again.values == one.values

    @pytest.mark.parametrize(
        ("url", "commit", "path", "words"),
        [
            ("file:///nowhere", "1" * 40, "m.py", "--allow-outside"),
            ("/nowhere", "1" * 40, "m.py", "--allow-outside"),
            ("ext::sh -c id", "1" * 40, "m.py", "no address"),
            ("--upload-pack=id", "1" * 40, "m.py", "no address"),
            ("https://127.0.0.1:9/x.git", "1" * 40, "m.py", "could not be fetched"),
            ("https://127.0.0.1:9/x.git", "main", "m.py", "full commit"),
            ("https://127.0.0.1:9/x.git", "1" * 7, "m.py", "full commit"),
            ("https://127.0.0.1:9/x.git", "1" * 40, "../m.py", "out of the repository"),
            ("https://127.0.0.1:9/x.git", "1" * 40, "/etc/m.py", "out of the repository"),
        ],
    )
    def test_refused(self, url: str, commit: str, path: str, words: str, tmp_path: Path) -> None:
        one = self.compute(tmp_path, url, commit, path)
        assert one.status == "failed"
        assert words in one.error.message

    def test_what_the_repository_lacks(self, repository: tuple[Path, str], tmp_path: Path) -> None:
        path, commit = repository
        one = self.compute(tmp_path, str(path), commit, "gone.py", allow_outside=True)
        assert "there is no script gone.py" in one.error.message
        one = self.compute(tmp_path, str(path), "1" * 40, allow_outside=True)
        assert "could not be fetched" in one.error.message

    def test_no_git_and_no_cache(
        self, repository: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path, commit = repository
        monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nope")
        one = self.compute(tmp_path, str(path), commit, allow_outside=True)
        assert one.values == {"v": 5, "n": 3}
        monkeypatch.setenv("PATH", "/nowhere")
        one = self.compute(tmp_path, str(path), commit, allow_outside=True)
        assert "install git" in one.error.message


class TestPins:
    """A digest beside `kwargs`."""

    def test_changed_script_is_not_run_until_the_pin_is_mended(
        self, cli: Run, tmp_path: Path
    ) -> None:
        (tmp_path / "m.py").write_text(BLOCK + HEAD + "answer(n=1)")
        (tmp_path / "r.jsonl").write_text('{"reward": 1}\n')
        registry_of(tmp_path)
        added = cli("add", "registry.json", "d", "uv-script", "-k", "script_path=m.py", "--pin")
        digest = hashlib.sha256((tmp_path / "m.py").read_bytes()).hexdigest()
        assert digest in added.stdout
        entry = json.loads((tmp_path / "registry.json").read_text())[0]["metrics"][0]
        assert entry == {
            "type": "uv-script",
            "kwargs": {"script_path": "m.py"},
            "sha256": digest,
        }
        assert cli("validate", "registry.json").returncode == 0
        compute = ("compute", "r.jsonl", "--registry", "registry.json")
        assert cli(*compute).returncode == 0
        (tmp_path / "m.py").write_text(BLOCK + HEAD + "answer(n=2)")
        done = cli(*compute)
        assert done.returncode == 1
        assert "sha256" in done.stdout
        assert "was not run" in done.stdout
        assert "script-pin" in cli("validate", "registry.json").stdout
        assert "wrote the sha256 of m.py" in cli("validate", "registry.json", "--fix").stderr
        assert cli("validate", "registry.json").returncode == 0

    def test_pin_of_a_metric_that_is_there(self, cli: Run, tmp_path: Path) -> None:
        (tmp_path / "m.py").write_text(BLOCK + HEAD)
        registry_of(tmp_path, {"type": "uv-script", "kwargs": {"script_path": "m.py"}})
        add = ("add", "registry.json", "d", "uv-script", "-k", "script_path=m.py")
        assert "nothing was changed" in cli(*add).stdout
        assert "pinned" in cli(*add, "--pin").stdout
        assert "nothing was changed" in cli(*add, "--pin").stdout
        (entry,) = json.loads((tmp_path / "registry.json").read_text())[0]["metrics"]
        assert entry["sha256"] == hashlib.sha256((BLOCK + HEAD).encode()).hexdigest()

    @pytest.mark.parametrize("arguments", [("mean",), ("uv-script", "-k", "script_path=gone.py")])
    def test_no_script_to_pin(self, arguments: tuple[str, ...], cli: Run, tmp_path: Path) -> None:
        registry_of(tmp_path)
        assert cli("add", "registry.json", "d", *arguments, "--pin").returncode == 2


@linux
class TestSandbox:
    """What is said where a part of it is missing."""

    # A user namespace that allows no others inside; 16 layers of Landlock allow no 17th.
    WITHOUT: ClassVar = {
        "namespaces": "sandbox.unshare(network=True);"
        "pid = os.fork()\n"
        "if pid: sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
        "open('/proc/sys/user/max_user_namespaces', 'w').write('0')\n",
        "landlock": "import ctypes; ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)\n"
        "for _ in range(16): sandbox.landlock(['/'], ['/'], network=True)\n",
    }

    def run(self, without: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        (folder / "m.py").write_text(HEAD + "answer(n=1)")
        (folder / "r.jsonl").write_text('{"reward": 1}\n')
        code = f"import os, sys\nfrom harbor_metrics import sandbox\n{self.WITHOUT[without]}"
        code += "from harbor_metrics.__main__ import main\nmain()"
        compute = ("compute", "r.jsonl", "--format", "json", "--metric", metric("m.py"))
        return subprocess.run(
            [sys.executable, "-c", code, *compute, *arguments],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=60,
        )

    @pytest.mark.parametrize("without", ["namespaces", "landlock"])
    def test_missing_layer_is_said_once(self, without: str, tmp_path: Path) -> None:
        more = ("--metric", metric("m.py"))
        done = self.run(without, tmp_path, *more)
        if done.returncode and "sandbox" in done.stderr and "Traceback" in done.stderr:
            pytest.skip("this system cannot be made to lack it")
        assert done.returncode == 0, done.stderr
        (group,) = json.loads(done.stdout)["groups"]
        (other,) = {"namespaces", "landlock"} - {without}
        assert group["metrics"][1]["script"]["sandbox"] == other
        assert done.stderr.count(f"{without}:") == 1
        required = self.run(without, tmp_path, "--sandbox", "require")
        (group,) = json.loads(required.stdout)["groups"]
        assert "required" in group["metrics"][1]["error"]["message"]
        assert group["metrics"][0]["values"] == {"mean": 1}
        off = self.run(without, tmp_path, "--sandbox", "off")
        assert off.returncode == 0
        assert without not in off.stderr

    def test_script_in_the_home_directory_itself(
        self, outcomes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It reads the files beside it, and nothing of what else is kept there."""
        monkeypatch.setenv("HOME", str(tmp_path))
        (tmp_path / "private").mkdir()
        (tmp_path / "private" / "key").write_text("9")
        (tmp_path / ".netrc").write_text("9")
        (tmp_path / "data.txt").write_text("7")
        (tmp_path / "beside.py").write_text("VALUE = 5\n")
        text = HEAD + (
            "import beside\nhere = os.environ['HARBOR_METRICS_SCRIPT_DIR']\n"
            "def seen(name):\n"
            "    try: return int(open(os.path.join(here, name)).read())\n"
            "    except OSError: return 0\n"
            "names = ('data.txt', '.netrc', 'private/key')\n"
            "answer(module=beside.VALUE, **{n: seen(n) for n in names})"
        )
        (one,), _ = outcomes(text)
        wanted = {"module": 5, "data.txt": 7, ".netrc": 0, "private/key": 0}
        assert one["values"] == wanted, one["error"]

    def test_network_when_it_is_allowed(self, outcomes) -> None:
        import socket

        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
            server.listen()
            text = HEAD + "import socket\n"
            text += f"socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 2)\n"
            text += "answer(n=1)"
            (one,), _ = outcomes(text)
            assert "the sandbox may have stopped it" in one["error"]["message"]
            (one,), _ = outcomes(text, arguments=("--allow-network",))
            assert one["values"] == {"n": 1}
            assert one["script"]["sandbox"].endswith(", network")


class TestCheck:
    """`script check`, for a script's author."""

    def test_every_shape_of_rewards(self, cli: Run, tmp_path: Path) -> None:
        (tmp_path / "m.py").write_text(
            HEAD + "rows = [json.loads(line) for line in open(a.i)]\n"
            "try: open('/etc/shadow.bak')\nexcept OSError: pass\n"
            "try: open(os.path.expanduser('~root/secret'), 'w')\nexcept OSError: pass\n"
            "import random\n"
            "answer(total=sum(r['reward'] for r in rows), luck=random.random())"
        )
        done = cli("script", "check", "m.py")
        assert done.returncode == 1
        assert "one key: 3 trials" in done.stdout
        assert "  total  1.5" in done.stdout
        assert "KeyError: 'reward'" in done.stdout
        assert "NoneType" in done.stdout
        assert "other numbers the second time:\n  one key" in done.stdout
        assert sys.platform != "linux" or "secret w: " in done.stdout

    def test_template_passes(self, cli: Run, tmp_path: Path) -> None:
        from harbor_metrics.template import SCRIPT

        (tmp_path / "m.py").write_text(SCRIPT)
        done = cli("script", "check", "m.py")
        assert done.returncode == 0, done.stdout
        assert "other numbers" not in done.stdout
        assert "refused" not in done.stdout

    def test_on_a_job(self, cli: Run, job: Path, tmp_path: Path) -> None:
        (tmp_path / "m.py").write_text(HEAD + "answer(n=len(open(a.i).readlines()))")
        assert "n  10" in cli("script", "check", "m.py", "--rewards", job).stdout

    def test_no_script(self, cli: Run) -> None:
        assert cli("script", "check", "gone.py").returncode == 3


@linux
def test_killed_without_warning_nothing_is_left(tmp_path: Path) -> None:
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


def test_the_layers_of_the_options_are_those_of_the_sandbox() -> None:
    from harbor_metrics.sandbox import LAYERS

    assert ScriptOptions().layers == LAYERS


def wheel_with_a_start_file(folder: Path, code: str) -> None:
    """A package whose .pth runs code whenever an interpreter of its environment starts."""
    files = {
        "eager.pth": f"import sys; exec({code!r})\n",
        "eager.py": "",
        "eager-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: eager\nVersion: 1\n",
        "eager-1.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in [*files, "eager-1.dist-info/RECORD"])
    with zipfile.ZipFile(folder / "eager-1-py3-none-any.whl", "w") as archive:
        for name, text in [*files.items(), ("eager-1.dist-info/RECORD", record)]:
            archive.writestr(name, text)


@linux
def test_what_starts_with_an_interpreter_is_confined_as_well(
    cli: Run, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    code = f"import os; open({str(outside)!r} + '/' + str(os.getpid()), 'w')"
    wheel_with_a_start_file(tmp_path, code)
    source = "[tool.uv.sources]\n# eager = {path = 'eager-1-py3-none-any.whl'}"
    block = f"# /// script\n# dependencies = ['eager']\n# {source}\n# ///\n"
    (tmp_path / "m.py").write_text(f"{block}{HEAD}\nimport eager\nanswer(x=1)")
    (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\n')
    done = cli("compute", "r.jsonl", "--metric", metric("m.py"), "--format", "json")
    (_, one) = json.loads(done.stdout)["groups"][0]["metrics"]
    assert one["values"] == {"x": 1}, one["error"]
    if "landlock" in one["script"]["sandbox"]:
        assert list(outside.iterdir()) == []


@linux
def test_the_scripts_own_table_does_not_lead_uv_elsewhere(cli: Run, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    table = f"[tool.uv]\n# cache-dir = {str(elsewhere)!r}\n# link-mode = 'symlink'"
    block = f"# /// script\n# dependencies = []\n# {table}\n# ///\n"
    (tmp_path / "m.py").write_text(f"{block}{HEAD}\nanswer(x=1)")
    (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\n')
    done = cli("compute", "r.jsonl", "--metric", metric("m.py"), "--format", "json")
    assert json.loads(done.stdout)["groups"][0]["metrics"][1]["values"] == {"x": 1}
    assert not elsewhere.exists()


@linux
def test_a_report_of_layers_that_were_not_asked_for_is_not_believed(outcomes: Any) -> None:
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


def test_a_script_that_changes_while_it_runs_is_not_the_one_that_is_named(outcomes: Any) -> None:
    text = f"{BLOCK}{HEAD}\nopen(__file__, 'a').write('# more')\nanswer(x=1)"
    (one,), _ = outcomes(text, arguments=("--sandbox", "off"))
    assert one["status"] == "failed"
    assert "changed while it ran" in one["error"]["message"]


@pytest.mark.parametrize("value", ["nan", "inf", "1e30"])
@pytest.mark.parametrize("option", ["--script-memory", "--script-timeout"])
def test_limits_that_are_none(cli: Run, tmp_path: Path, option: str, value: str) -> None:
    (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\n')
    done = cli("compute", "r.jsonl", option, value)
    assert done.returncode == 2
    assert option in done.stderr


@pytest.mark.parametrize(
    "kwargs", [("script_path=../out.py",), ("script_path=g.py", "git_url=https://h.invalid/x")]
)
def test_new_writes_no_script_elsewhere(cli: Run, tmp_path: Path, kwargs: tuple[str, ...]) -> None:
    (tmp_path / "a").mkdir()
    registry = registry_of(tmp_path / "a")
    given = [part for each in kwargs for part in ("-k", each)]
    done = cli("add", registry, "d", "uv-script", *given, "--new")
    assert done.returncode == 2
    assert not list(tmp_path.rglob("*.py"))


def test_a_password_in_an_address_is_not_printed(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\n')
    url = "https://user:hunter2@localhost:1/x"
    more = {"git_url": url, "git_commit_id": "a" * 40}
    done = cli("compute", "r.jsonl", "--metric", metric("m.py", **more))
    assert "hunter2" not in done.stderr
    assert done.stdout.count("hunter2") <= done.stdout.count("git_url=")


@linux
def test_who_ends_its_supervisor_and_hides_is_ended_all_the_same(outcomes: Any) -> None:
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
