"""What a program in namespaces finds of file systems."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Thread

import pytest
from confinement.confined import confined
from metric_scripts import linux

from harbor_metrics.confinement import calls, places
from harbor_metrics.confinement.workplace import Confinement, Workplace

pytestmark = linux


@pytest.fixture(scope="module", autouse=True)
def apart() -> None:
    """Skip where there can be no namespaces."""
    with Workplace() as place:
        finished = place.run(["/bin/true"], env={}, cwd="/", timeout=30, confinement=Confinement())
    if places.NAMESPACES not in finished.layers:
        pytest.skip(f"no namespaces here: {finished.missing}")


def ran(
    code: str,
    *,
    readable: Sequence[str] = (),
    writable: tuple[str, ...] = (),
    scratch: tuple[str, ...] = (),
    layers: tuple[str, ...] = (places.NAMESPACES,),
) -> list[str]:
    with Workplace() as place:
        finished = place.run(
            [sys.executable, "-I", "-S", "-c", code],
            env={},
            cwd="/",
            timeout=30,
            confinement=Confinement(
                layers=layers,
                readable=(sys.prefix, sys.base_prefix, *readable),
                writable=writable,
                scratch=scratch,
            ),
        )
    assert places.NAMESPACES in finished.layers, finished.missing
    assert finished.code == 0, finished.stderr.decode()
    return finished.stdout.decode().splitlines()


def test_devices_are_the_few_that_were_put_there(tmp_path: Path) -> None:
    for name in ("written", "scratch"):
        (tmp_path / name).mkdir()
    mounts = "for line in open('/proc/self/mountinfo'): print(*line.split()[4:6])"
    written, scratch = str(tmp_path / "written"), str(tmp_path / "scratch")
    found = dict(
        line.split() for line in ran(mounts, writable=(written, scratch), scratch=(scratch,))
    )
    with_devices = {at for at, options in found.items() if "nodev" not in options.split(",")}
    assert {written, scratch, "/", "/proc"} <= set(found)
    assert with_devices == set(places.DEVICES)


def test_devices_that_are_there_can_be_used() -> None:
    use = (
        "for name in ('null', 'zero', 'full', 'random', 'urandom'):\n"
        "    print(len(open('/dev/' + name, 'rb', buffering=0).read(9)))\n"
        "print(open('/dev/null', 'wb', buffering=0).write(b'123'))\n"
    )
    assert ran(use) == ["0", "9", "9", "9", "9", "3"]


def test_thousands_of_files_need_few_descriptors(tmp_path: Path) -> None:
    names = [str(tmp_path / f"file {n}") for n in range(3000)]
    for name in names:
        Path(name).touch()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        found = ran(f"import os; print(len(os.listdir({str(tmp_path)!r})))", readable=names)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert found == ["3000"]


def test_files_in_shared_memory_are_of_a_number() -> None:
    fill = (
        "import errno, os\n"
        "try:\n"
        "    for n in range(30_000): os.close(os.open(f'/dev/shm/{n}', os.O_CREAT))\n"
        "except OSError as error: print(errno.errorcode[error.errno], n // 1000)\n"
    )
    assert ran(fill) == ["ENOSPC 19"]


def test_path_too_long_to_be_told_is_left_out(tmp_path: Path) -> None:
    part, folder = "a" * 250, os.open(tmp_path, os.O_RDONLY)
    for _ in range(16):
        os.mkdir(part, dir_fd=folder)
        above, folder = folder, os.open(part, os.O_RDONLY, dir_fd=folder)
        os.close(above)
    os.close(os.open("y" * 70, os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    os.close(folder)
    link, other = tmp_path / "link", tmp_path / "other"
    link.symlink_to("/".join([part] * 16 + ["y" * 70]))
    other.touch()
    code = f"import os; print(*os.listdir({str(tmp_path)!r}))"
    assert ran(code, readable=[str(link), str(other)]) == ["other"]


def test_links_lead_where_they_did(tmp_path: Path) -> None:
    (tmp_path / "inside").write_text("1")
    (tmp_path / "relative").symlink_to("inside")
    (tmp_path / "absolute").symlink_to(tmp_path / "inside")
    (tmp_path / "out").symlink_to("/etc/passwd")
    (tmp_path / "nowhere").symlink_to("nowhere")
    names = [str(tmp_path / name) for name in ("relative", "absolute", "out", "nowhere")]
    code = f"for name in {names[:3]!r}: print(len(open(name).read()) > 0)"
    assert ran(code, readable=names) == ["True"] * 3


def test_program_is_not_run_with_less_where_its_paths_cannot_be_hidden(tmp_path: Path) -> None:
    written, gone = tmp_path / "written", str(tmp_path / "gone")
    written.mkdir()
    for layers in ((places.NAMESPACES,), places.LAYERS):
        with Workplace() as place:
            code = f"open({str(written / 'started')!r}, 'w')"
            argv = [sys.executable, "-I", "-S", "-c", code]
            hidden = Confinement(
                layers=layers,
                readable=(sys.prefix, sys.base_prefix),
                writable=(str(written),),
                scratch=(gone,),
            )
            for prepared in (False, True):
                if prepared:
                    place.prepare(layers, network=False)
                with pytest.raises(FileNotFoundError):
                    place.run(argv, env={}, cwd="/", timeout=30, confinement=hidden)
    assert not list(written.iterdir())


@pytest.mark.parametrize(
    ("call", "number", "layers"),
    [
        ((442, 442), errno.ENOSYS, []),
        (calls.DENIED["mount"], errno.EPERM, []),
        ((435, 435), errno.ENOSPC, None),
        ((435, 435), errno.EUSERS, None),
        (calls.DENIED["mount"], errno.ENOMEM, None),
        (calls.DENIED["mount"], errno.EMFILE, None),
    ],
)
def test_what_the_system_lacks_is_done_without_and_what_it_lacks_now_is_an_error(
    call: tuple[int, int], number: int, layers: list[str] | None
) -> None:
    refused = call[calls.MACHINES[os.uname().machine][1]]
    code = (
        "import ctypes, struct, sys\n"
        "from harbor_metrics.confinement.workplace import Confinement, Workplace\n"
        "filters = b''.join(struct.pack('=HBBI', *i) for i in ((0x20, 0, 0, 0),"
        f" (0x15, 0, 1, {refused}), (6, 0, 0, {0x50000 | number}), (6, 0, 0, 0x7FFF0000)))\n"
        "buffer = ctypes.create_string_buffer(filters, len(filters))\n"
        "libc = ctypes.CDLL(None); libc.prctl(38, 1, 0, 0, 0)\n"
        "libc.prctl(22, 2, struct.pack('@HP', 4, ctypes.addressof(buffer)), 0, 0)\n"
        "with Workplace() as place:\n"
        "    try:\n"
        "        done = place.run(['/bin/true'], env={}, cwd='/', timeout=30,"
        " confinement=Confinement(layers=('namespaces',)))\n"
        "        print(list(done.layers), len(done.missing))\n"
        "    except OSError as error: print(error.errno)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == (f"{number}\n" if layers is None else "[] 1\n"), done.stderr


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """A folder where every program reads, and nothing is private by its name."""
    try:
        folder = Path(tempfile.mkdtemp(dir="/usr/local/share"))
    except OSError as error:
        pytest.skip(f"{error}")
    yield folder
    shutil.rmtree(folder)


def test_home_is_hidden_wherever_it_lies(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (elsewhere / "lock").symlink_to("secret")
    (elsewhere / "script").mkdir()
    (elsewhere / "script" / "beside").touch()
    place = str(elsewhere)
    code = f"import os; print(*sorted(os.path.isdir({place!r}) and os.listdir({place!r}) or []))"
    monkeypatch.setenv("HOME", str(elsewhere))
    assert ran(code) == [""]
    assert ran(code, readable=[str(elsewhere / "script")]) == ["script"]
    assert ran(code, readable=[str(elsewhere)]) == ["lock script"]


@pytest.mark.parametrize("above", ["/", "/opt", "/var/lib"])
def test_of_what_is_not_the_system_only_what_is_readable_is_shown(above: str) -> None:
    """A folder for temporary files of another run lay in one, with the password of a host."""
    try:
        folder = Path(tempfile.mkdtemp(dir=above))
    except OSError as error:
        pytest.skip(f"{error}")
    try:
        for name in ("given", "secret"):
            (folder / name).write_text(name)
        code = "".join(
            f"try: print(open({str(folder / name)!r}).read())\nexcept OSError: print('no')\n"
            for name in ("given", "secret")
        )
        assert ran(code) == ["no", "no"]
        assert ran(code, readable=[str(folder / "given")]) == ["given", "no"]
    finally:
        shutil.rmtree(folder)


def test_what_lies_in_shared_memory_lies_nowhere_else() -> None:
    code = (
        "import os\n"
        "open('/dev/shm/mine', 'w').close()\n"
        "print(*(p for p in ('/dev/shm', '/home', '/mnt', '/srv') if 'mine' in os.listdir(p)))\n"
    )
    assert ran(code) == ["/dev/shm"]


def test_what_comes_to_lie_in_a_folder_that_was_empty_is_not_seen(tmp_path: Path) -> None:
    """Somebody else's run kept a password there, in a file whose name a script could guess."""
    try:
        folder = Path(tempfile.mkdtemp(dir="/"))
    except OSError as error:
        pytest.skip(f"{error}")
    started, written, secret = tmp_path / "started", tmp_path / "written", folder / "secret"
    code = (
        "import os, time\n"
        f"open({str(started)!r}, 'w').close()\n"
        f"while not os.path.exists({str(written)!r}): time.sleep(0.01)\n"
        f"print(os.path.exists({str(secret)!r}))\n"
    )

    def write() -> None:
        while not started.exists():
            time.sleep(0.01)
        secret.write_text("secret")
        written.touch()

    Thread(target=write, daemon=True).start()
    try:
        assert ran(code, writable=(str(tmp_path),)) == ["False"]
    finally:
        shutil.rmtree(folder)


@pytest.mark.parametrize("layers", [("namespaces",), ("landlock", "namespaces")])
def test_proc_tells_of_processes_and_not_of_keys(layers: tuple[str, ...]) -> None:
    code = (
        "import os\n"
        "pid = os.fork() or os._exit(__import__('time').sleep(60))\n"
        "for name in ('keys', 'key-users', 'cmdline', 'slabinfo', 'kpagecount',"
        " 'cpuinfo', 'meminfo', 'self/status', f'{pid}/cmdline'):\n"
        "    try: open(f'/proc/{name}', 'rb').read(9)\n"
        "    except (FileNotFoundError, PermissionError): print('no', end=' ')\n"
        "    else: print('yes', end=' ')\n"
        "os.kill(pid, 9)\n"
    )
    assert ran(code, layers=layers)[0].split() == ["no"] * 5 + ["yes"] * 4


def test_sys_tells_of_processors_and_not_of_devices() -> None:
    code = (
        "import os\n"
        "print(open('/sys/devices/system/cpu/online').read().strip())\n"
        "print(*sorted(os.listdir('/sys')), *os.listdir('/sys/devices'))\n"
    )
    processors = Path("/sys/devices/system/cpu/online").read_text().strip()
    online, places = ran(code)
    assert online == processors
    assert set(places.split()) <= {"devices", "fs", "kernel", "system"}


def test_who_had_namespaces_runs_nothing_without_them() -> None:
    code = (
        "import os, sys\n"
        "from harbor_metrics.confinement import namespaces\n"
        "from harbor_metrics.confinement.workplace import Confinement, Workplace\n"
        "mapped, told = os.pipe()\n"
        "pid = namespaces.fork_apart(network=True)\n"
        "if pid:\n"
        "    namespaces.map_users(pid)\n"
        "    os.write(told, b'1')\n"
        "    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
        "os.read(mapped, 1)\n"
        "namespaces.LIBC.mount(b'proc', b'/proc', b'proc', 0, None)\n"
        "limit = '/proc/sys/user/max_user_namespaces'\n"
        "confined = Confinement(layers=('namespaces',))\n"
        "def ran(place):\n"
        "    try: done = place.run(['/bin/true'], env={}, cwd='/', timeout=30,"
        " confinement=confined)\n"
        "    except OSError as error: print(error.errno)\n"
        "    else: print(list(done.layers))\n"
        "with Workplace() as place:\n"
        "    ran(place)\n"
        "    open(limit, 'w').write('0')\n"
        "    ran(place)\n"
        "with Workplace() as place: ran(place)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    if done.returncode and "max_user_namespaces" in done.stderr:
        pytest.skip("the limit cannot be changed here")
    assert done.stdout == f"['namespaces']\n{errno.EAGAIN}\n[]\n", done.stderr


@pytest.mark.parametrize("network", [False, True])
def test_of_the_settings_and_keys_of_networks_one_is_told(network: bool) -> None:
    code = (
        "import os\n"
        "print([p for p, _, names in os.walk('/proc/sys/net') for name in names])\n"
        "print(int(open('/proc/sys/net/core/somaxconn').read()) > 0)\n"
    )
    finished = confined(code, ("landlock", "namespaces"), network=network)
    assert finished.stdout.decode().splitlines() == ["['/proc/sys/net/core']", "True"], finished


@pytest.mark.parametrize("layers", [("namespaces",), ("landlock", "namespaces")])
def test_what_is_hidden_is_so_by_every_name_of_the_folder_around_it(
    layers: tuple[str, ...], tmp_path: Path
) -> None:
    home = tmp_path / "home"
    (home / "python" / "packages").mkdir(parents=True)
    (home / "python" / "packages" / "secret").write_text("secret")
    (home / "python" / "own").write_text("own")
    (home / "alias").symlink_to("python")
    (tmp_path / "above").symlink_to("home")
    names = [home / "python", home / "alias", tmp_path / "above" / "python"]
    names.append(tmp_path / "above" / "alias")
    code = (
        f"for name in {list(map(str, names))!r}:\n"
        "    print(open(name + '/own').read())\n"
        "    try: print(open(name + '/packages/secret').read())\n"
        "    except OSError: pass\n"
    )
    confinement = Confinement(
        layers=layers,
        readable=(sys.prefix, sys.base_prefix, *map(str, names)),
        hidden=(str((home / "python" / "packages").resolve()),),
    )
    with Workplace() as place:
        argv = [sys.executable, "-I", "-S", "-c", code]
        finished = place.run(argv, env={}, cwd="/", timeout=30, confinement=confinement)
    assert finished.stdout.decode().split() == ["own"] * 4, finished.stderr


@pytest.mark.parametrize("layers", [("namespaces",), ("landlock",), ("landlock", "namespaces")])
def test_hidden_files_are_hidden_wherever_they_lie(
    layers: tuple[str, ...], elsewhere: Path
) -> None:
    """Passwords lie in files, beside what everybody reads, and where a link can lead."""
    (elsewhere / "folder").mkdir()
    for name in ("token", "folder/own", "folder/token", "wanted"):
        (elsewhere / name).write_text("secret")
    (elsewhere / "folder" / "link").symlink_to("../token")
    hidden = [elsewhere / "token", elsewhere / "folder" / "token", elsewhere / "gone"]
    code = (
        "import os\n"
        f"for path, _, names in os.walk({str(elsewhere)!r}):\n"
        "    for name in sorted(names):\n"
        "        try: open(os.path.join(path, name)).read()\n"
        "        except OSError: pass\n"
        "        else: print(name)\n"
    )
    confinement = Confinement(
        layers=layers,
        readable=(sys.prefix, sys.base_prefix, str(elsewhere), str(elsewhere / "wanted")),
        hidden=(*map(str, hidden), str(elsewhere / "wanted")),
    )
    with Workplace() as place:
        argv = [sys.executable, "-I", "-S", "-c", code]
        finished = place.run(argv, env={}, cwd="/", timeout=30, confinement=confinement)
    if finished.layers != layers:
        pytest.skip(f"not here: {finished.missing}")
    assert finished.stdout.decode().split() == ["own"], finished.stderr
