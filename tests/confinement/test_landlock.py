"""What a program changes of what it can read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from confinement.confined import confined, in_all_layers
from conftest import as_somebody_else
from metric_scripts import linux

from harbor_metrics.confinement.landlock import is_shared_alone

pytestmark = linux


@pytest.mark.usefixtures("alone_in_memory")
@in_all_layers
@pytest.mark.parametrize("linked", [False, True], ids=["itself", "by a link"])
def test_what_is_read_of_shared_memory_cannot_be_changed(
    layers: tuple[str, ...], linked: bool, tmp_path: Path
) -> None:
    folder = tempfile.mkdtemp(dir="/dev/shm")
    try:
        read = Path(folder, "read")
        read.write_text("1")
        (tmp_path / "link").symlink_to(folder)
        code = (
            "import os\n"
            f"print(open({str(read)!r}).read())\n"
            f"for call in (lambda: open({str(read)!r}, 'w'), lambda: os.unlink({str(read)!r}),\n"
            f"    lambda: os.rename({folder!r}, {folder + '-other'!r})):\n"
            "    try: call()\n"
            "    except OSError: print('no')\n"
        )
        named = str(tmp_path / "link") if linked else folder
        finished = confined(code, layers, named)
        assert finished.stdout.decode().split() == ["1", *["no"] * 3], finished.stderr
        assert read.read_text() == "1"
    finally:
        shutil.rmtree(folder)


@pytest.mark.usefixtures("alone_in_memory")
@in_all_layers
def test_a_home_in_shared_memory_is_kept_from_programs(
    layers: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tempfile.mkdtemp(dir="/dev/shm")
    monkeypatch.setenv("HOME", home)
    secret = Path(home, ".netrc")
    secret.write_text("password")
    code = f"print(open({str(secret)!r}).read())"
    try:
        finished = confined(code, layers)
    finally:
        shutil.rmtree(home)
    assert (finished.code, finished.stdout) == (1, b"")
    assert b"Error" in finished.stderr


@pytest.mark.parametrize(
    ("name", "shared"),
    [
        *(("sem.x", True), ("psm_1a2b", True), ("torch_1_2", True)),
        *(("module.py", False), ("venv/", False), ("sem.d/", False), (".netrc", False)),
    ],
)
def test_memory_is_shared_where_nothing_else_is_kept_there(
    name: str, shared: bool, tmp_path: Path
) -> None:
    assert is_shared_alone(str(tmp_path))
    path = tmp_path / name
    path.mkdir() if name.endswith("/") else path.write_text("")
    assert is_shared_alone(str(tmp_path)) == shared


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone can become somebody else")
@pytest.mark.parametrize(("mode", "shared"), [(0o644, True), (0o666, False)])
def test_what_another_user_keeps_in_shared_memory_is_safe(
    mode: int, shared: bool, open_to_all: Path
) -> None:
    (open_to_all / "theirs").write_text("")
    (open_to_all / "theirs").chmod(mode)
    with as_somebody_else():
        assert is_shared_alone(str(open_to_all)) == shared


@pytest.mark.parametrize(
    "told", ["/dev/shm/x", "/x:/dev//shm/x", "NAME=/dev/shm", "file:///dev/shm/x, /y", "{}/link/x"]
)
@pytest.mark.parametrize("way", ["argument", "variable", "path"])
def test_shared_memory_that_we_are_told_of_is_shut(
    way: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to("/dev/shm")
    told = told.format(tmp_path)
    if way == "argument":
        monkeypatch.chdir(tmp_path)
        told = told.replace(f"{tmp_path}/", "")
        monkeypatch.setattr(sys, "argv", ["compute", told])
    elif way == "variable":
        monkeypatch.setenv("SOME_VARIABLE", told)
    else:
        monkeypatch.syspath_prepend(told)
    name = f"/dev/shm/sem.harbor-metrics-{os.getpid()}"
    finished = confined(f"open({name!r}, 'x')", ("landlock",))
    assert finished.code == 1
    assert not os.path.exists(name)


@in_all_layers
@pytest.mark.usefixtures("alone_in_memory")
def test_programs_share_memory(layers: tuple[str, ...]) -> None:
    code = (
        "import multiprocessing\n"
        "from multiprocessing.shared_memory import SharedMemory\n"
        "memory = SharedMemory(create=True, size=8)\n"
        "with multiprocessing.Lock(): memory.buf[0] = 1\n"
        "memory.close(); memory.unlink()\n"
    )
    finished = confined(code, layers)
    assert finished.code == 0, finished.stderr


@pytest.mark.parametrize("layers", [("landlock",), ("landlock", "namespaces")])
@pytest.mark.parametrize("network", [False, True])
def test_addresses_are_told_with_the_network_alone(layers: tuple[str, ...], network: bool) -> None:
    for path in ("/etc/hosts", "/etc/resolv.conf"):
        finished = confined(f"open({path!r})", layers, network=network)
        assert (finished.code == 0) == (network and os.path.exists(path)), finished.stderr


def test_no_temporary_folder_is_where_shared_memory_is_mounted_again(tmp_path: Path) -> None:
    code = (
        "import os, sys\n"
        "from harbor_metrics.confinement import namespaces\n"
        "from harbor_metrics.confinement.workplace import NoPlaceError, Workplace\n"
        "pid = namespaces.fork_apart(network=True)\n"
        "if pid: sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
        f"to = {str(tmp_path)!r}\n"
        "if namespaces.LIBC.mount(b'/dev/shm', to.encode(), None, 0x5000, None): sys.exit(3)\n"
        "if os.stat(to).st_dev == os.stat('/').st_dev: sys.exit(3)\n"
        "os.environ['TMPDIR'] = to\n"
        "try: Workplace()\n"
        "except NoPlaceError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    if done.returncode:
        pytest.skip("it cannot be mounted here")
    assert "scripts can write there" in done.stdout
