"""Mounts that act on names, or tell of all processes, are out of a program's reach."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from metric_scripts import linux

from harbor_metrics.confinement import mounts as of_system

pytestmark = linux

ROOT = "22 1 8:1 / / rw shared:1 - ext4 /dev/sda rw\n"


@pytest.mark.parametrize(
    ("mounts", "wanted", "found"),
    [
        ("", [], []),
        ("30 22 0:1 / /nfs rw - nfs4 autofs:/x rw\n", [], []),
        ("30 22 0:1 / /net rw shared:9 - autofs -hosts rw\n", [], ["/net"]),
        ("30 22 0:1 / /afs rw - afs none rw\n", [], ["/afs"]),
        ("30 22 0:1 / /a\\040b\\134 rw - autofs x rw\n", [], ["/a b\\"]),
        # Mounted by a direct one, over it.
        ("30 22 0:1 / /d rw - autofs x rw\n31 30 0:2 / /d rw - nfs h:/d rw\n", [], []),
        # A /proc of its own lies over one of the system's with an automounter in it.
        (
            """\
30 22 0:1 / /proc rw - proc proc rw
31 30 0:2 / /proc/b rw - autofs x rw
32 30 0:3 / /proc rw - proc proc rw
""",
            [],
            [],
        ),
        # Ours, and what containers mount in theirs; and those that others have elsewhere.
        (
            "30 22 0:1 / /proc rw - proc proc rw\n31 30 0:1 /bus /proc/bus ro - proc proc rw\n",
            [],
            [],
        ),
        ("30 22 0:1 / /sys/devices/system rw - sysfs sysfs rw\n", [], []),
        ("30 22 0:1 / /opt/c/proc rw - proc proc rw\n", [], ["/opt/c/proc"]),
        ("30 22 0:1 / /processes rw - proc proc rw\n", [], ["/processes"]),
        ("30 22 0:1 / /opt/c/sys rw shared:2 - sysfs sysfs rw\n", [], ["/opt/c/sys"]),
        ("30 22 0:1 /meminfo /opt/m rw - proc proc rw\n", [], ["/opt/m"]),
        (
            "31 30 0:2 / /net/h/in rw - autofs x rw\n30 22 0:1 / /net rw - autofs x rw\n",
            [],
            ["/net"],
        ),
        (
            "31 30 0:2 / /net/h/in rw - autofs x rw\n30 22 0:1 / /net rw - autofs x rw\n",
            ["/net/h"],
            ["/net", "/net/h/in"],
        ),
    ],
)
def test_mounts_are_found_where_they_can_be_reached(
    mounts: str,
    wanted: list[str],
    found: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The first root is its own parent, and lies below the one that is seen.
    (tmp_path / "mounts").write_text(f"1 1 0:1 / / rw - rootfs none rw\n{ROOT}{mounts}")
    monkeypatch.setattr(of_system, "_MOUNTS", str(tmp_path / "mounts"))
    assert of_system.of_others(wanted) == found


# In mounts of its own: an automounter that mounts nothing, with something mounted in it already,
# and says what it was asked for.
AUTOMOUNT = """\
import ctypes, fcntl, os, struct, sys
from harbor_metrics.confinement.workplace import Confinement, Workplace
place, kind, layers = sys.argv[1], sys.argv[2], tuple(sys.argv[3].split("+"))
libc = ctypes.CDLL(None, use_errno=True)
def mount(source, to, type, flags=0, options=None):
    if libc.mount(source, os.fsencode(to), type, flags, options) < 0:
        print("skip", os.strerror(ctypes.get_errno()))
        sys.exit()
if libc.unshare(0x20000) < 0:
    print("skip", os.strerror(ctypes.get_errno()))
    sys.exit()
mount(b"none", "/", None, 0x4000 | 0x40000)
asked, asks = os.pipe()
ready, go = os.pipe()
automounter = os.fork()
if not automounter:
    os.setpgrp()
    options = f"fd={asks},pgrp={os.getpgrp()},minproto=5,maxproto=5,{kind}".encode()
    mount(b"test", place, b"autofs", 0, options)
    root = os.open(place, os.O_RDONLY)
    if kind == "indirect":
        os.makedirs(f"{place}/host/mine")
        os.makedirs(f"{place}/host/other")
    os.write(go, b"1")
    os.close(asks)
    while data := os.read(asked, 304):
        print("asked for", data[44:].split(b"\\0")[0].decode(), flush=True)
        fcntl.ioctl(root, 0x9361, struct.unpack_from("=I", data, 8)[0])
    os._exit(0)
os.close(go)
os.close(asks)
os.close(asked)
if not os.read(ready, 1):
    sys.exit()
look = f'''
import os
for name in ("secret.example", "host/mine", "host/other"):
    try: os.stat("{place}/" + name + "/x")
    except OSError: pass
    try: os.stat("{place}/" + name)
    except OSError: pass
    else: print("found", name)
'''
mine = (f"{place}/host/mine",) if kind == "indirect" else ()
readable = (sys.prefix, sys.base_prefix, *mine)
try:
    with Workplace() as work:
        confined = Confinement(layers=layers, readable=readable)
        run = [sys.executable, "-I", "-S", "-c", look]
        done = work.run(run, env={}, cwd="/", timeout=30, confinement=confined)
    print(done.stdout.decode() + done.stderr.decode(), end="")
    print(*sorted(done.layers))
finally:
    libc.umount2(os.fsencode(place), 2)
    os.kill(automounter, 9)
"""


@pytest.mark.parametrize("kind", ["indirect", "direct"])
@pytest.mark.parametrize("layers", ["namespaces", "landlock+namespaces"])
def test_automounter_hears_nothing_of_a_program(kind: str, layers: str, tmp_path: Path) -> None:
    # Not in what is private by its name.
    place = Path("/opt") / f"automount of {tmp_path.name}"
    try:
        place.mkdir()
    except OSError as error:
        pytest.skip(f"{error}")
    try:
        run = [sys.executable, "-c", AUTOMOUNT, str(place), kind, layers]
        done = subprocess.run(run, capture_output=True, text=True, timeout=40)
    finally:
        place.rmdir()
    assert done.returncode == 0, done.stderr
    if done.stdout.startswith("skip"):
        pytest.skip(done.stdout)
    found = ["found host/mine"] if kind == "indirect" else []
    lines = done.stdout.splitlines()
    if "namespaces" not in lines[-1]:
        pytest.skip("no namespaces here")
    assert lines[:-1] == found


# In mounts of its own: other mounts of what tells of processes, in a folder and of one file.
OTHERS = """\
import ctypes, os, sys
from harbor_metrics.confinement.workplace import Confinement, Workplace
place, layers = sys.argv[1], tuple(sys.argv[2].split("+"))
libc = ctypes.CDLL(None, use_errno=True)
def done(result):
    if result < 0:
        print("skip", os.strerror(ctypes.get_errno()))
        sys.exit()
done(libc.unshare(0x20000))
done(libc.mount(b"none", b"/", None, 0x4000 | 0x40000, None))
for name in ("proc", "sys"):
    os.mkdir(f"{place}/{name}")
open(f"{place}/file", "w").close()
done(libc.mount(b"proc", os.fsencode(f"{place}/proc"), b"proc", 0, None))
done(libc.mount(b"sysfs", os.fsencode(f"{place}/sys"), b"sysfs", 0, None))
done(libc.mount(b"/proc/loadavg", os.fsencode(f"{place}/file"), None, 0x1000, None))
look = f'''
import os
for name in ("proc/1/status", "sys/kernel/notes", "file"):
    try: print("read", name, len(open("{place}/" + name, "rb").read(9)))
    except OSError: pass
'''
readable = (sys.prefix, sys.base_prefix, place)
with Workplace() as work:
    confined = Confinement(layers=layers, readable=readable)
    run = [sys.executable, "-I", "-S", "-c", look]
    done = work.run(run, env={}, cwd="/", timeout=30, confinement=confined)
print(done.stdout.decode() + done.stderr.decode(), end="")
print(*sorted(done.layers))
"""


@pytest.mark.parametrize("layers", ["namespaces", "landlock+namespaces"])
def test_no_other_mount_tells_of_processes_and_devices(layers: str, tmp_path: Path) -> None:
    place = Path("/opt") / f"mounts of {tmp_path.name}"
    try:
        place.mkdir()
    except OSError as error:
        pytest.skip(f"{error}")
    try:
        run = [sys.executable, "-c", OTHERS, str(place), layers]
        done = subprocess.run(run, capture_output=True, text=True, timeout=40)
    finally:
        shutil.rmtree(place)
    assert done.returncode == 0, done.stderr
    if done.stdout.startswith("skip") or "namespaces" not in done.stdout:
        pytest.skip(done.stdout)
    assert done.stdout.splitlines()[:-1] == []
