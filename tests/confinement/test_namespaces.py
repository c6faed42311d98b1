"""What a program in namespaces finds of file systems."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from metric_scripts import linux

from harbor_metrics.confinement import sandbox
from harbor_metrics.confinement.workplace import Confinement, Workplace

pytestmark = linux


def ran(code: str, *, writable: tuple[str, ...] = (), scratch: tuple[str, ...] = ()) -> list[str]:
    with Workplace() as place:
        finished = place.run(
            [sys.executable, "-I", "-S", "-c", code],
            env={},
            cwd="/",
            timeout=30,
            confinement=Confinement(
                layers=(sandbox.NAMESPACES,),
                readable=(sys.prefix, sys.base_prefix),
                writable=writable,
                scratch=scratch,
            ),
        )
    if sandbox.NAMESPACES not in finished.layers:
        pytest.skip(f"no namespaces here: {finished.missing}")
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
    assert with_devices == set(sandbox.DEVICES)


def test_devices_that_are_there_can_be_used() -> None:
    use = (
        "for name in ('null', 'zero', 'full', 'random', 'urandom'):\n"
        "    print(len(open('/dev/' + name, 'rb', buffering=0).read(9)))\n"
        "print(open('/dev/null', 'wb', buffering=0).write(b'123'))\n"
    )
    assert ran(use) == ["0", "9", "9", "9", "9", "3"]
