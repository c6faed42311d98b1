"""Scripts that do what no script should, in every configuration of the sandbox."""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import HERE, ROOT

from harbor_metrics.confinement.places import FILTER, LAYERS

# Of the system or of other programs: it is the same on every Python.
pytestmark = pytest.mark.one_python

SCRIPTS = HERE / "scripts" / "hostile"
EXPECTED: dict[str, dict[str, Any]] = json.loads((SCRIPTS / "expected.json").read_text())
TOLD = [name for name, expected in EXPECTED.items() if "what" in expected]
LEAKS = [name for name, expected in EXPECTED.items() if "stopped_by" in expected]
PORT = "9911"
# The others are run without uv where it is not all about them: in less than half the time.
WITH_ENVIRONMENT = ("00_good", "03_escaped_child", "10_read_outside", "46_poison_venv")
COMPUTE = """
import json, sys
import harbor_metrics
from harbor_metrics.scripts.options import ScriptOptions
arguments = json.loads(sys.argv[1])
arguments["layers"] = tuple(arguments["layers"])
options = ScriptOptions(**arguments)
result = harbor_metrics.compute("r.jsonl", registry="registry.json", scripts=options)
sys.stdout.write(result.to_json())
"""
# What confines in each: both layers, each alone, the filter that comes with them alone, nothing.
CONFIGURATIONS = [(*LAYERS, FILTER), *[(layer, FILTER) for layer in LAYERS], (FILTER,), ()]
SECRET = "a secret of the environment"
NOBODY = 65534


def available() -> tuple[str, ...]:
    """What this system has to confine scripts, for those who run the tests on another one."""
    from harbor_metrics.confinement.workplace import Confinement, Workplace

    with Workplace() as place:
        done = place.run(["/bin/true"], env={}, cwd="/", timeout=10, confinement=Confinement())
    return (*done.layers, *([FILTER] if done.filtered else []))


@contextlib.contextmanager
def listening(folder: Path) -> Iterator[str]:
    """Somebody to talk to by TCP, UDP and a Unix socket; the number of the ports."""
    with contextlib.ExitStack() as stack:
        while True:
            tcp = stack.enter_context(socket.socket())
            tcp.bind(("127.0.0.1", 0))
            udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            with contextlib.suppress(OSError):
                udp.bind(("127.0.0.1", tcp.getsockname()[1]))
                break
        unix = stack.enter_context(socket.socket(socket.AF_UNIX))
        unix.bind(str(folder / "socket"))
        os.chmod(folder / "socket", 0o777)
        tcp.listen()
        unix.listen()
        yield str(tcp.getsockname()[1])


class World:
    """A folder with the scripts, a registry that names them, and what they must not reach."""

    def __init__(self, folder: Path, names: list[str], port: str, *, environments: bool) -> None:
        self.folder = folder
        self.canary = folder / "canary"
        self.home = folder / "home"
        self.temporary = folder / "temporary"
        for path in (folder / "scripts", self.home, self.temporary):
            path.mkdir(parents=True)
        (self.canary / "secret.txt").write_text('{"m": 1}')
        for name in names:
            text = (SCRIPTS / f"{name}.py").read_text()
            text = text.replace("/canary", str(self.canary)).replace(PORT, port)
            if not environments and name not in WITH_ENVIRONMENT:
                text = text.partition("# ///\n")[2]
            (folder / "scripts" / f"{name}.py").write_text(text)
        (folder / "r.jsonl").write_text('{"reward": 1.0}\nnull\n{"reward": 0.5}\n')
        (folder / "rewards.jsonl").write_text("what somebody keeps beside the folder of scripts")

    def compute(
        self, names: list[str], timeout: float, layers: tuple[str, ...], user: int | None
    ) -> dict[str, Any]:
        """Run some of them, as root or another, and give what each became."""
        scripts = [{"script_path": f"scripts/{name}.py"} for name in names]
        entries = [{"type": "mean"}, *({"type": "uv-script", "kwargs": k} for k in scripts)]
        dataset = {"name": "d", "version": "1", "description": "", "tasks": [], "metrics": entries}
        (self.folder / "registry.json").write_text(json.dumps([dataset]))
        sandbox = "auto" if layers else "off"
        chosen = [layer for layer in layers if layer in LAYERS]
        arguments = {"timeout": timeout, "layers": chosen, "sandbox": sandbox}
        env = {**os.environ, "HOSTILE_SECRET": SECRET, "TMPDIR": str(self.temporary)}
        # Somebody who has nothing: no cache of uv, and no home but this.
        env |= {"HOME": str(self.home), "XDG_CACHE_HOME": str(self.home / ".cache")}
        env |= {"UV_CACHE_DIR": str(self.home / "uv"), "PYTHONPATH": str(ROOT)}
        if user is not None:
            for path in (self.folder, *self.folder.rglob("*")):
                os.chown(path, user, user, follow_symlinks=False)
        done = subprocess.run(
            [sys.executable, "-c", COMPUTE, json.dumps(arguments)],
            cwd=self.folder,
            env=env,
            capture_output=True,
            text=True,
            timeout=300,
            user=user,
            group=user,
            extra_groups=[] if user is not None else None,
        )
        assert done.returncode == 0, done.stderr
        assert SECRET not in done.stdout
        assert "\x1b" not in done.stdout
        (group,) = json.loads(done.stdout)["groups"]
        mean, *others = group["metrics"]
        assert mean["values"] == {"mean": 0.5}
        return {Path(one["kwargs"]["script_path"]).stem: one for one in others}

    def survivors(self) -> list[str]:
        """Processes that run one of the scripts."""
        found = []
        for process in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                line = (process / "cmdline").read_bytes()
                if process.name.isdigit() and os.fsencode(self.folder / "scripts") in line:
                    found.append(line.decode())
        return found


def judge(name: str, one: dict[str, Any], layers: tuple[str, ...], *, root: bool) -> None:
    """Whether a script became what it should with these layers."""
    expected = EXPECTED[name]
    if layers in ((), (FILTER,)):
        expected = expected.get("filter_alone" if layers else "unconfined", expected)
    if "failed" in expected:
        assert one["status"] == "failed", (name, one["values"])
        for words in expected["failed"]:
            message = one["error"]["message"]
            assert any(word in message for word in words.split("|")), (name, message)
        assert one["error"]["message"].isascii()
        assert "to repeat it: harbor-metrics script check" in one["error"]["message"]
    elif "stopped_by" in expected:
        assert one["status"] == "ok", (name, one["error"])
        leaked = one["values"]["m"] > 0
        if expected.get("root") and not root:
            assert not leaked
        else:
            stopped = any(layer in layers for layer in expected["stopped_by"])
            # Who gives rights up for the filter cannot look at who has not, but at others who have.
            if stopped or not set(layers) & set(expected.get("perhaps_by", ())):
                assert leaked is not stopped, name
    elif "any" not in expected:
        assert one["status"] == "ok", (name, one["error"])
        told = ("unconfined", "filter_alone", "what")
        values = {key: value for key, value in expected.items() if key not in told}
        assert one["values"] == values, name
    if one["status"] == "ok":
        assert all(type(value) in (int, float) for value in one["values"].values())


@pytest.fixture
def folder() -> Iterator[Path]:
    """In the system's own temporary directory, which everybody can enter."""
    path = Path(os.path.realpath(tempfile.mkdtemp(prefix="hostile-")))
    path.chmod(0o755)
    (path / "canary").mkdir()
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def neighbour() -> Iterator[Path]:
    """What somebody shares with others in memory."""
    path = Path(f"/dev/shm/psm_hostile-neighbour-{os.getpid()}")
    path.write_text("shared")
    yield path
    path.unlink()


@pytest.fixture
def bystander() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Starts a process of a user that a script could kill."""
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.skipif(sys.platform != "linux", reason="what confines scripts is Linux's")
@pytest.mark.parametrize("layers", CONFIGURATIONS, ids="+".join)
@pytest.mark.parametrize("who", ["me", "nobody"])
@pytest.mark.usefixtures("alone_in_memory")
def test_hostile_scripts_do_no_harm(
    who: str,
    layers: tuple[str, ...],
    folder: Path,
    bystander: list[subprocess.Popen[bytes]],
    neighbour: Path,
    request: pytest.FixtureRequest,
) -> None:
    """No hang, no survivor, no file left, no wrong answer, no secret; the others' values stand."""
    if not set(layers) <= set(available()):
        pytest.skip(f"this system has {available()}")
    everything = request.config.getoption("--every-configuration")
    whole = everything or layers == CONFIGURATIONS[0]
    names = list(EXPECTED) if whole else LEAKS if layers else TOLD
    user = NOBODY if who == "nobody" else None
    if user is not None and (os.getuid() != 0 or not everything):
        pytest.skip("--every-configuration, as root")
    if user is not None and not _can_run_python(user):
        pytest.skip("this Python lies where nobody else may look")
    sleeper = [sys.executable, "-c", "import time; time.sleep(600)", "hostile_canary"]
    bystander.append(subprocess.Popen(sleeper, user=user))
    before = {path: _outside(path) for path in _places(user)}
    with listening(folder / "canary") as port:
        world = World(folder, names, port, environments=everything)
        # The others have time enough, however slow the machine.
        endless = [name for name in names if "timed out" in EXPECTED[name].get("failed", ())]
        outcomes = world.compute([n for n in names if n not in endless], 30.0, layers, user)
        outcomes |= world.compute(endless, 0.5, layers, user)
        root = os.getuid() == 0 and user is None
        told = "+".join(layer for layer in layers if layer in LAYERS) or "none"
        told = f"{told}, {FILTER}" if layers else "off"
        wrong = []
        for name, one in outcomes.items():
            try:
                judge(name, one, layers, root=root)
            except AssertionError as error:
                wrong.append(f"{name}: {error}")
            # Unconfined it may have killed who could tell, unless the kernel keeps signals in.
            lost = layers in ((), (FILTER,)) and name == "51_kill_ancestors"
            assert one["script"]["sandbox"] in (told, None if lost else told)
        assert not wrong, "\n".join(wrong)
    assert not world.survivors()
    assert os.listdir(world.temporary) == []
    left = {path for path in before if _outside(path) != before[path]}
    if "landlock" in layers:
        # Locks between processes live there; with namespaces it is one of their own.
        assert left <= ({"/dev/shm"} if "namespaces" not in layers else set())
        assert not list(folder.rglob("hostile-was-here"))
    for path in left:
        os.unlink(os.path.join(path, "hostile-was-here"))


def _can_run_python(user: int) -> bool:
    with contextlib.suppress(OSError):
        return subprocess.run([sys.executable, "-c", ""], user=user).returncode == 0
    return False


def _places(user: int | None) -> list[str]:
    home = pwd.getpwuid(os.getuid() if user is None else user).pw_dir
    return [home, "/dev/shm", "/var/tmp"]


def _outside(path: str) -> bool:
    return os.path.exists(os.path.join(path, "hostile-was-here"))


def test_table_in_contributing_says_what_is_tested() -> None:
    """A cell is ticked where a script of this suite is stopped by that layer alone."""
    rows = [
        "| a script that … | always | filter | Landlock | namespaces |",
        "| :--- | :---: | :---: | :---: | :---: |",
    ]
    told = [expected for expected in EXPECTED.values() if "what" in expected]
    for expected in sorted(told, key=lambda e: "stopped_by" in e):
        by = expected.get("stopped_by", ["always"])
        ticks = ["✓" if column in by else "" for column in ("always", FILTER, *LAYERS)]
        rows.append(f"| {expected['what']} | {' | '.join(ticks)} |")
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert "\n".join(rows) in text, "\n".join(rows)


def test_every_script_is_expected() -> None:
    assert set(EXPECTED) == {path.stem for path in SCRIPTS.glob("*.py")}
