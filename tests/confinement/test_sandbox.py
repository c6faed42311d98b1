"""What is said where a part of the sandbox is missing, and what it lets through."""

from __future__ import annotations

import errno
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import ClassVar, NoReturn

import pytest
from metric_scripts import HEAD, linux, metric

from harbor_metrics.confinement import calls, sandbox
from harbor_metrics.confinement.workplace import Confinement, Workplace


@linux
@pytest.mark.usefixtures("own_caches")
class TestSandbox:
    """What is said where a part of it is missing."""

    # A user namespace that allows no others inside; a kernel that does not know the call.
    WITHOUT: ClassVar = {
        "namespaces": "pid = namespaces.fork_apart(network=True)\n"
        "if pid: sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
        "open('/proc/sys/user/max_user_namespaces', 'w').write('0')\n",
        "landlock": "import ctypes, struct\n"
        "filters = b''.join(struct.pack('=HBBI', *i) for i in ((0x20, 0, 0, 0),"
        " (0x15, 0, 1, 444), (6, 0, 0, 0x50026), (6, 0, 0, 0x7FFF0000)))\n"
        "buffer = ctypes.create_string_buffer(filters, len(filters))\n"
        "libc = ctypes.CDLL(None); libc.prctl(38, 1, 0, 0, 0)\n"
        "libc.prctl(22, 2, struct.pack('@HP', 4, ctypes.addressof(buffer)), 0, 0)\n",
    }

    def run(self, without: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        (folder / "m.py").write_text(HEAD + "answer(n=1)")
        (folder / "r.jsonl").write_text('{"reward": 1}\n')
        code = "import os, sys\nfrom harbor_metrics.confinement import namespaces\n"
        code += f"{self.WITHOUT[without]}from harbor_metrics.__main__ import main\nmain()"
        compute = ("compute", "r.jsonl", "--format", "json", "--metric", metric("m.py"))
        return subprocess.run(
            [sys.executable, "-c", code, *compute, *arguments],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=60,
        )

    @pytest.mark.parametrize("without", ["namespaces", "landlock"])
    def test_missing_layer_is_reported_once(self, without: str, tmp_path: Path) -> None:
        more = ("--metric", metric("m.py"))
        done = self.run(without, tmp_path, *more)
        if done.returncode and "namespaces.py" in done.stderr and "[Errno " in done.stderr:
            pytest.skip("this system cannot be made to lack it")
        assert done.returncode == 0, done.stderr
        (group,) = json.loads(done.stdout)["groups"]
        (other,) = {"namespaces", "landlock"} - {without}
        assert group["metrics"][1]["script"]["sandbox"] == f"{other}, seccomp"
        assert done.stderr.count(f"{without}:") == 1
        required = self.run(without, tmp_path, "--sandbox", "require")
        (group,) = json.loads(required.stdout)["groups"]
        assert "required" in group["metrics"][1]["error"]["message"]
        assert group["metrics"][0]["values"] == {"mean": 1}
        off = self.run(without, tmp_path, "--sandbox", "off")
        assert off.returncode == 0
        assert without not in off.stderr

    def test_script_in_the_home_directory_reads_only_the_files_beside_it(
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

    def test_network_is_refused_unless_allowed(self, outcomes) -> None:
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


@linux
@pytest.mark.parametrize("layers", [("landlock",), ("namespaces",), ("landlock", "namespaces")])
def test_program_reads_of_itself_but_not_of_the_sockets_of_others(layers: tuple[str, ...]) -> None:
    code = """
import os, threading
print(all(open(f"/proc/self/{name}").read() for name in ("status", "maps", "mountinfo")))
def look():
    for place in ("net", "self/net", f"{os.getpid()}/net", "thread-self/net",
        f"self/task/{threading.get_native_id()}/net", f"{os.getppid()}/net"):
        for name in ("tcp", "unix"):
            try: seen = open(f"/proc/{place}/{name}").read().splitlines()[1:]
            except OSError: seen = ()
            if seen: print(place, name)
thread = threading.Thread(target=look)
thread.start(); thread.join(); look()
"""
    confined = Confinement(layers=layers, readable=(sys.prefix, sys.base_prefix))
    with socket.socket() as server, socket.socket(socket.AF_UNIX) as unix, Workplace() as place:
        server.bind(("127.0.0.1", 0))
        server.listen()
        unix.bind(f"\0harbor-metrics-{server.getsockname()[1]}")
        command = [sys.executable, "-I", "-S", "-c", code]
        done = place.run(command, env={}, cwd="/", timeout=30, confinement=confined)
    if done.layers != layers:
        pytest.skip(f"not here: {done.missing}")
    assert (done.code, done.stdout, done.stderr) == (0, b"True\n", b"")


@linux
@pytest.mark.parametrize(
    ("call", "number", "expected"),
    [
        ((444, 444), errno.EOPNOTSUPP, "['seccomp'] 1"),
        ((444, 444), errno.EPERM, "['seccomp'] 1"),
        ((444, 444), errno.ENOMEM, errno.ENOMEM),
        ((445, 445), errno.EMFILE, errno.EMFILE),
        ((446, 446), errno.EPERM, errno.EPERM),
        (calls.PROCESS_CONTROL, errno.EINVAL, "['landlock'] 1"),
        (calls.PROCESS_CONTROL, errno.ENOMEM, errno.ENOMEM),
    ],
)
def test_part_of_the_sandbox_is_done_without_only_where_the_system_lacks_it(
    call: tuple[int, int], number: int, expected: str | int
) -> None:
    refused = call[calls.MACHINES[os.uname().machine][1]]
    # Of `prctl` the one that loads a filter.
    asked = 22 if call == calls.PROCESS_CONTROL else None
    program = [(0x20, 0, 0, 0), (0x15, 0, 1 if asked is None else 3, refused)]
    if asked is not None:
        program += [(0x20, 0, 0, 16), (0x15, 0, 1, asked)]
    program += [(6, 0, 0, 0x50000 | number), (6, 0, 0, 0x7FFF0000)]
    code = (
        "import ctypes, struct\n"
        "from harbor_metrics.confinement.workplace import Confinement, Workplace\n"
        f"filters = b''.join(struct.pack('=HBBI', *i) for i in {program})\n"
        "buffer = ctypes.create_string_buffer(filters, len(filters))\n"
        "libc = ctypes.CDLL(None); libc.prctl(38, 1, 0, 0, 0)\n"
        f"header = struct.pack('@HP', {len(program)}, ctypes.addressof(buffer))\n"
        "assert libc.prctl(22, 2, header, 0, 0) == 0\n"
        "with Workplace() as place:\n"
        "    try:\n"
        "        done = place.run(['/bin/true'], env={}, cwd='/', timeout=30,"
        " confinement=Confinement(layers=('landlock',)))\n"
        "        has = [*done.layers, *(['seccomp'] if done.filtered else [])]\n"
        "        print(has, len(done.missing))\n"
        "    except OSError as error: print(error.errno)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == f"{expected}\n", done.stderr


@pytest.mark.parametrize(
    ("release", "version"),
    [("6.18.44-fc", (6, 18)), ("5.4.0-1-generic", (5, 4)), ("6.14-rc1", ()), ("", ())],
)
def test_of_a_system_without_a_version_nothing_is_believed(
    release: str, version: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = os.uname_result(("Linux", "here", release, "#1", "x86_64"))
    monkeypatch.setattr(os, "uname", lambda: names)
    assert sandbox._version() == version


def test_the_number_of_the_whole_machine_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(*args: object, **options: object) -> NoReturn:
        raise AssertionError

    monkeypatch.setattr("builtins.open", opened)
    for version in ((), (5, 15), (6, 13)):
        monkeypatch.setattr(sandbox, "_version", lambda version=version: version)
        sandbox.limit_processes(4096)
    monkeypatch.setattr(sandbox, "_version", lambda: (6, 14))
    sandbox.limit_processes(0)
