"""Half of a long reading in a second process, also on a system that lacks `sched_getaffinity`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Run, trial, write_job

from harbor_metrics import compute
from harbor_metrics.readers.files import fork


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What macOS lacks is removed; the processes that are started."""
    started: list[int] = []
    really = os.fork

    def counted() -> int:
        started.append(child := really())
        return child

    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "fork", counted)
    # Those of the test runner, which only its own threads can be.
    monkeypatch.setattr("threading.active_count", lambda: 1)
    return started


@pytest.mark.usefixtures("forks")
@pytest.mark.parametrize(("processors", "pays"), [(1, False), (2, True), (None, False)])
def test_all_processors_count_where_the_system_does_not_say_which_may_be_used(
    processors: int | None, pays: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    assert fork.pays() is pays


@pytest.mark.parametrize("processors", [1, 2])
def test_a_long_rewards_file_is_read_without_sched_getaffinity(
    processors: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forks: list[int]
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    lines = [json.dumps({"reward": i % 4 / 4, "turns": 10**40 + i}) for i in range(80_000)]
    path = tmp_path / "rewards.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert path.stat().st_size > 4 << 20
    (group,) = compute(path, level=None).groups
    assert group.metrics[0].values["reward"] == 0.375
    assert len(forks) == processors - 1


@pytest.mark.parametrize("processors", [1, 2])
def test_a_large_job_is_read_without_sched_getaffinity(
    processors: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forks: list[int]
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    trials = [trial(f"task-{i:04d}", {"reward": i % 2}, i) for i in range(2_000)]
    (group,) = compute(write_job(tmp_path / "job", trials), level=None).groups
    assert group.counts.found == 2_000
    assert group.metrics[0].values == {"mean": 0.5}
    assert len(forks) == processors - 1


def test_halves_are_read_where_the_ends_of_children_are_ignored(tmp_path: Path) -> None:
    """Nobody tells then how the second process ended."""
    rows = "".join(f'{{"reward": {i % 2}}}\n' for i in range(400_000))
    (tmp_path / "r.jsonl").write_text(rows)
    code = (
        "import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "from harbor_metrics import compute\n"
        "print(compute('r.jsonl').groups[0].metrics[0].values)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("{'mean': 0.5}\n", "")


def test_halves_of_a_large_file_are_read_as_one(tmp_path: Path) -> None:
    """Whether a second process helps or not, and whatever stands in its half."""
    rows = [f'{{"reward": {i % 7 / 7}}}\n' for i in range(300_000)]
    rows[200_000] = "null\n"
    rows[250_000] = "{}\n"
    (tmp_path / "r.jsonl").write_text("".join(rows))
    result = compute(tmp_path / "r.jsonl")
    counts = result.groups[0].counts
    assert (counts.found, counts.scored, counts.missing) == (300_000, 299_999, 1)
    rows[280_000] = '{"other": true}\n'
    (tmp_path / "r.jsonl").write_text("".join(rows))
    result = compute(tmp_path / "r.jsonl")
    assert result.groups[0].counts.unread == 1
    assert result.found[0].span.line == 280_001


def test_second_process_reads_what_the_first_would(tmp_path: Path, cli: Run) -> None:
    trials = [trial(f"t{i % 50}", {"r": i / 7}, i) for i in range(2_100)]
    job = write_job(tmp_path / "job", trials)
    (job / "zz__0000001").mkdir()
    (job / "zz__0000001" / "result.json").write_text("{")
    done = cli("compute", job, "--format", "json")
    alone = 'import os; os.sched_getaffinity = lambda _: {0}; import sys; sys.argv[0] = "x"\n'
    alone += "from harbor_metrics.__main__ import main; main()"
    command = [sys.executable, "-c", alone, "compute", str(job), "--format", "json"]
    single = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == single.returncode == 1
    assert done.stdout == single.stdout
    assert json.loads(done.stdout)["groups"][0]["counts"]["found"] == 2_100
