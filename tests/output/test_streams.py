"""Everything that is printed is printed whole, or the exit code says that it was not."""

from __future__ import annotations

import os
import resource
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import HERE, ROOT

from harbor_metrics.errors import OutputError, ReaderGoneError
from harbor_metrics.output import streams, writer

JOB = HERE / "jobs" / "graded"
COMMANDS = [
    ("--version",),
    ("--help",),
    ("compute", "--help"),
    ("compute", JOB),
    ("compute", JOB, "--format", "json"),
    ("compute", JOB, "--format", "markdown"),
    ("compute", JOB, "--dry-run"),
    ("audit", JOB),
    ("audit", JOB, "--format", "json"),
    ("convert", JOB),
    ("validate", ROOT / "README.md"),
    ("validate", ROOT / "README.md", "--format", "json"),
    ("list",),
    ("list", "--format", "json"),
    ("explain",),
    ("explain", "mean"),
    ("schema",),
    ("schema", "registry"),
]
BUFFERING = [{}, {"PYTHONUNBUFFERED": "1"}]


def command(*args: object) -> list[str]:
    return [sys.executable, "-m", "harbor_metrics", *map(str, args)]


def named(args: tuple[object, ...]) -> str:
    return " ".join(a.name if isinstance(a, Path) else str(a) for a in args)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("args", COMMANDS, ids=named)
def test_a_full_disk_is_said_and_exits_3(args: tuple[object, ...], programs: Path) -> None:
    for more in BUFFERING:
        run = command(*args) if more else [programs / "harbor-metrics", *map(str, args)]
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                run, stdout=full, stderr=subprocess.PIPE, env={**os.environ, **more}
            )
        assert done.returncode == 3, done.stderr
        said = done.stderr.decode()
        assert "error: standard output cannot be written: No space left on device" in said
        assert "Traceback" not in said


@pytest.mark.parametrize("args", COMMANDS, ids=named)
def test_a_closed_pipe_is_quiet_and_exits_141(args: tuple[object, ...], programs: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    run = [programs / "harbor-metrics", *map(str, args)]
    done = subprocess.run(run, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert done.returncode == 141, done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("more", BUFFERING, ids=["buffered", "raw"])
def test_a_disk_that_fills_up_on_the_way_exits_3(more: dict[str, str], tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))

    for args in (("list",), ("schema", "registry"), ("convert", JOB)):
        with open(tmp_path / "out", "wb") as file:
            done = subprocess.run(
                command(*args),
                stdout=file,
                stderr=subprocess.PIPE,
                env={**os.environ, **more, "PYTHONDONTWRITEBYTECODE": "1"},
                preexec_fn=limit,
            )
        assert done.returncode == 3, done.stderr
        assert (tmp_path / "out").stat().st_size == 1_000


@pytest.mark.parametrize("more", BUFFERING, ids=["buffered", "raw"])
def test_a_pipe_that_does_not_block_gets_all(more: dict[str, str], tmp_path: Path) -> None:
    rewards = tmp_path / "r.jsonl"
    rewards.write_text('{"reward": 0.25}\n' * 20_000)
    whole = subprocess.run(command("convert", rewards), capture_output=True, check=True).stdout
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    run = subprocess.Popen(command("convert", rewards), stdout=writing, env={**os.environ, **more})
    os.close(writing)
    time.sleep(0.3)  # until it is full
    with open(reading, "rb") as pipe:
        got = pipe.read()
    assert run.wait(30) == 0
    assert got == whole
    assert got.count(b"\n") == 20_000


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_standard_error_exits_3_without_a_traceback(tmp_path: Path) -> None:
    with open("/dev/full", "wb") as full:
        for args in (("compute", tmp_path / "gone"), ("compute",), ("list", "--odd")):
            done = subprocess.run(command(*args), stdout=subprocess.PIPE, stderr=full)
            assert done.returncode == 3
            assert done.stdout == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_notes_that_are_lost_leave_the_exit_code_of_the_work(tmp_path: Path) -> None:
    wrong, right = tmp_path / "a.json", tmp_path / "b.jsonl"
    wrong.write_text("[1]")
    right.write_text('{"reward": 1}\n{"reward": 0}\n')
    with open("/dev/full", "wb") as full:
        for format_ in ("github", "sarif", "json"):
            for file, code in ((wrong, int(format_ != "sarif")), (right, 0)):
                run = command("validate", "--format", format_, file)
                done = subprocess.run(run, stdout=subprocess.PIPE, stderr=full)
                assert done.returncode == code
                assert done.stdout or (format_ == "github" and not code)
        run = command("convert", right, "-o", tmp_path / "c.jsonl")
        assert subprocess.run(run, stderr=full).returncode == 0
        assert (tmp_path / "c.jsonl").read_text()


def test_no_call_writes_more_than_the_system_takes_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def take(descriptor: int, data: memoryview) -> int:
        sizes.append(len(data))
        return len(data) - 1 if len(sizes) == 1 else len(data)

    monkeypatch.setattr(writer, "_MOST", 1_000)
    monkeypatch.setattr(os, "write", take)
    writer.write(1, bytes(2_500))
    assert sizes == [1_000, 1_000, 501]


def test_an_error_says_which_stream_failed() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    saved = os.dup(1)
    try:
        os.dup2(writing, 1)
        with pytest.raises(ReaderGoneError, match="standard output"):
            streams.Stream(1).show("x")
        os.close(1)
        with pytest.raises(OutputError, match="standard output cannot be written"):
            streams.Stream(1).show("x")
    finally:
        os.dup2(saved, 1)
        os.close(saved)
        os.close(writing)


def test_what_other_code_prints_goes_through_the_same_writer() -> None:
    code = (
        "import sys\n"
        "from harbor_metrics.output.streams import take_over\n"
        "take_over()\n"
        "print('a'); sys.stdout.buffer.write(b'b\\n'); sys.stdout.flush()\n"
        "print('c', file=sys.stderr)\n"
        "print(sys.stdout.fileno(), sys.stdout.isatty(), sys.stdout.writable())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("a\nb\n1 False True\n", "c\n")


@pytest.mark.parametrize("at", [*range(990, 1010), 3_000])
def test_no_quote_is_cut_out_of_a_command(at: int, capfd: pytest.CaptureFixture[str]) -> None:
    name = f"job/b c{'a' * at}'B x $(touch PWNED) \" #.json"
    streams.print_note(f"help: {shlex.join(['harbor-metrics', 'validate', name, name])}")
    words = shlex.split(capfd.readouterr().err)
    assert [word for word in words if "$(" in word] == words[-2:]
    assert len(words) == 5


def test_a_long_word_is_cut_and_looked_through_once(capfd: pytest.CaptureFixture[str]) -> None:
    streams.print_note(f"{'a' * 2_000}; {'-' * 500_000} b{'-' * 1_100}a,")
    assert capfd.readouterr().err == f"{'a' * 1_000}…; {'-' * 500_000} b{'-' * 999}…,"
