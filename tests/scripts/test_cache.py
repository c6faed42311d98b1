"""What scripts leave to be used again goes when it is old, and nothing half stays."""

from __future__ import annotations

import os
import time
from pathlib import Path

from conftest import Run
from metric_scripts import BLOCK, COUNT

from harbor_metrics.scripts import cache

MONTH = 31 * 86_400


def age(path: Path) -> None:
    old = time.time() - MONTH
    os.utime(path, (old, old), follow_symlinks=False)


def make(name: str, *, old: bool = False) -> list[Path]:
    """Everything that is kept for an environment."""
    folder = Path(cache.cache_folder(cache.ENVIRONMENTS))
    (folder / f"{name}-1").mkdir(parents=True)
    (folder / f"{name}-1" / "file").write_bytes(bytes(10_000))
    paths = [folder / f"{name}.json", folder / f"{name}.lock", folder / f"{name}-1"]
    for path in paths[:2]:
        path.write_text("{}")
    for path in paths if old else ():
        age(path)
    return paths


def test_what_is_old_goes_whole_and_what_is_used_stays() -> None:
    old, new = make("a" * 32, old=True), make("b" * 32)
    record = Path(cache.cache_folder(cache.RECORDS)) / "c.json"
    record.parent.mkdir()
    record.write_text("[]")
    tree = Path(cache.cache_folder(cache.REPOSITORIES)) / "c"
    tree.mkdir(parents=True)
    age(record)
    age(tree)
    assert [entry.name for entry in cache.prune(cache.DAYS)] in (["a" * 32, "c"], ["c", "a" * 32])
    assert not any(path.exists() for path in [*old, record, tree])
    assert all(path.exists() for path in new)


def test_one_use_a_day_removes_what_is_old() -> None:
    old, new = make("a" * 32, old=True), make("b" * 32, old=True)
    cache.use(str(new[0]))
    assert not any(path.exists() for path in old)
    assert all(path.exists() for path in new)
    again = make("a" * 32, old=True)
    cache.use(str(new[0]))
    assert all(path.exists() for path in again)
    age(Path(cache.cache_folder("pruned")))
    cache.use(str(new[0]))
    assert not any(path.exists() for path in again)


def test_a_run_uses_and_prunes(outcome) -> None:
    old = make("a" * 32, old=True)
    for _ in range(2):
        one, _done = outcome(BLOCK + COUNT)
        assert one["values"] == {"n": 2}
    assert not any(path.exists() for path in old)
    assert [entry.kind for entry in cache.entries()] == ["environments"]


def test_the_command_shows_and_prunes(cli: Run) -> None:
    assert cli("cache").stdout.startswith("0 entries, 0.0 MB in ")
    make("a" * 32, old=True)
    make("b" * 32)
    shown = cli("cache").stdout.splitlines()
    assert shown[0].split() == ["kind", "name", "MB", "last", "used"]
    assert [line.split()[0] for line in shown[1:]] == ["environments", "environments", "2"]
    assert shown[1].endswith("31 days ago")
    assert len(cli("cache", "--days", "30").stdout.splitlines()) == 3
    assert cli("cache", "--prune").stdout.startswith("removed 1 entry")
    assert cli("cache", "--prune", "--days", "0").stdout.startswith("removed 1 entry")
    assert cache.entries() == []


def test_what_somebody_is_making_stays_and_what_is_left_of_a_dead_one_goes(tmp_path: Path) -> None:
    for name in ("alive.tmp", "dead.tmp", "kept"):
        (tmp_path / name).mkdir()
    with cache.at_work(str(tmp_path / "alive.tmp")):
        cache.remove_unfinished(str(tmp_path))
        assert sorted(os.listdir(tmp_path)) == ["alive.tmp", "kept"]
    cache.remove_unfinished(str(tmp_path))
    assert os.listdir(tmp_path) == ["kept"]
