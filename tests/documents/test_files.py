"""A file is written whole or not at all, and keeps its mode and the links to it."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from conftest import Run

import harbor_metrics
from harbor_metrics import OutputError, Result
from harbor_metrics.documents import files
from harbor_metrics.documents.files import (
    _temporary_in,
    check_writable,
    put_into,
    write_atomically,
)


def test_output_is_checked_before_the_work(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(files, "_temporary_in", refuse)
    with pytest.raises(OutputError, match="Permission denied"):
        check_writable(str(job / "x.json"))


def test_written_file_keeps_mode_and_link(cli: Run, job: Path, tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "real.json").chmod(0o640)
    (tmp_path / "link.json").symlink_to("real.json")
    assert cli("compute", job, "-o", "link.json").returncode == 0
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").stat().st_mode & 0o777 == 0o640
    assert json.loads((tmp_path / "real.json").read_text())["schema_version"] == "1"
    assert not list(tmp_path.glob(".*.tmp"))


@pytest.mark.parametrize("call", ["fsync", "replace", "fchmod"])
def test_failing_write_leaves_the_old_file(
    call: str, job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.json"
    path.write_text("old")
    result = harbor_metrics.compute(job)

    def full(*args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, full)
    with pytest.raises(OutputError, match="No space left"):
        result.write(str(path))
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert not list(tmp_path.glob(".*.tmp"))


def test_killed_writer_leaves_a_whole_file(job: Path, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    harbor_metrics.compute(job).write(str(path))
    whole = path.read_bytes()
    code = "import harbor_metrics, sys\nr = harbor_metrics.Result.read(sys.argv[1])\n"
    code += "print(flush=True)\nwhile True: r.write(sys.argv[1])"
    for i in range(12):
        writer = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(0.003 * i)
        writer.kill()
        writer.communicate()
        assert path.read_bytes() == whole


def test_two_writers_leave_one_whole_document(job: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "harbor_metrics", "compute", str(job), "-o", "x.json"]
    runs = [subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL) for _ in range(4)]
    assert [run.wait() for run in runs] == [0] * 4
    assert Result.read(str(tmp_path / "x.json")).groups


def test_output_into_a_pipe_or_device_goes_through(cli: Run, job: Path) -> None:
    assert cli("compute", job, "-o", "/dev/null").returncode == 0
    assert not os.path.isfile("/dev/null")
    assert '"schema_version"' in cli("compute", job, "-o", "/dev/stdout").stdout


def test_a_device_elsewhere_is_not_written_into(cli: Run, job: Path, tmp_path: Path) -> None:
    """Who unpacks an archive as root has its devices, and a result went to the kernel's log."""
    path = tmp_path / "result.json"
    try:
        os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
    except OSError as error:
        pytest.skip(f"no device can be made here: {error}")
    for option in (("-o", path), ("--also", f"csv:{path}")):
        done = cli("compute", job, *option)
        assert done.returncode == 3
        assert "it is a device, and does not lie in /dev" in " ".join(done.stderr.split())


def test_output_path_with_a_nul_is_refused(job: Path) -> None:
    with pytest.raises(OutputError):
        harbor_metrics.compute(job).write("x\0y")


def test_long_output_name_is_written(cli: Run, job: Path, tmp_path: Path) -> None:
    assert cli("compute", job, "-o", "😀" * 62).returncode == 0


def test_killed_writer_leaves_nothing_after_the_next(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    code = "import os, signal, sys\nfrom harbor_metrics.documents import files\n"
    code += "os.replace = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)\n"
    code += "files.write_atomically(sys.argv[1], b'new')"
    subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert len(list(tmp_path.iterdir())) == 1
    write_atomically(str(path), b"whole")
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("r.json", b"whole")]


def test_file_that_another_writes_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    folder = os.open(tmp_path, os.O_RDONLY)
    descriptor, temporary = _temporary_in(folder)
    write_atomically(str(path), b"whole")
    assert (tmp_path / temporary).exists()
    os.close(descriptor)
    write_atomically(str(path), b"again")
    assert not (tmp_path / temporary).exists()
    os.close(folder)


@pytest.mark.parametrize("write", [check_writable, partial(write_atomically, data=b"whole")])
def test_writers_that_tidy_at_any_moment_harm_nobody(
    write: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, folder = tmp_path / "r.json", os.open(tmp_path, os.O_RDONLY)
    steps = []

    def before(name: str) -> None:
        step = getattr(os, name)

        def tidy_first(*args: Any, **kwargs: Any) -> Any:
            steps.append(name)
            with monkeypatch.context() as alone:
                alone.setattr(os, name, step)
                files._tidy(folder)
            return step(*args, **kwargs)

        monkeypatch.setattr(os, name, tidy_first)

    for name in ("fstat", "fsync", "fchmod", "replace", "unlink", "close"):
        before(name)
    write(str(path))
    monkeypatch.undo()
    os.close(folder)
    assert steps
    assert [p.name for p in tmp_path.iterdir()] == ["r.json"] * ("replace" in steps)


def test_file_that_another_is_about_to_remove_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, removers = files._lock, []

    def too_late(descriptor: int) -> bool:
        if not removers:
            (path,) = tmp_path.iterdir()
            removers.append(os.open(path, os.O_RDONLY))
            lock(removers[0])
        return lock(descriptor)

    monkeypatch.setattr(files, "_lock", too_late)
    folder = os.open(tmp_path, os.O_RDONLY)
    descriptor, name = _temporary_in(folder)
    taken = os.fstat(removers[0]).st_ino
    assert (tmp_path / name).stat().st_ino == os.fstat(descriptor).st_ino != taken
    os.close(descriptor)
    os.close(folder)
    os.close(removers[0])


def test_pipe_that_nobody_reads_is_not_waited_for(cli: Run, job: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    done = cli("compute", job, "-o", "pipe")
    assert (done.returncode, "pipe cannot be written" in done.stderr) == (3, True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a link of another user")
@pytest.mark.parametrize("name", ["o.json", "folder/o.json"])
def test_link_of_a_stranger_in_a_shared_folder_is_not_followed(name: str, tmp_path: Path) -> None:
    shared, own = tmp_path / "shared", tmp_path / "shared" / "own"
    shared.mkdir()
    own.mkdir()
    shared.chmod(0o1777)
    (own / "o.json").write_text("mine")
    (shared / "o.json").symlink_to("own/o.json")
    (shared / "folder").symlink_to(own)
    path = shared / name
    write_atomically(str(path), b"by me")
    os.lchown(shared / name.partition("/")[0], 65534, 65534)
    with pytest.raises(OutputError, match="a link that another user has put there"):
        check_writable(str(path))
    with pytest.raises(OutputError, match="a link that another user has put there"):
        write_atomically(str(path), b"to a stranger's wish")
    assert (own / "o.json").read_bytes() == b"by me"


@pytest.fixture
def received(tmp_path: Path) -> Path:
    """A folder that somebody has sent, of which likely names are links out of it."""
    for name in ("mine", "work/.git/hooks", "work/jobs/sent"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "mine" / "profile").write_text("mine\n")
    (tmp_path / "work" / "run.sh").write_text("mine\n")
    sent = tmp_path / "work" / "jobs" / "sent"
    links = {
        "away": "../../../mine/profile",
        "new": "../../../mine/not-there",
        "project": "../../run.sh",
        "hidden": "../../.git/hooks/pre-commit",
        "folder": "../../../mine",
        "deep": "away",
        "round": "round",
    }
    for name, target in links.items():
        (sent / name).symlink_to(target)
    return sent


STRAYS = [
    "away", "new", "project", "hidden", "folder/profile", "folder/new", "folder/../x", "deep",
    "round",
]  # fmt: skip


@pytest.mark.parametrize("name", STRAYS)
def test_no_link_out_of_a_folder_is_written_through(
    name: str, received: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(received.parents[1])
    before = {p: p.read_bytes() for p in received.parents[2].rglob("*") if p.is_file()}
    paths = [f"jobs/sent/{name}"]
    if not name.startswith("folder"):
        paths += [str(received / name), f"../work/jobs/sent/{name}"]
    for path in paths:
        for write in (check_writable, lambda path: write_atomically(path, b"theirs")):
            with pytest.raises(OutputError, match="a link there leads to") as raised:
                write(path)
            assert raised.value.help == "name the file itself, if it is yours"
    assert before == {p: p.read_bytes() for p in received.parents[2].rglob("*") if p.is_file()}


def test_links_that_stay_are_written_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out" / "old").mkdir(parents=True)
    (tmp_path / "out" / "last.json").symlink_to("old/1.json")
    (tmp_path / "again").symlink_to("out")
    for path in ("out/last.json", str(tmp_path / "out" / "last.json"), "again/last.json"):
        write_atomically(path, path.encode())
        assert (tmp_path / "out" / "old" / "1.json").read_text() == path
    assert (tmp_path / "out" / "last.json").is_symlink()


def test_file_of_ours_takes_the_place_of_a_link(received: Path) -> None:
    for name in ("away", "new", "folder", "round"):
        put_into(str(received), name, b"ours")
        assert not (received / name).is_symlink()
        assert (received / name).read_bytes() == b"ours"
    assert [p.name for p in (received.parents[2] / "mine").iterdir()] == ["profile"]
    assert (received.parents[2] / "mine" / "profile").read_text() == "mine\n"


@pytest.mark.usefixtures("alone_in_memory")
@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="this system has none")
def test_memory_that_is_shared_is_a_folder_as_others(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        for text in (b"first", b"next"):
            write_atomically(f"{folder}/x", text)
            assert Path(folder, "x").read_bytes() == text
        Path(folder, "link").symlink_to(tmp_path / "x")
        with pytest.raises(OutputError, match="a link there"):
            write_atomically(f"{folder}/link", b"next")


@pytest.mark.parametrize(
    "command",
    [
        ("compute", "JOB", "-o"),
        ("compute", "JOB", "-o", "y.json", "--also=csv:LINK"),
        ("convert", "JOB", "-o"),
        ("report", "JOB", "-o"),
        ("compare", "JOB", "other=JOB/../other", "-o"),
        ("validate", "r.json", "--also=sarif:LINK"),
    ],
    ids=" ".join,
)
def test_no_command_writes_through_a_link_out(
    command: tuple[str, ...], cli: Run, job: Path, received: Path
) -> None:
    work = received.parents[1]
    shutil.copytree(job, job.parent / "other")
    (work / "r.json").write_text("[]")
    (received / "x.json").symlink_to("../../../mine/profile")
    arguments = [
        word.replace("JOB", str(job)).replace("LINK", "jobs/sent/x.json") for word in command
    ]
    if "LINK" not in "".join(command):
        arguments.append("jobs/sent/x.json")
    done = cli(*arguments, cwd=work)
    assert done.returncode == 3
    assert "jobs/sent/x.json cannot be written: a link there leads to" in done.stderr
    assert "name the file itself, if it is yours" in done.stderr
    assert (received.parents[2] / "mine" / "profile").read_text() == "mine\n"


def test_a_link_that_comes_to_the_place_of_a_folder_is_not_written_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between our look at the path, which then has no link, and the writing."""
    own, folder = tmp_path / "own", tmp_path / "folder"
    for place in (own, folder):
        place.mkdir()
        (place / "o.json").write_text("mine")
    really = files.open_real_folder

    def exchange(path: str) -> int:
        folder.rename(tmp_path / "old")
        folder.symlink_to(own)
        return really(path)

    monkeypatch.setattr(files, "open_real_folder", exchange)
    with pytest.raises(OutputError, match="exchanged meanwhile"):
        write_atomically(str(folder / "o.json"), b"by me")
    assert (own / "o.json").read_text() == "mine"


def test_a_path_that_leads_elsewhere_from_one_moment_to_the_next_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was looked at would not be what is replaced."""
    (tmp_path / "own.json").write_text("mine")
    (tmp_path / "o.json").symlink_to(tmp_path / "own.json")
    check = files.check_place

    def exchange(path: str) -> None:
        (tmp_path / "o.json").unlink()
        check(path)

    monkeypatch.setattr(files, "check_place", exchange)
    with pytest.raises(OutputError, match="exchanged meanwhile"):
        write_atomically(str(tmp_path / "o.json"), b"by me")
    assert (tmp_path / "own.json").read_text() == "mine"


@pytest.mark.parametrize("also", [("-o", "/dev/stdout"), ("--also", "markdown:/dev/stdout")])
@pytest.mark.parametrize("before", ["", "kept\n"])
def test_nothing_is_written_over_in_the_file_of_standard_output(
    also: tuple[str, str], before: str, job: Path, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "harbor_metrics", "compute", str(job), *also]
    piped = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    path = tmp_path / "out.txt"
    path.write_text(before)
    with path.open("a") as file:
        subprocess.run(command, stdout=file, cwd=tmp_path, check=True)
    assert path.read_text() == before + piped.stdout
    with path.open("w") as file:
        subprocess.run(command, stdout=file, cwd=tmp_path, check=True)
    assert path.read_text() == piped.stdout


def test_what_is_written_is_no_program_of_who_writes(cli: Run, job: Path, tmp_path: Path) -> None:
    """A file of an archive lay there, with the bit that has it run as its owner."""
    path = tmp_path / "result.json"
    path.write_text("")
    path.chmod(0o4750)
    assert cli("compute", job, "-o", path).returncode == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o750
