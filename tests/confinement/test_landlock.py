"""What a program changes of what it can read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType

import pytest
from confinement.confined import confined, in_all_layers
from metric_scripts import linux

pytestmark = linux


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


@in_all_layers
@pytest.mark.parametrize("imported", [False, True])
def test_what_we_run_from_shared_memory_cannot_be_changed(
    layers: tuple[str, ...], imported: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tempfile.mkdtemp(dir="/dev/shm")
    module = Path(folder, "module.py")
    module.write_text("")
    if imported:
        loaded = ModuleType("module")
        loaded.__file__ = str(module)
        monkeypatch.setitem(sys.modules, "module", loaded)
    else:
        monkeypatch.syspath_prepend(folder)
    try:
        finished = confined(f"open({str(module)!r}, 'a').write('x')", layers)
        assert (finished.code, module.read_text()) == (1, "")
    finally:
        shutil.rmtree(folder)


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
